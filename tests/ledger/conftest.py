"""One test, both databases."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import veil
from tests.ledger.places import Place, new_file, new_schema

ON_POSTGRES = pytest.param("postgresql", marks=pytest.mark.xdist_group("postgres"))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: what is tested does not depend on a disk, which is slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="veil-ledger-") as made:
        yield Path(made)


@pytest.fixture(params=["sqlite", ON_POSTGRES])
def place(request: pytest.FixtureRequest, folder: Path) -> Place:
    """Where a ledger can be made; there is none yet."""
    if request.param == "sqlite":
        return new_file(folder)
    return new_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def ledger(place: Place) -> veil.Ledger:
    return place.ledger()
