"""The site of docs/: `scripts/site` builds it. The pages are plain Markdown; what only the site needs is here."""

from __future__ import annotations

import posixpath
import re
from typing import Any

project = "synth"
copyright = "the authors of synth; MIT or Apache-2.0"
extensions = ["myst_parser", "sphinx_copybutton"]
# Of a console block commands are copied, without their prompts.
copybutton_prompt_text = "$ "
myst_heading_anchors = 4
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "synth"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# Summaries are fetched, which browsers refuse for files.
html_show_search_summary = False
# Two hyphens are an option of the command line, and no dash.
smartquotes = False
# Examples of output with … are not whole JSON or YAML.
suppress_warnings = ["misc.highlighting_failure"]

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^):#\s]+)(#[^)\s]*)?\)")


def _contents(index: str) -> str:
    """Return the table of contents: the links to pages of each section of index.md, in their order."""
    parts = []
    for section in index.split("\n## ")[1:]:
        caption, _, text = section.partition("\n")
        pages = "\n".join(dict.fromkeys(path[:-3] for _, path, _ in LINK.findall(text) if path.endswith(".md")))
        parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n")
    return "".join(parts)


def _read(app: Any, page: str, source: list[str]) -> None:
    """Put the name of a file in place of a link that leads out of docs/, and the contents into the index."""

    def inside(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[2]))
        if not path.startswith("../"):
            return link[0]
        file = path.lstrip("./")
        return f"`{file}`" if link[1].strip("`") in file else f"{link[1]} (`{file}` of the source)"

    source[0] = LINK.sub(inside, source[0]) + (_contents(source[0]) if page == "index" else "")


def setup(app: Any) -> None:
    """Read pages as the site needs them."""
    app.connect("source-read", _read)
