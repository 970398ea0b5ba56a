"""The errata on tables of bits: classifiers, blocks and definitions of the XOR paper."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum, Numbers


def _factor_four() -> Numbers:
    from itertools import product

    import numpy as np

    pi = np.array([[0.3, 0.2], [0.2, 0.5]])
    tables = np.array(list(product((0.0, 1.0), repeat=2)))
    signs = 2.0 * tables - 1.0
    right = np.einsum("ti,ij,tj->t", tables, pi, tables)
    printed = np.einsum("ti,ij,tj->t", signs, pi, signs) + 2.0 * signs @ pi @ np.ones(2)
    assert np.allclose(printed - printed[0], 4.0 * (right - right[0]))
    losses = [
        max(abs(e[2] - e[0]), abs(e[3] - e[1]), abs(e[1] - e[0]), abs(e[3] - e[2])) for e in (right, printed)
    ]
    return [("loss of one bit by Π", float(losses[0])), ("by the printed potential", float(losses[1]))]


def _blocks() -> Numbers:
    from veil_papers.xor_mechanism import block_budgets, composed_loss

    by_size = composed_loss(block_budgets(240, 16, 24, 16, 1.0))
    by_columns = composed_loss(block_budgets(240, 16, 24, 16, 1.0, by="columns"))
    assert by_size < 0.11 < 0.99 < by_columns
    return [
        ("ε that ten bands of 24 rows spend of 1, split by size", by_size),
        ("split by columns", by_columns),
    ]


def _error_rate() -> Numbers:
    from veil import bits
    from veil_papers.xor_figures import least_flip_rate
    from veil_papers.xor_mechanism import flip_rate_of_error, square_error_rate

    # 240 records of 16 votes, of which 1,887 are yes, the share in the published data.
    rows, columns, ones = 240, 16, 1887
    printed = flip_rate_of_error(0.04, rows, columns, ones)
    own = bits.Xor(bits.xor_parameters(0.5, 1.0, rows, columns, columns)).flip_rate
    least = least_flip_rate(columns, 0.5, unit="row")
    assert 20 * printed < least < own
    return [
        ("share of flipped bits that an error of 0.04 means", printed),
        ("share by the paper's parameters at ε = 0.5, complement", own),
        ("their error", square_error_rate(own, rows, columns, ones)),
        ("least share of any 0.5-private mechanism, worst case", least),
        ("its error", square_error_rate(least, rows, columns, ones)),
    ]


def _regression() -> Numbers:
    import math

    import numpy as np

    from veil_papers.private_regression import calibrated, certified_loss, printed_weights

    rng = np.random.default_rng(4)
    records = np.column_stack([rng.integers(0, 2, 60), np.zeros(60)]).astype(float)
    labels = rng.choice([-1.0, 1.0], 60)
    without = np.mean([printed_weights(records, labels, 4.0, rng)[1] for _ in range(40)])
    records[0] = 1.0
    with_one = np.mean([printed_weights(records, labels, 4.0, rng)[1] for _ in range(40)])
    assert without == 0.0 < with_one
    assert certified_loss(240, 0.0, 0.5) == math.inf
    rate, ridge = calibrated(240, 0.01, 1.0)
    assert certified_loss(240, ridge, rate) <= 1.0
    return [
        ("how often there is a minimum, a column without a one", float(without)),
        ("the same after one record has changed", float(with_one)),
        ("loss with a ridge of 0.01 and the rate for ε = 1, 240 records", certified_loss(240, ridge, rate)),
    ]


def _thresholds() -> Numbers:
    import numpy as np

    values = np.arange(1.0, 11.0)
    changed = values.copy()
    changed[9] = 1000.0
    bits, others = values > values.mean(), changed > changed.mean()
    moved = int((bits[:9] != others[:9]).sum())
    assert moved == 4
    return [
        ("records whose bit changes when another record does", moved),
        ("records whose bits the paper's neighbours differ in", 1),
        ("loss of a label that is used as it is", "∞"),
    ]


def _error_definition() -> Numbers:
    from veil_papers.xor_mechanism import square_error_rate

    dense, sparse = (square_error_rate(0.4, 10, 10, ones) for ones in (50, 5))
    assert dense < 1.0 < sparse
    try:
        empty = str(square_error_rate(0.4, 10, 10, 0))
    except ZeroDivisionError:
        empty = "undefined"
    assert empty == "undefined"
    return [
        ("error rate, 100 bits, 50 ones, 40 % flipped", dense),
        ("the same, 5 ones", sparse),
        ("the same, an empty table", empty),
    ]


def _footnote_2() -> Numbers:
    from itertools import product

    import numpy as np

    theta = np.array([[0.5, 0.3], [0.3, 0.7]])
    log_p = {bits: float(np.array(bits) @ theta @ np.array(bits)) for bits in product((0, 1), repeat=2)}
    ratio = log_p[1, 1] - log_p[0, 0]
    odds = ratio - (log_p[1, 0] - log_p[0, 0]) - (log_p[0, 1] - log_p[0, 0])
    assert abs(ratio - (0.5 + 0.7 + 2 * 0.3)) < 1e-12
    assert abs(odds - 2 * 0.3) < 1e-12
    return [("θ^{pq}", 0.3), ("log P(1, 1)/P(0, 0), said to be it", ratio), ("the ratio of odds", odds)]


def _eigenvalue() -> Numbers:
    import numpy as np

    single = np.array([[0.0, 1.0], [0.0, 0.0]])
    alone = np.linalg.eigvals(np.kron(single, np.eye(2))).real.max()
    pair = np.linalg.eigvalsh(np.kron(single + single.T, np.eye(2))).max()
    assert alone == 0.0
    assert abs(pair - 1.0) < 1e-12
    return [("largest eigenvalue of J_ij ⊗ I", float(alone)), ("of (J_ij + J_ji) ⊗ I", float(pair))]


TABLES = (
    Erratum(
        "wrong result",
        "A factor of four",
        ("xor Section 5.2",),
        "With s = 2b − 1 the potential is that of s′Πs + 2s′Π1.",
        "b′Πb is *a quarter* of that and a constant. The potential as printed belongs to 4Π, whose loss "
        "is four times as large.",
        _factor_four,
        quote="f_s(s) ∝ exp(s′Πs + 2s′Π1) (Section 5.2)",
    ),
    Erratum(
        "imprecise",
        "Blocks",
        ("xor Section 5.2",),
        "Blocks get a part of ε by size, and it is all counted.",
        "Bands of rows do not add up for one record: ten bands of 24 rows spend ε/10.",
        _blocks,
        quote="a budget “proportional to the size of the block” (Section 5.2)",
    ),
    Erratum(
        "wrong result",
        "An error of four per cent",
        ("xor Figure 2", "xor Section 7"),
        "At ε = 0.5 the square query error on Voting is 0.04.",
        "That means 2.0 % of all bits flipped. The paper's parameters flip 49.8 %, and no 0.5-private "
        "mechanism less than 47.5 % in the worst case.",
        _error_rate,
        quote="“around 0.04 when ε = 0.5” (Section 7)",
    ),
    Erratum(
        "imprecise",
        "Regression without a ridge",
        ("xor Footnote 7",),
        "PPLR is printed without its ridge and without |x| ≤ 1.",
        "Then it guarantees nothing: whether it has a minimum at all can depend on one record.",
        _regression,
        quote="… + (1/N)n′η (footnote 7)",
    ),
    Erratum(
        "imprecise",
        "Labels and thresholds",
        ("xor Section 7",),
        "The class labels are trained on as they are. Cancer's numbers become bits at a certain threshold.",
        "Labels are a bit of the record too. The threshold is, in the code, the mean of all records, test "
        "records too: one record moves the bits of others, and no ε covers that.",
        _thresholds,
        quote="f(D) ∈ {0, 1}^{240 × 16}; “exceeds a certain threshold” (Section 7, footnote 6)",
    ),
    Erratum(
        "imprecise",
        "The error rate",
        ("xor Definition 6",),
        "The error is divided by the number of ones.",
        "That is by zero for an empty table, and the rate can exceed 1.",
        _error_definition,
        quote="‖f(D)‖²_F below the line (Definition 6)",
    ),
    Erratum(
        "wrong result",
        "What the parameters mean",
        ("xor Footnote 2",),
        "θ^{pq}, λ and φ are log P(1, 1)/P(0, 0).",
        "That is θ^p + θ^q + 2θ^{pq}; the ratio of odds gives 2θ^{pq}.",
        _footnote_2,
        quote="θ_i^{p,q} = log(Pr(B_ip = 1, B_iq = 1 | rest = 0)/Pr(B_ip = 0, B_iq = 0 | rest = 0)) "
        "(footnote 2)",
    ),
    Erratum(
        "wrong proof, right result",
        "An eigenvalue that is zero",
        ("xor Appendix C",),
        "The proof of Proposition 1 applies λ_max(X ⊗ Y) = λ_max(X)λ_max(Y) to J_ij.",
        "The eigenvalues of J_ij are all 0. Taken with J_ji the step is right, and its factor 2 is not "
        "needed.",
        _eigenvalue,
        quote="λ_max(X ⊗ Y) = λ_max(X)λ_max(Y), “∀X, Y ∈ PD” (Appendix C, step (b))",
    ),
)
