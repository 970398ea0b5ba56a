"""Small made-up data that ships with Veil, for demos, docs and tests."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """The path of a sample file, for instance ``grades.csv``."""
    return Path(str(files("veil.samples").joinpath(name)))


def rows(name: str) -> list[dict[str, str]]:
    """The lines of a sample table, by the names of its columns."""
    with path(name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
