"""Every adjacency has a sentence, and a generator that was written for this sentence."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest

import veil
from tests.neighbours import bits, counts, logs, matrices, trips, vectors, words
from tests.neighbours.written import Written
from veil.core.adjacency import Adjacency
from veil.core.kind import every_kind

ALL: tuple[Written, ...] = (
    *vectors.WRITTEN,
    *counts.WRITTEN,
    *matrices.WRITTEN,
    *words.WRITTEN,
    *bits.WRITTEN,
    *logs.WRITTEN,
    *trips.WRITTEN,
)
each = pytest.mark.parametrize("written", ALL, ids=lambda written: written.name)


def _below(kind: type[Adjacency]) -> Iterator[type[Adjacency]]:
    for narrower in kind.__subclasses__():
        yield narrower
        yield from _below(narrower)


SOURCE = Path(veil.__file__).parent
_DEFINES = re.compile(r"^class \w+\(.*(Adjacency|VectorChange)\b", re.MULTILINE)


def relations() -> set[str]:
    """All relations of Veil that there can be values of; what tests define is not among them."""
    for path in sorted(SOURCE.rglob("*.py")):
        if _DEFINES.search(path.read_text(encoding="utf-8")):
            import_module(".".join(("veil", *path.relative_to(SOURCE).with_suffix("").parts)))
    return {
        named(kind)
        for kind in _below(Adjacency)  # type: ignore[type-abstract]
        if kind.__module__.startswith("veil.") and not inspect.isabstract(kind)
    }


def named(kind: type) -> str:
    """By name: a dataclass with slots leaves the class behind that it was made from."""
    return f"{kind.__module__}.{kind.__qualname__}"


@each
def test_the_sentence_is_the_one_that_users_read(written: Written) -> None:
    """If this fails, the sentence was changed: read the generator again, and then change it here."""
    assert written.adjacency.words == written.sentence


@each
def test_a_generator_does_what_the_sentence_says(written: Written) -> None:
    rng, made = np.random.default_rng(1), 0
    for _ in range(60):
        other = written.edit(rng, written.example)
        if other is not None and other != written.example:
            assert written.differs(written.example, other)
            made += 1
    assert made >= 20


@each
def test_a_sentence_that_says_more_would_be_seen(written: Written) -> None:
    """Neighbours of neighbours are not all neighbours: the test above can tell."""
    rng, further = np.random.default_rng(2), 0
    for _ in range(80):
        one = written.edit(rng, written.example)
        two = None if one is None else written.edit(rng, one)
        further += two is not None and two != written.example and not written.differs(written.example, two)
    assert further > 0


def test_every_relation_has_a_generator() -> None:
    """A new relation needs neighbours that are made from its sentence, and a search for the worst pair."""
    assert {named(type(written.adjacency)) for written in ALL} == relations()


def test_every_relation_of_the_registry_is_known() -> None:
    listed = {named(resolve_name(place)) for kind in every_kind() for place in kind.adjacencies.values()}
    assert {name for name in listed if name.startswith("veil.")} <= relations()


def test_every_form_of_a_relation_has_a_generator() -> None:
    known = {written.adjacency for written in ALL}
    chains = {(one.unit, one.change) for one in known if isinstance(one, veil.chains.Transitions)}
    assert chains == {
        ("event", "add-remove"),
        ("event", "replace"),
        ("row", "add-remove"),
        ("row", "replace"),
        ("row", "replace-state"),
        ("user", "add-remove"),
        ("user", "replace"),
    }
    assert {one.change for one in known if isinstance(one, veil.vectors.Records)} == {"add-remove", "replace"}
    assert {one.where for one in known if isinstance(one, veil.bits.BitFlips)} == {"anywhere", "row"}
    rows = [one for one in known if isinstance(one, veil.matrices.Rows)]
    assert {type(one.each) for one in rows} == {veil.vectors.Transfer, veil.vectors.L1}
