"""Errors: of the Dirichlet mechanism in closed form, of any mechanism on public stand-ins for the data.

Proofs: mechanisms/dirichlet.md, Accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, betaincc, digamma, xlogy

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.checks import choice, integer, positive, within
from veil.core.intake import as_floats
from veil.core.span import Span, assumed
from veil.vectors.counts import LARGEST_COUNT, Contributions, Counts, Integers, Records
from veil.vectors.simplex import Simplex


@dataclass(frozen=True, slots=True)
class Errors:
    """How far a released vector is from the true one, on average.

    l1: the sum of absolute errors; tv: total variation, half of it, the largest error in the
    probability of any event; rmse: the root mean squared error of an entry; kl: the divergence of the
    true vector from the released one; entries: the mean absolute error of each entry.
    """

    l1: float
    tv: float
    rmse: float
    kl: float
    entries: tuple[float, ...]


def dirichlet_errors(shapes: Floats, truth: Floats) -> Errors:
    """The errors of x ~ Dirichlet(shapes) as an estimate of the truth, biased or not."""
    total = float(shapes.sum())
    means = shapes / total
    variances = means * (1.0 - means) / (total + 1.0)
    entries = expected_absolute_deviation(shapes, total - shapes, truth)
    rmse = math.sqrt(float((variances + (means - truth) ** 2).mean()))
    l1 = float(entries.sum())
    return Errors(l1, 0.5 * l1, rmse, expected_kl(shapes, truth), tuple(map(float, entries)))


def mean_errors(errors: Sequence[Errors]) -> Errors:
    """The averages over several vectors; the entries too, where there are equally many."""
    alike = len({len(e.entries) for e in errors}) == 1
    return Errors(
        l1=float(np.mean([e.l1 for e in errors])),
        tv=float(np.mean([e.tv for e in errors])),
        rmse=math.sqrt(float(np.mean([e.rmse**2 for e in errors]))),
        kl=float(np.mean([e.kl for e in errors])),
        entries=tuple(map(float, np.mean([e.entries for e in errors], axis=0))) if alike else (),
    )


def expected_absolute_deviation(a: Floats, b: Floats, centre: Floats) -> Floats:
    """E|X - c| for X ~ Beta(a, b): m - c + 2 (c F_{a,b}(c) - m F_{a+1,b}(c)), m the mean.

    At c = m this is the closed form of the data-driven chains paper, Lemma 7.
    """
    safe_a, safe_b = np.where(a > 0.0, a, 1.0), np.where(b > 0.0, b, 1.0)
    mean = safe_a / (safe_a + safe_b)
    below = centre * betainc(safe_a, safe_b, centre) - mean * betainc(safe_a + 1.0, safe_b, centre)
    deviation = np.maximum(mean - centre + 2.0 * below, 0.0)
    # A shape of zero is an entry that is always 0; all others zero, one that is always 1.
    return np.where(a <= 0.0, centre, np.where(b <= 0.0, 1.0 - centre, deviation))


def expected_kl(shapes: Floats, truth: Floats) -> float:
    """E[sum p_i log(p_i / x_i)] = sum p_i (log p_i + psi(A) - psi(A_i)) for any shapes."""
    present = truth > 0.0
    if (shapes[present] <= 0.0).any():
        return math.inf
    p, a = truth[present], shapes[present]
    return float((xlogy(p, p) + p * (digamma(shapes.sum()) - digamma(a))).sum())


def largest_expected_kl(k: float, size: int, floor: float) -> float:
    """The largest expected KL of Dirichlet(k p) over all p with entries of at least the floor.

    x (log x - psi(x)) is completely monotone, hence convex, so the maximum sits at a vertex
    (floor, ..., floor, 1 - (size - 1) floor). The data-driven chains paper (Corollary 1) puts it at 1/N.
    """
    vertex = np.full(size, floor)
    vertex[-1] = 1.0 - (size - 1) * floor
    return expected_kl(k * vertex, vertex)


def largest_expected_l1(k: float, size: int) -> float:
    """sqrt((n-1)/(k+1)), at least E||x - p||_1 for every p: Jensen on each entry, then Cauchy-Schwarz."""
    return math.sqrt((size - 1) / (k + 1.0))


def largest_expected_entry_error(k: float) -> float:
    """Gamma(k) 2^(1-k) / (Gamma(k/2)^2 k): E|x_i - p_i| at p_i = 1/2, the largest."""
    half = 0.5 * k
    return math.exp(math.lgamma(k) + (1.0 - k) * math.log(2.0) - 2.0 * math.lgamma(half)) / k


def _rate(theta: float) -> float:
    return within("theta", theta, 1e-300, 1.0, expected="a probability above 0")


def published_concentration(mu: float, theta: float) -> float:
    """k = -log(theta) / (2 mu^2) - 1 (Dirichlet simplex paper, Theorem 4). False: see `concentration`."""
    return -math.log(_rate(theta)) / (2.0 * positive("mu", mu) ** 2) - 1.0


def concentration(size: int, mu: float, theta: float) -> float:
    """The k at which every entry is within mu of the truth with probability at least 1 - theta."""
    entries = integer("size", size, least=2)
    return math.log(2.0 * entries / _rate(theta)) / (2.0 * positive("mu", mu) ** 2) - 1.0


def largest_entry_failure(size: int, k: float, mu: float) -> float:
    """2 n exp(-2 (k+1) mu^2), at least P[some entry is off by more than mu]."""
    return min(1.0, 2.0 * size * math.exp(-2.0 * (k + 1.0) * mu * mu))


def total_variation_failure(size: int, k: float, distance: float) -> float:
    """(2^n - 2) exp(-2 (k+1) t^2), at least P[total variation > t]: one beta tail for each event."""
    log_events = math.log(2.0**size - 2.0) if size < 1000 else size * math.log(2.0)
    return min(1.0, math.exp(min(0.0, log_events - 2.0 * (k + 1.0) * distance * distance)))


def largest_entry_quantile(shapes: Floats, truth: Floats, theta: float) -> float:
    """A mu that the largest entry error exceeds with probability at most theta: exact beta tails, added."""
    theta = _rate(theta)
    others = shapes.sum() - shapes
    kept = (shapes > 0.0) & (others > 0.0)
    a, b, p = shapes[kept], others[kept], truth[kept]

    def failure(mu: float) -> float:
        above = betaincc(a, b, np.minimum(p + mu, 1.0))
        below = betainc(a, b, np.maximum(p - mu, 0.0))
        return float((above + below).sum())

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if failure(middle) <= theta else (middle, high)
    return high


# Any mechanism, on public stand-ins for the data

Typical = Sequence[Floats | Integers]

METRICS = ("tv", "l1", "sup", "kl")
_METRIC_WORDS = {
    "tv": "total variation",
    "l1": "L1 distance",
    "sup": "largest error of an entry",
    "kl": "KL divergence",
}
# Numbers drawn in one simulation, over all entries and typical values.
_BUDGET = 1_600_000
_SIMULATION_SEED = 20_110
# Where the number of records is neither public nor guessed by the user, plans and priors assume this.
_ASSUMED_RECORDS_PER_CATEGORY = 100
# How unequal the entries of typical vectors are: symmetric Dirichlet laws of these shapes, from vectors with
# nearly everything in one entry to entries that are nearly alike. One vector would not do: a uniform one
# makes every shrinkage towards uniform look perfect, and vectors spread evenly make empty entries look rare.
SHAPES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RANGE = "from nearly everything in one entry to nearly equal entries"
PROFILES = (
    "nearly everything in one entry",
    "nearly everything in a few entries",
    "most entries nearly empty",
    "shares spread evenly over all possibilities",
    "unequal entries of one magnitude",
    "nearly equal entries",
)
# Further out than any of these: it widens ranges, and counts in no mean.
EXTREME = "everything in one entry"
_OF_EACH, _OF_EACH_LARGE, _LARGE = 3, 1, 20_000
_SPREAD_SEED = 7
# Between these shares of releases a span ends.
_ENDS = (0.05, 0.95)
# Numbers that may be drawn for mechanisms whose way back from the noise is slow.
_SLOW_BUDGET = 40_000
# Draws for each typical value at least; a large one is many samples already.
_LEAST, _LEAST_SLOW, _LEAST_LARGE = 64, 16, 8
_MOST_ENTRIES = 10_000_000


def typical_values(
    adjacency: Adjacency, size: int, typical: Any = None, records: int | None = None
) -> Typical:
    """The given vector or counts; else vectors of all `SHAPES`, the same every time.

    Where records are counted the vectors become counts of `records` records.
    """
    vectors: Sequence[Floats]
    counted = isinstance(adjacency, (Records, Contributions))
    size = integer("size", size, least=2, most=_MOST_ENTRIES)
    if typical is None:
        rng = np.random.default_rng(_SPREAD_SEED)
        each = _OF_EACH if size < _LARGE else _OF_EACH_LARGE
        vectors = [rng.dirichlet(np.full(size, at)) for at in SHAPES for _ in range(each)]
    else:
        given = as_floats("typical", typical)
        if counted and not abs(given.sum() - 1.0) < 1e-6:
            return [Counts(size).validate(given)]
        vectors = [Simplex(size).validate(given)]
    if not counted:
        return vectors
    total = size * _ASSUMED_RECORDS_PER_CATEGORY
    if records is not None:
        total = integer("records", records, least=1, most=LARGEST_COUNT)
    # Whole numbers that sum to the total, as near to the shares as can be: by largest remainders.
    typical_counts = []
    for vector in vectors:
        exact = vector * total
        counts = np.floor(exact).astype(np.int64)
        counts[np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]] += 1
        typical_counts.append(counts)
    return typical_counts


def extreme_value(adjacency: Adjacency, like: Floats | Integers) -> Floats | Integers:
    """All in one entry, with the size and the sum of a typical value."""
    extreme = np.zeros_like(like)
    extreme[0] = like.sum() if isinstance(adjacency, (Records, Contributions)) else 1.0
    return extreme


def typical_words(adjacency: Adjacency, values: Typical, typical: Any) -> str:
    """What errors are averaged over, in words."""
    counted = isinstance(adjacency, (Records, Contributions))
    of = f" of {int(values[0].sum()):,} records" if counted else ""
    if typical is not None:
        return f"the typical vector given{of}"
    return f"{len(values)} typical vectors{of}, {RANGE}"


def assumed_records(adjacency: Adjacency, size: int, records: int | None) -> int | None:
    """How many records a plan assumes, where nobody said; None where it need not."""
    unknown = isinstance(adjacency, (Records, Contributions)) and records is None
    return size * _ASSUMED_RECORDS_PER_CATEGORY if unknown else None


def assumption(given: bool, of: str, further: Sequence[str] = ()) -> str:
    """On what the errors of a plan are to be expected, in sentences. of: "vectors", or what has such rows.

    further: other values that only widen its ranges, in words.
    """
    if given:
        return f"{assumed([f'the typical {of} given'], of=of)} Ranges hold nine in ten releases."
    told = assumed([*PROFILES, EXTREME, *further], of=of, usual="means over the first six")
    return f"{told} Ranges hold nine in ten releases on each of them."


def by_profile(errors: Sequence[float], releases: Sequence[Floats] = ()) -> Span:
    """The mean of the errors on typical values, and then that on each of the `PROFILES`.

    releases: for each typical value the errors of single releases, of which nine in ten are in the span.
    """
    mean = float(np.mean(errors))
    ends = np.array([np.quantile(drawn, _ENDS) for drawn in releases]).ravel().tolist()
    if len(errors) == 1:
        return Span((mean,), tuple(ends))
    return Span((mean, *np.reshape(errors, (len(SHAPES), -1)).mean(axis=1).tolist()), tuple(ends))


def epsilon_assumption(given: bool, records: int | None) -> str:
    """On what a plan that finds an epsilon tries mechanisms, in a sentence. records: those it assumes."""
    of = "" if records is None else f" of {records:,} records, since their number is not given,"
    if given:
        return f"Tried on the typical vector given{of.rstrip(',')}."
    profiles = "; ".join((*PROFILES, EXTREME))
    return (
        f"Assumed: vectors{of} like one of these: {profiles}. The epsilon is for releases of all of them but "
        "the last taken together; on one of them alone the error may be larger, as is said above."
    )


def no_data_errors(typical: Typical, metric: str = "tv") -> list[float]:
    """The error of equal entries, the best answer without data, for each of the typical values."""
    shares = [np.asarray(value, dtype=np.float64) / value.sum() for value in typical]
    return [float(_metric(metric, share, np.full((1, share.size), 1.0 / share.size))[0]) for share in shares]


def baseline_of(
    typical: Typical, expected: Span, *, assumed: int | None = None, metric: str = "tv"
) -> Baseline:
    """An expected error on typical values beside that of equal entries.

    assumed: so many records are taken for granted, since nobody knows how many there are.
    """
    whose = "" if assumed is None else f" if there are {assumed:,} records"
    measure = f"error of the vector{whose} ({_METRIC_WORDS[metric]})"
    nothing = by_profile(no_data_errors(typical, metric)).errors
    words = ["all of them", *(f"vectors with {profile}" for profile in PROFILES)][: len(nothing)]
    return Baseline.over(measure, "all entries equal", nothing, expected, words)


def expected_errors(mechanism: Any, typical: Typical) -> Errors:
    """The mean errors of a release, averaged over the typical values."""
    return mean_errors(errors_on_each(mechanism, typical))


def errors_on_each(mechanism: Any, typical: Typical) -> list[Errors]:
    """The mean errors of a release, for each of the typical values."""
    if hasattr(mechanism, "errors"):
        return [mechanism.errors(value) for value in typical]
    return [_simulated_errors(truth, draws) for truth, draws in _simulations(mechanism, typical)]


def measured_errors(
    mechanism: Any, typical: Typical, *, confidence: float, extremes: Typical = ()
) -> tuple[Errors, float, Span]:
    """The mean errors over the typical values, the total variation not exceeded with this confidence, and
    the total variation on each profile. extremes: values that only widen the range of the last.
    """
    pairs = _simulations(mechanism, typical)
    if hasattr(mechanism, "errors"):
        each = [mechanism.errors(value) for value in typical]
    else:
        each = [_simulated_errors(truth, draws) for truth, draws in pairs]
    further = _simulations(mechanism, extremes)
    span = by_profile([errors.tv for errors in each], [_metric("tv", *pair) for pair in (*pairs, *further)])
    return mean_errors(each), _quantile(pairs, "tv", confidence), span


def error_quantile(mechanism: Any, typical: Typical, *, metric: str, confidence: float) -> float:
    """An error that is not exceeded with the given confidence, by simulation.

    The order statistic is taken three standard errors further out, so that the figure errs on the
    cautious side in all but about one of 700 cases.
    """
    choice("metric", metric, METRICS)
    return _quantile(_simulations(mechanism, typical), metric, confidence)


def kept_errors(
    mechanism: Any, typical: Typical, *, metric: str, confidence: float, extremes: Typical = ()
) -> Span:
    """What releases stay below with the given confidence: on all typical values together, on each profile.

    extremes: values that only widen the range.
    """
    pairs = _simulations(mechanism, typical)
    every = _quantile(pairs, metric, confidence)
    if len(pairs) == 1:
        return Span((every,))
    each = len(pairs) // len(SHAPES)
    parts = [pairs[first : first + each] for first in range(0, len(pairs), each)]
    further = [_quantile([pair], metric, confidence) for pair in _simulations(mechanism, extremes)]
    return Span((every, *(_quantile(part, metric, confidence) for part in parts)), tuple(further))


def _quantile(pairs: list[tuple[Floats, Floats]], metric: str, confidence: float) -> float:
    errors = np.sort(np.concatenate([_metric(metric, truth, draws) for truth, draws in pairs]))
    rank = confidence * errors.size + 3.0 * math.sqrt(errors.size * confidence * (1.0 - confidence))
    return float(errors[min(errors.size - 1, math.ceil(rank))])


def _simulations(mechanism: Any, typical: Typical) -> list[tuple[Floats, Floats]]:
    """For each typical value what a release estimates, and draws; the same ones for the same question."""
    if not len(typical):
        return []
    rng = np.random.default_rng(_SIMULATION_SEED)
    draw = getattr(mechanism, "simulate", mechanism.sample)
    is_slow = getattr(mechanism, "onto", None) == "shrinkage"
    least, budget = (_LEAST_SLOW, _SLOW_BUDGET) if is_slow else (_LEAST, _BUDGET)
    least = least if typical[0].size < _LARGE else _LEAST_LARGE
    samples = max(least, min(8_000, budget // (len(typical) * typical[0].size)))
    simulations = []
    for value in typical:
        truth = np.asarray(mechanism.validate(value), dtype=np.float64)
        if isinstance(mechanism.domain, Counts):
            truth = mechanism.domain.shares(truth)
        simulations.append((truth, np.asarray(draw(value, rng=rng, size=samples))))
    return simulations


def _simulated_errors(truth: Floats, draws: Floats) -> Errors:
    gaps = np.abs(draws - truth)
    entries, rmse = gaps.mean(axis=0), math.sqrt(float((gaps**2).mean()))
    l1, kl = float(entries.sum()), float(_metric("kl", truth, draws).mean())
    return Errors(l1, 0.5 * l1, rmse, kl, tuple(map(float, entries)))


def _metric(metric: str, truth: Floats, draws: Floats) -> Floats:
    gaps = np.abs(draws - truth)
    if metric == "sup":
        return np.asarray(gaps.max(axis=-1))
    if metric == "kl":
        present = truth > 0.0
        with np.errstate(divide="ignore"):
            logs = np.log(truth[present]) - np.log(draws[:, present])
        return np.asarray((truth[present] * logs).sum(axis=-1))
    total = np.asarray(gaps.sum(axis=-1))
    return total if metric == "l1" else 0.5 * total
