"""The notebooks run, and what they claim holds: they assert it themselves."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
for needed in ("ipykernel", "matplotlib", "pandas"):
    pytest.importorskip(needed)

FOLDER = Path(__file__).parents[1] / "notebooks"


def test_there_are_five_and_they_are_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.ipynb")}
    assert len(sizes) == 5
    assert all(size < 100_000 for size in sizes.values()), sizes


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_runs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert any("assert" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    # What takes a minute on two idle cores may take longer beside other tests.
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}).execute()
