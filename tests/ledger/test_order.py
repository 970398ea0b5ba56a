"""Reserve, draw, confirm: in this order, through everything that takes a ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest

import veil
from tests.ledger.places import COUNTS, NEAR, NOISE, kinds
from tests.ledger.points import DRAWS
from veil.bits.learn import PrivateBits
from veil.errors import BudgetExceeded, InvalidArgument, ResultLost, VeilError

STREETS = {"a": ["b", "c"], "b": ["a"], "c": ["a", "c"]}
WORDS = veil.words.ChainWords(STREETS, 3, start="a")
TABLE = [[1, 0, 1], [0, 0, 1], [1, 1, 1]]
MOVES = veil.chains.TransitionCounts([[5, 3], [2, 7]], ["on", "off"])


def _release(account: Any) -> None:
    veil.release(NOISE, COUNTS, adjacency=NEAR, epsilon=0.1, ledger=account)


def _chain(account: Any) -> None:
    veil.chains.release(MOVES, epsilon=0.1, ledger=account)


def _words(account: Any) -> None:
    veil.words.release(
        [["a", "b"], ["b", "a"]], language=veil.words.FreeWords("ab", 2), epsilon=0.1, ledger=account
    )


def _bits(account: Any) -> None:
    veil.bits.release(TABLE, epsilon=0.1, ledger=account)


def _graph(account: Any) -> None:
    veil.graphs.release(networkx.path_graph(5), epsilon=0.1, statistics=["edges"], ledger=account)


def _online(account: Any) -> None:
    trip = veil.words.online(veil.words.SequentialWords(WORDS, 0.1), ledger=account)
    for symbol in ("b", "a", "c"):
        trip.push(symbol)


def _learn(account: Any) -> None:
    PrivateBits(0.1, ledger=account).fit_transform(np.array(TABLE), [0, 1, 1])


WAYS: dict[str, Callable[[Any], None]] = {
    "release": _release,
    "fit_chain": _chain,
    "release_words": _words,
    "release_bits": _bits,
    "release_graph": _graph,
    "online": _online,
    "PrivateBits": _learn,
}
# A word that is drawn online has no draw of a mechanism.
EVERY_DRAW = [*DRAWS, (veil.words.OnlineWord, "_answer")]


class Watched:
    """A dataset that writes down what is asked of it, and what the ledger holds at that moment."""

    def __init__(self, dataset: veil.ledger.dataset.Dataset, diary: list[str]) -> None:
        self.dataset, self.diary = dataset, diary

    def reserve(self, **asked: Any) -> Any:
        raise AssertionError("reserve_charge knows more and is to be called")

    def reserve_charge(self, charge: Any) -> Any:
        entry = self.dataset.reserve_charge(charge)
        self.diary.append("reserve")
        return entry

    def confirm(self, entry: Any) -> None:
        self.dataset.confirm(entry)
        self.diary.append("confirm")


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every draw of every mechanism, in the order of things."""
    written: list[str] = []

    def noted(plain: Callable[..., Any]) -> Callable[..., Any]:
        def drawn(*args: Any, **more: Any) -> Any:
            written.append("draw")
            return plain(*args, **more)

        return drawn

    for drawing, method in EVERY_DRAW:
        monkeypatch.setattr(drawing, method, noted(getattr(drawing, method)))
    return written


def test_the_order(ledger: veil.Ledger, diary: list[str]) -> None:
    for name, way in WAYS.items():
        dataset = ledger.open(name, epsilon="0.15")
        diary.clear()
        way(Watched(dataset, diary))
        assert (diary[0], diary[-1]) == ("reserve", "confirm"), name
        assert set(diary[1:-1]) == {"draw"}, name
        assert kinds(dataset) == ["open", "reserve", "confirm"]
        assert dataset.spent.epsilon == 0.1
        diary.clear()
        # The second does not fit: refused before anything is drawn, and nothing is written.
        with pytest.raises(BudgetExceeded):
            way(dataset)
        assert diary == [], name
        assert kinds(dataset) == ["open", "reserve", "confirm"]


def test_a_draw_that_fails_is_spent(ledger: veil.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens after the reservation, the charge stands, and no release is confirmed."""

    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError

    for drawing, method in EVERY_DRAW:
        monkeypatch.setattr(drawing, method, fail)
    for name, way in WAYS.items():
        dataset = ledger.open(name, epsilon=1)
        with pytest.raises((ResultLost, MemoryError)):
            way(dataset)
        assert kinds(dataset) == ["open", "reserve"], name
        assert dataset.spent.epsilon == 0.1


BAD: dict[str, Callable[[Any], Any]] = {
    "counts": lambda d: veil.release(NOISE, [5, -2, 9], adjacency=NEAR, ledger=d),
    "size": lambda d: veil.release(NOISE, [5, 2], adjacency=NEAR, ledger=d),
    "adjacency": lambda d: veil.release(NOISE, COUNTS, ledger=d),
    "epsilon": lambda d: veil.release(NOISE, COUNTS, adjacency=NEAR, epsilon=0.01, ledger=d),
    "rng": lambda d: veil.release(NOISE, COUNTS, adjacency=NEAR, rng="dice", ledger=d),
    "delta": lambda d: veil.release(
        veil.vectors.DirichletCounts(2.2, 100, 3), COUNTS, adjacency=NEAR, ledger=d
    ),
    "chain": lambda d: veil.chains.release([[1, -1], [0, 2]], epsilon=0.1, ledger=d),
    "words": lambda d: veil.words.release(
        [["z"]], language=veil.words.FreeWords("ab", 2), epsilon=0.1, ledger=d
    ),
    "bits": lambda d: veil.bits.release([[1, 2]], epsilon=0.1, ledger=d),
    "graph": lambda d: veil.graphs.release(networkx.Graph([(1, 1)]), epsilon=0.1, ledger=d),
    "learn": lambda d: PrivateBits(0.1, ledger=d).fit_transform(np.array(TABLE), [0, 1]),
}


def test_nothing_is_charged_for_what_is_refused(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=100)
    for name, attempt in BAD.items():
        with pytest.raises(VeilError):
            attempt(dataset)
        assert kinds(dataset) == ["open"], name


def test_a_word_that_is_broken_off_costs_the_same(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)
    trip = veil.words.online(veil.words.SequentialWords(WORDS, 0.5), ledger=dataset)
    trip.push("b")
    assert dataset.spent.epsilon == 0.5
    assert kinds(dataset) == ["open", "reserve"]


def test_a_seed_is_noted(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)
    veil.release(NOISE, COUNTS, adjacency=NEAR, ledger=dataset, rng=1)
    veil.release(NOISE, COUNTS, adjacency=NEAR, ledger=dataset)
    said = [entry.content["reproducible"] for entry in dataset.entries() if entry.kind == "reserve"]
    assert said == [True, False]


def test_what_must_be_hidden(ledger: veil.Ledger) -> None:
    """A dataset that was opened for some neighbours takes releases that hide those, or more."""
    dataset = ledger.open("trips", epsilon=10, adjacency=veil.vectors.Records("add-remove"))
    veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("add-remove"), ledger=dataset)
    # The same neighbours by another name.
    veil.release(NOISE, COUNTS, adjacency=veil.vectors.Contributions(1), ledger=dataset)
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("replace"), ledger=dataset)
    bits = ledger.open("bits", epsilon=100, adjacency=veil.bits.BitFlips(2, where="row"))
    for near in (
        veil.bits.BitFlips(2, where="row"),
        veil.bits.BitFlips(3, where="row"),
        veil.bits.BitFlips(2),
    ):
        veil.release(veil.bits.RandomizedResponse(0.1), TABLE, adjacency=near, ledger=bits)
    for near in (veil.bits.BitFlips(1), veil.bits.BitFlips(1, where="row")):
        with pytest.raises(InvalidArgument, match="adjacency"):
            veil.release(veil.bits.RandomizedResponse(0.1), TABLE, adjacency=near, ledger=bits)
    assert kinds(dataset).count("reserve") == 2
    assert kinds(bits).count("reserve") == 3
