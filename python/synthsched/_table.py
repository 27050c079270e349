"""Tables and pictures of results, for notebooks, frames, LaTeX and CSV."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

Value = Union[str, float, int, bool, None]

#: The number of rows of a table that are shown in a notebook.
SHOWN = 60


class Table:
    """A table with named columns of the same length. It cannot be changed.

    ``dict(table)`` can be passed to pandas and polars, which is what ``to_pandas`` and ``to_polars`` do.
    """

    def __init__(self, columns: Mapping[str, Sequence[Value]]) -> None:
        self._columns = {name: tuple(values) for name, values in columns.items()}
        if len({len(values) for values in self._columns.values()}) > 1:
            raise ValueError("the columns of a table have different lengths")

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Value]]) -> Table:
        """Return a table with these rows. If a value is missing in a row, it is None."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        return cls({name: [row.get(name) for row in rows] for name in names})

    @classmethod
    def of_csv(cls, text: str) -> Table:
        """Return the table of a CSV text. If all values of a column are numbers, it is a column of numbers."""
        rows = list(csv.reader(io.StringIO(text)))
        names, body = (rows[0], rows[1:]) if rows else ([], [])
        return cls({name: _typed([row[n] for row in body]) for n, name in enumerate(names)})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, name: str) -> tuple[Value, ...]:
        return self._columns[name]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def rows(self) -> Iterator[dict[str, Value]]:
        """Return an iterator over the rows."""
        for row in zip(*self._columns.values()):
            yield dict(zip(self._columns, row))

    def where(self, **equal: Value) -> Table:
        """Return the rows where the columns have these values."""
        kept = [row for row in self.rows() if all(row[k] == v for k, v in equal.items())]
        return Table({name: [row[name] for row in kept] for name in self._columns})

    def select(self, *names: str) -> Table:
        """Return a table with only these columns, in this order."""
        return Table({name: self._columns[name] for name in names})

    def to_dict(self) -> dict[str, list[Value]]:
        """Return the columns as a dict of lists."""
        return {name: list(values) for name, values in self._columns.items()}

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self.to_dict(), strict=False)

    def to_csv(self, path: Optional[Union[str, Path]] = None) -> str:
        """Return the table as CSV with all digits. If a path is given, also write it to this file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._columns)
        for row in zip(*self._columns.values()):
            writer.writerow("" if value is None else value for value in row)
        return _written(out.getvalue(), path)

    def to_latex(self, path: Optional[Union[str, Path]] = None) -> str:
        """Return the table as a ``tabular`` that uses booktabs. If a path is given, also write it to this file."""
        right = [all(not isinstance(v, str) for v in values) for values in self._columns.values()]
        lines = [r"\begin{tabular}{" + "".join("r" if own else "l" for own in right) + "}"]
        lines += [r"\toprule", self._line(" & ", _tex, self.columns) + r" \\", r"\midrule"]
        body = zip(*self._columns.values())
        lines += [self._line(" & ", _tex, map(shown, row)) + r" \\" for row in body]
        lines += [r"\bottomrule", r"\end{tabular}", ""]
        return _written("\n".join(lines), path)

    @staticmethod
    def _line(between: str, escape: Callable[[str], str], cells: Any) -> str:
        return between.join(escape(cell) for cell in cells)

    def __repr__(self) -> str:
        cells = [[name, *map(shown, values)] for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in cells]
        lines = ("  ".join(c.rjust(w) for c, w in zip(row, widths)) for row in zip(*cells))
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = self._line("", lambda name: f"<th>{html.escape(name)}</th>", self.columns)
        rows = list(zip(*self._columns.values()))
        body = [self._line("", lambda cell: f"<td>{html.escape(cell)}</td>", map(shown, row)) for row in rows[:SHOWN]]
        more = "" if len(rows) <= SHOWN else f"<p>… of {len(rows)} rows</p>"
        lines = "".join(f"<tr>{line}</tr>" for line in body)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>{more}"


class Picture:
    """An SVG picture that uses the colors of the notebook, which can be light or dark."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: Union[str, Path]) -> None:
        """Write the SVG to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        style = (
            ".synthsched svg{max-width:40rem;width:100%;height:auto;display:block}"
            '.synthsched svg [fill="#222222"]{fill:currentColor}'
            '.synthsched svg [stroke="#E0E0E0"]{stroke:currentColor;stroke-opacity:.2}'
        )
        return f'<div class="synthsched"><style>{style}</style>{self.svg}</div>'


class Page:
    """An HTML page that does not load any other files."""

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: Union[str, Path]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.text, quote=True)
        style = "width:100%;height:40rem;border:0"
        return f'<iframe srcdoc="{page}" style="{style}"></iframe>'

    def pictures(self) -> list[Picture]:
        """Return the pictures of the page in order, each with its title and the legend of its section."""
        parts = re.finditer(r'<h2|<ul class="keys".*?</ul>|<svg [^>]*role="img".*?</svg>', self.text, re.DOTALL)
        keys, drawn = "", []
        for part in parts:
            if part[0].startswith("<svg"):
                drawn.append(_keyed(part[0], keys))
            else:
                keys = part[0]
        return drawn


def _keyed(svg: str, keys: str) -> Picture:
    """Return a picture with its title and its legend, so that it can be used without the page."""
    width, height = (float(own) for own in svg.split('viewBox="0 0 ')[1].split('"')[0].split())
    title = svg.partition("</title>")[0].rpartition(">")[2]
    lines = [f'<text x="0" y="14" font-weight="bold" fill="#222222">{title}</text>']
    x, y = 0.0, 22.0
    for mark, name in re.findall(r"<li><svg[^>]*>(.*?)</svg><span>(.*?)</span>", keys, re.DOTALL):
        if x and x + 52 + 7 * len(name) > width:
            x, y = 0.0, y + 18
        text = f'<text x="50" y="12" fill="#222222">{name}</text>'
        lines.append(f'<g transform="translate({x:g} {y:g})">{mark}{text}</g>')
        x += 66 + 7 * len(name)
    top = y + 26
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height + top:g}" role="img"'
    body = svg.partition(">")[2].removesuffix("</svg>")
    lines.append(f'<g transform="translate(0 {top:g})">{body}</g></svg>')
    return Picture(f'{head} font-family="sans-serif" font-size="12">' + "".join(lines))


def bars(names: Sequence[str], values: Sequence[float], errors: Sequence[float], of: str) -> Picture:
    """Draw a bar and its interval for each name. ``of`` describes the quantity and its unit."""
    most = max((v + e for v, e in zip(values, errors)), default=1.0) or 1.0
    height = 22 * len(names) + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 {height}" role="img"'
        f' font-family="sans-serif" font-size="12"><title>{html.escape(of)}</title>'
    ]
    text = '<text x="{x}" y="{y}" fill="#222222"{more}>{text}</text>'
    for n, (name, value, error) in enumerate(zip(names, values, errors)):
        y = 22 * n
        low, high = (150 + 330 * max(x, 0.0) / most for x in (value - error, value + error))
        width = 330 * value / most
        lines.append(
            text.format(x=142, y=y + 15, more=' text-anchor="end"', text=html.escape(name))
            + f'<rect x="150" y="{y + 4}" width="{width:.1f}" height="14" fill="#0072B2"/>'
            f'<path d="M{low:.1f} {y + 11}H{high:.1f}" stroke="#D55E00" stroke-width="2"/>'
            + text.format(x=round(high + 6), y=y + 15, more="", text=shown(value))
        )
    lines.append(text.format(x=150, y=height - 12, more="", text=html.escape(of)) + "</svg>")
    return Picture("".join(lines))


def shown(value: Value) -> str:
    """Return a value as text, with five significant digits."""
    if value is None:
        return ""
    if isinstance(value, float) and not isinstance(value, bool):
        return "" if math.isnan(value) else f"{value:.5g}"
    return str(value)


def _typed(texts: list[str]) -> list[Value]:
    for read in (int, float):
        try:
            return [read(text) if text else None for text in texts]
        except ValueError:
            continue
    return [text or None for text in texts]


def _tex(text: str) -> str:
    marks = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"}
    marks.update({"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"})
    return "".join(marks.get(c, c) for c in text)


def _written(text: str, path: Optional[Union[str, Path]]) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
