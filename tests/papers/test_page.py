"""docs/papers.md: every place and every test that it names exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from veil_papers.reproduction.catalogue import PAPERS

ROOT = Path(__file__).parent.parent.parent
ROWS = [
    line
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| item")
]
STATES = ("as printed", "repaired", "not proved", "not applicable", "as Theorem")


def test_every_row_has_a_state() -> None:
    assert len(ROWS) > 45
    for row in ROWS:
        cells = [cell.strip() for cell in row.replace(r"\|", "¦").strip("|").split("|")]
        assert len(cells) == 4, row
        assert cells[3].startswith(STATES), row


def test_named_code_exists() -> None:
    places = [place for row in ROWS for place in re.findall(r"`(veil(?:_papers)?(?:\.\w+)+):([\w.]+)`", row)]
    assert len(places) > 100
    for module, name in places:
        value = import_module(module)
        for part in name.split("."):
            value = getattr(value, part)


def test_named_tests_exist() -> None:
    tests = [test for row in ROWS for test in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row)]
    assert len(tests) > 45
    for path, name in tests:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, f"{path}::{name}"


def test_every_exhibit_is_named() -> None:
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for paper in PAPERS:
        for exhibit in paper.exhibits:
            # Our own comparisons are no item of a paper.
            if exhibit.name not in ("MSNBC", "Signal"):
                place = f"{exhibit.run.__module__}:{getattr(exhibit.run, '__name__', '')}"
                assert f"`{place}`" in text, paper.cite(exhibit)
