"""The symbolic trajectories paper, reproduced: Figures 1 to 3, on words without roads."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from scipy.optimize import brentq

from veil.words.chain_words import ChainWords
from veil.words.language import FreeWords
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.planning import plan_words
from veil_papers.hamming_automaton import (
    DistanceAutomaton,
    HammingAutomaton,
    ProductAutomaton,
    State,
    feasible_counts,
    hamming,
)
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel, Role
from veil_papers.symbolic_trajectories import (
    expected,
    exponential_distances,
    figure_2,
    published_distances,
    published_loss,
    theorem_2,
)
from veil_papers.word_figures import AUTOMATON_KEY


def literal_paths(automaton: DistanceAutomaton) -> dict[State, int]:
    """V by line 7 of Algorithm 1 to the letter: each successor once, however many symbols lead to it."""
    counts = dict.fromkeys(automaton.accepting, 1)
    for layer in reversed(automaton.layers[:-1]):
        for state in layer:
            counts[state] = sum(counts.get(ahead, 0) for ahead in set(automaton.successors(state).values()))
    return counts


def _literal_totals(automaton: DistanceAutomaton) -> dict[State, Fraction]:
    """What the probabilities of line 8 then add up to in each state."""
    counts = literal_paths(automaton)
    return {
        state: Fraction(sum(counts.get(at, 0) for at in automaton.successors(state).values()), counts[state])
        for layer in automaton.layers[:-1]
        for state in layer
    }


def literal_law(automaton: DistanceAutomaton) -> dict[tuple[str, ...], Fraction]:
    """The words' probabilities by the literal policy, scaled to one in every state."""
    counts, totals = literal_paths(automaton), _literal_totals(automaton)
    found: dict[tuple[str, ...], Fraction] = {}
    for word in automaton.words():
        state, chance = automaton.initial, Fraction(1)
        for symbol in word:
            ahead = automaton.successors(state)[symbol]
            chance *= Fraction(counts[ahead], counts[state]) / totals[state]
            state = ahead
        found[word] = chance
    return found


def _said(policy: dict[str, Fraction]) -> str:
    return ", ".join(f"{symbol} {share}" for symbol, share in policy.items())


def figure_1(run: Run) -> Finding:
    """Figure 1: the automaton of the words at distance 2 from abc."""
    automaton = HammingAutomaton(tuple("abc"), 2, tuple("abc"))
    states = [state for layer in automaton.layers[:-1] for state in layer]
    totals = _literal_totals(automaton)
    law = PermuteAndFlip(FreeWords("abc", 3), 1.0).distribution("abc")
    far = [chance for word, chance in law.items() if hamming(word, "abc") == 2]
    places = [float(place) for place in range(len(states))]
    names = [f"{state[0]}{'⁰¹²'[state[1]]}" for state in states]
    policies = [
        Line(f"probabilities of the next symbol in state {name}", "", _said(automaton.policy(state)))
        for name, state in zip(names, states, strict=True)
    ]
    return Finding(
        [
            Line("words at distance 2 from abc over {a, b, c}", "", float(automaton.size), float(len(far)),
                 "Counted by Algorithm 1, and by Veil's list of all words."),
            *policies,
            Line("sum of the probabilities at the start, Algorithm 1 to the letter", "",
                 float(totals[automaton.initial]), 1.0,
                 "Line 7 counts a next state once, though two symbols may lead to it. Veil counts symbols."),
            Line("probability of the likeliest of the 12 words", "",
                 float(max(literal_law(automaton).values())), max(far) / sum(far),
                 "To the letter, then scaled to one, early errors are favoured. All 12 should be alike."),
        ],
        [
            Panel(
                f"The automaton of abc, distance 2, with the policy; {AUTOMATON_KEY}",
                kind="automaton",
                automaton={"word": list("abc"), "distance": 2, "alphabet": list("abc")},
            ),
            Panel("What the policy adds up to in each state", "length, with errors above",
                  "sum of probabilities",
                  [
                      Curve("Algorithm 1 to the letter", places, [float(totals[s]) for s in states], "paper",
                            "bars"),
                      Curve("counted by symbols (Veil)", places,
                            [float(sum(automaton.policy(s).values())) for s in states], "veil", "bars"),
                  ], ticks=names),
        ],
        says="The figure's probabilities are in its picture only. Those above are Algorithm 1's with line "
        "7 mended, and they make all 12 words equally likely.",
    )  # fmt: skip


def free_error(length: int, alphabet: int, epsilon: float) -> float:
    """Veil's default for words without constraints, one symbol hidden."""
    return ExponentialWords(FreeWords(alphabet, length), epsilon).expected_error([0] * length)


# What varies along each panel of Figure 2.
_CASES: dict[str, Callable[[float], float]] = {
    "a": lambda epsilon: free_error(5, 2, epsilon),
    "b": lambda length: free_error(int(length), 2, 5.0),
    "c": lambda alphabet: free_error(5, int(alphabet), 5.0),
}


def figure_2_curves(run: Run) -> Finding:
    """Figure 2: the bounds of Theorem 2, and what lies between them."""
    axes = {"a": ("ε", "n = 5, m = 2"), "b": ("word length n", "ε = 5, m = 2"),
            "c": ("alphabet size m", "ε = 5, n = 5")}  # fmt: skip
    panels = []
    for panel, (label, setting) in axes.items():
        bounds = figure_2(panel)
        places = list(bounds["permute-and-flip"][0])
        mine = [_CASES[panel](x) for x in places]
        kinds: tuple[tuple[str, str, Role], ...] = (
            ("upper bound, [21]'s exact error", "upper bound (exponential)", "other"),
            ("Mechanism 1, exact", "permute-and-flip", "exact"),
            ("lower bound of Theorem 2", "lower bound of Theorem 2", "paper"),
        )
        curves = [
            Curve(name, places, list(bounds[key][1]), role, "dashed" if role == "paper" else "line")
            for name, key, role in kinds
        ]
        panels.append(
            Panel(
                f"({panel}) {setting}",
                label,
                "expected wrong symbols",
                [*curves, Curve("Veil at the same ε", places, mine, "veil")],
            )
        )
    at = theorem_2(5, 2, 5.0, 1)
    positive = float(brentq(lambda epsilon: theorem_2(5, 2, epsilon, 1).lower, 1.0, 10.0))
    short, long = (theorem_2(n, 2, 5.0, 1) for n in (2, 16))
    least = min(theorem_2(n, 2, 5.0, 1).exact / free_error(n, 2, 5.0) for n in range(2, 21))
    ours = free_error(5, 2, 5.0)
    return Finding(
        [
            Line("expected error of Mechanism 1; n = 5, m = 2, ε = 5", "", at.exact, ours,
                 f"One symbol hidden, δ = 0. The paper halves ε for a normaliser that is the same for all "
                 f"words; Veil does not, and errs {at.exact / ours:.1f} times less. No ε-private mechanism "
                 "has a smaller worst error."),
            Line("expected error of the exponential mechanism [21], the upper bound", "", at.upper, ours,
                 f"The same words and ε: {at.upper / ours:.1f} times less."),
            Line("lower bound of Theorem 2 there", "", at.lower, at.share,
                 "Below 0 it says nothing. Veil's bound is at least half of the upper bound, always."),
            Line("the same with its sums from ℓ = 1, as (8) and (10) print them", "",
                 theorem_2(5, 2, 5.0, 1, first=1).lower, at.share, "The distance 0 belongs to the sums."),
            Line("ε above which the lower bound is negative; n = 5, m = 2", "", positive, "never",
                 "Its proof allows for the widest covariance that any two functions of this range have."),
            Line("ε that Mechanism 1 really spends where it states 5; n = 5, m = 2", "",
                 published_loss(5, 2, 5.0, 1), 5.0, "Never more than ε/2 + log 2. Veil spends all of it."),
            Line("gap between the bounds at n = 16 over that at n = 2; ε = 5, m = 2",
                 "tightest with large m and n", (long.upper - long.lower) / (short.upper - short.lower), None,
                 "The caption calls the bounds tightest for large n; in its own range they widen until 16."),
        ],
        panels,
        says=f"The paper prints no numbers here; the curves are Theorem 2 as stated. In panel (b) Veil errs "
        f"at least {least:.1f} times less than Mechanism 1 at the same ε.",
    )  # fmt: skip


def figure_3(run: Run) -> Finding:
    """Figure 3: the product with a chain of four states."""
    support = {"y0": ["y1", "y2"], "y1": ["y2", "y3"], "y2": ["y1", "y3"], "y3": ["y0", "y2", "y3"]}
    word = ("y1", "y2", "y3")
    automaton = ProductAutomaton(word, 2, support, "y0")
    counts = feasible_counts(word, support, "y0")
    language = ChainWords(support, 3, start="y0")
    law = PermuteAndFlip(language, 1.0).distribution(word)
    listed = [float(sum(hamming(other, word) == far for other in law)) for far in range(4)]
    best = plan_words(language, 5.0).best.mechanism
    assert best is not None
    other = expected(exponential_distances(counts, 5.0, 1))
    places = [0.0, 1.0, 2.0, 3.0]
    return Finding(
        [
            Line("feasible words at distance 2 from y1 y2 y3", "", float(automaton.size), listed[2],
                 "Counted by Algorithm 2, and by Veil's list of all feasible words."),
            Line("probabilities of the first state, from y0", "", _said(automaton.policy((0, 0, "y0")))),
            Line("expected error of Mechanism 2 on this word, ε = 5", "",
                 expected(published_distances(counts, 5.0, 1)), best.expected_error(word),
                 f"One state hidden, δ = 0. The exponential mechanism [21] errs by {other:.3f}."),
        ],
        [
            Panel(
                f"The product with the chain, distance 2; {AUTOMATON_KEY}",
                kind="automaton",
                automaton={"word": list(word), "distance": 2, "support": support, "start": "y0"},
            ),
            Panel("Feasible words by their distance from y1 y2 y3", "Hamming distance", "words",
                  [
                      Curve("Algorithm 2 (line 8 mended)", places, list(map(float, counts)), "paper", "bars"),
                      Curve("all words, listed (Veil)", places, listed, "veil", "bars"),
                  ], ticks=["0", "1", "2", "3"]),
        ],
        says="Line 8 of Algorithm 2 prints V(q, y) / V(q, y), which is always 1. With the next state's V "
        "above the line, as here, all feasible words at that distance are equally likely.",
        stand_in="The edges of the four states are in the paper's picture only. Edges of the same kind "
        "take their place, so the counts are ours.",
    )  # fmt: skip
