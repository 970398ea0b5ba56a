"""The errata on vectors: the Dirichlet simplex paper, and what the data-driven chains paper takes from it."""

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


def _transfer() -> Numbers:
    import numpy as np
    from scipy.stats import dirichlet

    from veil import vectors

    mechanism = vectors.Dirichlet(10.0, vectors.Simplex(3, floor=0.2, protected=(0, 1), slack=0.1))
    full, part = (mechanism.published(vectors.Transfer(mass), gamma=0.4) for mass in (0.5, 0.33))
    # Two adjacent vectors that differ by 0.33 < b/2, and an output in the closure of Omega_1.
    p, q, x = np.array([[0.53, 0.37, 0.1], [0.2, 0.7, 0.1], [0.6 - 1e-9, 0.4, 1e-9]])
    loss = float(dirichlet(10.0 * p).logpdf(x) - dirichlet(10.0 * q).logpdf(x))
    assert loss > full.epsilon + 0.8
    assert abs(loss - part.epsilon) < 1e-6
    assert any("Lemma 4" in text for text in full.violations)
    assert min(full.delta, part.delta) > 0.999
    # Theorem 1 stands: the profile of the full transfer is the largest, and the pair printed for it is above.
    largest, smaller = (mechanism.profile(vectors.Transfer(mass)) for mass in (0.5, 0.33))
    assert largest.delta(full.epsilon) > smaller.delta(full.epsilon)
    for gamma in (0.4, 0.2, 0.05, 0.001):
        printed = mechanism.published(vectors.Transfer(0.5), gamma=gamma)
        assert largest.delta(printed.epsilon) < printed.delta
    return [
        ("the bound of Lemma 4, b = 1, γ = 0.4", full.epsilon),
        ("the loss of p = (0.53, 0.37, 0.1) against q = (0.2, 0.7, 0.1) at x = (0.6, 0.4, 0)", loss),
        ("the formula at that transfer, 0.33 < b/2", part.epsilon),
        ("δ of Theorem 1 at this γ", full.delta),
        ("exact δ at the ε of Theorem 1, the full transfer of 0.5", largest.delta(full.epsilon)),
        ("the same, a transfer of 0.33", smaller.delta(full.epsilon)),
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

    # Four points at weights of a quarter, as Lemma 8 takes them: x may go with its own p.
    points = [(0.1, 0.05), (0.9, 0.9), (0.1, 0.05), (0.9, 0.9)]
    free = log_density(0.5, 0.475) - 0.25 * sum(log_density(p, x) for p, x in points)
    tied = log_density(0.5, 0.475) - 0.25 * sum(log_density(p, x) for p in (0.1, 0.9) for x in (0.05, 0.9))
    conclusion = log_inside(0.1, 0.4) - 0.5 * (log_inside(0.1, 0.1) + log_inside(0.1, 0.7))
    assert free < 0.0 < tied
    assert conclusion > 0.0
    return [
        ("log f(t, p) less its mean over four points, every x with every p: shown, and true", tied),
        ("the same over four free points, which Lemma 8 needs", free),
        ("log P[Ω₁] at a midpoint less the mean at the ends, in p: the conclusion", conclusion),
    ]


def _hessian() -> Numbers:
    import numpy as np
    from scipy.special import gammaln, polygamma

    k, p, x = 20.0, np.array([0.2, 0.3]), np.array([0.25, 0.35])

    def log_f(p: np.ndarray) -> float:
        shapes = k * np.append(p, 1 - p.sum())
        powers = (shapes - 1) * np.log(np.append(x, 1 - x.sum()))
        return float(powers.sum() - gammaln(shapes).sum() + gammaln(k))

    step = 1e-4 * np.eye(2)
    second = np.array(
        [
            [(log_f(p + a + b) - log_f(p + a - b) - log_f(p - a + b) + log_f(p - a - b)) / 4e-8 for a in step]
            for b in step
        ]
    )
    rest = float(polygamma(1, k * (1 - p.sum())))
    by_hand = -(k**2) * (np.diag(polygamma(1, k * p)) + rest)
    assert np.abs(second / by_hand - 1).max() < 1e-4
    assert by_hand[0, 1] < -40.0
    assert np.linalg.eigvalsh(by_hand).max() < 0.0
    return [
        ("entry (1, 2) of the Hessian, printed 0; k = 20, p = (0.2, 0.3)", float(by_hand[0, 1])),
        ("largest eigenvalue, which log-concavity needs below 0", float(np.linalg.eigvalsh(by_hand).max())),
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


VECTORS = (
    Erratum(
        "imprecise",
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
        quote="ε = log(beta(kη, k(1 − η̄ − η))/beta(k(η + b/2), k(1 − η̄ − η − b/2))) + (kb/2)·log((1 − "
        "(|W| − 1)γ)/γ), δ = 1 − min_p P[Ω₁] (Theorem 1)",
    ),
    Erratum(
        "wrong result",
        "A larger transfer is not always the worst",
        ("dirichlet-simplex Lemma 4",),
        "The bound for all adjacent p and q is the formula at the full transfer b/2. The proof picks it "
        "among "
        "four vertices, which holds while b/2 ≤ (1 − η̄)/2 − η.",
        "Beyond that, and with a large γ, a smaller transfer loses more: here η = 0.2, η̄ = 0.1, k = 10, two "
        "protected entries. δ is near 1 there, so this does not refute Theorem 1; that holds all the same, "
        "in conventional privacy, given its δ: at the full transfer the formula is right, and the exact "
        "profile is monotone in the transfer (`mechanisms/dirichlet.md`). Veil lists the case under "
        "`.violations` and charges the exact profile.",
        _transfer,
        quote="max log(P[M(p) = x]/P[M(q) = x]) ≤ log(beta(kη, k(1 − η̄ − η))/beta(k(η + b/2), …)) + … "
        "“for all "
        "adjacent” p and q, b ∈ (0, 1] (Lemma 4, (12))",
    ),
    Erratum(
        "wrong proof, right result",
        "A proof that does not go through",
        ("dirichlet-simplex Lemma 2",),
        "Appendix A shows that the density f(x, p) is log-concave in x for each p and in p for each x, and "
        "bounds f at a midpoint by a product over four points. Then Lemma 8 turns the product into one of "
        "integrals.",
        "Being log-concave in each alone is not being log-concave in both together. Lemma 8 needs the bound "
        "for any four points; it is shown where every x goes with every p, and fails otherwise, here in one "
        "coordinate at k = 20. (Nor does Assumption 2 make the last parameter kη̄ at least 1, which "
        "log-concavity in x needs.) No counterexample to the conclusion is known: it survived 6,000 "
        "numerical "
        "cases. Veil charges nothing that rests on it.",
        _log_concave,
        quote="λ² + λ(1 − λ) + λ(1 − λ) + (1 − λ)² = 1, “Theorem 8 applies” (Appendix A, after (25); it is "
        "Lemma 8)",
    ),
    Erratum(
        "wrong proof, right result",
        "A Hessian that is not diagonal",
        ("dirichlet-simplex Appendix A",),
        "The Hessian of log f₂(p) is diagonal.",
        "The last parameter k(1 − Σ p_i) depends on every p_i: to every entry belongs −k²ψ⁽¹⁾(k(1 − Σ "
        "p_i)), and "
        "the printed argument kx is kp. Harmless: the matrix is negative definite, so f₂ is log-concave.",
        _hessian,
        quote="[∇² log f₂(p)]_{i,j} = −k²ψ⁽¹⁾(kx) if i = j, 0 otherwise (Appendix A)",
    ),
    Erratum(
        "wrong result",
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
        quote="k = −log(θ)/(2μ²) − 1 (Theorem 4); P[‖M(p) − p‖_∞ ≥ √(log(1/β)/2(k + 1))] ≥ 1 − β (its proof)",
    ),
    Erratum(
        "imprecise",
        "The comparison with Gaussian noise",
        ("dirichlet-simplex Figure 3",),
        "The Dirichlet mechanism is said to be twice as accurate as Gaussian noise at the same privacy. "
        "The Gaussian mechanism is given a sensitivity of 1, though the paper's own neighbours move at most "
        "b.",
        "The figure can be reproduced (200,000 vectors: 0.473 and 0.978), but the two are not at equal "
        "privacy. At equal adjacency plain noise usually wins, here at (1, 10⁻⁶); on counts the gap is "
        "wider.",
        _gaussian,
        quote="σ > √(2 ln(1.25/δ))/ε; 0.478 and 0.981; “identical privacy guarantees” (Section VI-B, "
        "Figure 3)",
    ),
    Erratum(
        "imprecise",
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
        quote="W = {1, 2} in Δ₂ (Section VII), where W ⊆ [n − 1] and |W| ≥ 2 (Section II-B)",
    ),
)
