"""The errata on count vectors: the first half of the data-driven chains paper."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum, Numbers


def _conditional() -> Numbers:
    import numpy as np

    from veil import vectors

    rng = np.random.default_rng(1)
    with_one, without = np.array([40, 30, 17, 10, 1]), np.array([40, 30, 17, 11, 0])
    shares = [rng.dirichlet(20.6 * counts / 98, size=10_000)[:, 4] for counts in (with_one, without)]
    assert (shares[0] > 0).all()
    assert (shares[1] == 0).all()
    counts = vectors.DirichletCounts(2.0, 20.0, 5).profile(vectors.Records("replace"))
    assert counts.epsilon(0.0026) < 2.255
    return [
        ("chance of a positive share for the grade that one record has", float((shares[0] > 0).mean())),
        ("the same after that record has changed", float((shares[1] > 0).mean())),
        ("ε of `DirichletCounts(2, 20, 5)` at δ = 0.0026, whatever the data", counts.epsilon(0.0026)),
    ]


def _expected_kl() -> Numbers:
    import numpy as np
    from scipy.special import digamma, polygamma

    from veil.vectors.accuracy import expected_kl
    from veil_papers.data_driven_chains import corollary_1

    size, records, k = 5, 98, 147.0  # Assumption 4 at a floor of 1/98
    vertex = np.array([1 / records] * (size - 1) + [1 - (size - 1) / records])
    bound, at_vertex = corollary_1(size, records, k), expected_kl(k * vertex, vertex)
    assert abs(bound / at_vertex - 1) < 1e-9
    rng = np.random.default_rng(2)
    spread = 1 / records + (1 - size / records) * rng.dirichlet(np.full(size, 0.5), size=2_000)
    others = max(expected_kl(k * p, p) for p in spread)
    assert others < bound
    x = np.linspace(1.5, 60.0, 2_000)
    right = np.log(x) - digamma(x) - x * polygamma(1, x) + 1
    printed = np.log(x) - digamma(x) + x * polygamma(1, x) + 1
    assert (np.diff(right) > 0).all()
    assert (np.diff(printed) < 0).any()
    return [
        ("bound of Corollary 1, n = 5, N = 98, k = 147", bound),
        ("the divergence at p*, which attains it", at_vertex),
        ("the largest at 2,000 other frequencies", others),
        ("trigamma function at 1, said to be negative", float(polygamma(1, 1.0))),
    ]


def _opposite() -> Numbers:
    from scipy.special import betaln

    k, floor, step = 20.6, 0.073, 1 / 98

    def objective(own: float, other: float) -> float:
        above = betaln(k * other, k * (1 - floor - other))
        return float(above - betaln(k * own, k * (1 - floor - own)))

    one, chosen = objective(floor, floor + step), objective(floor + step, floor)
    missing = objective(1 - 2 * floor - step, 1 - 2 * floor)
    assert abs(one + chosen) < 1e-12
    assert one < 0.0 < chosen
    assert abs(missing - chosen) < 1e-12
    return [
        ("objective at (η + 1/N, η), which the proof takes", chosen),
        ("at (η, η + 1/N), said to be identical", one),
        ("at (1 − 2η − 1/N, 1 − 2η), which is not listed", missing),
    ]


def _extreme_points() -> Numbers:
    import numpy as np

    from veil.vectors.corners import some_entry_below

    k, floor, gamma, size = 20.6, 0.073, 0.0004, 5
    points = np.full((size, size), floor) + (1 - size * floor) * np.eye(size)
    assert np.linalg.matrix_rank(points) == size
    assert np.allclose(points.sum(axis=1), 1.0)
    # Lemma 2 integrates over the first n - 1 entries, so the vertex that is large in the last is the worst.
    last = some_entry_below([(k * floor, size - 1)], k * (1 - 4 * floor), gamma)
    others = some_entry_below([(k * floor, size - 2), (k * (1 - 4 * floor), 1)], k * floor, gamma)
    assert others < 0.76 * last
    return [
        ("extreme points, n = 5", len(points)),
        ("points that are listed", size - 1),
        ("δ at the one that is large in x_n, by Lemma 2's integral; the grades of Section 6.1", float(last)),
        ("δ at any other", float(others)),
    ]


def _rate() -> Numbers:
    import numpy as np

    from veil.vectors.accuracy import expected_kl
    from veil_papers.data_driven_chains import corollary_1

    p, ks = np.array([0.4, 0.3, 0.2, 0.1]), (1e2, 1e3, 1e4)
    exact = [expected_kl(k * p, p) for k in ks]
    bounds = [corollary_1(4, 10, k) for k in ks]
    slopes = [float(np.log10(values[2] / values[1])) for values in (exact, bounds)]
    assert all(abs(slope + 1.0) < 0.01 for slope in slopes)
    assert abs(2 * ks[2] * exact[2] / 3 - 1.0) < 0.01
    return [
        ("power of k in E[KL], from k = 1,000 to 10,000", slopes[0]),
        ("the same in Corollary 1's bound", slopes[1]),
        ("2k·E[KL]/(n − 1) at k = 10,000", 2 * ks[2] * exact[2] / 3),
        ("power of k in √(2L), the bound of Theorem 5", slopes[1] / 2),
    ]


def _two_deltas() -> Numbers:
    import numpy as np
    from scipy.optimize import brentq

    from veil.vectors.corners import some_entry_below

    def delta(k: float, floor: float) -> float:
        # 39 of 40 zones at the floor, gamma = 1e-8
        return some_entry_below([(k * floor, 39)], k * (1 - 39 * floor), 1e-8)

    found = []
    for printed in (3e-6, 6e-6):
        # The k at which k_min = 3/(2 eta) has this delta; 1.4 times it is what 5.19 takes.
        def off(log_k: float, wanted: float = printed) -> float:
            return float(np.log(delta(np.exp(log_k), 1.5 / np.exp(log_k)) / wanted))

        least = float(np.exp(brentq(off, 5, 14)))
        found.append(float(delta(1.4 * least, 1.5 / least)))
    assert 4e-9 < found[0] < 7e-9
    assert found[1] > 1.2e-8
    return [
        ("δ at 1.4 k_min if it is 3·10⁻⁶ at k_min (printed at ε = 5.19: 5·10⁻⁹)", found[0]),
        ("the same if it is 6·10⁻⁶", found[1]),
    ]


COUNTS = (
    Erratum(
        "imprecise",
        "Two strongest privacies and two δ",
        ("data-driven-chains Section 6.2",),
        "The strongest privacy on the taxi trips is (2.68, 0.0214), and in the same section (3.73, "
        "3·10⁻⁶); the "
        "introduction has 6·10⁻⁶ beside 3.73.",
        "3.73 is Table 1's for 40 zones. With it goes 3·10⁻⁶: k is 1.4 times as large at ε = 5.19, which "
        "turns "
        "3·10⁻⁶ into the printed 5·10⁻⁹, and 6·10⁻⁶ into 1.5·10⁻⁸. At γ = 10⁻⁸ no row with so few trips "
        "has (2.68, 0.0214): a test searches them.",
        _two_deltas,
        quote="“strongest possible privacy to be” (2.68, 0.0214); “at the strongest possible privacy,” ε = "
        "3.73 and "
        "δ = 3 × 10⁻⁶ (Section 6.2); (3.73, 6 × 10⁻⁶) (Section 1)",
    ),
    Erratum(
        "imprecise",
        "The guarantee is conditional",
        ("data-driven-chains Theorem 1",),
        "Privacy is promised only between databases whose frequencies all respect the floor η, and η, k "
        "and the merging of categories come from the data.",
        "With η public and fixed beforehand, the conditional form; a release then lists the assumption. "
        "Without the floor there is no guarantee at all: whether a grade has one record or none shows with "
        "certainty. The default for data is `DirichletCounts`, which needs no floor.",
        _conditional,
        quote="“Let C(D, ρ) ∈ Δ_n^(η)” (Theorem 1); “easily enforced by the user selecting an appropriate "
        "η” (Section 3.1)",
    ),
    Erratum(
        "wrong proof, right result",
        "Expected KL",
        ("data-driven-chains Corollary 1", "data-driven-chains Supplement C.3"),
        "The proof calls the trigamma function negative and turns its sign in H.",
        "The trigamma function is positive, and the same proof needs that at its end. With the sign right H "
        "increases, as the proof wants; with the printed one it does not. (Where the sum is split, the "
        "second "
        "maximum alone would be at 1/N too; by convexity the whole has its maximum at p*.) The corollary is "
        "true, and p* attains it. If every entry is at least η > 1/N the maximum is smaller: "
        "`veil.vectors.largest_expected_kl`.",
        _expected_kl,
        quote="H(x) = log(x) + |xψ⁽¹⁾(x)| − ψ(x) + 1; “strictly negative” (Supplement C.3, after (23))",
    ),
    Erratum(
        "wrong proof, right result",
        "Two vertices of opposite signs",
        ("data-driven-chains Supplement C.1",),
        "Of the four vertices two give identical positive values.",
        "The one is the other with the two databases exchanged, so its value is the negative. The vertex "
        "that "
        "does give the same value, (1 − 2η − 1/N, 1 − 2η), is missing, and (1 − 2η + 1/N, 1 − 2η) lies "
        "outside "
        "the constraints. Harmless: the pair that the proof takes is the largest.",
        _opposite,
        quote="(η, η + 1/N) and (η + 1/N, η) “yield identical positive objective values” (Supplement C.1)",
    ),
    Erratum(
        "imprecise",
        "One extreme point too few",
        ("data-driven-chains Supplement A",),
        "The minimum over the bordered simplex is taken over n − 1 extreme points.",
        "There are n: any one entry may be the large one. For Ω₁ as it is defined, with x_i ≥ γ for all n "
        "entries, all n give the same value, so one is enough. Lemma 2's integral leaves out x_n ≥ γ; by it "
        "the point that is large in x_n is the worst, and must not be the one that is left out.",
        _extreme_points,
        quote="{q₁, …, q_{n−1}} “denote the set of extreme points” (Supplement A)",
    ),
    Erratum(
        "wrong result",
        "How fast the errors fall",
        ("data-driven-chains Section 5",),
        "The errors of π and of τ_∞ are O(log(k_i⁻¹)), because ψ grows as log.",
        "The logarithms in L cancel. What is left falls as 1/k, so the bounds of Theorems 4 and 5 fall as "
        "1/√k, and log(k⁻¹) is negative for k > 1. The truth is better than the claim.",
        _rate,
        quote="“the error in the stationary distribution is” O(log(k_i⁻¹)) (Section 5, after Theorem 4)",
    ),
)
