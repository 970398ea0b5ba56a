"""The errata on vectors: the Dirichlet simplex paper, and the first half of the data-driven chains paper."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum, Numbers


def _loose() -> Numbers:
    from veil import calibrate, vectors

    domain, move = vectors.Simplex(5, floor=0.073), vectors.Transfer.from_records(98)
    mechanism = vectors.Dirichlet(20.6, domain)
    formula, other = (mechanism.published(move, delta=delta) for delta in (0.0026, 0.002))
    exact = mechanism.profile(move)
    larger = calibrate(lambda k: vectors.Dirichlet(k, domain), move, epsilon=2.255, delta=0.0026)
    assert formula.epsilon > 3 * exact.epsilon(0.0026)
    assert larger.k > 12 * 20.6
    return [
        ("ε by the paper's formula, γ chosen for δ = 0.0026", formula.epsilon),
        ("ε by the paper's formula, γ chosen for δ = 0.002", other.epsilon),
        ("exact ε at δ = 0.0026", exact.epsilon(0.0026)),
        ("exact δ at ε = 2.255", exact.delta(2.255)),
        ("largest k at (2.255, 0.0026), where the paper takes 20.6", larger.k),
    ]


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


def _transfer() -> Numbers:
    from veil import vectors

    mechanism = vectors.Dirichlet(10.0, vectors.Simplex(3, floor=0.1, protected=(0, 1), slack=0.02))
    large, small = (mechanism.published(vectors.Transfer(mass), gamma=0.4) for mass in (0.78, 0.478))
    assert small.epsilon > large.epsilon + 2.0
    assert any("Lemma 4" in text for text in large.violations)
    exact = [mechanism.profile(vectors.Transfer(mass)).delta(1.0) for mass in (0.78, 0.478)]
    assert exact[0] > exact[1]
    return [
        ("the formula's ε at the full transfer 0.78", large.epsilon),
        ("the formula's ε at the transfer 0.478, which is allowed too", small.epsilon),
        ("exact δ at ε = 1, transfer 0.78", exact[0]),
        ("exact δ at ε = 1, transfer 0.478", exact[1]),
    ]


def _log_concave() -> Numbers:
    import numpy as np
    from scipy.special import betaln

    from veil.vectors.corners import some_entry_below

    def log_density(p: float, x: float, k: float = 20.0) -> float:
        powers = (k * p - 1) * np.log(x) + (k * (1 - p) - 1) * np.log1p(-x)
        return float(powers - betaln(k * p, k * (1 - p)))

    def log_inside(one: float, other: float, k: float = 20.0) -> float:
        outside = some_entry_below([(k * one, 1), (k * other, 1)], k * (1 - one - other), 0.02)
        return float(np.log1p(-outside))

    joint = log_density(0.5, 0.475) - 0.5 * (log_density(0.1, 0.05) + log_density(0.9, 0.9))
    conclusion = log_inside(0.1, 0.4) - 0.5 * (log_inside(0.1, 0.1) + log_inside(0.1, 0.7))
    assert joint < 0.0 < conclusion
    return [
        ("log density at a midpoint less the mean at the ends, in p and x together", joint),
        ("log P[Ω₁] at a midpoint less the mean at the ends, in p", conclusion),
    ]


def _concentration() -> Numbers:
    import numpy as np

    from veil.vectors.accuracy import concentration, published_concentration

    p, theta = np.full(10, 0.1), 0.9
    mu = float(np.sqrt(-np.log(theta) / 22.0))
    assert abs(published_concentration(mu, theta) - 10.0) < 1e-9
    rng = np.random.default_rng(3)
    failed = (np.abs(rng.dirichlet(10.0 * p, size=50_000) - p).max(axis=1) > mu).mean()
    safe = concentration(10, mu, theta)
    kept = (np.abs(rng.dirichlet(safe * p, size=50_000) - p).max(axis=1) > mu).mean()
    assert failed > 0.99 > theta >= kept
    return [
        ("the error μ that k = 10 is said to exceed with probability at most 0.9", mu),
        ("how often it did, k = 10", float(failed)),
        ("the k that is safe", safe),
        ("how often that one did", float(kept)),
    ]


def _expected_kl() -> Numbers:
    import numpy as np
    from scipy.special import polygamma

    from veil.vectors.accuracy import expected_kl, largest_expected_kl
    from veil_papers.data_driven_chains import corollary_1

    k, floor = 20.6, 0.073
    vertex, middle = np.array([floor] * 4 + [1 - 4 * floor]), np.full(5, 0.2)
    printed, largest = corollary_1(5, 98, k), largest_expected_kl(k, 5, floor)
    assert polygamma(1, 1.0) > 0.0
    assert floor > 1 / 98
    at_vertex, at_middle = expected_kl(k * vertex, vertex), expected_kl(k * middle, middle)
    assert at_middle < at_vertex <= largest * (1 + 1e-12) < printed
    return [
        ("bound of Corollary 1", printed),
        ("largest value over the domain", largest),
        ("its value at the vertex", at_vertex),
        ("its value in the middle", at_middle),
        ("trigamma function at 1", float(polygamma(1, 1.0))),
    ]


def _gaussian() -> Numbers:
    import numpy as np

    from veil import compare, vectors
    from veil_papers.dirichlet_simplex import figure_3

    drawn = figure_3(np.random.default_rng(1), vectors=50_000)
    assert abs(drawn.dirichlet / 0.478 - 1.0) < 0.02
    assert abs(drawn.gaussian / 0.981 - 1.0) < 0.02
    names = ["laplace", "gaussian", "dirichlet"]
    table = compare(names, vectors.Transfer(0.01), epsilon=1.0, delta=1e-6, size=5)
    errors = {row.name: row.errors.tv for row in table.rows if row.errors is not None}
    assert errors["laplace"] < errors["gaussian"] < errors["dirichlet"]
    near, names = vectors.Records("replace"), ["geometric", "dirichlet"]
    table = compare(names, near, epsilon=1.0, delta=1e-6, size=5, records=10_000)
    counts = {row.name: row.errors.tv for row in table.rows if row.errors is not None}
    assert 10 * counts["geometric"] < counts["dirichlet"]
    return [
        ("Figure 3 again, mean L1 error of the Dirichlet mechanism (printed 0.478)", drawn.dirichlet),
        ("Figure 3 again, of the Gaussian mechanism (printed 0.981)", drawn.gaussian),
        *((f"mean TV error of {name}, 5 entries, transfer 0.01", error) for name, error in errors.items()),
        *((f"mean TV error of {name}, 10,000 records", error) for name, error in counts.items()),
    ]


def _two_entries() -> Numbers:
    from scipy.special import betaln

    from veil import vectors

    k, floor, move = 5.0, 0.4, vectors.Transfer.from_l1(0.2)
    mechanism = vectors.Dirichlet(k, vectors.Simplex(2, floor=floor))
    with_floor, exact = mechanism.published(move, delta=0.04), mechanism.profile(move).epsilon(0.04)
    assert any("n >= 3" in text for text in with_floor.violations)
    # The two formulas differ in eta-bar alone: 0.4 above, 0 here.
    outer = betaln(k * 0.4, k * 0.2) - betaln(k * 0.5, k * 0.1)
    inner = betaln(k * 0.4, k * 0.6) - betaln(k * 0.5, k * 0.5)
    without = float(with_floor.epsilon - outer + inner)
    assert with_floor.epsilon < exact < without
    return [
        ("ε by the formula, η̄ = η = 0.4", with_floor.epsilon),
        ("exact ε at δ = 0.04", exact),
        ("ε by the formula, η̄ = 0", without),
    ]


def _small_k() -> Numbers:
    import math

    from veil import vectors
    from veil.vectors.two_entries import limit_as_k_vanishes

    domain, move = vectors.Simplex(5, floor=0.02), vectors.Transfer(0.02)
    found = [vectors.Dirichlet(k, domain).profile(move).delta(1.0) for k in (1.0, 0.1, 0.001)]
    limit = math.exp(limit_as_k_vanishes(0.02, 0.02, 1.0))
    assert min(found) > 0.9 * limit > 0.1
    return [
        ("δ(1) at k = 1", found[0]),
        ("δ(1) at k = 0.1", found[1]),
        ("δ(1) at k = 0.001", found[2]),
        ("what it tends to", limit),
    ]


VECTORS = (
    Erratum(
        "vectors",
        "The privacy bounds are very loose",
        (
            "dirichlet-simplex Theorem 1",
            "dirichlet-simplex Theorem 2",
            "dirichlet-simplex Theorem 3",
            "data-driven-chains Theorem 1",
        ),
        "They split the output space at a chosen γ and bound both parts separately. The grade example "
        "of the data-driven chains paper (5 grades, 98 records, floor 0.073, k = 20.6) prints (2.255, "
        "0.0026).",
        "The exact trade-off is one integral in one variable. Veil charges the exact figure and shows the "
        "published one on request.",
        _loose,
    ),
    Erratum(
        "vectors",
        "The guarantee is conditional",
        ("data-driven-chains Theorem 1",),
        "Privacy is promised only between databases whose frequencies all respect the floor η, and η, k "
        "and the merging of categories come from the data.",
        "With η public and fixed beforehand, the conditional form; a release then lists the assumption. "
        "Without the floor there is no guarantee at all: whether a grade has one record or none shows with "
        "certainty. The default for data is `DirichletCounts`, which needs no floor.",
        _conditional,
    ),
    Erratum(
        "vectors",
        "A larger transfer is not always the worst",
        (
            "dirichlet-simplex Lemma 4",
            "dirichlet-simplex Theorem 1",
            "dirichlet-simplex Theorem 2",
            "dirichlet-simplex Theorem 3",
        ),
        "The formula is evaluated at the full transfer b/2.",
        "If b/2 > (1 − η̄)/2 − η and γ is large, a *smaller* transfer gives more: here η = 0.1, η̄ = "
        "0.02, two protected entries, k = 10, γ = 0.4. Veil lists this under `.violations`. The exact "
        "profile is monotone in the transfer, with proof, so it is not affected.",
        _transfer,
    ),
    Erratum(
        "vectors",
        "A proof that does not go through",
        ("dirichlet-simplex Lemma 2",),
        "P[Ω₁] is log-concave in p, because the integrand is log-concave in p and x together.",
        "The integrand is not: between (p, x) = (0.1, 0.05) and (0.9, 0.9) at k = 20 its logarithm sags. "
        "No counterexample to the conclusion is known: it survived 6,000 numerical cases. Veil charges "
        "nothing that rests on it.",
        _log_concave,
    ),
    Erratum(
        "vectors",
        "Concentration",
        ("dirichlet-simplex Theorem 4",),
        "k = −log θ/(2μ²) − 1 keeps the largest entry error below μ but for a probability of θ. The "
        "inequality points the wrong way in the proof, and the union over the entries is missing.",
        "With p = (0.1, …, 0.1), k = 10 and θ = 0.9 it exceeds μ nearly always (in 400,000 draws with "
        "frequency 0.997). Instead:\n\n"
        "```text\n"
        "P(‖x − p‖_∞ > μ)  ≤  2n · exp(−2(k+1)μ²)\n"
        "```",
        _concentration,
    ),
    Erratum(
        "vectors",
        "Expected KL",
        ("data-driven-chains Corollary 1",),
        "The largest expected divergence is at entries of 1/N. The proof calls the trigamma function "
        "negative.",
        "The trigamma function is positive, and 1/N lies outside the domain when η > 1/N. The largest "
        "value over the domain is at a vertex (η, …, η, 1 − (n−1)η). In the grade example the bound "
        "holds, and is not the maximum.",
        _expected_kl,
    ),
    Erratum(
        "vectors",
        "The comparison with Gaussian noise",
        ("dirichlet-simplex Figure 3",),
        "The Dirichlet mechanism is said to be twice as accurate as Gaussian noise at the same privacy. "
        "The Gaussian mechanism is given a sensitivity of 1, though the paper's own neighbours move at most "
        "b.",
        "The figure can be reproduced (200,000 vectors: 0.473 and 0.978), but the two are not at equal "
        "privacy. At equal adjacency plain noise usually wins, here at (1, 10⁻⁶); on counts the gap is "
        "wider.",
        _gaussian,
    ),
    Erratum(
        "vectors",
        "Two entries are not in the setting",
        ("dirichlet-simplex Section VII",),
        "Both entries of a vector of two are protected and Theorem 1 is applied. The paper's own setting, at "
        "least two protected entries among the first n − 1, excludes that, and neither η nor η̄ is "
        "printed.",
        "For two entries the worst pair is different; Veil treats that case apart and certifies it. "
        "Nothing is left outside the protected entries, so no η̄ > 0 fits. Read as in the data-driven "
        "chains paper, η̄ = η, the formula can be far below the truth (k = 5, b = 0.2, η = 0.4, δ = 0.04; "
        "this also breaks η + η̄ < ½). With η̄ = 0 it is above it.",
        _two_entries,
    ),
    Erratum(
        "vectors",
        "A small k does not give any privacy you like",
        ("dirichlet-simplex Theorem 1",),
        "A smaller k stands for stronger privacy.",
        "It does, down to a limit: as k vanishes δ(ε) tends to m/(2η + m)·exp(−εη/m) for a transfer m, "
        "which is not 0. See [Concepts](concepts.md#a-small-k-does-not-buy-any-privacy-you-like).",
        _small_k,
    ),
)
