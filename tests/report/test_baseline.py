"""Plans and reports say when a release is no better than an answer that uses no data."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from veil import bits, chains, graphs, matrices, vectors, words
from veil.bits.accuracy import curator_error, pair_error, share_error
from veil.bits.estimation import signals_of
from veil.bits.profiles import PROFILES, BitProfile
from veil.core.baseline import NO_BETTER, Baseline
from veil.core.record import Release
from veil.report.figures import baseline_figure
from veil.vectors.accuracy import no_data_errors
from veil.words.language import FreeWords
from veil.words.profiles import no_data_error as fixed_word_error

_TABLE = np.random.default_rng(3).random((200, 6)) < 0.3
_COUNTS = np.random.default_rng(4).multinomial(5_000, np.arange(16) / 120).reshape(4, 4)
_MATRIX = _COUNTS / _COUNTS.sum(axis=1, keepdims=True)
_EDGES = graphs.read([(i, (i + 1) % 12) for i in range(12)] + [(0, 5), (2, 7), (3, 9)])

# Of each kind a plan and a release at an epsilon that is worth something, and at one that is worth nothing.
PLANS: dict[str, Any] = {
    "vector": lambda e: vectors.plan(size=5, records=200, epsilon=e),
    "matrix": lambda e: matrices.plan(states=4, l1=0.1, epsilon=e),
    "chain": lambda e: chains.plan(states=4, records=500, epsilon=e),
    "words": lambda e: words.plan(symbols=6, length=4, epsilon=e),
    "bits": lambda e: bits.plan(columns=6, rows=200, epsilon=e),
    "graph": lambda e: graphs.plan(nodes=12, edges=15, epsilon=e),
}
RELEASES: dict[str, Any] = {
    "vector": lambda e: vectors.release([50, 60, 40, 30, 20], epsilon=e, records=200, rng=1),
    "matrix": lambda e: matrices.release(_MATRIX, l1=0.1, epsilon=e, rng=1),
    "chain": lambda e: chains.release(_COUNTS, epsilon=e, rng=1),
    "words": lambda e: words.release([list("abcd"), list("badc")], epsilon=e, rng=1),
    "bits": lambda e: bits.release(_TABLE, epsilon=e, rng=1),
    "graph": lambda e: graphs.release(_EDGES, epsilon=e, rng=1),
}
MUCH, HARDLY = 20.0, 0.002
# Their pages compare mechanisms or decode.
_SLOW = ("vector", "matrix", "chain", "graph")


@pytest.mark.slow_for("chain", "vector")
@pytest.mark.parametrize("kind", PLANS)
def test_every_plan_has_the_error_of_an_answer_without_data(kind: str) -> None:
    good, bad = PLANS[kind](MUCH), PLANS[kind](HARDLY)
    assert good.baselines
    assert bad.baselines
    assert not any(line.useless for line in good.baselines)
    assert all(line.useless for line in bad.baselines)
    told = bad.to_dict()["knowing_nothing"]
    assert [line["no_better_than_nothing"] for line in told] == [True] * len(bad.baselines)
    assert f"{NO_BETTER} at this epsilon" in str(bad)
    assert f"{NO_BETTER} at this epsilon." not in str(good)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [*("words", "bits"), *(pytest.param(kind, marks=pytest.mark.slow) for kind in _SLOW)]
)
def test_every_report_says_when_it_is_useless(kind: str) -> None:
    good, bad = _pages(RELEASES[kind](MUCH)), _pages(RELEASES[kind](HARDLY))
    for page in (good, bad):
        assert "Is it better than knowing nothing?" in page
        # The dashed line, with its name.
        assert NO_BETTER in page
    assert f"{NO_BETTER} at this epsilon." in bad
    assert f"{NO_BETTER} at this epsilon." not in good


def _pages(release: Release[Any]) -> str:
    return release.kind.page(release)


@pytest.mark.slow_for("matrix", "bits", "vector")
@pytest.mark.parametrize("kind", PLANS)
def test_every_plan_picture_has_the_dashed_line(kind: str) -> None:
    from veil.core.kind import kind_named

    plans = [PLANS[kind](epsilon) for epsilon in (1.0, 2.0)]
    (axes,) = kind_named(kind).plot_plans(plans, 1.0).axes
    dashed = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    heights = {float(np.ravel(line.get_ydata())[0]) for line in dashed}
    assert {line.nothing for line in plans[0].baselines} <= heights
    assert any(text.get_text() == NO_BETTER for text in axes.texts)


def test_words_of_a_baseline() -> None:
    line = Baseline("error", "a guess", 0.2, 0.1, ("flat tables",))
    assert not line.useless
    assert line.words == (
        "Error: 0.1 to be expected, 0.2 without any data (a guess): "
        "no better than knowing nothing at this epsilon for flat tables."
    )
    assert Baseline("error", "a guess", 0.2, 0.2).useless
    assert Baseline("error", "a guess", 0.2, math.inf).useless
    # However large the error is, the picture stays readable.
    (axes,) = baseline_figure([Baseline("error", "a guess", 0.2, 200.0)]).axes
    assert axes.get_xlim()[1] < 5.0


def test_the_answers_without_data_are_what_they_say() -> None:
    # A half for shares spread over 0 to 1; equal entries against a vector with all in one place.
    assert PROFILES[0].no_share_error == pytest.approx(0.25, abs=1e-3)
    assert no_data_errors([np.array([1.0, 0.0, 0.0, 0.0])]) == pytest.approx([0.75])
    # Of free words every fixed word has the same error: all places wrong but one in as many as symbols.
    language = FreeWords(5, 200)
    assert fixed_word_error(language) == pytest.approx(200 * 0.8)


def test_a_plan_for_an_unknown_number_of_rows_supposes_one() -> None:
    plan = bits.plan(columns=6, epsilon=1.0)
    known = bits.plan(columns=6, rows=1_000, epsilon=1.0)
    assert [line.measure for line in plan.baselines] == [
        "error of a column's share if there are 1,000 rows",
        "error of a pair of columns (total variation) if there are 1,000 rows",
    ]
    assert [line.expected for line in plan.baselines] == [line.expected for line in known.baselines]
    assert len(plan.to_dict()["knowing_nothing"]) == 2
    assert "if there are 1,000 rows" in str(plan)
    given = bits.plan(columns=6, epsilon=1.0, typical=_TABLE)
    assert "if there are 200 rows" in given.baselines[0].measure


def test_the_words_of_a_plan_without_edges_still_say_something() -> None:
    plan = graphs.plan(nodes=100, epsilon=1.0)
    (line,) = plan.baselines
    assert line.measure == "wrong pairs of the graph as released if there are 1,000 edges"
    assert (line.nothing, line.expected) == (1_000, graphs.plan(nodes=100, edges=5, epsilon=1.0).wrong_pairs)
    assert "unless there are more than" in str(plan)


def test_a_curator_is_named_where_counts_would_do_better() -> None:
    # The known case: 17 shares of 435 records at epsilon = 2.
    plan = bits.plan(columns=17, rows=435, epsilon=2.0)
    assert plan.curator_is_better
    assert plan.curator_error == pytest.approx(0.0195, abs=5e-4)
    assert plan.best.mean_error is not None
    assert plan.best.mean_error.low < 0.099 < plan.best.mean_error.high
    assert "A trusted curator with plain noisy counts would do better" in str(plan)
    assert plan.to_dict()["trusted_curator"]["better"]
    # Single bits of one column: the counts of a curator have the same sensitivity, but few rows no privacy.
    few = bits.plan(columns=400, rows=3, epsilon=4.0)
    assert not few.curator_is_better
    assert "trusted curator" not in str(few)


def test_the_curator_s_error_is_that_of_geometric_noise() -> None:
    alpha, values = math.exp(-2.0 / 17), np.arange(-4000, 4001)
    weights = (1 - alpha) / (1 + alpha) * alpha ** np.abs(values)
    assert curator_error(17, 435, 2.0) == pytest.approx(weights @ np.abs(values) / 435, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 8.0])
def test_planned_errors_of_bits_are_those_of_releases(epsilon: float) -> None:
    """Against releases themselves, on the same table: within 15 %."""
    truth, profile = _TABLE, BitProfile.of(_TABLE)
    release = bits.release(truth, epsilon=epsilon, rng=0)
    mechanism, shares, tables = release.mechanism, [], []
    for drawn in mechanism.sample(truth, rng=np.random.default_rng(5), size=60):
        reading = replace(bits.estimates(release), table=drawn)
        told = np.array([share for _, share, *_ in reading.listed])
        shares.append(np.abs(told - truth.mean(axis=0)).mean())
        cut = np.maximum(reading.pairs().value, 0.0)
        cut /= cut.sum(axis=(1, 2), keepdims=True)
        tables.append(0.5 * np.abs(cut - profile.pairs).sum(axis=(1, 2)).mean())
    signals = signals_of(mechanism, truth.shape[1])
    signal = float(signals.single)
    assert share_error(signal, len(truth), profile.shares) == pytest.approx(np.mean(shares), rel=0.15)
    assert pair_error(signals, len(truth), profile.pairs) == pytest.approx(np.mean(tables), rel=0.15)


def test_a_typical_table_must_have_the_columns() -> None:
    from veil.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match="rows of 5 columns"):
        bits.plan(columns=5, rows=10, epsilon=1.0, typical=_TABLE)
    plan = bits.plan(columns=6, rows=200, epsilon=1.0, typical=_TABLE)
    assert plan.assumes == (
        "Errors are those on the typical table that was given. Shares of ones are kept between 0 and 1."
    )
    assert plan.best.mean_error is not None
    assert plan.best.mean_error.low == plan.best.mean_error.high


def test_a_long_measure_is_short_in_the_picture() -> None:
    measure = "error of the vector if there are 1,200 records (total variation)"
    (axes,) = baseline_figure([Baseline(measure, "all entries equal", 0.4, 0.1)]).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["error of the vector"]
