"""The symbolic trajectories paper, reproduced: the numbers, and how they compare."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from veil_papers.hamming_automaton import HammingAutomaton, hamming
from veil_papers.reproduction.finding import Finding, Line
from veil_papers.reproduction.plain_words import literal_law, literal_paths
from veil_papers.reproduction.symbolic_trajectories import (
    PAPER,
    START,
    WAY,
    exponential_error,
    flip_error,
    ours,
    town,
)
from veil_papers.symbolic_trajectories import response_error

from veil.samples.streets import streets
from veil.words.adjacency import Hamming
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.planning import names_for, plan_words

from .conftest import Findings

# Each exhibit is run, which takes a while.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]


@pytest.fixture(scope="module")
def found(findings_of: Findings) -> dict[str, Finding]:
    return findings_of(PAPER)


def line(finding: Finding, begins: str) -> Line:
    (only,) = [one for one in finding.lines if one.what.startswith(begins)]
    return only


def number(value: float | str | None) -> float:
    assert isinstance(value, float)
    return value


def test_every_exhibit_is_whole(found: dict[str, Finding]) -> None:
    assert list(found) == ["Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "The 55 % claim"]
    for finding in found.values():
        text = json.dumps(finding.to_dict(), allow_nan=False)
        again = Finding.from_dict(json.loads(text))
        assert again.lines == finding.lines
        assert json.dumps(again.to_dict()) == text
        assert all(one.why for one in finding.lines if one.met is False)
        for panel in finding.panels:
            assert all(len(curve.x) == len(curve.y) <= 200 for curve in panel.curves)


def test_the_headline_is_ten_times_and_more(found: dict[str, Finding]) -> None:
    """At epsilon = 5 on the roads: against Mechanism 2 and so against [21], on the way and on walks."""
    (head,) = [one for finding in found.values() for one in finding.lines if one.headline]
    assert head is line(found["Figure 5"], "expected wrong segments of 14 at ε = 5, Mechanism 2")
    other = line(found["Figure 5"], "expected wrong segments at ε = 5, [21")
    walks = line(found["Figure 5"], "the same at ε = 5, mean of 100 random walks")
    for one in (head, other, walks):
        assert number(one.found) > 10.0 * number(one.veil) > 0.0
    assert number(head.found) == pytest.approx(0.4717, abs=5e-5)
    assert number(other.found) == pytest.approx(0.7022, abs=5e-5)
    assert number(head.veil) == number(other.veil) < 0.03


def test_the_way_is_one_and_the_default_is_the_default() -> None:
    roads = streets()
    assert len(roads) == 43
    assert len(set(WAY)) == len(WAY) == 14
    assert all(after in roads[before] for before, after in pairwise((START, *WAY)))
    names = [name for name in names_for(town(), 1) if name != "generic"]
    assert plan_words(town(), 5.0, names=names).best.name == "balanced"
    assert ours(5.0, True).name == "BalancedWords"


def neighbours(word: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The feasible ways that differ from this one in one segment."""
    changed = ((*word[:t], segment, *word[t + 1 :]) for t in range(len(word)) for segment in streets())
    return [near for near in changed if near != word and near in town()]


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_what_is_compared_is_private(epsilon: float) -> None:
    """Feasible neighbours, outputs drawn for either: no ratio is above what is certified."""
    mechanism = ours(epsilon, True)
    assert mechanism.certified_epsilon <= epsilon
    assert mechanism.profile(Hamming(1)).epsilon(0.0) == epsilon
    rng = np.random.default_rng(3)
    worst, pairs = 0.0, 0
    for word in [WAY, *map(tuple, town().walks(10, rng=2).as_labels().tolist())]:
        for near in neighbours(word):
            drawn = [mechanism.sample(list(either), size=10, rng=rng) for either in (word, near)]
            outputs = np.concatenate([np.array([word, near]), *drawn])
            gap = mechanism.log_density(outputs, list(word)) - mechanism.log_density(outputs, list(near))
            worst, pairs = max(worst, float(np.abs(gap).max())), pairs + 1
    assert pairs > 50
    assert 0.7 * epsilon < worst <= mechanism.certified_epsilon


def test_errors_on_the_roads_by_other_ways(found: dict[str, Finding]) -> None:
    """The published law against Veil's own permute-and-flip, and Veil's expectation against draws."""
    for epsilon in (0.5, 3.0, 5.0):
        assert PermuteAndFlip(town(), epsilon).expected_error(WAY) == pytest.approx(flip_error(epsilon), 1e-6)
    drawn = np.asarray(ours(5.0, True).sample(list(WAY), size=20_000, rng=np.random.default_rng(4)))
    wrong = (drawn != np.array(WAY)).sum(axis=1)
    veil = number(line(found["Figure 5"], "expected wrong segments of 14").veil)
    assert abs(wrong.mean() - veil) < 5.0 * wrong.std() / math.sqrt(len(wrong))
    assert number(line(found["Figure 5"], "largest distance").found) < 4.5
    # At small budgets nothing helps, and nobody is said to.
    small = line(found["Figure 5"], "expected wrong segments at ε = 0.5, Mechanism 2")
    assert 0.9 * number(small.found) < number(small.veil) < number(small.found)


def test_figure_1(found: dict[str, Finding]) -> None:
    """By hand: V to the letter is 3, 1, 2, 1, 1, 1; and 1/20, 1/15 and 2/15 come out for 1/12."""
    automaton = HammingAutomaton(tuple("abc"), 2, tuple("abc"))
    counts = literal_paths(automaton)
    assert [counts[state] for layer in automaton.layers for state in layer] == [3, 1, 2, 1, 1, 1]
    law = literal_law(automaton)
    assert Counter(str(chance) for chance in law.values()) == {"1/20": 4, "1/15": 4, "2/15": 4}
    assert sum(law.values()) == 1
    near = [word for word in product("abc", repeat=3) if hamming(word, "abc") == 2]
    assert line(found["Figure 1"], "words at distance 2").found == len(near) == 12
    # The automaton itself is drawn, as in the paper.
    assert found["Figure 1"].panels[0].kind == "automaton"
    assert found["Figure 1"].panels[0].automaton == {"word": [*"abc"], "distance": 2, "alphabet": [*"abc"]}
    assert number(line(found["Figure 1"], "probability of the likeliest").veil) == pytest.approx(1.0 / 12.0)
    assert (
        line(found["Figure 1"], "probabilities of the next symbol in state 1¹").found == "a 1/4, b 1/2, c 1/4"
    )


def test_figure_2(found: dict[str, Finding]) -> None:
    """Veil's curve is randomised response by its formula; the order of the curves, the known numbers."""
    for panel, setting in zip(
        found["Figure 2"].panels, ((5, 2, None), (None, 2, 5.0), (5, None, 5.0)), strict=True
    ):
        upper, exact, lower, veil = (np.array(curve.y) for curve in panel.curves)
        length, alphabet, epsilon = setting
        formula = [
            response_error(int(length or x), int(alphabet or x), float(epsilon or x), 1)
            for x in panel.curves[0].x
        ]
        assert veil == pytest.approx(formula, rel=1e-9)
        assert (veil < exact).all()
        assert (lower < exact).all()
        assert (exact < upper).all()
    first = line(found["Figure 2"], "expected error of Mechanism 1")
    assert number(first.found) == pytest.approx(0.245, abs=5e-4)
    assert number(first.veil) == pytest.approx(0.033, abs=5e-4)
    spent = line(found["Figure 2"], "ε that Mechanism 1 really spends")
    assert number(spent.found) == pytest.approx(3.087, abs=5e-4)


def test_figures_3_and_4(found: dict[str, Finding]) -> None:
    """Counts by Algorithm 2 and by a list; four maps with as many segments as they say."""
    drawn, counted = found["Figure 3"].panels
    assert drawn.kind == "automaton"
    assert (drawn.automaton["word"], drawn.automaton["start"]) == (["y1", "y2", "y3"], "y0")
    first, second = (curve.y for curve in counted.curves)
    assert list(first) == list(second)
    assert found["Figure 3"].stand_in
    maps = found["Figure 4"].panels
    assert [panel.kind for panel in maps] == ["map"] * 4
    for panel in maps:
        ways = {curve.label: curve for curve in panel.curves}
        assert len(ways["true way"].x) == 3 * len(WAY)
        assert len(ways["streets"].x) == 3 * 43
    assert line(found["Figure 4"], "feasible ways that differ").found == len(neighbours(WAY))
    same = line(found["Figure 4"], "probability that the private way is the true one")
    assert number(same.veil) > 0.97 > 0.75 > number(same.found)


def test_the_claim_is_shown_to_be_impossible(found: dict[str, Finding]) -> None:
    """Found savings lie below the limit for all chains, the printed ones above it."""
    claim = found["The 55 % claim"]
    at_5, at_3 = (line(claim, f"percent fewer errors than [21] at ε = {e}") for e in (5, 3))
    assert (at_5.printed, at_3.printed) == ("55.7", "25")
    assert number(at_5.found) == pytest.approx(100.0 * (1.0 - flip_error(5.0) / exponential_error(5.0)))
    limits = {curve.label: curve for curve in claim.panels[0].curves}[
        "most on any chain that has 0.62 at ε = 5"
    ]
    limit = dict(zip(limits.x, limits.y, strict=True))
    assert number(at_5.found) < limit[5.0] < 50.0 < 55.7
    assert number(at_3.found) < limit[3.0] < 10.2 < 25.0
    least = line(claim, "least error of Mechanism 2")
    assert least.met is False
    assert 0.31 <= number(least.found) < 0.62
    assert {one.why[:11] for one in claim.lines} >= {"Other roads"}
