import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def without_columns():
    """Other libraries, such as readline, set COLUMNS, which is the width of the text that the program prints."""
    os.unsetenv("COLUMNS")


@pytest.fixture
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)
    return ROOT


@pytest.fixture(scope="session")
def synth():
    """The program, as cargo builds it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    path = Path(os.environ.get("SYNTH") or target / "release" / "synth")
    if not path.exists():
        pytest.skip(f"no program {path}: cargo build --release builds it")
    return path
