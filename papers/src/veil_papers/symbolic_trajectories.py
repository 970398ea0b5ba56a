"""The symbolic trajectories paper (references.SYMBOLIC_TRAJECTORIES): its statements and figures.

The laws of the distance by the letter, Theorem 2 as printed and repaired, and the figures. Privacy and
production code live elsewhere; this is the oracle they are tested against.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from veil.core.random.streams import Rng
from veil_papers.hamming_automaton import HammingAutomaton, ProductAutomaton, Word, feasible_counts, hamming

Floats = NDArray[np.float64]
Curve = tuple[Sequence[float], Sequence[float]]

EPSILONS = tuple(float(epsilon) for epsilon in np.round(np.linspace(0.1, 10.0, 100), 10))
# Printed in Section V: expected errors at epsilon = 5 of Mechanism 2 and of [21, Mechanism 3].
PRINTED_FLIP, PRINTED_EXPONENTIAL = 0.28, 0.62
_NODES, _WEIGHTS = leggauss(20)


def lemma_1(words: Sequence[Word], radius: int) -> int:
    """Lemma 1: the sensitivity of the distance over a set of words. At most the radius, often less."""
    pairs = [(w, v) for w, v in combinations(words, 2) if hamming(w, v) <= radius]
    return max((abs(hamming(w, u) - hamming(v, u)) for w, v in pairs for u in words), default=0)


def free_counts(length: int, alphabet: int) -> list[int]:
    """The paper's M(n, m, l): all words at distance l = 0 ... n."""
    return [math.comb(length, errors) * (alphabet - 1) ** errors for errors in range(length + 1)]


def phi_by_subsets(
    counts: Sequence[int], epsilon: float, radius: int, *, digits: int | None = None
) -> list[Decimal]:
    """Equation (5) as an alternating sum over subsets of the candidates, added up by their size.

    The sum over all subsets of k candidates is an elementary symmetric polynomial, so it costs N^2 and not
    2^N. The terms are as large as 2^N, the result is as small as 1/N: digits=None takes as many digits as
    that needs, digits=16 shows what floats make of it.
    """
    with localcontext() as context:
        context.prec = 40 + math.ceil(0.31 * sum(counts)) if digits is None else digits
        down = (-Decimal(epsilon) / (2 * radius)).exp()
        chances = [down**errors for errors in range(len(counts))]
        found = []
        for errors, count in enumerate(counts):
            if not count:
                # There is no i(l) for such a distance; its probability is 0 in any case.
                found.append(Decimal(0))
                continue
            left = [many - (other == errors) for other, many in enumerate(counts)]
            sums = [Decimal(1)]
            for chance, many in zip(chances, left, strict=True):
                for _ in range(many):
                    longer, shifted = [*sums, Decimal(0)], [Decimal(0), *sums]
                    sums = [one + chance * before for one, before in zip(longer, shifted, strict=True)]
            found.append(sum(((-1) ** k * e / (k + 1) for k, e in enumerate(sums)), Decimal(0)))
        return found


def phi(counts: Sequence[int], epsilon: float, radius: int) -> Floats:
    """Equation (5) for any number of candidates: the integral of prod (1 - p_j t) without one of l.

    Expanding the product gives (5) back. By Gauss-Legendre in log t, where the integrand is smooth on a
    scale of one however many candidates there are.
    """
    many = np.array(counts, dtype=np.float64)
    chances = np.exp(-epsilon * np.arange(len(many)) / (2 * radius))
    depth = math.log(max(1.0, float(many @ chances))) + 40.0
    edges = np.linspace(-depth, 0.0, math.ceil(4.0 * depth) + 1)
    widths = np.diff(edges)[:, None]
    log_t = (edges[:-1, None] + widths * (_NODES + 1.0) / 2.0).ravel()
    logs = np.log1p(-np.multiply.outer(chances, np.exp(log_t)))
    values = np.exp(log_t + many @ logs - logs)
    return np.where(many > 0, values @ (widths * _WEIGHTS / 2.0).ravel(), 0.0)


def published_distances(
    counts: Sequence[int], epsilon: float, radius: int, *, by_subsets: bool = False
) -> Floats:
    """Equation (4): the law of the distance under permute-and-flip, p_l N(l) Phi(l), for Mechanism 1 and 2.

    It adds up to 1 - prod (1 - p_j), which is 1 if the true word is a candidate, as Definition 4 asks.
    """
    values = phi(counts, epsilon, radius)
    if by_subsets:
        values = np.array([float(value) for value in phi_by_subsets(counts, epsilon, radius)])
    law: Floats = _weights(counts, epsilon, radius) * values
    return law


def exponential_distances(counts: Sequence[int], epsilon: float, radius: int) -> Floats:
    """The law of the distance under the exponential mechanism of the paper's [21]."""
    weights = _weights(counts, epsilon, radius)
    return weights / float(weights.sum())


def _weights(counts: Sequence[int], epsilon: float, radius: int) -> Floats:
    chances: Floats = np.exp(-epsilon * np.arange(len(counts)) / (2 * radius))
    return np.array(counts, dtype=np.float64) * chances


def expected(law: Floats) -> float:
    """The expected distance."""
    return float(law @ np.arange(len(law)))


def mechanism_1(word: Word, alphabet: Word, epsilon: float, radius: int, rng: Rng) -> Word:
    """Mechanism 1: draw a distance l, then run the automaton A_{w,l} (printed A_{w,b})."""
    law = published_distances(free_counts(len(word), len(alphabet)), epsilon, radius)
    return HammingAutomaton(word, int(rng.choice(len(law), p=law / law.sum())), alphabet).run(rng)


def mechanism_2(
    word: Word, support: Mapping[str, Sequence[str]], start: str, epsilon: float, radius: int, rng: Rng
) -> Word:
    """Mechanism 2: the same over the feasible words of a chain. Distances without a word have no mass."""
    law = published_distances(feasible_counts(word, support, start), epsilon, radius)
    return ProductAutomaton(word, int(rng.choice(len(law), p=law / law.sum())), support, start).run(rng)


def published_loss(length: int, alphabet: int, epsilon: float, radius: int) -> float:
    """What Mechanism 1 really spends: epsilon/2 + max log(Phi(l) / Phi(l + b)) <= epsilon/2 + log 2.

    A candidate's probability is p_l Phi(l), which falls with l, and neighbours change l by at most b. At most
    log 2, as Phi(0) <= 2 Phi(n): see `least_share`.
    """
    values = np.log(phi(free_counts(length, alphabet), epsilon, radius))
    step = min(radius, length)
    return epsilon * step / (2 * radius) + float((values[:-step] - values[step:]).max())


@dataclass(frozen=True, slots=True)
class Theorem2:
    """Theorem 2 around the exact expectation, and the two statements that we add."""

    lower: float
    exact: float
    upper: float
    half: float
    """Half of the upper bound: a lower bound that is never empty."""
    share: float
    """`least_share` of the upper bound, a lower bound between half and all of it."""


def theorem_2(length: int, alphabet: int, epsilon: float, radius: int, *, first: int = 0) -> Theorem2:
    """Theorem 2: nC/(1+C) - n (Phi(0) - Phi(n)) / (4 E_Exp[Phi]) <= E[l] <= nC/(1+C).

    first: where the sum in E_Exp[Phi] begins. The theorem means an expectation, from 0 on; (8) and (10) of
    its proof print 1, and with that the bound would be far lower.
    """
    counts = free_counts(length, alphabet)
    values = phi(counts, epsilon, radius)
    other = exponential_distances(counts, epsilon, radius)
    odds = (alphabet - 1) * math.exp(-epsilon / (2 * radius))
    upper = length * odds / (1.0 + odds)
    mean_phi = float((other * values)[first:].sum())
    return Theorem2(
        lower=upper - length * float(values[0] - values[-1]) / (4.0 * mean_phi),
        exact=expected(published_distances(counts, epsilon, radius)),
        upper=upper,
        half=0.5 * upper,
        share=least_share(counts, epsilon, radius) * upper,
    )


def least_share(counts: Sequence[int], epsilon: float, radius: int) -> float:
    """Z Phi(n): permute-and-flip has at least this share of the exponential mechanism's error, at least 1/2.

    P(l) = P_Exp(l) Z Phi(l) with Phi falling, so E[l] >= Z Phi(n) E_Exp[l]. And Z Phi(0) >= 1, since Z Phi
    has the mean 1. With R the product over the candidates other than one of distance 0 and one of distance
    n, R falls in t: Phi(n) = int R (1 - t) >= int R / 2 >= int R (1 - p_n t) / 2 = Phi(0) / 2. It holds for
    feasible words as well, if the true word is one of them.
    """
    values = phi(counts, epsilon, radius)
    last = max(errors for errors, count in enumerate(counts) if count)
    return float(values[last] / (exponential_distances(counts, epsilon, radius) @ values))


def largest_saving(length: int, error: float, at: float, epsilon: float) -> float:
    """The most that permute-and-flip saves at epsilon if the exponential mechanism errs by `error` at `at`.

    For b = 1, any feasible words with the true one among them, and epsilon <= at. Let a_l = N(l) exp(-at
    l/2), so that sum (l - error) a_l = error over l >= 1. Then Z at epsilon, which is 1 + sum a_l exp((at -
    epsilon) l/2), is least if one l above `error` has all the weight. Next, `least_share` is at least Z int
    (1 - t) (1 - pt)^{(Z-1)/p} dt with p = exp(-epsilon/2), the largest p_j but one, because log(1 - pt) / p
    falls in p. Last, that grows with Z: with x = -log(1 - pt) / p and k = (1 - t)(1 - pt) as a function of
    x, it is 1 - int (|k'| - k) e^{-(Z-1)x} dx, and |k'| / k = p + (1 - pt) / (1 - t) > 1.
    """
    least = 1.0 + min(
        error * math.exp((at - epsilon) * errors / 2.0) / (errors - error)
        for errors in range(1, length + 1)
        if errors > error
    )
    chance = math.exp(-epsilon / 2.0)
    edges = np.linspace(0.0, 1.0, 200)
    t = (edges[:-1, None] + np.diff(edges)[:, None] * (_NODES + 1.0) / 2.0).ravel()
    steps = (np.diff(edges)[:, None] * _WEIGHTS / 2.0).ravel()
    return 1.0 - least * float(steps @ ((1.0 - t) * (1.0 - chance * t) ** ((least - 1.0) / chance)))


def hoeffding_tail(length: int, away: float) -> float:
    """Theorem 2: P(|l - E l| >= t) <= 2 exp(-2 t^2 / n^2). True, and above 1 for t < 0.588 n."""
    return 2.0 * math.exp(-2.0 * away**2 / length**2)


def binomial_tail(length: int, above: float) -> float:
    """P(l >= nC/(1+C) + t) <= exp(-2 t^2 / n), n times stronger in the exponent, for the upper tail.

    The exponential mechanism's l is a sum of n independent signs. P / P_Exp = Z Phi falls with l, so
    permute-and-flip's l is stochastically below it.
    """
    return math.exp(-2.0 * above**2 / length)


def response_error(length: int, alphabet: int, epsilon: float, radius: int) -> float:
    """The expected error of randomised response, symbol by symbol, with the whole exponent epsilon / b."""
    odds = (alphabet - 1) * math.exp(-epsilon / radius)
    return length * odds / (1.0 + odds)


def figure_2(panel: str) -> dict[str, Curve]:
    """Figure 2: (a) epsilon in [0.1, 10] at n=5, m=2; (b) n in 2..20 and (c) m in 2..10 at epsilon=5; b=1.

    The lower bound is negative, so says nothing, for epsilon above 3.8 in (a), for n
    below 20 in (b) and for m=2 in (c).
    """
    cases: Iterable[tuple[float, int, int, float]] = {
        "a": [(epsilon, 5, 2, epsilon) for epsilon in EPSILONS],
        "b": [(float(length), length, 2, 5.0) for length in range(2, 21)],
        "c": [(float(alphabet), 5, alphabet, 5.0) for alphabet in range(2, 11)],
    }[panel]
    found = [(x, theorem_2(length, alphabet, epsilon, 1)) for x, length, alphabet, epsilon in cases]
    places = [x for x, _ in found]
    return {
        "upper bound (exponential)": (places, [bounds.upper for _, bounds in found]),
        "permute-and-flip": (places, [bounds.exact for _, bounds in found]),
        "lower bound, half the upper": (places, [bounds.half for _, bounds in found]),
        "lower bound of Theorem 2": (places, [bounds.lower for _, bounds in found]),
    }


def figure_5(counts: Sequence[int], epsilons: Sequence[float] = EPSILONS) -> dict[str, Curve]:
    """Figure 5 for any word, b=1: the expected errors of [21, Mechanism 3] and of Mechanism 2, exactly.

    The Gainesville roads are not printed. On the made-up town of `veil.samples.streets` the two are alike up
    to epsilon = 3, and the gain comes near to one half only where both errors are small.
    """
    return {
        "exponential": (epsilons, [expected(exponential_distances(counts, e, 1)) for e in epsilons]),
        "permute-and-flip": (epsilons, [expected(published_distances(counts, e, 1)) for e in epsilons]),
    }
