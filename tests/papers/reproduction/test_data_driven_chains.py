"""The data-driven chains paper, reproduced: what is printed, what holds, and sharp checks by other means."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import beta
from veil_papers.reproduction import data_driven_chains as module
from veil_papers.reproduction import taxi_trips as more
from veil_papers.reproduction.data import Data
from veil_papers.reproduction.data_driven_chains import PAPER
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line
from veil_papers.taxi_zones import merged

from tests.oracles.hockey import worst_case_dirichlet
from tests.tables.data import real
from veil.vectors.accuracy import expected_kl
from veil.vectors.mechanisms.dirichlet_form import sample_dirichlet
from veil.vectors.published_bounds import published_delta
from veil.vectors.simplex import Simplex

from .conftest import Findings

# Each exhibit is run, which takes a while.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]

NAMES = ("Figure 1", "Figure 2", "Figure 3", "Table 1", "Section 5", "Figure 4", "MSNBC")
Found = dict[str, Finding]


@pytest.fixture(scope="module")
def found(findings_of: Findings) -> Found:
    """Every exhibit, quick, without any data."""
    return findings_of(PAPER)


def line(finding: Finding, start: str) -> Line:
    (one,) = (line for line in finding.lines if line.what.startswith(start))
    return one


def number(value: float | str | None) -> float:
    assert isinstance(value, (int, float))
    return float(value)


def curve(finding: Finding, panel: int, label: str) -> Curve:
    (one,) = (curve for curve in finding.panels[panel].curves if curve.label.startswith(label))
    return one


def same(one: float, other: float) -> bool:
    return one == pytest.approx(other, rel=1e-12)


# All of them


def test_exhibits() -> None:
    assert PAPER.name == "data-driven-chains"
    assert tuple(exhibit.name for exhibit in PAPER.exhibits) == NAMES
    needs = {exhibit.name: tuple(exhibit.needs) for exhibit in PAPER.exhibits if exhibit.needs}
    assert needs == {
        "Figure 2": ("trips", "zones"),
        "Figure 3": ("trips", "zones"),
        "Table 1": ("trips", "zones"),
        "MSNBC": ("sessions",),
    }


def test_findings_are_complete(found: Found) -> None:
    for name, finding in found.items():
        assert Finding.from_dict(finding.to_dict()) == finding
        assert finding.lines
        assert finding.panels
        assert finding.says
        assert (finding.stand_in == "") == (name in ("Figure 4", "Section 5"))
        for one in finding.lines:
            assert one.why, one.what
        for panel in finding.panels:
            for drawn in panel.curves:
                assert 0 < len(drawn.x) == len(drawn.y) <= 200
                assert np.isfinite(drawn.x).all()
                assert np.isfinite(drawn.y).all()
                assert not panel.log_y or min(drawn.y) > 0.0
    assert [one.what for finding in found.values() for one in finding.lines if one.headline] == [
        "grades: k that (2.255, 0.0026) allows",
        "made-up visits: error of the long-run shares at ε = 1",
    ]


def test_printed_numbers(found: Found) -> None:
    """Which are met, and which are not."""
    lines = [one for finding in found.values() for one in finding.lines]
    met = {(one.printed, one.what.split(" (")[0]): one.met for one in lines if one.met is not None}
    assert met == {
        ("20.6", "least k by Assumption 4, 3/(2η) rounded up"): True,
        ("2.255", "ε of k = 20.6"): False,
        ("0.0026", "δ of k = 20.6"): False,
        ("1.3e-4", "δ where ε = 3.31"): False,
        ("0.103", "mean KL divergence, k = 20.6"): True,
        ("5e-9", "δ at ε = 5.19, if it is 3·10⁻⁶ at 3.73"): True,
        ("5e-9", "δ at ε = 5.19, if it is 6·10⁻⁶ at 3.73"): False,
        ("0.0214", "largest δ of a row with ε up to 2.68"): False,
    }
    others = {one.printed for one in lines if one.printed and one.met is None}
    assert others == {"20.6", "0.017", "45.39", "19.82", "4.690", "3.730", "3.078", "less than 1%"}


def test_an_exhibit_is_the_same_again(found: Found) -> None:
    assert module.figure_1(Run()).to_dict() == found["Figure 1"].to_dict()


# Figure 1


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def epsilon_by_hand(k: float) -> float:
    """Equation (3) at n = 5, N = 98, eta = 0.073, gamma = 0.0004."""
    eta, one = 0.073, 1.0 / 98.0
    ratio = log_beta(k * eta, k * (1 - 2 * eta)) - log_beta(k * (eta + one), k * (1 - 2 * eta - one))
    return ratio + k * one * math.log((1.0 - 4 * 4e-4) / 4e-4)


def delta_by_hand() -> float:
    """Equation (4) at k = 20.6, by inclusion and exclusion up to pairs; the rest is below 1e-6 of it."""
    k, eta, gamma = 20.6, 0.073, 4e-4
    single = float(betainc(k * eta, k * (1 - eta), gamma))

    def both(x: float) -> float:
        return float(
            beta.pdf(x, k * eta, k * (1 - eta)) * betainc(k * eta, k * (1 - 2 * eta), gamma / (1 - x))
        )

    return 4 * single - 6 * float(quad(both, 0.0, gamma)[0])


def test_grades(found: Found) -> None:
    finding = found["Figure 1"]
    assert number(line(finding, "ε of k = 20.6").found) == pytest.approx(epsilon_by_hand(20.6), rel=1e-9)
    assert number(line(finding, "δ of k = 20.6").found) == pytest.approx(delta_by_hand(), rel=1e-5)
    assert number(line(finding, "ε of k = 20.6").veil) == pytest.approx(0.629, abs=5e-4)
    assert number(line(finding, "δ of k = 20.6").veil) == pytest.approx(2.46e-8, rel=0.01)
    theorem = curve(finding, 1, "Theorem 1")
    assert list(theorem.y) == pytest.approx([20.6 + step for step in range(91)])
    assert list(theorem.x) == pytest.approx([epsilon_by_hand(k) for k in theorem.y], rel=1e-9)


def test_grades_allow_ten_times_the_k(found: Found) -> None:
    """The goal; and it is the largest k: by a computation of its own, with fifty digits."""
    best = number(line(found["Figure 1"], "grades: k").veil)
    assert best >= 10 * 20.6
    assert float(worst_case_dirichlet(best, 0.073, 1 / 98, 5, 2.255)) <= 0.0026
    assert float(worst_case_dirichlet(best * 1.001, 0.073, 1 / 98, 5, 2.255)) > 0.0026


def test_the_order_of_the_divergences(found: Found) -> None:
    finding = found["Figure 1"]
    bound, drawn = curve(finding, 0, "Corollary 1"), curve(finding, 0, "2,000 draws")
    exact, ours = curve(finding, 0, "the same draws"), curve(finding, 0, "Veil")
    assert all(high > low for high, low in zip(bound.y, drawn.y, strict=True))
    # Less than half of the stated epsilon, and a sixth of the divergence or less.
    assert all(0.0 < x < 0.55 * stated for x, stated in zip(exact.x, ours.x, strict=True))
    assert all(y < 0.2 * paper for y, paper in zip(ours.y, exact.y, strict=True))
    uniform, vertex = np.full(5, 0.2), np.array([0.073] * 4 + [0.708])
    low, high = (expected_kl(20.6 * p, p) for p in (uniform, vertex))
    assert (round(low, 3), round(high, 3)) == (0.102, 0.108)
    assert f"{low:.3f} to {high:.3f}" in finding.stand_in


# Figures 2 and 3, Table 1


def trips_epsilon(least: float, records: float, zones: int, times: float = 1.0) -> float:
    """Equation (3) for a row whose rarest cell has so many trips, k = times * 3 / (2 eta), gamma = 1e-8."""
    eta = least / records
    k, one = times * 1.5 / eta, 1.0 / records
    ratio = log_beta(k * eta, k * (1 - 2 * eta)) - log_beta(k * (eta + one), k * (1 - 2 * eta - one))
    return ratio + k * one * math.log((1.0 - (zones - 1) * 1e-8) / 1e-8)


def test_long_run_of_the_trips(found: Found) -> None:
    for start in ("largest relative error", "total variation"):
        for one in (one for one in found["Figure 2"].lines if one.what.startswith(start)):
            assert number(one.veil) < 0.02 * number(one.found)
    true = curve(found["Figure 2"], 0, "true")
    assert sum(true.y) == pytest.approx(1.0)
    # Those of the counts: one more step changes nothing.
    counts = more._trips(Data()).merged
    shares = np.array(true.y)
    rows = counts / counts.sum(axis=1, keepdims=True)
    order = np.argsort(-np.linalg.matrix_power(rows, 200)[0])
    assert np.abs(shares - shares @ rows[np.ix_(order, order)]).max() < 1e-9


def test_figure_3(found: Found) -> None:
    finding, counts = found["Figure 3"], more._trips(Data()).merged
    theirs, ours = curve(finding, 0, "paper's form"), curve(finding, 0, "Veil")
    times = curve(finding, 1, "paper's form").x
    for factor, epsilon in zip(times, theirs.x, strict=True):
        rows = [trips_epsilon(row.min(), row.sum(), len(counts), factor) for row in counts]
        assert epsilon == pytest.approx(max(rows), rel=1e-6)
    assert all(mine < paper / 100 for mine, paper in zip(ours.y, theirs.y, strict=True))
    # As the paper has it: about 0.02 at first, and by the square root of k less later.
    assert 0.01 < theirs.y[0] < 0.02
    assert theirs.y[-1] / theirs.y[0] == pytest.approx(math.sqrt(1 / 3), rel=0.1)


def test_no_row_has_the_strongest_privacy_of_the_text(found: Found) -> None:
    """For other numbers of zones as well: they have smaller deltas."""
    largest = number(line(found["Figure 3"], "largest δ").found)
    assert 0.001 < largest < 0.0214 / 3
    rng = np.random.default_rng(1)
    for _ in range(200):
        zones, least = int(rng.integers(30, 64)), int(rng.integers(1, 60))
        records = int(math.exp(rng.uniform(math.log(zones * least), math.log(2_933_898))))
        if trips_epsilon(least, records, zones) <= 2.685:
            k = 1.5 * records / least
            assert published_delta(k, Simplex(zones, floor=1.5 / k), 1e-8) <= 1.01 * largest


@pytest.mark.parametrize(
    ("zones", "epsilon", "least"),
    [(63, 45.39, 1), (55, 19.82, 2), (50, 4.690, 8), (40, 3.730, 9), (35, 3.078, 11)],
)
def test_least_counts_behind_table_1(zones: int, epsilon: float, least: int) -> None:
    assert more._least_count(zones, epsilon + 0.005) == least
    # One trip fewer, and even the smallest row has more; with so many, some row has this epsilon.
    if least > 1:
        assert trips_epsilon(least - 1, zones * (least - 1), zones) > epsilon
    assert trips_epsilon(least, zones * least, zones) <= epsilon + 0.005


def test_exact_epsilon_of_the_least_k() -> None:
    """It depends on the rarest cell alone: against the worst pair, for small and large rows."""
    for least, records in ((2, 700), (2, 90_000), (9, 4_000), (9, 200_000)):
        eta = least / records
        delta = float(worst_case_dirichlet(1.5 / eta, eta, 1 / records, 40, more._exact(least)))
        assert delta == pytest.approx(3e-6, rel=1e-3)


def test_table_1(found: Found) -> None:
    finding = found["Table 1"]
    printed, bound = curve(finding, 0, "printed"), curve(finding, 0, "exact for the printed")
    assert list(printed.x) == [63, 60, 55, 50, 45, 40, 35, 30]
    assert all(exact < 0.34 * stated for exact, stated in zip(bound.y, printed.y, strict=True))
    formula, exact = curve(finding, 0, "formula"), curve(finding, 0, "exact, ")
    # But for gamma's share: (zones - 1) gamma.
    assert all(high >= low * (1.0 - 1e-6) for high, low in pairwise(formula.y))
    assert all(low < 0.5 * high for low, high in zip(exact.y, formula.y, strict=True))
    counts = more._trips(Data()).counts
    for zones, epsilon in zip(formula.x, formula.y, strict=True):
        table = merged(counts, int(zones))
        rows = [trips_epsilon(row.min(), row.sum(), len(table)) for row in table]
        assert epsilon == pytest.approx(max(rows), rel=1e-6)
    assert number(line(finding, "smallest ε, made-up city, 63").found) == math.inf


def test_green_taxis(tmp_path: Path) -> None:
    """Without the names of the zones, all boroughs."""
    trips = real("nyc_green_trips_2020-03_2020-12.csv.gz")
    (tmp_path / trips.name).symlink_to(trips)
    finding = more.table_1(Run(data=Data(tmp_path)))
    assert "878,870 trips" in finding.stand_in
    assert "92 pairs" in line(finding, "smallest ε, green taxis, 2020, 63").why


def test_trips_like_manhattan_are_as_many_as_the_paper_has() -> None:
    data = Data(real("nyc_green_trips_2020-03_2020-12.csv.gz").parent)
    trips = more._trips(data)
    assert (trips.counts.shape, int(trips.counts.sum())) == ((63, 63), 2_933_898)
    assert "293,201 trips of green taxis within Manhattan" in trips.stand_in
    # As the paper's, some pairs are rare; where none is, about as many zones are left as it has.
    assert 0 < (trips.counts == 0).sum() < 0.1 * 63**2
    assert 25 <= len(trips.merged) <= 45
    # It has a direction: a chain whose trips go back as often as they come would hide errors of the long run.
    assert np.abs(trips.counts - trips.counts.T).sum() > 0.05 * trips.counts.sum()
    finding = more.figure_3(Run(data=data))
    there = line(finding, "the same, like Manhattan")
    assert 0.005 < number(there.found) < 0.06
    assert number(there.veil) < 0.1 * number(there.found)


# Section 5


def test_errors_fall_by_powers_of_k(found: Found) -> None:
    """E|pi - pi'| and the ergodicity coefficient as k^-1/2, the divergence as 1/k: not as a logarithm."""
    finding = found["Section 5"]
    for what, power in (
        ("exponent of k in E‖π", -0.5),
        ("exponent of k in the bound of Theorem 4", -0.5),
        ("exponent of k in E|τ", -0.5),
        ("exponent of k in the expected KL", -1.0),
    ):
        assert number(line(finding, what).found) == pytest.approx(power, abs=0.04)
    assert number(line(finding, "exponent of k in the bound of Theorem 4").veil) == pytest.approx(
        -0.5, abs=0.01
    )
    assert number(line(finding, "k times the expected KL").found) == pytest.approx(1.5, rel=1e-4)
    simulated, proved = curve(finding, 0, "E‖π"), curve(finding, 0, "bound that is proved")
    assert (np.array(simulated.y) <= np.array(proved.y)).all()
    ks, errors = np.array(simulated.x), np.array(simulated.y)
    # Power: neither a logarithm of k nor 1/k is near.
    assert errors[0] / errors[-1] > 20 * np.log(ks[-1]) / np.log(ks[0])
    assert errors[0] / errors[-1] < 0.05 * ks[-1] / ks[0]


# Figure 4


@pytest.mark.parametrize(("delta", "samples", "points"), [(0.02, 500, 4), (0.002, 300, 3), (0.3, 50, 1)])
def test_relative_error_of_simulated_deltas(delta: float, samples: int, points: int) -> None:
    rng = np.random.default_rng(2)
    hits = rng.binomial(samples, delta, size=(200_000, points)).max(axis=1)
    errors = np.abs(hits / (samples * delta) - 1.0)
    law = module._mean_relative_error(delta, samples, points)
    assert abs(errors.mean() - law) < 5.0 * errors.std() / math.sqrt(len(errors))


def test_figure_4(found: Found) -> None:
    finding = found["Figure 4"]
    drawn, law = curve(finding, 0, "grades, simulated"), curve(finding, 0, "grades, by")
    for samples, error in zip(drawn.x[:4], drawn.y[:4], strict=True):
        expected = module._mean_relative_error(delta_by_hand(), round(samples), 4)
        assert error == pytest.approx(expected, rel=0.3)
    assert all(high > low for high, low in pairwise(law.y))
    # The paper's one per cent is not that of the grades, and less so that of the taxis.
    assert 0.01 < number(line(finding, "mean relative error of δ, 10⁶").found) < 0.05
    assert number(line(finding, "mean relative error of δ = 3").found) > 0.5
    assert number(line(finding, "probability").found) == pytest.approx(math.exp(-39e6 * 5e-9), rel=1e-6)


# Page visits


def check_visits(finding: Finding, goal: float) -> None:
    best = next(one for one in finding.lines if one.headline)
    dirichlet = line(finding, "the same, a floor of its own")
    assert number(best.found) / number(best.veil) >= goal
    assert number(best.found) > 3 * number(dirichlet.found) > 30 * number(dirichlet.veil)
    assert same(number(best.veil), number(dirichlet.veil))
    assert number(line(finding, "the same, one transition added").veil) < number(best.veil)


def test_made_up_visits(found: Found) -> None:
    check_visits(found["MSNBC"], 100.0)
    assert "not at hand" in found["MSNBC"].stand_in


def test_visits_to_msnbc() -> None:
    """The goal on the real data: a hundred times nearer than the paper's form, at the same epsilon."""
    finding = module.page_visits(Run(data=Data(real("msnbc990928.zip").parent)))
    check_visits(finding, 100.0)
    assert finding.stand_in == ""
    best = next(one for one in finding.lines if one.headline)
    assert number(best.found) == pytest.approx(0.015, rel=0.15)
    assert number(best.veil) == pytest.approx(1.1e-4, rel=0.25)
    assert number(line(finding, "smallest ε").found) == pytest.approx(22.34, abs=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_one_floor_is_private_and_no_lower_one_is(epsilon: float) -> None:
    """By the worst pair of the mixed row: a record moves (1 - 17 floor) / N."""
    records = 13_571
    floor = module._least_floor(records, epsilon)
    row = module._row_at(floor, records, epsilon)
    assert row is not None
    assert row.k * floor >= 1.5
    assert module._row_at(0.95 * floor, records, epsilon) is None
    mass = (1.0 - 17 * floor) / records

    def reached(k: float) -> float:
        return float(worst_case_dirichlet(k, floor, mass, 17, epsilon))

    assert reached(row.k) <= 1e-6 < reached(1.001 * row.k)


def test_moved_is_the_total_variation() -> None:
    counts = np.array([[30, 10], [20, 40]])
    # By hand: (2/3, 1/3) flows back and forth as 1/4 and 1/3: (4/7, 3/7).
    drawn = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.3, 0.7]]])
    gaps = [abs(4 / 7 - 1 / 2), abs(4 / 7 - 3 / 4)]
    assert more.moved(counts, drawn) == pytest.approx(np.mean(gaps))
    many = sample_dirichlet(
        np.random.default_rng(3), shapes=1e6 * counts / counts.sum(axis=1, keepdims=True), size=4
    )
    assert more.moved(counts, many) < 0.005
