"""The errata on words: the symbolic trajectories paper."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum, Numbers


def _factor_two() -> Numbers:
    import math

    from veil.core.numerics.staircase import staircase
    from veil_papers.symbolic_trajectories import published_loss, response_error, theorem_2

    spent = published_loss(5, 2, 5.0, 1)
    assert spent <= 2.5 + math.log(2)
    one, two = theorem_2(5, 2, 5.0, 1), theorem_2(5, 2, 5.0, 2)
    best = [staircase(5, 2, radius, 5.0).expected_error for radius in (1, 2)]
    assert best[0] < one.exact / 7
    assert best[1] < two.exact / 6
    return [
        ("ε that Mechanism 1 spends where it states 5; n = 5, m = 2, b = 1", spent),
        ("expected errors, exponential mechanism", one.upper),
        ("expected errors, permute-and-flip", one.exact),
        ("expected errors, randomised response with the whole exponent", response_error(5, 2, 5.0, 1)),
        ("expected errors, staircase", best[0]),
        ("the same with b = 2, exponential mechanism", two.upper),
        ("permute-and-flip", two.exact),
        ("randomised response", response_error(5, 2, 5.0, 2)),
        ("staircase", best[1]),
    ]


def _savings() -> Numbers:
    import numpy as np

    from veil.samples.streets import streets
    from veil_papers.hamming_automaton import feasible_counts
    from veil_papers.symbolic_trajectories import figure_5, largest_saving, least_share

    roads, rng, word = streets(), np.random.default_rng(4), ["Cedar 3rd-4th"]
    for _ in range(14):
        ahead = [road for road in roads[word[-1]] if road not in word]
        word.append(ahead[rng.integers(len(ahead))])
    counts = feasible_counts(tuple(word[1:]), roads, word[0])
    town = {name: values for name, (_, values) in figure_5(counts, (3.0, 5.0)).items()}
    assert 0.28 < 0.5 * 0.62
    assert all(least_share(counts, epsilon, 1) >= 0.5 for epsilon in (3.0, 5.0, 10.0))
    most = [largest_saving(14, 0.615, 5.0, epsilon) for epsilon in (5.0, 3.0)]
    assert most[0] < 0.557
    assert most[1] < 0.25
    return [
        ("printed saving at ε = 5", 0.557),
        ("largest possible at ε = 5, if the exponential mechanism errs by 0.615 there", most[0]),
        ("largest possible at ε = 3 then (printed: at least 0.25)", most[1]),
        *((f"on the made-up town at ε = 5, {name}", values[1]) for name, values in town.items()),
        *((f"on the made-up town at ε = 3, {name}", values[0]) for name, values in town.items()),
    ]


def _lower_bound() -> Numbers:
    from veil_papers.symbolic_trajectories import theorem_2

    repaired, printed = theorem_2(5, 2, 10.0, 1), theorem_2(5, 2, 10.0, 1, first=1)
    assert printed.lower < repaired.lower < 0.0 < repaired.half < repaired.share < repaired.exact
    assert theorem_2(5, 2, 3.8, 1).lower > 0 > theorem_2(5, 2, 3.9, 1).lower
    assert all(theorem_2(n, 2, 5.0, 1).lower < 0 for n in range(2, 20))
    return [
        ("expected errors at ε = 10; n = 5, m = 2", repaired.exact),
        ("the lower bound with the sums of (8) and (10)", printed.lower),
        ("the lower bound of Theorem 2, with ℓ = 0 in its sums", repaired.lower),
        ("½·nC/(1+C)", repaired.half),
        ("Z·Φ(n)·nC/(1+C)", repaired.share),
    ]


def _tail() -> Numbers:
    from veil_papers.symbolic_trajectories import (
        binomial_tail,
        free_counts,
        hoeffding_tail,
        published_distances,
        theorem_2,
    )

    law, upper = published_distances(free_counts(20, 2), 5.0, 1), theorem_2(20, 2, 5.0, 1).upper
    beyond = float(sum(law[errors] for errors in range(21) if errors >= upper + 6.0))
    printed, ours = hoeffding_tail(20, 6.0), binomial_tail(20, 6.0)
    assert beyond <= ours < 0.03 < 1.0 < printed
    assert hoeffding_tail(20, 0.588 * 20) > 1.0 > hoeffding_tail(20, 0.589 * 20)
    return [
        ("P(ℓ ≥ nC/(1+C) + 6); n = 20, m = 2, ε = 5", beyond),
        ("the printed tail at 6", printed),
        ("ours at 6", ours),
    ]


def _subsets() -> Numbers:
    from veil_papers.symbolic_trajectories import free_counts, phi, phi_by_subsets

    lost = []
    for length in (5, 6):
        counts = free_counts(length, 2)
        right, floats = phi_by_subsets(counts, 0.1, 1), phi_by_subsets(counts, 0.1, 1, digits=16)
        lost.append(max(abs(float(a / b) - 1) for a, b in zip(floats, right, strict=True)))
        integral = phi(counts, 0.1, 1)
        assert max(abs(a / float(b) - 1) for a, b in zip(integral, right, strict=True)) < 1e-11
    assert lost[0] < 1e-6
    assert lost[1] > 1.0
    assert min(floats) < 0 < min(right)
    return [
        ("subsets for 64 words", 2.0**64),
        ("relative error below 10⁻⁶ with 16 digits, 32 words, ε = 0.1", "yes" if lost[0] < 1e-6 else "no"),
        ("relative error above 1 with 16 digits, 64 words, ε = 0.1", "yes" if lost[1] > 1.0 else "no"),
        ("Φ(0) by the integral, 64 words", float(integral[0])),
    ]


def _line_7() -> Numbers:
    from fractions import Fraction

    from veil_papers.hamming_automaton import HammingAutomaton, State

    automaton = HammingAutomaton(tuple("abc"), 2, tuple("abc"))
    ways: dict[State, int] = dict.fromkeys(automaton.accepting, 1)
    for layer in reversed(automaton.layers[:-1]):
        for state in layer:
            ways[state] = sum(ways.get(ahead, 0) for ahead in set(automaton.successors(state).values()))
    symbols = [ways.get(ahead, 0) for ahead in automaton.successors(automaton.initial).values()]
    total = Fraction(sum(symbols), ways[automaton.initial])
    assert total == Fraction(5, 3)
    assert sum(automaton.policy(automaton.initial).values()) == 1
    assert set(automaton.law().values()) == {Fraction(1, 12)}
    return [
        ("what the printed probabilities add up to at the start", str(total)),
        ("what they add up to counted by symbols", "1"),
        ("words at distance 2 from abc, all equally likely then", automaton.size),
    ]


def _line_8() -> Numbers:
    from veil_papers.hamming_automaton import ProductAutomaton

    support = {"y0": ["y1", "y2"], "y1": ["y2", "y3"], "y2": ["y1", "y3"], "y3": ["y0", "y2", "y3"]}
    automaton = ProductAutomaton(("y1", "y2", "y3"), 2, support, "y0")
    start = automaton.initial
    ratios = [automaton.paths[start] / automaton.paths[start] for _ in automaton.policy(start)]
    assert sum(ratios) == 2
    assert sum(automaton.policy(start).values()) == 1
    return [
        ("what V(q, y)/V(q, y) adds up to at the start", sum(ratios)),
        ("what V(q′, y′)/V(q, y) adds up to", float(sum(automaton.policy(start).values()))),
    ]


def _transposed() -> Numbers:
    from itertools import pairwise, product

    support = {"y0": ["y1", "y2"], "y1": ["y2", "y3"], "y2": ["y1", "y3"], "y3": ["y0", "y2", "y3"]}
    words = list(product(support, repeat=3))
    right = {word for word in words if all(b in support[a] for a, b in pairwise(("y0", *word)))}
    printed = {word for word in words if all(a in support[b] for a, b in pairwise(word))}
    assert ("y1", "y2", "y3") in right
    assert right - printed
    assert printed - right
    return [
        ("words of three symbols that the chain can make from y₀", len(right)),
        ("words that the printed condition allows", len(printed)),
        ("of those, words that the chain can make", len(right & printed)),
    ]


def _sensitivity() -> Numbers:
    from itertools import product

    from veil_papers.symbolic_trajectories import lemma_1

    free = lemma_1(list(product("ab", repeat=3)), 1)
    short = lemma_1(list(product("ab", repeat=2)), 3)
    far_apart = lemma_1([("a", "b"), ("b", "a")], 1)
    assert (free, short, far_apart) == (1, 2, 0)
    return [
        ("sensitivity over all words of three letters, b = 1", free),
        ("over all words of two letters, b = 3", short),
        ("over the feasible words ab and ba, b = 1", far_apart),
    ]


WORDS = (
    Erratum(
        "imprecise",
        "The factor 2 is wasted",
        (
            "symbolic-trajectories Mechanism 1",
            "symbolic-trajectories Mechanism 2",
            "symbolic-trajectories Theorem 1",
        ),
        "Both mechanisms take the exponent ε/(2b).",
        "The 2 is needed only where the normaliser depends on the input. Over all words it does not. "
        "Mechanism 1 really spends ε/2 + log(Φ(ℓ)/Φ(ℓ+b)) at worst, never more than ε/2 + log 2. Over all "
        "words the best staircase in the distance has the least largest expected error of *all* ε-private "
        "mechanisms from words to words; for b = 1 it is randomised response. Proof: "
        "`veil.core.numerics.staircase`.",
        _factor_two,
        quote="exp(−εℓ/(2b)) in (4)",
    ),
    Erratum(
        "wrong result",
        "The printed savings are impossible",
        ("symbolic-trajectories Section V", "symbolic-trajectories Figure 5"),
        "Expected errors of 0.28 (permute-and-flip) and 0.62 (exponential) at ε = 5, up to 55.7 % less, "
        "and at least 25 % less for all ε > 3 (also in the abstract).",
        "Permute-and-flip has at least *half* the error of the exponential mechanism, whatever the words, "
        'as the paper\'s own reference [22] says ("up to a factor of two"). So 0.28 would need to be at '
        "least "
        "0.31. And if the exponential mechanism errs by 0.615 or more at ε = 5, permute-and-flip saves at "
        "most 48.6 % there and at most **10.2 %** at ε = 3, for any chain with n = 14 (`largest_saving`, "
        "with proof). On the made-up town it saves 33 % at ε = 5. The paper averages 2,000 draws and does "
        "not say how it evaluates (5); neither can be checked without its data.",
        _savings,
        quote="E[ℓ] = 0.28, E_Exp[ℓ] = 0.62 at ε = 5; “55.7%”; “at least a 25% reduction” for all ε > 3 "
        "(Section V, Figure 5)",
    ),
    Erratum(
        "typo",
        "Two sums that begin at one",
        ("symbolic-trajectories Appendix B", "symbolic-trajectories Theorem 2"),
        "The sums of (8) and (10) begin at ℓ = 1, as if no word were kept.",
        "ℓ = 0 belongs to them. Theorem 2 itself is right: its expectations run over all ℓ. Its lower "
        "bound is "
        "below 0 for ε > 3.8 at n = 5, m = 2 and for n < 20 at ε = 5, m = 2. Nearer in every case tried:\n\n"
        "```text\n"
        "E[ℓ] ≥ Z·Φ(n)·nC/(1+C) ≥ ½·nC/(1+C)\n"
        "```",
        _lower_bound,
        quote="Σ_{ℓ=1}^n P(ℓ) = 1 (8); E[ℓ] = Σ_{ℓ=1}^n ℓ·P_Exp(ℓ)Φ/E_Exp[Φ] (10)",
    ),
    Erratum(
        "imprecise",
        "The tail",
        ("symbolic-trajectories Theorem 2",),
        "P(|ℓ − E ℓ| ≥ t) ≤ 2·exp(−2t²/n²).",
        "True, and above 1 for t < 0.588 n. For the upper tail the exponent may be n times as large:\n\n"
        "```text\n"
        "P(ℓ ≥ nC/(1+C) + t) ≤ exp(−2t²/n)\n"
        "```",
        _tail,
        quote="P(|ℓ − E[ℓ]| ≥ t) ≤ 2·exp(−2t²/n²) (Theorem 2)",
    ),
    Erratum(
        "imprecise",
        "The sum over subsets",
        ("symbolic-trajectories Equation (5)",),
        "Φ is a sum over all subsets of the N = mⁿ words.",
        "It has 2^N terms, so the mechanism as printed enumerates more than the words it avoids to "
        "enumerate. Added up by size it costs N², but the signs alternate: with floats and ε = 0.1 seven "
        "digits are left at 32 words and none at 64. Instead Φ(ℓ) = ∫₀¹ ∏(1 − p_j t)/(1 − p_ℓ t) dt, for "
        "any N.",
        _subsets,
        quote="Φ = Σ_{k=0}^{N} (−1)^k/(k + 1) Σ_{G ⊆ I, |G| = k} ∏ exp(−εL_j/2b), N = |Σⁿ| (5)",
    ),
    Erratum(
        "typo",
        "Probabilities that do not add up to one",
        ("symbolic-trajectories Algorithm 1", "symbolic-trajectories Figure 1"),
        "Line 7 adds V once for each successor.",
        "It must be once for each symbol. To the letter, the probabilities in the automaton of Figure 1 add "
        "up to 5/3 at the start. (This list once said 3/2, which took the right V for the later states.)",
        _line_7,
        quote="V(q) = Σ_{q″ | ∃α, q″ ∈ δ(q, α)} V(q″) (Algorithm 1, line 7)",
    ),
    Erratum(
        "typo",
        "A ratio that is always one",
        ("symbolic-trajectories Algorithm 2", "symbolic-trajectories Figure 3"),
        "Line 8 prints V(q, y)/V(q, y).",
        "V(q′, y′)/V(q, y), as line 8 of Algorithm 1 has it. The primes may have been lost between the "
        "authors' "
        "file and the text that we read. The edges here are ours, as the paper shows its own in a picture "
        "only.",
        _line_8,
        quote="μ_y(q′, y′ | q, y) = V(q, y)/V(q, y) (Algorithm 2, line 8)",
    ),
    Erratum(
        "typo",
        "Which words are feasible",
        ("symbolic-trajectories Section II.B",),
        "The index of T is transposed, and y₀ → y₁ is left out.",
        "A word is feasible if T[y_t, y_{t+1}] > 0 from y₀ on. Some distances have no feasible word.",
        _transposed,
        quote="T_{y_{t+1}, y_t} > 0 for all t ∈ [n − 1] (Section II.B), where T_{y_i, y_j} = P(y_j | y_i)",
    ),
    Erratum(
        "imprecise",
        "The sensitivity can be zero",
        ("symbolic-trajectories Lemma 1",),
        "The sensitivity of the distance is at most b, and (2) divides by it.",
        "It can be smaller than b, even 0, and then (2) divides by 0. The proofs read b for it, which is "
        "safe.",
        _sensitivity,
        quote="Δu ≤ b (Lemma 1); exp(εu/(2Δu)) (2); exp(−εℓ/(2b)) (4)",
    ),
)
