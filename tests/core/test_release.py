"""validate -> reserve -> draw -> confirm, and nothing sensitive anywhere."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import veil
from veil.errors import BudgetExceeded, InvalidArgument, InvalidData, ResultLost, VeilError

COUNTS = veil.vectors.DirichletCounts(2.0, 10.0, 3)
RECORDS = veil.vectors.Records("replace")


class Book:
    """A ledger that writes down what is asked of it."""

    def __init__(self, *, refuse: bool = False) -> None:
        self.log: list[tuple[str, Any]] = []
        self.refuse = refuse

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        self.log.append(("reserve", (epsilon, delta, description["name"])))
        if self.refuse:
            raise BudgetExceeded(spent="3", asked=str(epsilon), remaining="0.1")
        return "entry-1"

    def confirm(self, entry: str) -> None:
        self.log.append(("confirm", entry))


def test_order_and_entry() -> None:
    book = Book()
    out = veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6, ledger=book)
    assert [what for what, _ in book.log] == ["reserve", "confirm"]
    assert book.log[0][1] == (out.epsilon, 1e-6, "DirichletCounts")
    assert out.entry == "entry-1"


def test_bad_input_is_not_charged() -> None:
    for change in ({"value": [1, 2]}, {"delta": None}, {"delta": 0.0}, {"adjacency": None}, {"rng": "dice"}):
        book = Book()
        call: dict[str, Any] = {"value": [5, 6, 7], "adjacency": RECORDS, "delta": 1e-6} | change
        with pytest.raises(VeilError):
            veil.release(COUNTS, ledger=book, **call)
        assert book.log == []


def test_a_refused_charge_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, real = [], veil.vectors.DirichletCounts._draw

    def noted(*args: Any, **kwargs: Any) -> Any:
        drawn.append(args)
        return real(*args, **kwargs)

    monkeypatch.setattr(veil.vectors.DirichletCounts, "_draw", noted)
    with pytest.raises(BudgetExceeded, match=r"0\.1 remaining"):
        veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6, ledger=Book(refuse=True))
    assert not drawn, "drawn although refused"


def test_a_failure_after_the_reservation_stays_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(veil.vectors.DirichletCounts, "_draw", broken)
    book = Book()
    with pytest.raises(ResultLost, match=r"charged as .*, and there is no result: RuntimeError") as lost:
        veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6, ledger=book)
    assert isinstance(lost.value.__cause__, RuntimeError)
    assert lost.value.release is None
    # Without a ledger nothing was paid for, and nothing was seen.
    with pytest.raises(RuntimeError):
        veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6)
    assert [what for what, _ in book.log] == ["reserve"]


def test_pure_mechanisms_need_no_delta() -> None:
    out = veil.release(veil.vectors.GeometricCounts(2.0, 3), [5, 6, 7], adjacency=RECORDS)
    assert (out.epsilon, out.delta) == (1.0, 0.0)


def test_mechanisms_without_pure_privacy_say_so() -> None:
    with pytest.raises(InvalidArgument, match="no finite epsilon at delta = 0"):
        veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS)
    with pytest.raises(VeilError, match="no finite epsilon"):
        veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=0.0)


def test_other_wrong_arguments() -> None:
    with pytest.raises(InvalidArgument, match="mechanism"):
        veil.release("dirichlet", [5, 6, 7])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="ledger"):
        veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6, ledger={})  # type: ignore[arg-type]


def test_labels_are_kept() -> None:
    series = pd.Series([5, 6, 7], index=["a", "b", "c"])
    out = veil.release(COUNTS, series, adjacency=RECORDS, delta=1e-6)
    assert out.labels == ("a", "b", "c")
    back = out.to_pandas()
    assert list(back.index) == ["a", "b", "c"]
    assert np.array_equal(back.to_numpy(), out.value)
    assert veil.release(COUNTS, {"x": 1, "y": 2, "z": 3}, adjacency=RECORDS, delta=1e-6).labels == (
        "x",
        "y",
        "z",
    )
    frame = pd.DataFrame([[5, 6, 7], [1, 2, 3]], columns=["a", "b", "c"])
    batch = veil.release(COUNTS, frame, adjacency=RECORDS, delta=1e-6)
    assert list(batch.to_pandas().columns) == ["a", "b", "c"]
    with pytest.raises(InvalidArgument, match="a square matrix"):
        veil.matrices.to_chain(out)


def test_the_record_is_frozen() -> None:
    out = veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6)
    with pytest.raises(AttributeError):
        out.epsilon = 0.1  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        out.value[0] = 1.0
    assert len({out, pickle.loads(pickle.dumps(out))}) == 1


def test_seeded_releases_are_marked() -> None:
    for rng in (3, np.random.default_rng(3)):
        out = veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6, rng=rng)
        assert out.reproducible
        assert "Not private" in out._repr_html_()
    fresh = veil.release(COUNTS, [5, 6, 7], adjacency=RECORDS, delta=1e-6)
    assert "Not private" not in fresh._repr_html_()


def test_notebook_card_escapes_labels() -> None:
    out = veil.release(COUNTS, {"<b>": 1, "y": 2, "z": 3}, adjacency=RECORDS, delta=1e-6)
    card = out._repr_html_()
    assert "&lt;b&gt;" in card
    assert "<b></td>" not in card
    many = veil.release(
        veil.vectors.DirichletCounts(2.0, 10.0, 30), np.ones((2, 30)), adjacency=RECORDS, delta=1e-6
    )
    assert "<th>other 21</th>" in many._repr_html_()


def test_guarantee_in_words() -> None:
    out = veil.release(veil.vectors.GeometricCounts(2.0, 3), [5, 6, 7], adjacency=RECORDS)
    assert "2.719 times" in out.guarantee
    assert "plus" not in out.guarantee
    with pytest.raises(InvalidData):
        veil.release(COUNTS, {"a": 1, "b": 2}, adjacency=RECORDS, delta=1e-6)
