"""The taxi trips of the data-driven chains paper, reproduced: Figures 2 and 3, Table 1."""

from __future__ import annotations

import csv
import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from veil.chains import read
from veil.chains.requests import ChainRelease
from veil.core.arrays import Floats
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.random.streams import Rng
from veil.matrices.numerics.stationary import quick_stationary
from veil.samples.city import city_trips
from veil.vectors.counts import Integers
from veil.vectors.published_bounds import published_delta
from veil.vectors.simplex import Simplex
from veil_papers import taxi_zones
from veil_papers.data_driven_chains import smallest_epsilon
from veil_papers.reproduction.data import Data
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel
from veil_papers.taxi_zones import merged, rows_at, strongest

_GAMMA, _TRIPS, _ZONES = 1e-8, 2_933_898, 63
# Of trips like Manhattan's, the share that goes anywhere.
_MIXED = 0.2
# The one delta that is printed beside an epsilon of Table 1: 40 zones, Section 6.2.
_DELTA = 3e-6
# Table 1, zones with the same epsilon together.
_PRINTED = (
    ((63, 60), "45.39"),
    ((55,), "19.82"),
    ((50, 45), "4.690"),
    ((40,), "3.730"),
    ((35, 30), "3.078"),
)
# So many trips between any two zones: 3.73 needs about ten, and a table has them only once zones are merged.
_ENOUGH = 9


def power(number: float) -> str:
    """3·10⁻⁶, for a sentence."""
    digits, _, exponent = f"{number:.1e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits}·10{raised}"


def short(epsilon: float) -> float:
    """Three decimals of it, and never more than it: a budget as people state one."""
    return math.floor(1_000.0 * epsilon) / 1_000.0


def moved(counts: Integers, drawn: Floats) -> float:
    """The mean total variation between the stationary distribution of the counts and of what was drawn."""
    truth = quick_stationary(counts / counts.sum(axis=1, keepdims=True))
    return float(0.5 * np.abs(quick_stationary(drawn) - truth).sum(axis=-1).mean())


def veil_moved(
    counts: Integers,
    epsilon: float,
    rng: Rng,
    draws: int,
    *,
    change: str = "replace",
    delta: float = 0.0,
    mechanism: str = "auto",
    records: int | None = None,
) -> float:
    """The same for `veil.chains.release`."""
    job = ChainRelease(
        epsilon=short(epsilon),
        delta=delta,
        mechanism=mechanism,
        change=change,
        records=records,
    ).prepare(counts)
    return moved(counts, np.stack([job.run(rng=rng).value.to_numpy() for _ in range(draws)]))


@dataclass(frozen=True, slots=True)
class _Trips:
    """Trips that take the place of the paper's. merged: so few zones that no pair is too rare."""

    name: str
    counts: Integers
    merged: Integers
    stand_in: str


@lru_cache(maxsize=2)
def _trips(data: Data) -> _Trips:
    path, lookup = data.file("trips"), data.file("zones")
    if path is None:
        name, table = "made-up city", _city()
        replaced = f"made-up trips of veil.samples.city, as many between {_ZONES} zones,"
    elif lookup is None:
        name, table = "green taxis, 2020", _counted(path, list(range(1, 264)))
        replaced = f"{int(table.sum()):,} trips of New York's green taxis in 2020, all boroughs,"
    else:
        name = "like Manhattan"
        with lookup.open(encoding="utf-8") as file:
            zones = [int(row["location_id"]) for row in csv.DictReader(file) if row["borough"] == "Manhattan"]
        observed = _counted(path, zones)
        table = manhattan_like(observed)
        replaced = (
            f"{_TRIPS:,} trips between {_ZONES} zones, as many as the paper's, drawn from "
            f"{int(observed.sum()):,} trips of green taxis within Manhattan in 2020 (both ways, mixed with "
            f"{_MIXED:.0%} that go anywhere),"
        )
    few = table
    for zones_left in range(_ZONES, 4, -1):
        few = merged(few, zones_left)
        if few.min() >= _ENOUGH:
            break
    return _Trips(
        name,
        table,
        few,
        "The paper's trips (yellow taxis in Manhattan, January 2025) and its map of neighbouring zones are "
        f"not at hand. The {replaced} take their place, and a zone is merged into the one it shares most "
        "trips with. Numbers of the trips cannot be compared with the printed ones; those of formulas can.",
    )


def _counted(path: Path, zones: list[int]) -> Integers:
    counted = read(
        str(path), origin="PULocationID", destination="DOLocationID", states=zones, drop_unlisted=True
    )
    return np.asarray(counted.matrix)


def manhattan_like(observed: Integers) -> Integers:
    """As many trips between as many zones as the paper has, from fewer that were observed.

    Green taxis are hailed in the north alone, but go everywhere. So as many trips leave a zone as end in it,
    and where they go is what was seen from there and on the way back, mixed with trips that go anywhere.
    Zones with the fewest trips are merged first.
    """
    table = merged(observed, _ZONES).astype(np.float64)
    ends = table.sum(axis=0) / table.sum()
    both = table + table.T
    ways = (1.0 - _MIXED) * both / both.sum(axis=1, keepdims=True) + _MIXED * ends
    shares = ends[:, None] * ways
    rng = np.random.default_rng(zlib.crc32(b"DC trips like Manhattan"))
    drawn = rng.multinomial(_TRIPS, (shares / shares.sum()).ravel())
    return np.asarray(drawn.reshape(table.shape), dtype=np.int64)


def _city() -> Integers:
    table = city_trips(_TRIPS)
    origins, ends = (
        table[name].combine_chunks().indices.to_numpy().astype(np.int64) for name in ("pickup", "dropoff")
    )
    return np.bincount(_ZONES * origins + ends, minlength=_ZONES**2).reshape(_ZONES, _ZONES)


def figure_2(run: Run) -> Finding:
    """Figure 2: the stationary distribution, private and not."""
    rng, trips = run.rng("DC Figure 2"), _trips(run.data)
    counts = trips.merged
    truth = quick_stationary(counts / counts.sum(axis=1, keepdims=True))
    order = np.argsort(-truth)
    zones = [float(rank) for rank in range(1, len(counts) + 1)]
    theirs, ours, lines, epsilons = [], [], [], []
    for times, least in ((1.0, "k_min"), (3.0, "3 k_min")):
        rows = rows_at(counts, times)
        bound = rows.published(gamma=_GAMMA)
        drawn = quick_stationary(rows.sample(counts, rng=rng))
        job = ChainRelease(epsilon=short(bound.epsilon), change="replace").prepare(counts)
        mine = quick_stationary(job.run(rng=rng).value.to_numpy())
        epsilons.append(f"ε = {bound.epsilon:.3g}")
        theirs.append(drawn[order])
        ours.append(mine[order])
        lines += [
            Line(f"largest relative error of a zone's share, {least}", "",
                 float(np.abs(drawn / truth - 1.0).max()), float(np.abs(mine / truth - 1.0).max()),
                 f"One release each, one trip replaced, {epsilons[-1]}, δ = {power(bound.delta)} by the "
                 "paper's formula; Veil without δ."),
            Line(f"total variation from the true shares, {least}", "",
                 float(0.5 * np.abs(drawn - truth).sum()), float(0.5 * np.abs(mine - truth).sum()),
                 "Veil adds noise of whole numbers to the counts, however rare the rarest trip is."),
        ]  # fmt: skip
    true = truth[order]
    first, last = (f"paper's form, {epsilon}" for epsilon in epsilons)
    return Finding(
        lines,
        [
            Panel(trips.name, "zone, from the busiest", "share in the long run",
                  [
                      Curve("true", zones, true.tolist(), "truth"),
                      Curve(f"Veil's default, {epsilons[0]}", zones, ours[0].tolist(), "veil", "dotted"),
                      Curve(first, zones, theirs[0].tolist(), "paper", "points"),
                  ]),
            Panel("how far each share is off", "zone, from the busiest", "relative error",
                  [
                      Curve(first, zones, (theirs[0] / true - 1.0).tolist(), "paper", "points"),
                      Curve(last, zones, (theirs[1] / true - 1.0).tolist(), "other", "points"),
                      Curve(f"Veil's default, {epsilons[0]}", zones, (ours[0] / true - 1.0).tolist(), "veil",
                            "dotted"),
                  ]),
        ],
        says=f"{len(counts)} zones. The paper's form holds only among tables above its floors, which are "
        "read off the data; Veil's default holds for every table.",
        stand_in=trips.stand_in,
    )  # fmt: skip


def _delta_at(k: float, zones: int, times: float = 1.0) -> float:
    """Equation (4) for a row with k = times * 3 / (2 eta): of the data, only k matters."""
    return published_delta(k, Simplex(zones, floor=times * 1.5 / k), _GAMMA)


def _later_delta(first: float, times: float) -> float:
    """The delta at so many times k_min, of 40 zones with this delta at k_min."""
    logs = (math.log(100.0), math.log(1e6))
    k = math.exp(brentq(lambda x: math.log(_delta_at(math.exp(x), 40) / first), *logs))
    return _delta_at(times * k, 40, times)


def _largest_delta(epsilon: float) -> float:
    """Of any row of at most all trips, 63 zones and the least k, whose epsilon is at most this one."""
    largest = 0.0
    for least in range(1, 40):
        records = _records_for(least, _ZONES, epsilon)
        if records:
            largest = max(largest, _delta_at(1.5 * records / least, _ZONES))
    return largest


def _records_for(least: int, zones: int, epsilon: float) -> int:
    """The largest row whose rarest cell has so many trips and whose epsilon (3) is at most this; or 0."""

    def fits(records: int) -> bool:
        return smallest_epsilon(zones, records, floor=least / records, gamma=_GAMMA) <= epsilon

    low, high = zones * least, _TRIPS
    if not fits(low):
        return 0
    # It grows with the row.
    while high - low > max(1, low // 1_000):
        middle = max(low + 1, math.isqrt(low * high))
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def figure_3(run: Run) -> Finding:
    """Figure 3: how far the stationary distribution moves, k from k_min to 3 k_min."""
    rng, trips = run.rng("DC Figure 3"), _trips(run.data)
    counts = trips.merged
    times = np.linspace(1.0, 3.0, run.many(21, 6)).tolist()
    run.tell("the paper's form")
    points = taxi_zones.figure_3(counts, times, gamma=_GAMMA, draws=run.many(1_000, 100), rng=rng)
    run.tell("Veil's default")
    epsilons = [point.epsilon for point in points]
    ours = [veil_moved(counts, epsilon, rng, run.many(200, 40)) for epsilon in epsilons]
    first = points[0]
    largest = _largest_delta(2.685)
    return Finding(
        [
            Line("mean total variation at (3.73, 3·10⁻⁶), 40 zones", "0.017",
                 why="Needs the trips of January 2025; the next line is its like on the stand-in."),
            Line(f"the same, {trips.name}, {len(counts)} zones, ε = {first.epsilon:.3g}", "", first.moved,
                 ours[0], f"One trip replaced, δ = {power(first.delta)} by the paper's formula, Veil without "
                 f"δ. The exact ε of the paper's draws is {first.exact:.3g}."),
            Line("δ at ε = 5.19, if it is 3·10⁻⁶ at 3.73 (Section 6.2)", "5e-9", _later_delta(3e-6, 1.4),
                 why="5.19 is 1.4 k_min, and (4) depends on k alone there: the two printed pairs agree, "
                 "within the rounding of 3·10⁻⁶."),
            Line("δ at ε = 5.19, if it is 6·10⁻⁶ at 3.73 (introduction)", "5e-9", _later_delta(6e-6, 1.4),
                 why="The introduction contradicts Section 6.2, and does not fit the second pair."),
            Line("largest δ of a row with ε up to 2.68", "0.0214", largest,
                 why="(2.68, 0.0214) is called the strongest privacy. At γ = 10⁻⁸ no row of at most "
                 "2,933,898 trips has both, and the same section says 3.73."),
        ],
        [
            Panel(f"{trips.name}, {len(counts)} zones", "ε", "total variation, long run",
                  [
                      Curve("paper's form, ε by Theorem 3", epsilons, [point.moved for point in points]),
                      Curve("the same draws, exact ε", [point.exact for point in points],
                            [point.moved for point in points], "exact"),
                      Curve("Veil's default", epsilons, ours, "veil"),
                      Curve("printed", [3.73], [0.017], "printed", "points"),
                  ], log_y=True),
            Panel("δ by the paper's formula", "k / k_min", "δ",
                  [
                      Curve("paper's form, ε by Theorem 3", times, [point.delta for point in points]),
                      Curve("printed", [1.0, 1.4], [3e-6, 5e-9], "printed", "points"),
                  ], log_y=True),
        ],
        says="The noise of the paper's form is set by the rarest trip of each zone; noise on counts fades as "
        "they grow. Its guarantee holds only among tables above floors that are read off the data.",
        stand_in=trips.stand_in,
    )  # fmt: skip


def _least_count(zones: int, epsilon: float) -> int:
    """What the rarest cell of every row held at least, or (3) would give more than this epsilon."""
    return next(count for count in range(1, 100) if _records_for(count, zones, epsilon))


def _exact(least: int) -> float:
    """The exact epsilon at the least k of a row whose rarest cell has so many trips.

    There k eta is 3/2, and one trip moves k / N = 3 / (2 least): neither N nor the other cells matter.
    """
    return SymmetricBetaPair(1.5, 1.5 / least).epsilon(_DELTA)


def _of_trips(number: int) -> str:
    return "1 trip" if number == 1 else f"{number:,} trips"


def table_1(run: Run) -> Finding:
    """Table 1: the smallest epsilon, as the smallest zones are merged."""
    trips = _trips(run.data)
    lines, printed, at_most = [], [], []
    for zones, epsilon in _PRINTED:
        # Half a digit more, as it is rounded.
        least = _least_count(max(zones), float(epsilon) + 0.005)
        bound = _exact(least)
        printed += [(float(number), float(epsilon)) for number in zones]
        at_most += [(float(number), bound) for number in zones]
        lines.append(
            Line(f"smallest ε, {' and '.join(map(str, zones))} zones (Veil: exact, at most)", epsilon, None,
                 bound, "The trips are not printed. By the paper's formula every pair of zones had at "
                 f"least {_of_trips(least)}; the same release then has at most this ε at δ = 3·10⁻⁶.")
        )  # fmt: skip
    numbers = (63, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10)
    run.tell("merging")
    few, found = trips.counts, []
    for number in numbers:
        few = merged(few, number)
        found.append((strongest(few, gamma=_GAMMA), int((few == 0).sum()), int(few.min())))
    finite = [entry for entry in found if math.isfinite(entry[0].epsilon)]
    if found[0][1]:
        lines.append(
            Line(f"smallest ε, {trips.name}, {numbers[0]} zones", "", math.inf, "any ε",
                 f"{found[0][1]} pairs of zones have no trip, and the paper's form needs one for each. "
                 "Veil's default has no smallest ε.")
        )  # fmt: skip
    for strength, _, rarest in (finite[0], finite[len(finite) // 2], finite[-1]):
        lines.append(
            Line(f"smallest ε, {trips.name}, {strength.zones} zones (Veil: exact)", "", strength.epsilon,
                 strength.exact, f"At δ = {power(strength.delta)} of the paper's formula, one trip replaced. "
                 f"The rarest pair has {_of_trips(rarest)}.")
        )  # fmt: skip
    zones_left = [float(entry[0].zones) for entry in finite]
    return Finding(
        lines,
        [
            Panel("smallest ε, γ = 10⁻⁸", "zones", "ε",
                  [
                      Curve("printed", [z for z, _ in printed], [e for _, e in printed], "printed", "points"),
                      Curve("exact for the printed, at most", [z for z, _ in at_most],
                            [e for _, e in at_most], "other", "dashed"),
                      Curve(f"formula, {trips.name}", zones_left, [entry[0].epsilon for entry in finite]),
                      Curve(f"exact, {trips.name}", zones_left,
                            [entry[0].exact for entry in finite], "exact"),
                  ], log_y=True),
        ],
        says="The smallest ε is set by the rarest trip of any zone, through Assumption 4. Which zones are "
        "merged is decided by looking at the data, which the guarantee does not cover. Veil's default takes "
        "any table at any ε.",
        stand_in=trips.stand_in,
    )  # fmt: skip
