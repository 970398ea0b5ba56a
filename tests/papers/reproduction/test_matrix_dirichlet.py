"""The matrix Dirichlet paper, reproduced: every exhibit, its printed numbers, and checks by other means."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betaln
from scipy.stats import beta, norm
from veil_papers.matrix_dirichlet import FLOOR, GAMMA, MOVED, SLACK, road_chain, theorem_2_absolute
from veil_papers.reproduction.finding import Curve, Finding, Line
from veil_papers.reproduction.matrix_dirichlet import PAPER
from veil_papers.reproduction.road_town import agreement, best_for, stationary_errors

from veil.core.arrays import Floats
from veil.matrices.adjacency import Rows
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.vectors.accuracy import expected_absolute_deviation
from veil.vectors.simplex import Transfer

from .conftest import Findings

# Each exhibit is run, which takes a while.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]

# Made by this paper's recipe and printed to these digits; all other printed numbers differ, and say why.
_MET = {"Section V": {"1.16", "11.12"}, "Figure 1": set(), "Figure 2": set(), "Figure 3": set()}


@pytest.fixture(scope="module")
def findings(findings_of: Findings) -> dict[str, Finding]:
    return findings_of(PAPER)


def _line(finding: Finding, start: str) -> Line:
    (found,) = [line for line in finding.lines if line.what.startswith(start)]
    return found


def _curve(finding: Finding, panel: int, label: str) -> Curve:
    (found,) = [curve for curve in finding.panels[panel].curves if curve.label == label]
    return found


def _theorem_1(k: float, b: float, protected: int, slack: float = SLACK) -> float:
    """Theorem 1's epsilon, written out."""
    ratio = betaln(k * FLOOR, k * (1 - slack - FLOOR)) - betaln(
        k * (FLOOR + b / 2), k * (1 - slack - FLOOR - b / 2)
    )
    return float(ratio + k * b / 2 * math.log((1 - (protected - 1) * GAMMA) / GAMMA))


def _exact_one_row(k: float, b: float, delta: float) -> float:
    """The epsilon of Beta(a + s, a) against Beta(a, a + s): by the definition, without Veil."""
    a, s = k * FLOOR, k * b / 2

    def excess(epsilon: float) -> float:
        # The loss s log(t / (1 - t)) exceeds epsilon beyond this point.
        edge = 1.0 / (1.0 + math.exp(-epsilon / s))
        return float(beta.sf(edge, a + s, a) - math.exp(epsilon) * beta.sf(edge, a, a + s)) - delta

    return float(brentq(excess, 0.0, 40.0, xtol=1e-12))


@pytest.mark.parametrize("name", [exhibit.name for exhibit in PAPER.exhibits])
def test_every_exhibit(findings: dict[str, Finding], name: str) -> None:
    finding = findings[name]
    assert finding.lines
    assert finding.panels
    assert {line.printed for line in finding.lines if line.met} == _MET[name]
    for line in finding.lines:
        assert line.why, line.what
        assert line.found is not None or line.veil is not None, line.what
    again = Finding.from_dict(finding.to_dict())
    assert again.to_dict() == finding.to_dict()
    assert all(len(curve.x) == len(curve.y) <= 200 for panel in finding.panels for curve in panel.curves)
    assert ("made-up" in finding.stand_in) is (name in ("Figure 2", "Figure 3"))


def test_headline(findings: dict[str, Finding]) -> None:
    """The mean error at the same exact privacy, one changed row: Veil's is about half."""
    (headline,) = [line for finding in findings.values() for line in finding.lines if line.headline]
    assert headline.met is None
    assert isinstance(headline.found, float)
    assert isinstance(headline.veil, float)
    # alpha: both are means of 1,500 errors whose standard deviation is below 0.1
    assert headline.found == pytest.approx(0.394, abs=0.012)
    assert headline.veil == pytest.approx(0.203, abs=0.012)


def test_stated_numbers(findings: dict[str, Finding]) -> None:
    """What is a function of stated parameters, written out here."""
    one, five, three = findings["Figure 1"], findings["Section V"], findings["Figure 3"]
    for finding, what, k, b, protected in (
        (five, "9.87", 9.87, MOVED, 2),
        (five, "98.7", 98.7, MOVED, 2),
        (three, "10", 10.0, MOVED, 2),
        (three, "200", 200.0, MOVED, 2),
        (one, "10", 10.0, 0.05, 4),
        (one, "100", 100.0, 0.05, 4),
    ):
        (line,) = [line for line in finding.lines if line.what == f"ε of k = {what}"]
        assert line.found == pytest.approx(_theorem_1(k, b, protected), rel=1e-9)
    # No eta-bar makes Figure 1 begin at 2.5, and 0.01 makes it end at 22.5.
    assert max(_theorem_1(10.0, 0.05, 4, slack) for slack in np.linspace(1e-9, 0.4, 50)) < 2.36
    assert _theorem_1(100.0, 0.05, 4, 0.01) == pytest.approx(22.5, abs=0.05)
    # The k to which the ends of Figure 3 would belong.
    assert brentq(lambda k: _theorem_1(k, MOVED, 2) - 0.5, 1.0, 300.0) == pytest.approx(3.8, abs=0.05)
    assert brentq(lambda k: _theorem_1(k, MOVED, 2) - 9.0, 1.0, 300.0) == pytest.approx(80.0, abs=0.5)


def test_delta_by_simulation(findings: dict[str, Finding]) -> None:
    """The formula's delta is the chance that an entry falls below gamma, at the worst of the matrices."""
    rng, draws = np.random.default_rng(5), 400_000
    for finding, what, k, shares in (
        ("Figure 1", "largest δ", 10.0, [0.1, 0.1, 0.1, 0.1, 0.6]),
        ("Section V", "δ of k = 9.87", 9.87, [0.1, 0.1, 0.8]),
        ("Figure 3", "largest δ", 10.0, [0.1, 0.1, 0.8]),
    ):
        drawn = rng.dirichlet(k * np.array(shares), size=draws)[:, :-1]
        share = float((drawn < GAMMA).any(axis=1).mean())
        # alpha: five standard errors
        error = 5.0 * math.sqrt(share / draws)
        assert _line(findings[finding], what).found == pytest.approx(share, abs=error)


def test_exact_losses(findings: dict[str, Finding]) -> None:
    """The exact epsilon of one row, from two beta distributions."""
    five = findings["Section V"]
    for (k, delta), panel in zip(((9.87, 0.011), (98.7, 0.019)), five.panels, strict=True):
        exact = _exact_one_row(k, MOVED, delta)
        (line,) = [line for line in five.lines if line.what == f"ε of k = {k}"]
        assert line.veil == pytest.approx(exact, rel=1e-6)
        losses = panel.curves[1]
        assert losses.y[0] == pytest.approx(exact, rel=1e-6)
        assert list(losses.y) == sorted(losses.y)
        largest = _line(five, f"largest k for ({panel.curves[0].y[0]:g}, {delta}), one row").veil
        assert isinstance(largest, float)
        assert _exact_one_row(largest, MOVED, delta) == pytest.approx(panel.curves[0].y[0], rel=1e-6)
    assert _line(five, "ε of k = 9.87 where every").veil == pytest.approx(3.03, abs=0.005)
    assert _line(five, "ε of k = 98.7 where every").veil == pytest.approx(10.62, abs=0.01)
    assert _line(five, "rows that may change if (1.16").veil == 7
    assert _line(five, "rows that may change if (11.12").veil == 32
    assert _line(five, "largest k for (1.16, 0.011), every").veil == "none"
    largest = _line(five, "largest k for (11.12, 0.019), every").veil
    assert isinstance(largest, float)
    assert 98.7 < largest < 106.0


def test_figure_1(findings: dict[str, Finding]) -> None:
    finding = findings["Figure 1"]
    simulated, bound = _curve(finding, 0, "matrix Dirichlet (paper)"), _curve(finding, 0, "bound (15)")
    ks = np.geomspace(10.0, 100.0, len(simulated.x))
    for k, epsilon, error, most in zip(ks, simulated.x, simulated.y, bound.y, strict=True):
        assert epsilon == pytest.approx(_theorem_1(k, 0.05, 4), rel=1e-9)
        assert most == pytest.approx(theorem_2_absolute(k), rel=1e-12)
        (exact,) = expected_absolute_deviation(np.array([0.1 * k]), np.array([0.9 * k]), np.array([0.1]))
        # alpha: 2,000 x 100 entries have a relative standard error below 0.003
        assert error == pytest.approx(exact, rel=0.015)
    for panel in range(2):
        theirs, ours = (
            _curve(finding, panel, "matrix Dirichlet (paper)"),
            _curve(finding, panel, "Veil's best"),
        )
        assert theirs.x == ours.x
        assert all(mine < his for mine, his in zip(ours.y, theirs.y, strict=True))


def test_agreement_by_enumeration() -> None:
    """One less the total variation distance of all walks of four steps."""
    rng = np.random.default_rng(6)
    truth, other = rng.dirichlet(np.ones(3), size=(2, 3))
    other[0] = [0.0, 0.4, 0.6]
    paths = np.array([(0, *rest) for rest in itertools.product(range(3), repeat=4)])

    def chances(matrix: Floats) -> Floats:
        found: Floats = np.prod([matrix[paths[:, t], paths[:, t + 1]] for t in range(4)], axis=0)
        return found

    exact = 1.0 - 0.5 * np.abs(chances(truth) - chances(other)).sum()
    # Walks under the truth, in their own proportions.
    drawn = rng.choice(len(paths), size=200_000, p=chances(truth))
    found = agreement(truth, other[None], paths[drawn])
    assert found[-1] == pytest.approx(exact, abs=5.0 * 0.5 / math.sqrt(200_000))
    assert list(found) == sorted(found, reverse=True)


def test_figure_2(findings: dict[str, Finding]) -> None:
    """More privacy, less alike; and every walk keeps to the streets."""
    weak, strong = findings["Figure 2"].lines
    for line in (weak, strong):
        assert isinstance(line.found, float)
        assert isinstance(line.veil, float)
        assert line.veil > line.found
    assert isinstance(weak.found, float)
    assert isinstance(strong.found, float)
    assert weak.found + 0.2 < strong.found < 1.0
    streets = road_chain().to_numpy() > 0.0
    for panel in findings["Figure 2"].panels[:-1]:
        route = panel.curves[1]
        assert len(route.x) == 11
        places = []
        for step, (x, y) in enumerate(zip(route.x, route.y, strict=True)):
            road = round(math.hypot(x, y) - 1.0 - 0.025 * step)
            places.append(8 * road + round(math.atan2(y, x) / math.tau * 8) % 8)
        assert all(streets[here, there] for here, there in itertools.pairwise(places))


def test_figure_3(findings: dict[str, Finding]) -> None:
    finding = findings["Figure 3"]
    errors = _curve(finding, 0, "matrix Dirichlet, mean error")
    hidden = _curve(finding, 0, "the same, error of the mean")
    assert list(errors.y) == sorted(errors.y, reverse=True)
    assert all(mean < 0.1 * error for mean, error in zip(hidden.y, errors.y, strict=True))
    for panel in range(2):
        theirs, ours = (
            finding.panels[panel].curves[1 - panel],
            _curve(finding, panel, "Veil's best, mean error"),
        )
        assert theirs.label == "matrix Dirichlet, mean error"
        assert all(mine < his for mine, his in zip(ours.y, theirs.y, strict=True))
    lost = _line(finding, "share of releases")
    assert lost.found == 0.0
    assert isinstance(lost.veil, float)
    assert 0.25 < lost.veil < 0.55
    all_rows = _line(finding, "mean error, k = 10, where every row")
    assert "exact (2.78," in all_rows.what
    assert isinstance(all_rows.veil, float)
    assert all_rows.veil < 0.6 * float(all_rows.found or 0.0)


def test_veil_has_the_same_privacy() -> None:
    """Its noise at the exact epsilon of k = 10, by Balle and Wang's formula, with sigma as it was taken."""
    mask = road_chain().to_numpy() > 0.0
    delta = 0.017857
    epsilon = _exact_one_row(10.0, MOVED, delta)
    name, mechanism = best_for(Rows(1, Transfer.from_l1(MOVED)), mask, epsilon, delta)
    assert name == "Gaussian"
    assert isinstance(mechanism, RowByRow)
    sigma = mechanism.mechanism.describe()["parameters"]["sigma"]
    moved = math.sqrt(2.0) * MOVED / 2.0 / sigma
    found = norm.cdf(moved / 2 - epsilon / moved) - math.exp(epsilon) * norm.cdf(-moved / 2 - epsilon / moved)
    assert found == pytest.approx(delta, rel=1e-6)
    errors = stationary_errors(mechanism, np.random.default_rng(7), 300)
    assert errors.mean() == pytest.approx(0.203, abs=0.02)
