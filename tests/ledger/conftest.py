"""One test, both databases."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import veil
from tests.ledger.clock import Clock
from tests.ledger.places import ON_POSTGRES, Elsewhere, Place, new_file, new_schema, release


@pytest.fixture(scope="session", autouse=True)
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is imported on first use is imported here, not by every forked process anew."""
    folder = tmp_path_factory.mktemp("loaded")
    release(new_file(folder).ledger().open("trips", epsilon=1)).save(folder / "out.json")


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """In memory where there is such a place: what is tested does not depend on a disk, which is slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield request.getfixturevalue("tmp_path")
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="veil-ledger-") as made:
        yield Path(made)


@pytest.fixture(params=["sqlite", ON_POSTGRES])
def new_place(request: pytest.FixtureRequest, folder: Path) -> Callable[[], Place]:
    """Each time another place where a ledger can be made; there is none yet."""
    if request.param == "sqlite":
        return lambda: new_file(folder)
    server = request.getfixturevalue("postgres")
    return lambda: new_schema(server)


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    """Where a ledger can be made; there is none yet."""
    return new_place()


@pytest.fixture
def ledger(place: Place) -> veil.Ledger:
    return place.ledger()


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Elsewhere:
    """Call it to be on a machine that has seen no ledger yet."""

    def go() -> None:
        monkeypatch.setenv("VEIL_STATE", tempfile.mkdtemp(dir=tmp_path))

    return go


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that a ledger takes for how long it has waited for its server."""
    made = Clock()
    monkeypatch.setattr("veil.ledger.store.time", made)
    return made
