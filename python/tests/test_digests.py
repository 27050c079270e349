"""The digests of policy files, computed from what docs/reference/policies.md says of them."""

import hashlib
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parents[2] / "tests" / "conformance"


def number(value: float) -> str:
    """Return the shortest text of a double, as policy files write it."""
    if value != 0 and not 1e-5 <= abs(value) < 1e16:
        return re.sub(r"e\+?(-?)0*", r"e\1", repr(value))
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else text + ".0"


def canonical(value: Any) -> str:
    """Return the text that a digest is of."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return number(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def digest(document: dict[str, Any], left_out: str) -> str:
    text = canonical({key: value for key, value in document.items() if key != left_out})
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*.json")) + sorted(VECTORS.glob("compatibility/*.json")), ids=str)
def test_digests_of_policies(path):
    policy = json.loads(path.read_text(encoding="utf-8"))["artifact"]
    assert policy["workload_digest"] == digest(policy["workload"], "source")
    assert policy["digest"] == digest(policy, "digest")


def test_numbers():
    for text in "0.0 4.0 -2.5 0.1 1e-6 0.00001 9.9e-6 0.000123 1000000000000000.0 1e16 1.5e16 1.5e300".split():
        assert number(float(text)) == text
