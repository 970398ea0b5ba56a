"""Small made-up data that ships with Veil, for demos, docs and tests."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """The path of a sample file, for instance ``grades.csv``."""
    return Path(str(files("veil.samples").joinpath(name)))
