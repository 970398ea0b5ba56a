"""Pairs once a user, and long lists of states: the same in DuckDB and PostgreSQL, and as counted by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.tables.servers import Server
from veil import chains
from veil.chains.transition_counts import same_content
from veil.errors import InvalidData

STATES = [*(f"page {i}" for i in range(2_500)), "it's"]


def rows(seed: int = 1, users: int = 60) -> list[tuple[int, int, str]]:
    rng = np.random.default_rng(seed)
    found = []
    for user in range(users):
        visited = rng.integers(0, 6, rng.integers(1, 25))
        found += [(user, at, STATES[-1] if page == 5 else STATES[page]) for at, page in enumerate(visited)]
    return found


def read(source: Any, **options: Any) -> chains.TransitionCounts:
    asked: dict[str, Any] = {
        "by": "who",
        "order": "moment",
        "state": "page",
        "states": STATES,
        "once": True,
        "salt": "s",
    }
    return chains.read(source, **(asked | options))


def frame(log: list[tuple[int, int, str]]) -> dict[str, list[Any]]:
    return dict(zip(("who", "moment", "page"), map(list, zip(*log, strict=True)), strict=True))


def test_without_a_cap_that_matters() -> None:
    log = rows()
    counts = read(frame(log), cap=1_000)
    expected = np.zeros((6, 6), dtype=np.int64)
    names = [*STATES[:5], STATES[-1]]
    for user in {row[0] for row in log}:
        pages = [names.index(page) for who, _, page in log if who == user]
        for i, j in set(pairwise(pages)):
            expected[i, j] += 1
    places = [0, 1, 2, 3, 4, len(STATES) - 1]
    assert np.array_equal(np.asarray(counts.matrix)[np.ix_(places, places)], expected)
    assert counts.total == expected.sum()


def test_the_cap_holds_for_everybody() -> None:
    log = rows()
    everybody = read(frame(log), cap=4)
    for user in (0, 7, 33):
        others = read(frame([row for row in log if row[0] != user]), cap=4)
        for one, two in zip(
            (np.asarray(everybody.matrix), *everybody.margins()),
            (np.asarray(others.matrix), *others.margins()),
            strict=True,
        ):
            change = one - two
            assert change.min() >= 0
            assert change.max() <= 1
            assert change.sum() <= 4


def test_what_is_missing_is_told() -> None:
    """Transitions that are not kept stay in the engine, what is wrong does not."""
    log = frame([*rows(), (99, 1, "somewhere else")])
    with pytest.raises(InvalidData, match="not on the list"):
        read(log, cap=2)
    assert read(log, cap=2, drop_unlisted=True).total == read(frame(rows()), cap=2).total
    log["who"] = [None if who == 5 else who for who in log["who"]]
    with pytest.raises(InvalidData, match="who"):
        read(log, cap=2, drop_unlisted=True)


@pytest.mark.xdist_group("postgres")
def test_postgresql_counts_the_same(postgres: Server) -> None:
    import psycopg

    log = rows(2)
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute("CREATE TABLE sparse_visits (who bigint, moment bigint, page text)")
        connection.cursor().executemany("INSERT INTO sparse_visits VALUES (%s, %s, %s)", log)
    choices: list[dict[str, Any]] = [{"cap": 3}, {"cap": 3, "states": [*STATES[:5], "it's"]}]
    for options in choices:
        there = read(postgres.address(), table="sparse_visits", **options)
        here = read(frame(log), **options)
        assert same_content(there.once, here.once)
        assert np.array_equal(np.asarray(there.matrix), np.asarray(here.matrix))
        budget: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "unit": "user", "rng": 4}
        first, second = (chains.release(counts, **budget) for counts in (there, here))
        assert first.value == second.value
