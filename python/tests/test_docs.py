"""The code in the documents runs, in order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/reference/python.md", "docs/tutorials/own-policy.md", "python/README.md"])
def test_code_runs(page, tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    assert blocks
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    if page == "docs/reference/python.md":
        assert (tmp_path / "p.json").exists()
        assert names["total"] < 0
        assert names["c"].surely_faster("first-fit", names["p"], load=0.7) in (True, None)
