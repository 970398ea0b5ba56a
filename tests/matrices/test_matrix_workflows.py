"""Private matrices from start to end: at the budget, from public numbers alone."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import veil
from veil.core.intake import NamedMatrix, named_matrix
from veil.errors import CannotCalibrate, InvalidArgument, InvalidData, UnreadableFile
from veil.matrices.chain_intake import Reducible
from veil.matrices.chain_summary import chain_facts
from veil.matrices.commands import read_chain
from veil.matrices.planning import MatrixPlan, MatrixRow, calibrated_matrix, calibrated_rows, plan_matrix
from veil.matrices.requests import MatrixRelease
from veil.matrices.stochastic import ZEROS_ARE_PUBLIC

EACH = veil.vectors.Transfer(0.01)
ONE, ALL = veil.matrices.Rows(1, EACH), veil.matrices.Rows("all", EACH)
FULL = np.ones((3, 3), dtype=bool)
ZEROS = np.array([[True, True, False], [True, True, True], [True, False, False]])
MATRIX = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
THIN = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]])
NAMED = NamedMatrix(MATRIX, ("a", "b", "c"), ("a", "b", "c"))
BUDGET: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-3}


# Calibration


@pytest.mark.slow_for("dirichlet-support4")
@pytest.mark.parametrize(
    ("name", "support"),
    [
        *((name, support) for name in ("laplace", "gaussian") for support in (FULL, ZEROS)),
        ("dirichlet", FULL),
        pytest.param("dirichlet", ZEROS, marks=pytest.mark.slow),
    ],
)
def test_one_row_meets_the_budget_exactly(name: str, support: Any) -> None:
    mechanism = calibrated_matrix(name, ONE, support, **BUDGET)
    profile = mechanism.profile(ONE)
    assert profile.delta(2.0) <= 1e-3
    assert 2.0 * (1 - 1e-6) <= profile.epsilon(1e-3) <= 2.0
    drawn = mechanism.sample(np.where(support, MATRIX, 0.0) / (MATRIX * support).sum(axis=1)[:, None], rng=1)
    assert (drawn[~support] == 0.0).all()
    assert (mechanism.assumptions(ONE) == ()) == bool(support.all())


@pytest.mark.parametrize(
    ("name", "adjacency"),
    [
        pytest.param("dirichlet", veil.matrices.Rows(2, EACH), marks=pytest.mark.slow),
        ("laplace", veil.matrices.Rows(2, EACH)),
        ("laplace", ALL),
    ],
)
def test_several_rows_meet_it_together(name: str, adjacency: veil.matrices.Rows) -> None:
    mechanism = calibrated_matrix(name, adjacency, FULL, **BUDGET)
    found = mechanism.profile(adjacency).epsilon(1e-3)
    assert 1.98 <= found <= 2.0
    assert mechanism.profile(ONE).epsilon(1e-3) < 1.5


@pytest.mark.slow
def test_laplace_scales_are_those_of_the_formula() -> None:
    for adjacency, rows in ((ONE, 1), (veil.matrices.Rows(2, EACH), 2), (ALL, 3)):
        mechanism: Any = calibrated_matrix("laplace", adjacency, FULL, epsilon=2.0)
        assert mechanism.mechanism.scale == pytest.approx(2 * rows * 0.01 / 2.0, rel=1e-9)
        assert mechanism.profile(adjacency).epsilon(0.0) <= 2.0
    thin: Any = calibrated_matrix("laplace", ALL, ZEROS, epsilon=2.0)
    assert thin.mechanism.scale == pytest.approx(2 * 2 * 0.01 / 2.0, rel=1e-9)


def test_the_published_form_assumes_its_floor() -> None:
    for support in (FULL, ZEROS):
        mechanism = calibrated_matrix(
            "dirichlet", ONE, support, epsilon=2.0, delta=1e-2, floor=0.2, smooth=False
        )
        assert isinstance(mechanism, veil.matrices.MatrixDirichlet)
        assert not mechanism.smooth
        assert mechanism.profile(ONE).delta(2.0) <= 1e-2
        assert "at least 0.2" in mechanism.assumptions(ONE)[0]
        assert (ZEROS_ARE_PUBLIC in mechanism.assumptions(ONE)) == (support is ZEROS)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("laplase", {}, "^mechanism: expected 'dirichlet' or 'laplace' or 'gaussian'"),
        ("dirichlet", {"smooth": False}, "^floor: expected a floor"),
        ("dirichlet", {"floor": 0.4}, "^floor: expected a number above 0 and below 1/3"),
        ("laplace", {"epsilon": -1.0}, "^epsilon"),
    ],
)
def test_wrong_arguments(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        calibrated_matrix(name, ONE, FULL, **(BUDGET | options))


def test_what_needs_a_delta_says_so() -> None:
    for name in ("dirichlet", "gaussian"):
        with pytest.raises(CannotCalibrate, match=f"delta: {name} needs a delta above 0"):
            calibrated_matrix(name, ONE, FULL, epsilon=2.0)


# Rows of different widths


@pytest.mark.slow
def test_each_kind_of_row_is_at_the_budget_by_itself() -> None:
    support = np.array([[True] * 4, [True, True, True, False], [True] * 4, [True, False, False, False]])
    mechanism, kinds = calibrated_rows(support, ONE, **BUDGET)
    assert [(kind.entries, kind.rows) for kind in kinds] == [(3, 1), (4, 2)]
    for kind in kinds:
        alone = veil.vectors.Dirichlet(
            kind.k, veil.vectors.Simplex(kind.entries, floor=kind.floor), smooth=True
        )
        assert alone.profile(EACH).epsilon(1e-3) == pytest.approx(2.0, rel=1e-6)
    assert mechanism.k[0] == mechanism.k[2] == kinds[1].k
    assert mechanism.k[1] == kinds[0].k
    assert mechanism.domain.domains[3] is None
    assert mechanism.smooth


def test_a_given_floor_is_kept() -> None:
    mechanism, (kind,) = calibrated_rows(FULL, ONE, floor=0.1, **BUDGET)
    assert kind.floor == 0.1
    assert (kind.entries, kind.rows) == (3, 3)
    assert mechanism.k == kind.k
    assert mechanism.profile(ONE).epsilon(1e-3) == pytest.approx(2.0, rel=1e-6)


def test_stacks_have_as_many_rows_as_states_and_actions() -> None:
    mechanism, (kind,) = calibrated_rows(np.ones((2, 2, 3), dtype=bool), ONE, floor=0.1, **BUDGET)
    assert kind.rows == mechanism.rows == 4
    assert mechanism.sample(np.full((2, 2, 3), 1 / 3), rng=1).shape == (2, 2, 3)


@pytest.mark.parametrize(
    "support", [np.zeros((2, 2), dtype=bool), np.eye(2, dtype=bool), np.array([[True, True], [False, False]])]
)
def test_supports_without_anything_to_hide(support: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^support: expected a column for every row, and two for some"):
        calibrated_rows(support, ONE, **BUDGET)


# Plans


@cache
def planned(epsilon: float = 2.0) -> MatrixPlan:
    return plan_matrix(ONE, FULL, epsilon=epsilon, delta=1e-3)


@pytest.mark.slow
def test_plans_are_ordered_and_repeat() -> None:
    plan = planned()
    errors = [row.row_tv for row in plan.rows]
    assert errors == sorted(errors)
    assert {row.name for row in plan.rows} == {"dirichlet", "laplace", "gaussian"}
    assert plan.best is plan.rows[0]
    assert plan.to_dict() == plan_matrix(ONE, FULL, **BUDGET).to_dict()
    for row in plan.rows:
        assert row.row_tv < row.row_tv95
        assert row.stationary_tv is not None
    assert json.loads(json.dumps(plan.to_dict()))["mechanisms"][0]["possible"] is True


@pytest.mark.slow
def test_planned_errors_are_those_that_come_true() -> None:
    """2,000 draws give the mean to about 1 %; the plan's 50 to about 6 % (five standard errors: 30 %)."""
    plan = plan_matrix(ONE, FULL, typical=MATRIX, **BUDGET)
    for row in plan.rows:
        assert row.mechanism is not None
        drawn = row.mechanism.sample(MATRIX, rng=9, size=2_000)
        gaps = 0.5 * np.abs(drawn - MATRIX).sum(axis=-1)
        assert row.row_tv == pytest.approx(gaps.mean(), rel=0.3)
        assert row.row_tv95 == pytest.approx(np.quantile(gaps, 0.95), rel=0.3)
        truth = veil.Chain(MATRIX).stationary()
        moved = [0.5 * np.abs(veil.Chain(matrix).stationary() - truth).sum() for matrix in drawn[:300]]
        assert row.stationary_tv == pytest.approx(np.mean(moved), rel=0.3)


@pytest.mark.slow
def test_a_smaller_budget_costs_accuracy() -> None:
    wide, narrow = planned(16.0), planned(2.0)
    for name in ("dirichlet", "laplace", "gaussian"):
        cheap, dear = (next(row for row in plan.rows if row.name == name) for plan in (wide, narrow))
        assert cheap.row_tv < 0.8 * dear.row_tv


@pytest.mark.slow
def test_policies_have_no_long_run() -> None:
    plan = plan_matrix(ONE, np.ones((2, 3), dtype=bool), **BUDGET)
    assert all(row.stationary_tv is None for row in plan.rows)


def test_impossible_mechanisms_come_last_with_their_reason() -> None:
    plan = plan_matrix(ONE, FULL, epsilon=2.0, delta=0.0)
    assert plan.rows[0].name == "laplace"
    for row in plan.rows[1:]:
        assert row.mechanism is None
        assert row.why == f"delta: {row.name} needs a delta above 0, found 0."
    described = plan.to_dict()["mechanisms"][1:]
    assert [entry["possible"] for entry in described] == [False, False]
    none = MatrixPlan((MatrixRow("dirichlet", None, why="no reason"),), ONE, 2.0, 0.0)
    with pytest.raises(CannotCalibrate, match="no mechanism reaches epsilon=2 here: no reason"):
        _ = none.best


@pytest.mark.parametrize(
    ("field", "value"), [("epsilon", 0.0), ("epsilon", math.nan), ("delta", -1.0), ("delta", 2.0)]
)
def test_impossible_budgets(field: str, value: float) -> None:
    with pytest.raises(InvalidArgument, match=f"^{field}"):
        plan_matrix(ONE, FULL, **(BUDGET | {field: value}))


# Jobs


class Book:
    """A ledger that writes down what is asked of it."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        self.log.append((epsilon, delta, description["name"]))
        return "entry-1"

    def confirm(self, entry: str) -> None:
        self.log.append(entry)


def test_a_job_draws_nothing_until_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("drawn")

    with monkeypatch.context() as patched:
        patched.setattr(veil.matrices.RowByRow, "_draw", never)
        job = MatrixRelease(transfer=0.01, mechanism="laplace", **BUDGET).prepare(NAMED)
    assert job.epsilon <= 2.0
    book = Book()
    out = job.run(ledger=book, rng=1)
    assert book.log == [(job.epsilon, 1e-3, "RowByRow"), "entry-1"]
    assert (out.epsilon, out.delta, out.entry) == (job.epsilon, 1e-3, "entry-1")
    assert out.labels == out.row_labels == ("a", "b", "c")
    assert out.kind.name == "matrix"
    assert out.reproducible
    np.testing.assert_allclose(out.value, MATRIX, atol=0.2)


def test_a_pure_job() -> None:
    job = MatrixRelease(rows="all", transfer=0.01, epsilon=2.0, delta=0.0, mechanism="laplace").prepare(NAMED)
    out = job.run(rng=1)
    assert out.delta == 0.0
    assert out.epsilon == job.epsilon == pytest.approx(2.0, rel=1e-9)
    assert out.epsilon <= 2.0


def test_labels_become_text() -> None:
    job = MatrixRelease(transfer=0.01, mechanism="laplace", **BUDGET).prepare(
        NamedMatrix(MATRIX, (1, 2, 3), None)
    )
    assert (job.row_labels, job.labels) == (("1", "2", "3"), None)
    thin = named_matrix("m", sparse.csr_array(THIN))
    assert (
        MatrixRelease(transfer=0.01, mechanism="laplace", **BUDGET).prepare(thin).value.tolist()
        == THIN.tolist()
    )


def test_counts_are_normalised_on_request() -> None:
    counts = NamedMatrix(np.array([[5.0, 3.0, 2.0], [10.0, 60.0, 30.0], [1.0, 1.0, 2.0]]))
    with pytest.raises(InvalidData, match="sum to 1"):
        MatrixRelease(transfer=0.01, mechanism="laplace", **BUDGET).prepare(counts)
    job = MatrixRelease(transfer=0.01, mechanism="laplace", normalise=True, **BUDGET).prepare(counts)
    np.testing.assert_allclose(job.value, MATRIX, rtol=1e-15)
    assert counts.entries[0, 0] == 5.0


@pytest.mark.slow
def test_supports() -> None:
    data = NamedMatrix(THIN)
    own = MatrixRelease(transfer=0.01, mechanism="laplace", support="zeros", **BUDGET).prepare(data)
    given = MatrixRelease(transfer=0.01, mechanism="laplace", support=THIN > 0.0, **BUDGET).prepare(data)
    assert own.mechanism == given.mechanism
    assert own.mechanism.assumptions(ONE) == (ZEROS_ARE_PUBLIC,)
    assert ((own.run(rng=1).value > 0.0) <= (THIN > 0.0)).all()
    free = MatrixRelease(transfer=0.01, mechanism="laplace", **BUDGET).prepare(data).run(rng=3)
    assert free.assumptions == ()
    assert (free.value[THIN == 0.0] > 0.0).any()


@pytest.mark.slow
def test_auto_takes_the_best_of_the_plan() -> None:
    job = MatrixRelease(transfer=0.01, mechanism="auto", **BUDGET).prepare(NAMED)
    assert job.mechanism == planned().best.mechanism


@pytest.mark.parametrize(
    ("entries", "options", "error", "words"),
    [
        (np.ones((3, 1)), {}, InvalidData, r"^matrix: expected rows of two or more numbers, found shape"),
        (np.ones(3) / 3, {}, InvalidData, r"^matrix: expected rows of two or more"),
        (np.ones((2, 2, 2)) / 2, {}, InvalidData, r"^matrix: expected rows of two or more"),
        (np.array([[0.5, 0.5], [np.nan, 1.0]]), {}, InvalidData, "finite"),
        (np.array([[0.5, 0.5], [np.nan, 1.0]]), {"normalise": True}, InvalidData, "finite"),
        (np.array([[0.5, 0.5], [-1.0, 2.0]]), {"normalise": True}, InvalidData, "negative"),
        (np.array([[0.5, 0.5], [0.0, 0.0]]), {"normalise": True}, InvalidData, "sum to 1"),
        (MATRIX, {"mechanism": "auto?"}, InvalidArgument, "^mechanism: expected 'auto' or"),
        (MATRIX, {"support": "zero"}, InvalidArgument, '^support: expected "zeros", or a file'),
        (MATRIX, {"support": "ones"}, UnreadableFile, "^ones: expected .*, found no such file"),
        (MATRIX, {"support": np.ones((2, 3), dtype=bool)}, InvalidData, r"^support: .*\(3, 3\).*\(2, 3\)"),
        (MATRIX, {"support": THIN > 0.0}, InvalidData, "zeros outside the support"),
        (MATRIX, {"mechanism": "dirichlet", "floor": 0.4}, InvalidArgument, "^floor: .* and below 1/3"),
        (MATRIX, {"floor": 0.1}, InvalidArgument, "^floor: expected the mechanism dirichlet with it"),
        (MATRIX, {"smooth": False}, InvalidArgument, "^smooth: expected the mechanism dirichlet"),
        (MATRIX, {"epsilon": 0.0}, InvalidArgument, "^epsilon"),
        (MATRIX, {"delta": 1.5}, InvalidArgument, "^delta"),
        (MATRIX, {"mechanism": "gaussian", "delta": 0.0}, CannotCalibrate, "needs a delta"),
    ],
)  # fmt: skip
def test_impossible_jobs(entries: Any, options: dict[str, Any], error: Any, words: str) -> None:
    arguments: dict[str, Any] = BUDGET | {"mechanism": "laplace"} | options
    with pytest.raises(error, match=words):
        MatrixRelease(transfer=0.01, **arguments).prepare(NamedMatrix(entries))


def test_the_published_form_refuses_matrices_below_its_floor() -> None:
    options: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-2, "smooth": False}
    with pytest.raises(InvalidData, match=r"at least the floor 0\.15"):
        MatrixRelease(transfer=0.01, floor=0.15, **options).prepare(NAMED)
    fine = MatrixRelease(transfer=0.01, floor=0.15, **options).prepare(NamedMatrix(np.full((3, 3), 1 / 3)))
    assert "at least 0.15" in fine.mechanism.assumptions(ONE)[0]


# Chains from files


def test_read_chain(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("from,b,a\na,0.1,0.9\nb,0.4,0.6\n")
    (tmp_path / "list.csv").write_text("from,to,p\na,a,0.9\na,b,0.1\nb,a,0.6\nb,b,0.4\n")
    (tmp_path / "chain.json").write_text('{"a": {"a": 0.9, "b": 0.1}, "b": {"a": 0.6, "b": 0.4}}')
    for name in ("table.csv", "list.csv", "chain.json"):
        chain, release = read_chain(str(tmp_path / name))
        assert release is None
        assert chain == veil.Chain([[0.9, 0.1], [0.6, 0.4]], states=["a", "b"])
    out = MatrixRelease(transfer=0.01, mechanism="laplace", **BUDGET).prepare(NAMED).run(rng=1)
    out.save(tmp_path / "out.json")
    chain, release = read_chain(str(tmp_path / "out.json"))
    assert release == out
    assert chain == veil.matrices.to_chain(out)


def test_facts_by_hand() -> None:
    a, b = 0.1, 0.5
    facts = chain_facts(veil.Chain([[1 - a, a], [b, 1 - b]]))
    rate = -(5 / 6 * (0.9 * math.log(0.9) + 0.1 * math.log(0.1)) + 1 / 6 * math.log(0.5))
    expected = {
        "states": 2,
        "pairs": 4,
        "classes": 1,
        "period": 1,
        "second_eigenvalue": 0.4,
        "mixing_time": 2,
        "ergodicity_1": 0.4,
        "ergodicity_inf": 0.4,
        "condition": 1 / 0.6,
        "kemeny": 1 / 0.6,
        "entropy_rate": rate,
        "likely_ways": math.exp(rate),
    }
    assert set(facts.to_dict()) == set(expected)
    for name, number in expected.items():
        assert facts.to_dict()[name] == pytest.approx(number, rel=1e-12), name


def test_kemeny_is_as_far_from_every_start() -> None:
    chain = veil.Chain(MATRIX)
    from_each = chain.hitting_times() @ chain.stationary()
    assert from_each == pytest.approx(chain_facts(chain).kemeny, rel=1e-12)


def test_facts_of_chains_that_lack_some() -> None:
    cycle = chain_facts(veil.Chain([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    assert (cycle.period, cycle.mixing_time) == (3, math.inf)
    assert cycle.to_dict()["mixing_time"] is None
    assert cycle.likely_ways == 1.0
    apart = chain_facts(veil.Chain([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert apart.classes == 3
    absent = ("period", "mixing_time", "condition", "kemeny", "entropy_rate", "likely_ways")
    assert all(getattr(apart, name) is None for name in absent)
    assert apart.ergodicity_1 == 1.0
    with pytest.raises(Reducible):
        veil.Chain(np.eye(2)).stationary()
    size = 3_200
    here = np.arange(size)
    ring = sparse.csr_array((np.ones(size), (here, (here + 1) % size)), shape=(size, size))
    large = chain_facts(veil.Chain(0.5 * ring + 0.5 * sparse.eye_array(size)))
    assert (large.states, large.pairs, large.classes, large.period) == (size, 2 * size, 1, 1)
    assert large.entropy_rate == pytest.approx(math.log(2), rel=1e-12)
    dense_only = ("second_eigenvalue", "mixing_time", "ergodicity_1", "ergodicity_inf", "condition", "kemeny")
    assert all(getattr(large, name) is None for name in dense_only)
