"""Transitions of a log in no order, counted: against pandas and plain NumPy, all from arrays in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import veil
from bench.clock import least_seconds
from bench.counting import LOG, ZONES
from bench.measure import Ratio
from bench.work import Work

GROUP = "Speed: counting transitions"


def log(visits: int, *, seed: int = 1) -> dict[str, Any]:
    """Visits in no order, about twenty a user."""
    rng = np.random.default_rng(seed)
    return {
        "who": rng.integers(0, max(1, visits // 20), visits),
        "moment": rng.integers(0, 100_000_000, visits),
        "zone": rng.integers(0, ZONES, visits),
    }


def by_numpy(who: Any, moment: Any, zone: Any) -> Any:
    """Sort, shift, count."""
    order = np.lexsort((zone, moment, who))
    who, zone = who[order], zone[order]
    same = who[1:] == who[:-1]
    cells = np.bincount(zone[:-1][same] * ZONES + zone[1:][same], minlength=ZONES**2)
    return cells.reshape(ZONES, ZONES)


def run(work: Work) -> list[Ratio]:
    """Half a million visits, or five million; the counts of all must agree."""
    visits, runs = work.either(500_000, 5_000_000), work.either(3, 5)
    given = log(visits)
    counted = veil.chains.read(given, **LOG, states=range(ZONES))
    assert (np.asarray(counted.matrix) == by_numpy(**given)).all()
    ours = least_seconds(lambda: veil.chains.read(given, **LOG, states=range(ZONES)), runs=runs)
    what, setting = f"{visits:,} visits of {visits // 20:,} users", "in memory, the same counts"
    note = "Veil counts in DuckDB, which may use all cores of this machine"
    plain = least_seconds(partial(by_numpy, **given), runs=runs)
    found = [Ratio(GROUP, what, setting, ours, plain, "NumPy sort and shift", "seconds", note=note)]
    answer = work.ask("pandas", "transitions", what, given, states=ZONES, runs=runs)
    if answer is not None:
        assert (answer.arrays["matrix"] == counted.matrix).all()
        found.append(Ratio(GROUP, what, setting, ours, answer.seconds, "pandas", "seconds", note=note))
    return found
