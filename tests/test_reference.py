"""The reference of the documentation has every public name, and is what its script would write now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / "docs" / "reference" / "make.py"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_documented(reference: ModuleType) -> None:
    assert reference.undocumented() == []


def test_the_pages_are_up_to_date(reference: ModuleType) -> None:
    assert reference.out_of_date() == [], "run: make reference"
