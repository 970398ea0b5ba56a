"""The Dirichlet simplex paper, reproduced: its printed numbers, and what must hold of ours."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betainc, betaln
from veil_papers.reproduction.dirichlet_simplex import PAPER
from veil_papers.reproduction.drawing import picture
from veil_papers.reproduction.finding import Finding, Line

import veil
from veil.vectors.accuracy import expected_absolute_deviation

from .conftest import Findings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]


@pytest.fixture(scope="module")
def findings(findings_of: Findings) -> dict[str, Finding]:
    return findings_of(PAPER)


def _line(finding: Finding, start: str) -> Line:
    return next(line for line in finding.lines if line.what.startswith(start))


def test_every_difference_has_its_reason(findings: dict[str, Finding]) -> None:
    assert set(findings) == {"Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "Theorem 4"}
    for finding in findings.values():
        for line in finding.lines:
            assert line.met is not False or line.why, line
        again = Finding.from_dict(json.loads(json.dumps(finding.to_dict(), allow_nan=False)))
        assert again.lines == finding.lines
        assert picture(again).startswith("<svg")


def test_figure_3_is_met_and_bettered(findings: dict[str, Finding]) -> None:
    figure = findings["Figure 3"]
    dirichlet = _line(figure, "mean L1 error, Dirichlet")
    gaussian = _line(figure, "mean L1 error, Gaussian")
    assert dirichlet.met
    assert gaussian.met
    assert _line(figure, "σ above").met
    # The goal, at a setting for which the paper's own bound gives (2.30, 0.05) and its assumptions hold.
    assert isinstance(dirichlet.veil, float)
    assert dirichlet.veil <= 0.27
    setting = _line(figure, "ε of k = 3")
    moved = float(setting.what.split("b = ")[1].split(",")[0]) / 2.0
    domain = veil.vectors.Simplex(3, floor=1.0 / 3.0, protected=(0, 1), slack=0.01)
    bound = veil.vectors.Dirichlet(3.0, domain).published(veil.vectors.Transfer(moved), delta=0.05)
    assert bound.epsilon == pytest.approx(2.30, abs=0.01)
    assert bound.violations == ()
    # Plain noise, which needs no floor, stands beside it and is not far behind.
    assert isinstance(gaussian.veil, float)
    assert dirichlet.veil < gaussian.veil < 0.35


def test_the_gaussian_of_figure_1_by_its_own_formula(findings: dict[str, Finding]) -> None:
    sigma = _line(findings["Figure 1"], "σ for").veil
    assert isinstance(sigma, float)

    def normal(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    def delta(s: float) -> float:
        mu = 0.1 / s
        return normal(mu / 2.0 - 1.0 / mu) - math.e * normal(-mu / 2.0 - 1.0 / mu)

    assert delta(sigma) <= 0.01 * (1.0 + 1e-9)
    assert delta(0.99 * sigma) > 0.01


def test_the_exact_curve_is_below_the_theorem_and_that_below_the_corollary(
    findings: dict[str, Finding],
) -> None:
    for panel in findings["Figure 2"].panels:
        corollary, theorem, exact = (np.array(curve.y) for curve in panel.curves)
        assert (corollary > theorem).all()
        assert (theorem > exact).all()


def test_theorem_4_fails_and_ours_holds(findings: dict[str, Finding]) -> None:
    found = findings["Theorem 4"].lines[0].found
    assert isinstance(found, float)
    assert found > 0.99
    theirs, ours, allowed = (np.array(curve.y) for curve in findings["Theorem 4"].panels[0].curves)
    # From a half on, and by far: what may fail in half of the releases fails in two thirds of them.
    assert (theirs > allowed)[allowed >= 0.5].all()
    assert (ours <= allowed).all()


def _by_hand(k: float, floor: float, moved: float, delta: float) -> float:
    """Theorem 1 for W = {1, 2} of two entries, eta-bar = eta: gamma from delta at the worst vertex."""

    def outside(gamma: float) -> float:
        ends = betainc(k * floor, k * (1 - floor), gamma) + betainc(k * (1 - floor), k * floor, gamma)
        return float(max(ends, 2 * betainc(0.5 * k, 0.5 * k, gamma)))

    gamma = float(brentq(lambda g: outside(g) - delta, 1e-12, 0.5))
    rest = 1 - 2 * floor
    first = betaln(k * floor, k * rest) - betaln(k * (floor + moved), k * (rest - moved))
    return float(first + k * moved * math.log((1 - gamma) / gamma))


@pytest.mark.parametrize(
    ("name", "moved", "ks", "printed"),
    [("Figure 4", 0.1, (5.0, 10.0), (1.45, 2.0)), ("Figure 5", 0.1 / 4, (40.0, 60.0), (0.83, 1.02))],
)
def test_figures_4_and_5_by_the_formula_at_one_floor(
    findings: dict[str, Finding],
    name: str,
    moved: float,
    ks: tuple[float, float],
    printed: tuple[float, float],
) -> None:
    figure = findings[name]
    first, second = (_line(figure, f"ε at δ = 0.04, k = {k:g}") for k in ks)
    assert (float(first.printed), float(second.printed)) == printed
    floor = float(brentq(lambda x: _by_hand(ks[0], x, moved, 0.04) - printed[0], 0.25, 0.45))
    assert f"η = {floor:.3f}" in figure.says
    assert second.found == pytest.approx(_by_hand(ks[1], floor, moved, 0.04), rel=1e-6)
    if name == "Figure 4":
        assert second.met
    else:
        # Not at 0.04; within what prints as 0.04, both are right at one floor.
        assert second.met is False
        shared = float(brentq(lambda x: _by_hand(ks[0], x, moved, 0.035) - printed[0], 0.25, 0.45))
        assert _by_hand(ks[1], shared, moved, 0.045) == pytest.approx(printed[1], abs=0.005)
        assert f"η = {shared:.3f}" in figure.says


@pytest.mark.parametrize(("name", "ks"), [("Figure 4", (5.0, 10.0)), ("Figure 5", (40.0, 60.0))])
def test_the_private_policies_of_figures_4_and_5_spread_as_their_k_says(
    findings: dict[str, Finding], name: str, ks: tuple[float, float]
) -> None:
    """Proposition 1 in the pictures: variance p(1 - p)/(k + 1), and the mean error that comes of it."""
    figure = findings[name]
    shown = [*ks, *(float(panel.title.split("k = ")[1]) for panel in figure.panels[2:])]
    for panel, k in zip(figure.panels, shown, strict=True):
        private, policy = (np.array(curve.y) for curve in panel.curves)
        assert panel.y_range is not None
        assert list(panel.y_range) == [0.0, 1.0]
        ratio = ((private - policy) ** 2 / (policy * (1.0 - policy) / (k + 1.0))).mean()
        # 120 days: five standard errors are 0.65; half or twice the k is further off.
        assert 0.55 < ratio < 1.65
    assert shown[2] > 1.9 * ks[0]
    assert shown[3] > 1.9 * ks[1]
    policy = np.array(figure.panels[0].curves[1].y)
    for k in ks:
        line = _line(figure, f"mean error of the probability, k = {k:g}")
        true = expected_absolute_deviation(k * policy, k * (1.0 - policy), policy).mean()
        assert line.found == pytest.approx(true, rel=0.03)
        assert isinstance(line.veil, float)
        assert line.veil < 0.7 * true
