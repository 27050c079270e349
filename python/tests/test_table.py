"""Tables and pictures."""

import pickle

import pytest
import synthsched as ss

COLUMNS = {"name": ["a", "b_c", None], "n": [1, 2, None], "x": [0.1, None, 1e300], "is": [True, False, True]}


@pytest.fixture
def table():
    return ss.Table(COLUMNS)


def test_columns(table):
    assert table.columns == ("name", "n", "x", "is") == tuple(table) == table.keys()
    assert len(table) == 3 and table["n"] == (1, 2, None)
    assert dict(table) == {name: tuple(values) for name, values in COLUMNS.items()}
    assert table.to_dict() == COLUMNS
    assert list(table.rows())[1] == {"name": "b_c", "n": 2, "x": None, "is": False}
    assert ss.Table.of_rows(list(table.rows())).to_dict() == COLUMNS
    assert ss.Table.of_rows([{"a": 1}, {"b": 2}]).to_dict() == {"a": [1, None], "b": [None, 2]}
    assert table.where(name="b_c")["n"] == (2,) and len(table.where(n=7)) == 0
    assert pickle.loads(pickle.dumps(table)).to_dict() == COLUMNS
    with pytest.raises(ValueError, match="lengths"):
        ss.Table({"a": [1], "b": []})
    with pytest.raises(KeyError):
        table.where(z=1)


def test_frames(table):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = table.to_pandas()
    assert list(frame.columns) == list(COLUMNS) and frame.n.dtype == "float64"
    assert frame.x[0] == 0.1 and pandas.isna(frame.name[2])
    assert pandas.DataFrame(dict(table)).equals(frame)
    frame = table.to_polars()
    assert frame.to_dict(as_series=False) == COLUMNS
    assert frame.schema["n"] == polars.Int64 and frame.schema["is"] == polars.Boolean
    assert polars.DataFrame(dict(table)).equals(frame)


def test_csv_goes_round(table, tmp_path):
    text = table.to_csv(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == text
    again = ss.Table.of_csv(text)
    assert again.to_dict() == {**COLUMNS, "is": ["True", "False", "True"]}
    odd = ss.Table({"a": ['say "x", y', "two\nlines"], "b": [0.1 + 0.2, 1e-300]})
    assert ss.Table.of_csv(odd.to_csv()).to_dict() == odd.to_dict()


def test_latex(tmp_path):
    table = ss.Table({"rule_1": ["a&b", "50 %", "x^2~#1", "{\\$}"], "E[T]": [1.23456789, None, 2, float("nan")]})
    assert table.to_latex(tmp_path / "t.tex") == (tmp_path / "t.tex").read_text()
    assert table.to_latex().splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"rule\_1 & E[T] \\",
        r"\midrule",
        r"a\&b & 1.2346 \\",
        r"50 \% &  \\",
        r"x\textasciicircum{}2\textasciitilde{}\#1 & 2 \\",
        r"\{\textbackslash{}\$\} &  \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_html():
    page = ss.Table({"<b>": ["<script>&"] * 61})._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;&amp;" in page
    assert page.count("<tr>") == 61 and "of 61 rows" in page
    assert "…" not in ss.Table({"a": [1] * 60})._repr_html_()


def test_pictures_and_pages(tmp_path):
    found = ss.compare(ss.model("vms"), ["first-fit", "fcfs"], loads=[0.2, 0.4], events=200_000)
    picture = found.plot()
    picture.save(tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text == picture.svg and text.startswith("<svg ") and text.endswith("</svg>")
    for name in ("first-fit", "fcfs"):
        assert name in text
    for own in found.page.pictures():
        import xml.etree.ElementTree as tree

        tree.fromstring(own.svg)
    html = found._repr_html_()
    assert "first-fit" in html and picture.svg in html and "currentColor" in html
    found.page.save(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page == found.page.text and "<html" in page
    policy = ss.synthesize(ss.model("vms"), preemption="none", family="msr")
    assert "type-4" in policy.plot().svg and policy.plot().svg in policy._repr_html_()


def test_frame_of_a_comparison():
    found = ss.compare(ss.model("vms"), ["first-fit", "fcfs"], loads=[0.2, 0.4], events=200_000)
    frame = found.frame
    assert len(frame) == 2 * 2 * 5 and len(frame.where(type="all")) == 4
    own = {(row["load"], row["policy"]): row for row in frame.where(type="all").rows()}
    for row in own.values():
        assert row["mean_response_low"] < row["mean_response"] < row["mean_response_high"]
    numbers = found.numbers.where(load=0.4, policy="fcfs", type="all", quantity="mean_response")
    assert numbers["value"] == (own[0.4, "fcfs"]["mean_response"],)
    assert str(own[0.4, "fcfs"]["mean_response"]) in str(found.data)
