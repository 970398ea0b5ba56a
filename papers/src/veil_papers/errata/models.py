"""The errata on chains that are estimated from data: the second half of the data-driven chains paper."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum, Numbers


def _weighted() -> Numbers:
    import numpy as np

    import veil.matrices.perturbation as ours
    from veil_papers.chain_models import frequencies, lemma_6, theorem_5

    counts, ks = [[999_998, 1, 1], [4, 2, 2], [4, 2, 2]], (1.5e8, 6.1, 6.1)
    chain, rng = frequencies(counts), np.random.default_rng(7)
    pairs = zip(ks, chain.to_numpy(), strict=True)
    drawn = np.stack([rng.dirichlet(k * p, size=4000) for k, p in pairs], axis=1)
    change, middle = np.abs(drawn - chain.to_numpy()), np.median(drawn, axis=1, keepdims=True)
    printed = lemma_6(chain.stationary(), ks, (1_000_000, 8, 8))
    assert printed == theorem_5(chain, ks, (1_000_000, 8, 8))
    column, row = change.sum(axis=1).max(axis=1).mean(), change.sum(axis=2).max(axis=1).mean()
    spread = np.abs(drawn - middle).sum(axis=1).max(axis=1)
    moved = np.abs(spread - chain.ergodicity("inf")).mean()
    assert 290 * printed < column <= ours.expected_largest_column_distance(ks, 3)
    assert 410 * printed < row <= ours.expected_largest_row_distance(ks, 3)
    assert 115 * printed < moved <= ours.expected_ergodicity_change(ks, 3)
    weighted = (change.sum(axis=2) @ chain.stationary()).mean()
    assert weighted <= min(ours.expected_weighted_row_distance(chain.stationary(), ks, 3), printed)
    return [
        ("the bound of Lemma 6 and Theorem 5", printed),
        ("mean largest column sum of |P − P̃|, over it", float(column / printed)),
        ("mean largest row sum, over it", float(row / printed)),
        ("mean change of τ_∞, over it", float(moved / printed)),
        ("our bound on the largest column sum and on the change", ours.expected_ergodicity_change(ks, 3)),
        ("our bound on the largest row sum", ours.expected_largest_row_distance(ks, 3)),
    ]


def _theorem_4() -> Numbers:
    import numpy as np

    from veil.matrices.numerics.stationary import quick_stationary
    from veil.matrices.perturbation import expected_stationary_change
    from veil_papers.chain_models import frequencies, theorem_4

    counts, ks = [[30, 20, 10], [5, 40, 15], [10, 10, 40]], (12.0, 20.0, 30.0)
    chain, rng = frequencies(counts), np.random.default_rng(9)
    pairs = zip(ks, chain.to_numpy(), strict=True)
    drawn = np.stack([rng.dirichlet(k * p, size=2000) for k, p in pairs], axis=1)
    truth = 0.5 * np.abs(quick_stationary(drawn) - chain.stationary()).sum(axis=1).mean()
    printed, ours = theorem_4(chain, ks, (60, 60, 60)), expected_stationary_change(chain.condition(), ks, 3)
    assert truth < printed / 3
    assert truth <= ours / 2
    return [
        ("mean total variation of π and π̃", float(truth)),
        ("the bound of Theorem 4, not proved", printed),
        ("our bound, proved", ours / 2),
    ]


def _parallel() -> Numbers:
    import math

    from veil_papers.chain_models import lemma_1

    # Four parts, each bad with probability 0.1, on their own.
    deltas = [0.1] * 4
    product, some = math.prod(deltas), 1 - math.prod(1 - delta for delta in deltas)
    assert product < 0.1 < some
    assert lemma_1([(1.0, delta) for delta in deltas]) == (1.0, 0.1)
    return [
        ("chance that all of four parts are bad, which the proof takes", product),
        ("chance that some part is bad", some),
        ("δ of the one part that holds the changed record", 0.1),
    ]


def _periodic() -> Numbers:
    import numpy as np

    from veil import Chain

    chain = Chain([[0.0, 1.0], [1.0, 0.0]])
    start, pi = np.array([1.0, 0.0]), chain.stationary()
    later = start @ np.linalg.matrix_power(chain.to_numpy(), 1000)
    assert chain.is_irreducible
    assert chain.period() == 2
    assert abs(later - pi).sum() == 1.0
    return [
        ("states of the chain, which all lead to each other", 2),
        ("‖·‖₁ from its stationary distribution at the start", float(np.abs(start - pi).sum())),
        ("the same after 1,000 steps", float(np.abs(later - pi).sum())),
    ]


MODELS = (
    Erratum(
        "wrong result",
        "A weighted KL cannot bound the largest row",
        ("data-driven-chains Lemma 6", "data-driven-chains Theorem 5"),
        "E‖P − P̃‖₁ and the expected change of τ_∞ are at most √(2L), L a π-weighted mean of divergences.",
        "A row that is rarely visited hardly counts in L, yet may be the one that is far off. Here all of "
        "the paper's assumptions are met. With more records in the first row the ratios grow without end. In "
        "expectation there are `expected_largest_column_distance`, `expected_ergodicity_change` and "
        "`expected_stationary_change`; from the release alone, with a confidence, `stationary_radius`.",
        _weighted,
        quote="‖P − P̃‖₁ ≤ √2·√K(P‖P̃) (the proof of Lemma 6); E|τ_∞(P) − τ_∞(P̃)| ≤ √(2L) (Theorem 5)",
    ),
    Erratum(
        "wrong proof, right result",
        "A theorem without a proof",
        ("data-driven-chains Theorem 4",),
        "E of the total variation of π and π̃ is at most ‖Z‖₁√(2L)/2.",
        "It rests on Lemma 5 and 6, so it is not proved; in a search over chains of three to six states "
        "the truth stayed below a third of it, as here.",
        _theorem_4,
        quote="E‖π − π̃‖_TV ≤ ½‖Z‖₁√(2L) (Theorem 4); (28)",
    ),
    Erratum(
        "wrong proof, right result",
        "Parallel composition",
        ("data-driven-chains Lemma 1", "data-driven-chains Supplement C.4"),
        "The conclusion is (max ε_i, max δ_i). The printed proof multiplies the δ_i, as if the output "
        "were bad only where every part is bad.",
        "The conclusion is right for one changed record: only the part that holds the record changes its "
        "law, so its δ_i is all that counts. The proof is not: the output is bad where some part is.",
        _parallel,
        quote="P(M(D) ∈ Ω₂) = ∏ P(M_i(D_i) ∈ Ω₂ⁱ) ≤ ∏ δ_i ≤ max δ_i (Supplement C.4)",
    ),
    Erratum(
        "imprecise",
        "Irreducible is not enough",
        ("matrix-dirichlet Section II-B", "data-driven-chains Assumption 5"),
        "A chain all of whose states lead to each other tends to its stationary distribution.",
        "A periodic one has a stationary distribution and does not tend to it. Veil says what the period is.",
        _periodic,
        quote="“finite, irreducible, and homogeneous”, and then lim μ_t exists (Section II-B of the matrix "
        "Dirichlet paper, Section 5 of the data-driven chains paper)",
    ),
)
