"""What is exported: stubs, types, docstrings, and what an import costs."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
import synthsched as ss
import typed
from synthsched import _core

PACKAGE = Path(ss.__file__).parent


def stubs():
    """Return the names of the stubs: of functions with their parameters, of classes with those of what they have."""

    def parameters(own):
        arguments = own.args
        assert not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs)
        plain = [argument.arg for argument in arguments.args]
        return plain, len(arguments.defaults)

    def of(own):
        if isinstance(own, ast.ClassDef):
            return {inner.name: of(inner) for inner in own.body}
        is_property = any(getattr(d, "id", None) == "property" for d in own.decorator_list)
        return "property" if is_property else parameters(own)

    tree = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    return {own.name: of(own) for own in tree.body if isinstance(own, (ast.ClassDef, ast.FunctionDef))}


def built():
    """Return the same of the module."""

    def signature(own):
        own = inspect.signature(own)
        defaults = sum(p.default is not p.empty for p in own.parameters.values())
        return list(own.parameters), defaults

    def of(own):
        if not inspect.isclass(own):
            return signature(own)
        members = {}
        for name, member in vars(own).items():
            if inspect.isgetsetdescriptor(member):
                members[name] = "property"
            elif inspect.ismethoddescriptor(member) and not name.startswith("_"):
                members[name] = signature(member)
        if own.__text_signature__:  # of what has a constructor
            plain, defaults = signature(own)
            members["__init__"] = (["self", *plain], defaults)
        return members

    return {name: of(own) for name, own in vars(_core).items() if not name.startswith("_")}


def test_the_stubs_are_fresh():
    expected, found = stubs(), built()
    assert sorted(found) == sorted(expected)
    for name in found:
        assert found[name] == expected[name], name


def test_everything_is_exported_and_has_a_docstring():
    assert (
        sorted(ss.__all__)
        == ss.__all__
        == sorted(name for name in vars(ss) if name[0] != "_" and name != "annotations")
    )
    for name in ss.__all__:
        own = getattr(ss, name)
        assert inspect.getdoc(own), name
        for part, member in vars(own).items() if inspect.isclass(own) else ():
            if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                assert inspect.getdoc(getattr(own, part)), f"{name}.{part}"
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize(
    "name", ["synthsched", *(f"synthsched.{own.name}" for own in pkgutil.iter_modules(ss.__path__))]
)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"ss": ss})
    assert found.failed == 0
    if name == "synthsched":
        assert found.attempted > 3


def test_the_example_with_types_runs():
    found, faster = typed.run()
    assert faster in (True, False, None) and {"first-fit", "at most 50", "msr.json", "p.json"} == set(
        found.numbers["policy"]
    )


def test_an_import_brings_nothing_heavy():
    code = "import sys, synthsched; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pandas", "polars", "gymnasium", "matplotlib", "asyncio", "multiprocessing"}
    assert not heavy & set(re.split(r"\s+", done.stdout))
