"""The errata on bits: the theorem of the XOR paper, its noise and its samplers."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum, Numbers


def _theorem_1() -> Numbers:
    import numpy as np

    from veil.bits.numerics.flip_losses import worst_loss
    from veil.bits.numerics.published_bounds import condition_4
    from veil.bits.numerics.quadratic import Quadratic
    from veil_papers.xor_figures import repaired_condition_4

    cross = np.zeros((4, 4))
    cross[0] = cross[:, 0] = 1.0
    half, dense = (
        Quadratic([0.5], [0.5], rows=2),
        Quadratic(np.full((2, 2), 0.45), np.full((2, 2), 0.375), rows=2),
    )
    cases = {
        "N = 2, P = 1, Θ = Λ = 0.5, one bit": (half, 1),
        "N = 3, P = 1, Θ = Λ = 0.5, one bit": (Quadratic([0.5], [0.5], rows=3), 1),
        "N = P = 2, all of Θ 0.45, all of Λ 0.375, a record": (dense, 2),
        "P = 4, ones in Θ's first row and column, Λ = 0, one bit": (Quadratic(cross, rows=1), 1),
    }
    found: list[tuple[str, float | str]] = []
    for name, (noise, flips) in cases.items():
        stated, true = condition_4(noise, flips), worst_loss(noise, flips, "row").value
        assert 1.2 * stated < true <= repaired_condition_4(noise, flips)
        found += [(f"{name}: stated ε", stated), (f"{name}: true loss", true)]
    return found


def _smallest() -> Numbers:
    from itertools import product

    from veil import bits

    # P(b) is in proportion to exp(0.5 (b1 + b2) + b1 b2): every output of two neighbours, by hand.
    energy = {pair: 0.5 * sum(pair) + pair[0] * pair[1] for pair in product((0, 1), repeat=2)}
    loss = max(abs(energy[a, b] - energy[1 - a, b]) for a, b in energy)
    mechanism = bits.Xor(bits.MatrixBernoulli([0.5], [0.5], 2))
    stated = mechanism.published(bits.BitFlips(1))
    certified = mechanism.certified_epsilon(bits.BitFlips(1))
    assert stated.epsilon < 1.01 < loss <= certified < 1.501
    assert "false" in stated.violations[0]
    return [("stated ε", stated.epsilon), ("loss by hand", loss), ("ε that Veil charges", certified)]


def _own_parameters() -> Numbers:
    import math

    from veil import bits, graphs

    found: list[tuple[str, float | str]] = []
    for rows, columns in ((240, 16), (426, 30)):
        near = bits.BitFlips(columns, where="row")
        mechanism = bits.Xor(bits.xor_parameters(1.0, 1.0, rows, columns, columns))
        certified = mechanism.certified_epsilon(near)
        assert abs(mechanism.published(near).epsilon - 1.0) < 1e-9
        assert abs(certified - 1.0 / math.sqrt(columns)) < 1e-9
        found.append((f"true loss of a record, {rows} × {columns}, stated 1", certified))
    graph = graphs.XorGraph(bits.xor_parameters(1.0, 1.0, 4039, 4039, 2))
    assert abs(graph.published().epsilon - 1.0) < 1e-9
    assert abs(graph.certified_epsilon() - 1.0 / math.sqrt(4039)) < 1e-9
    return [*found, ("true loss of an edge, 4,039 nodes, stated 1", graph.certified_epsilon())]


def _whole_records() -> Numbers:
    import numpy as np

    from veil.bits.numerics.flip_losses import worst_loss
    from veil.bits.numerics.published_bounds import condition_4
    from veil.bits.numerics.quadratic import Quadratic

    rng, alone, four = np.random.default_rng(1), 0.0, 0.0
    for _ in range(30):
        raw = rng.normal(size=(2, 2, 2))
        theta, between = raw + raw.transpose(0, 2, 1)
        noise = Quadratic(theta, rows=1)
        alone = max(alone, worst_loss(noise, 2, "row").value / condition_4(noise, 2))
        noise = Quadratic(theta, between, rows=4)
        four = max(four, worst_loss(noise, 2, "row").value / condition_4(noise, 2))
    assert max(alone, four) <= 1.0 + 1e-9
    return [
        ("largest loss over stated ε, a record, no couplings", alone),
        ("the same, one coupling for all pairs of four rows", four),
    ]


def _appendix_a() -> Numbers:
    import numpy as np

    one, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    gaps = np.linalg.eigvalsh(one.T @ one)[::-1] - np.linalg.eigvalsh(other.T @ other)
    root, total = float(np.sqrt((gaps**2).sum())), round(abs(float(gaps.sum())), 12)
    row, coupling = np.ones((1, 2)), np.array([[0.5, 0.2], [0.2, 0.5]])
    trace = float(np.trace(coupling @ row.T @ row))
    flips = np.ones(1)
    square = float(((flips + flips) ** 2).sum())
    assert root > total
    assert trace > 0.0
    assert square == 4.0
    return [
        ("√Σx², said to be at most |Σx|", root),
        ("|Σx|", total),
        ("Tr[Λ b_i′b_j], said to be 0", trace),
        ("square of equal flips of one column in two rows, counted as 2", square),
    ]


def _wrong_sign() -> Numbers:
    from veil import bits
    from veil.bits.numerics.published_bounds import proposition_1
    from veil.bits.numerics.quadratic import Quadratic

    rates = [
        bits.Xor(bits.xor_parameters(e, 1.0, 240, 16, 16), complement=False).flip_rate for e in (0.1, 1, 10)
    ]
    assert 0.5 < rates[0] < rates[1] < rates[2]
    nothing = proposition_1(Quadratic.exchangeable(0.0, 0.0, rows=240, columns=16)).bound
    bounds = [proposition_1(bits.xor_parameters(e, 0.5, 240, 16, 16)).bound for e in (0.001, 0.1, 1.0)]
    assert nothing < bounds[0] < bounds[1] < bounds[2]
    return [
        ("share of flipped bits at ε = 0, which Remark 2 calls the most", 0.5),
        *((f"share at ε = {e}, 240 × 16", rate) for e, rate in zip((0.1, 1, 10), rates, strict=True)),
        ("U/L at Π = 0: NP/2", nothing),
        ("U/L at ε = 0.001, α = ½", bounds[0]),
        ("U/L at ε = 1, α = ½: that many wrong among 3,840", bounds[2]),
    ]


def _complement() -> Numbers:
    from veil import bits, calibrate

    noise, near = bits.xor_parameters(1.0, 1.0, 240, 16, 16), bits.BitFlips(16, where="row")
    printed, repaired = bits.Xor(noise, complement=False), bits.Xor(noise)
    calibrated = calibrate(lambda scale: bits.Xor(noise.scaled(scale)), near, epsilon=1.0)
    best = bits.StaircaseXor(16, 1.0).flip_rate
    assert best < calibrated.flip_rate < repaired.flip_rate < 0.5 < printed.flip_rate
    assert repaired.certified_epsilon(near) == printed.certified_epsilon(near)
    return [
        ("flipped as printed, ε = 1, 16 columns", printed.flip_rate),
        ("flipped by the complement, at the stated ε", repaired.flip_rate),
        ("the same calibrated to the true loss", calibrated.flip_rate),
        ("flipped by the staircase, the least possible", best),
    ]


def _identity() -> Numbers:
    import numpy as np

    from veil import bits

    noise = bits.xor_parameters(1.0, 0.75, 4, 3, 3)
    basis, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    turned = basis @ (noise.theta[0, 0] * np.eye(3)) @ basis.T
    assert np.abs(turned - noise.theta).max() < 1e-12
    outside = np.abs(noise.theta[~np.eye(3, dtype=bool)]).max()
    assert outside == 0.0
    return [
        ("Θ on its diagonal, ε = 1, α = 0.75, 4 × 3", float(noise.theta[0, 0])),
        ("largest entry off it, where (5) asks for Θ > 0", float(outside)),
    ]


def _constant() -> Numbers:
    from itertools import product

    import numpy as np

    from veil.bits.numerics.published_bounds import column_law
    from veil.bits.numerics.quadratic import Quadratic

    noise = Quadratic.exchangeable(0.3, 0.1, rows=4, columns=3)
    tables = np.array(list(product((0.0, 1.0), repeat=12))).reshape(-1, 4, 3)
    by_hand = 1.0 / float(np.exp(noise.energy(tables)).sum())
    by_columns = float(column_law(4, 0.3, 0.1)[0]) ** 3
    assert abs(by_hand / by_columns - 1.0) < 1e-9
    return [
        ("terms of the constant of 4 × 3 bits, table by table", len(tables)),
        ("terms column by column", 5),
        ("1 / constant, either way", by_columns),
    ]


def _uniform() -> Numbers:
    import numpy as np

    from veil.bits.numerics.quadratic import Quadratic
    from veil_papers.exact_hmc import sample_as_printed

    strong = Quadratic([[6.0]], [[2.0]], rows=3)
    drawn = sample_as_printed(np.random.default_rng(1), quadratic=strong, size=80_000, travel=1.5)
    numbers = drawn.reshape(-1, 3) @ np.array([4, 2, 1])
    shares = np.bincount(numbers, minlength=8) / len(numbers)
    target = np.exp([6.0 * n + 2.0 * n * (n - 1) for n in (0, 1, 1, 2, 1, 2, 2, 3)])
    assert np.abs(shares - 1 / 8).max() < 0.006
    assert target[7] / target.sum() > 0.99
    return [
        ("P(all three bits are 1) that Π asks for", float(target[7] / target.sum())),
        ("how often Algorithm 2 drew that", float(shares[7])),
        ("how often fair coins show it", 1 / 8),
    ]


def _finite() -> Numbers:
    import numpy as np

    from veil import bits, errors, release

    raw = 3.0 * np.random.default_rng(7).normal(size=(2, 20, 20))
    theta, between = raw + raw.transpose(0, 2, 1)
    noise = bits.MatrixBernoulli(theta, between, 10)
    table, refused = np.zeros((10, 20), dtype=bool), "no"
    try:
        release(bits.Xor(noise), table, adjacency=bits.BitFlips(1))
    except errors.NoGuarantee:
        refused = "yes"
    assert refused == "yes"
    return [
        ("sampler for these parameters", noise.method),
        ("refused without being accepted by name", refused),
    ]


BITS = (
    Erratum(
        "wrong result",
        "The privacy theorem is false",
        ("xor Theorem 1",),
        "ε = s_f(‖Θ‖ + Σ_{i<j}‖Λ_ij‖), Frobenius norms, where s_f bits may differ.",
        "For s bits of one record\n\n"
        "```text\n"
        "loss ≤ √(s(2P − s)) · ‖Θ‖ + 2√(sP) · max_i Σ_{j≠i} ‖Λ_ij‖\n"
        "```\n\n"
        "For less than a record Theorem 1 fails even without couplings, by up to √(2P − 1). Veil charges "
        "neither: it computes the worst loss of the noise, exactly where it can, and never below.",
        _theorem_1,
        quote="s_f(‖λ(Θ)‖₂ + Σ_{i<j} ‖λ(Λ_{i,j})‖₂) ≤ ε (4)",
    ),
    Erratum(
        "wrong result",
        "The smallest counterexample",
        ("xor Theorem 1", "xor Definition 5"),
        "Two records of one bit, Θ = Λ = 0.5: ε = 1.",
        "The loss is 1.5. `published` shows the stated ε and says that it is false; `certified_epsilon` "
        "is what a release is charged.",
        _smallest,
        quote="s_f(‖λ(Θ)‖₂ + Σ_{i<j} ‖λ(Λ_{i,j})‖₂) ≤ ε (4)",
    ),
    Erratum(
        "imprecise",
        "For its own parameters the theorem is loose",
        ("xor Theorem 1", "xor Algorithm 1"),
        "With Algorithm 1's parameters ε is what was asked for.",
        "For records the loss is ε/√P · (α + 4(1 − α)/N), here with α = 1; for an edge of a graph ε/√N.",
        _own_parameters,
        quote="λ_p(Θ) = αε/(s_f√P) (Algorithm 1, line 2)",
    ),
    Erratum(
        "imprecise",
        "Where the theorem is true",
        ("xor Theorem 1",),
        "Theorem 1 for whole records, s = P.",
        "It holds without couplings, as in Section 7 with α = 1, and with one coupling for all pairs "
        "if N ≥ 4. The proof is ours.",
        _whole_records,
        quote="s_f(‖λ(Θ)‖₂ + Σ_{i<j} ‖λ(Λ_{i,j})‖₂) ≤ ε (4)",
    ),
    Erratum(
        "wrong result",
        "Three steps of its proof",
        ("xor Appendix A",),
        "Appendix A takes √Σx² to be at most |Σx|. It drops squared terms, on the ground that Tr[Λ "
        "b_i′b_j] = 0. Its last step counts equal flips of one column in two rows as 2.",
        "The first fails where terms of both signs cancel, the second is the very term that it bounds, and "
        "the square in the third is 4.",
        _appendix_a,
        quote="“= 0, ∀i ≠ j” (step (a) after (9)); the steps between (c) and (d) before (8); (e) after (9)",
    ),
    Erratum(
        "wrong result",
        "The noise has the wrong sign",
        ("xor Remark 2", "xor Problem (5)", "xor Problem (6)", "xor Proposition 1"),
        "NP/2, at ε = 0, is the largest error (Remark 2; Section 5.1), and U/L falls as the norms grow.",
        "Positive parameters make a flip *more* likely than none: always E‖B‖² ≥ NP/2, and it grows with "
        "ε. So problem (5) is solved best by Π = 0, which spends nothing. So is (6): Proposition 1 is true, "
        "hence U/L ≥ NP/2, with equality at Π = 0. The bound grows with the norms, and says nothing.",
        _wrong_sign,
        quote="Θ, Λ_{i,j} positive definite and > 0 (5), (6); “when ε = 0, we have the largest” error, "
        "NP/(2‖f(D)‖²) (Remark 2)",
    ),
    Erratum(
        "wrong result",
        "The sign repaired",
        ("xor Definition 5",),
        "The output is X ⊕ B.",
        "Its complement is post-processing with the same loss, and flips less than half of the bits.",
        _complement,
        quote="f(D) ⊕ B, B ~ Ber(Θ, Λ) (Definition 5)",
    ),
    Erratum(
        "wrong result",
        "No association is preserved",
        ("xor Algorithm 1",),
        "U diag(λ) U⁻¹ for a basis U of choice is to keep associations between the features.",
        "Equal eigenvalues make it a multiple of the identity for every U. The noise of different "
        "features is independent, and (5)'s own condition Θ > 0 is broken. (Algorithm 1 also asks 0 < α < "
        "1; Section 7 sets α = 1.)",
        _identity,
        quote="U diag(λ(Θ)) U⁻¹ with λ₁ = … = λ_P (Section 5.1; Algorithm 1, lines 2 and 3)",
    ),
    Erratum(
        "imprecise",
        "Permanents are not needed",
        ("xor Footnote 4",),
        "The normalising constant is said to need permanents.",
        "For Algorithm 1's parameters there are P independent columns, in which all orders of the rows "
        "are equally likely. They can be drawn exactly, and the constant is P equal factors, each a sum "
        "of N + 1 terms.",
        _constant,
        quote="“essentially related to the computation of the permanent” (footnote 4)",
    ),
    Erratum(
        "imprecise",
        "A motion without walls",
        ("xor Algorithm 2",),
        "Line 2 prints the motion of a coordinate: y(t) = y(0) cos t + q(0) sin t.",
        "That is the motion between walls, the places where a coordinate changes its sign and the potential "
        "jumps. Followed to the letter y(T) is normal again, B is a table of fair coins whatever Π is, and "
        "the release is independent of the data. The method that is cited (Pakman and Paninski) crosses the "
        "walls or is reflected by them, and so does the published code: the algorithm is not complete as "
        "printed.",
        _uniform,
        quote="y_i(t) = y_i(0)cos t + q_i(0)sin t, s = sign(y(T)) (Algorithm 2, lines 2 and 3)",
    ),
    Erratum(
        "wrong result",
        "Exact is not exact",
        ("xor Section 5.2",),
        "The sampler works without approximation.",
        'With walls (Pakman and Paninski) a chain of finite length only comes near its law. "Exact" means '
        "that the motion is integrated exactly; the distance from the law belongs into δ. Veil draws "
        'exactly, or refuses unless `accept="unquantified delta"`.',
        _finite,
        quote="“exactly same binary distribution without approximation” (Section 5.2)",
    ),
)
