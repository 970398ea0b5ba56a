"""What a plan of words promises is what is then measured, on made-up drives and on trips through a city."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veil import words
from veil.samples.streets import drives, streets
from veil.words.chain_words import ChainWords
from veil.words.language import FreeWords, Language
from veil.words.profiles import HABITS, word_profiles

DATA = Path(__file__).parents[3] / "shared" / "data"
_CELLS, _LENGTH = 16, 8
Case = tuple[Language, list[list[Any]]]


def _town(length: int) -> Case:
    driven = [drive[:length] for drive in drives(2_000) if len(drive) >= length]
    return ChainWords(streets(), length), driven[:200]


def _city() -> Case:
    """Trips over squares of 500 m, each square once, to the eight around it."""
    if not DATA.exists():
        pytest.skip("the folder with real data is not there")
    trips: dict[str, list[int]] = defaultdict(list)
    with gzip.open(DATA / "city_trips.csv.gz", "rt") as stream:
        for line in csv.DictReader(stream):
            x = int((float(line["lng"]) - 11.5) * 111_320 * np.cos(np.radians(48.1)) / 500)
            y = int((float(line["lat"]) - 48.1) * 110_574 / 500)
            cell, trip = _CELLS * min(max(y, 0), 15) + min(max(x, 0), 15), trips[line["traj_id"]]
            if not trip or trip[-1] != cell:
                trip.append(cell)
    near = {
        cell: [
            other
            for other in range(_CELLS**2)
            if other != cell
            and max(abs(other % _CELLS - cell % _CELLS), abs(other // _CELLS - cell // _CELLS)) == 1
        ]
        for cell in range(_CELLS**2)
    }
    whole = [trip[:_LENGTH] for trip in trips.values() if len(trip) >= _LENGTH]
    driven = [trip for trip in whole if all(b in near[a] for a, b in pairwise(trip))]
    assert len(driven) > 1_000
    return ChainWords(near, _LENGTH), driven[:200]


CASES: dict[str, Callable[[], Case]] = {"town": lambda: _town(14), "short": lambda: _town(6), "city": _city}


def _check(case: Case, epsilon: float, *, releases: int, mechanisms: int = 10) -> None:
    language, true = case
    asked: dict[str, Any] = {"language": language, "epsilon": epsilon}
    given = {row.name: row.error for row in words.plan(**asked, typical=true).rows}
    valid = language.validate(true)
    for row in words.plan(**asked).rows[:mechanisms]:
        if row.mechanism is None:
            continue
        assert row.span is not None
        drawn = [row.mechanism.sample(valid, rng=seed) for seed in range(releases)]
        wrong = [np.array(list(some)) != np.array(true) for some in drawn]
        error, told = float(np.mean([moved.sum(axis=1).mean() for moved in wrong])), given[row.name]
        assert row.span.low <= error <= row.span.high, (row.name, error, row.span.words)
        assert told is not None
        assert error / 1.3 <= told <= 1.3 * error, row.name


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 5.0])
@pytest.mark.parametrize("name", CASES)
def test_plans_hold(name: str, epsilon: float) -> None:
    _check(CASES[name](), epsilon, releases=20)


@pytest.mark.slow
def test_the_range_holds_drives_that_go_straight_on() -> None:
    """Random walks turn back more often, and err by a third more."""
    _check(_town(10), 3.0, releases=5, mechanisms=2)


@pytest.mark.slow
def test_the_range_is_printed_written_and_explained() -> None:
    plan: Any = words.plan(chain={"a": ["a", "b"], "b": ["a"]}, length=4, epsilon=2.0)
    best = plan.best
    assert best.error == best.span.usual
    assert best.span.low < best.error < best.span.high
    assert best.span.words in str(plan)
    assert "walks to and fro" in plan.assumes
    told = plan.to_dict()
    assert told["mechanisms"][0]["error_range"] == best.span.to_dict()
    assert told["assumes"] == plan.assumes
    (line,) = plan.baselines
    assert line.expected == best.error


def test_free_words_all_have_the_same_error() -> None:
    plan = words.plan(symbols=5, length=4, epsilon=2.0)
    assert plan.assumes == "Assumed: nothing of the words; the error is the same for all of them."
    assert plan.best.span is not None
    assert plan.best.span.low == plan.best.span.high == plan.best.error
    assert word_profiles(FreeWords(5, 4)) == {}


@pytest.mark.slow
def test_the_same_mechanism_is_the_best_with_and_without_a_range() -> None:
    from veil.words.planning import plan_words

    language = ChainWords({"a": ["a", "b"], "b": ["a"]}, 4)
    plain, ranged = plan_words(language, 1.0), plan_words(language, 1.0, ranged=True)
    assert [(row.name, row.error) for row in plain.rows] == [(row.name, row.error) for row in ranged.rows]


def test_walks_have_their_habits() -> None:
    language, _ = _town(8)
    walks = word_profiles(language)
    assert list(walks) == list(HABITS)
    for some in walks.values():
        language.validate(list(some))
    fro = [word for word in walks["walks to and fro"] if len(set(word)) == 2]
    assert len(fro) == len(walks["walks to and fro"])
    on = walks["walks that do not come back where they can go on"]
    assert sum(len(set(word)) == 8 for word in on) > 0.8 * len(on)
