"""The XOR paper, its figures and its table in numbers, and a condition that holds in place of (4).

Repaired condition. Neighbours differ in at most s bits of one record of P bits, P(b) is in proportion to
exp(b' Pi b), and |.| is the Frobenius norm, which is the paper's norm of eigenvalues. Then the loss is at
most

    sqrt(s (2P - s)) |theta|  +  2 sqrt(s P) max_i sum_{j != i} |Lambda_ij|.

Proof. Let row i change from c to b. The energy of theta changes by Tr[theta (bb' - cc')], at most |theta|
times |bb' - cc'|. Let z bits be one in both, u in b only, v in c only, t = u + v <= s and z <= P - t. Then
|bb' - cc'|^2 = (u+z)^2 + (v+z)^2 - 2z^2 = u^2 + v^2 + 2zt <= t^2 + 2(P - t)t = t(2P - t), which grows up to
t = P. The energy of the couplings changes by 2 sum_j (b - c)' Lambda_ij b_j, where |b - c| <= sqrt(s) and
|b_j| <= sqrt(P). For s = 1 without couplings it is attained: theta with ones in one row and one column.

So for whole records, s = P, it reads P (|theta| + 2 max_i sum_j |Lambda_ij|): Theorem 1 is true there
without couplings, and with one coupling for all pairs of rows if N >= 4: then 2 (N - 1) <= N (N - 1) / 2.

Unchanged data. Averaged over all data x, an epsilon-private release gives back x with a probability of at
most 1 / sum_y e^{-epsilon d(x, y)}, d the number of units that differ, where that sum is the same for all x.
Proof: P(Y = y | x) >= e^{-epsilon d(x, y)} P(Y = y | y); add up over y, then average over x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.bits.mechanisms.xor import Xor
from veil.bits.numerics.published_bounds import column_law
from veil.bits.numerics.quadratic import Quadratic
from veil.core.errors import InvalidArgument
from veil.core.numerics.staircase import staircase
from veil.core.random.streams import generator
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.numerics.agreement import degree_divergence
from veil.graphs.numerics.degrees import degree_distribution
from veil.graphs.planning import checked_epsilon, kept_at_most
from veil_papers.xor_mechanism import NODES, TABLE_2, edges_of_plain_release

Table = NDArray[np.bool_]
Unit = Literal["pixel", "row"]
# Far above the rounding of norms of matrices that fit into memory.
_ROUNDING = 2.0**-36

# The letter C of Figure 1, 12 x 9 pixels, as the published code has it.
LETTER_C: Table = np.array(
    [
        [mark == "#" for mark in line]
        for line in (
            ".........",
            "...####..",
            "..######.",
            ".###..##.",
            ".##......",
            ".##......",
            ".##......",
            ".##......",
            ".###..##.",
            "..######.",
            "...####..",
            ".........",
        )
    ]
)
# The published code for it runs at this temperature, and hides a row: s_f = P = 9.
FIGURE_1_TEMPERATURE = 0.003
# Edges of the two networks of Section 8.
EDGES = {"Facebook": 88_234, "Email": 16_064}


def repaired_condition_4(q: Quadratic, flips: int) -> float:
    """A proved bound on the loss of `flips` bits of a record, in the paper's terms; `worst_loss` is nearer.

    >>> repaired_condition_4(Quadratic([[0.5]], [[0.5]], rows=2), 1) >= 1.5
    True
    """
    if not 1 <= flips <= q.columns:
        raise InvalidArgument("flips", expected=f"1 to {q.columns}", found=str(flips))
    if q.pairs is not None:
        sums = np.zeros(q.rows)
        for (i, j), block in q.pairs.items():
            sums[[i, j]] += np.linalg.norm(block)
        between = float(sums.max())
    else:
        between = 0.0 if q.common is None else (q.rows - 1) * float(np.linalg.norm(q.common))
    own = math.sqrt(flips * (2 * q.columns - flips)) * float(np.linalg.norm(q.theta))
    return (own + 2.0 * math.sqrt(flips * q.columns) * between) * (1.0 + _ROUNDING)


# Figure 1


@dataclass(frozen=True, slots=True)
class ImageNoise:
    """One picture of Figure 1. Rates are expected shares of wrong pixels, chances are given as log10."""

    epsilon: float
    alpha: float
    certified: float
    printed_rate: float
    repaired_rate: float
    least_rate: float
    log_unchanged: float
    log_unchanged_at_most: float


def figure_1(
    epsilons: Sequence[float] = (0.3, 0.5, 0.7), alphas: Sequence[float] = (0.3, 0.7), *, unit: Unit = "row"
) -> list[ImageNoise]:
    """The paper's parameters for the image of Figure 1, and what no epsilon-private mechanism can better.

    unit: what may differ between neighbours. The paper's text does not say; its code hides a row, s_f = P.
    """
    rows, columns = LETTER_C.shape
    flips = 1 if unit == "pixel" else columns
    near = BitFlips(flips, where="row")
    found = []
    for alpha in alphas:
        for epsilon in epsilons:
            noise = xor_parameters(epsilon, alpha, rows, columns, flips)
            printed, repaired = Xor(noise, complement=False), Xor(noise)
            diagonal, between = noise.multiples or (0.0, 0.0)
            none = float(column_law(rows, diagonal, between)[0])
            found.append(
                ImageNoise(
                    epsilon,
                    alpha,
                    repaired.certified_epsilon(near),
                    printed.flip_rate,
                    repaired.flip_rate,
                    least_flip_rate(columns, epsilon, unit=unit),
                    columns * math.log10(none),
                    log_unchanged_at_most(rows, columns, epsilon, unit=unit),
                )
            )
    return found


def least_flip_rate(columns: int, epsilon: float, *, unit: Unit) -> float:
    """The least share of wrong pixels of any epsilon-private mechanism, in the worst case over images.

    Randomised response for a pixel; the staircase for a row, which is proved where it is made.
    """
    if unit == "pixel":
        return 1.0 / (1.0 + math.exp(checked_epsilon(epsilon)))
    return staircase(columns, 2, columns, epsilon).expected_error / columns


def log_unchanged_at_most(rows: int, columns: int, epsilon: float, *, unit: Unit) -> float:
    """log10 of the largest chance, averaged over images, that an epsilon-private release is the image."""
    decay = math.exp(-checked_epsilon(epsilon))
    if unit == "pixel":
        return -rows * columns * math.log10(1.0 + decay)
    return -rows * math.log10(1.0 + math.expm1(columns * math.log(2.0)) * decay)


def perturbed_image(
    epsilon: float, alpha: float, *, unit: Unit = "row", complement: bool = True, rng: Any = None
) -> Table:
    """A picture of Figure 1, drawn exactly; without the complement as the paper prints it."""
    rows, columns = LETTER_C.shape
    noise = xor_parameters(epsilon, alpha, rows, columns, 1 if unit == "pixel" else columns)
    drawn: Table = Xor(noise, complement=complement).sample(LETTER_C, rng=rng)
    return drawn


# Figure 3


def random_graph_divergence(graph: Graph) -> float:
    """The Kullback-Leibler divergence of an Erdős–Rényi graph's degrees from a network's of equal mean.

    The paper does not say which way, nor what is done with degrees that no node has. Of the two ways this
    one, with those left out, gives the paper's 1.74 for the network itself. The degrees of the random graph
    are binomial.
    """
    nodes = graph.space.nodes
    ends = np.concatenate(graph.edges())
    random = binom.pmf(np.arange(nodes), nodes - 1, len(ends) / nodes / (nodes - 1))
    degrees = np.bincount(ends, minlength=nodes)
    return degree_divergence(random, degree_distribution(degrees, nodes=nodes))


def figure_3(graph: Graph, epsilons: Sequence[float] = (0.8, 0.3, 0.01), *, rng: Any = None) -> list[float]:
    """That divergence for plain epsilon-private releases of a network."""
    source = generator(rng)
    return [
        random_graph_divergence(RandomizedResponse(epsilon).sample(graph, rng=source)) for epsilon in epsilons
    ]


# Table 2


@dataclass(frozen=True, slots=True)
class PrintedRelease:
    """A released number of edges of Table 2, and what it means if it is epsilon-private pair by pair."""

    epsilon: float
    printed: float
    kept_at_most: float
    plain: float
    algorithm_3: float
    implied_loss: float


def table_2_edges(network: str) -> list[PrintedRelease]:
    """The paper's releases of a network: the printed edges against what its algorithms give at that epsilon.

    kept_at_most: the share of true edges among the printed number. plain: the edges of randomised response.
    algorithm_3: those of Algorithm 3 with the parameters of Algorithm 1 at alpha = 1, as printed.
    implied_loss: what Algorithm 3 loses if it does release the printed number.
    """
    nodes, edges = NODES[network], EDGES[network]
    pairs = nodes * (nodes - 1) // 2
    found = []
    for epsilon, printed in TABLE_2[network]["XOR"].items():
        flip = Xor(xor_parameters(epsilon, 1.0, nodes, nodes, 2), complement=False).flip_rate
        found.append(
            PrintedRelease(
                epsilon,
                printed.edges,
                kept_at_most(printed.edges, edges, pairs, epsilon),
                edges_of_plain_release(edges, pairs, epsilon),
                edges_of_algorithm_3(edges, pairs, flip),
                implied_loss(printed.edges, edges, pairs),
            )
        )
    return found


def edges_of_algorithm_3(edges: float, pairs: float, flip_rate: float) -> float:
    """The expected edges where each of a pair's two bits flips on its own and both must show."""
    return edges * (1.0 - flip_rate) ** 2 + (pairs - edges) * flip_rate**2


def implied_loss(released: float, edges: float, pairs: float) -> float:
    """The least loss of an edge at which Algorithm 3 with independent noise releases so few edges.

    Their number falls with the flip rate q down to q = edges / pairs and grows from there on: the largest q
    that gives it lies between that and 1/2. An edge shows with (1 - q)^2, none with q^2: 2 log((1 - q) / q).
    """
    flip = brentq(lambda rate: edges_of_algorithm_3(edges, pairs, rate) - released, edges / pairs, 0.5)
    return 2.0 * math.log((1.0 - flip) / flip)


def artefact_multiple(blocks: int, columns: int, sensitivity: int, *, temperature: float = 3e-5) -> float:
    """By how much the law that the paper's published code moves by exceeds the stated epsilon, at alpha = 1.

    A bit changes log P by 2 c / temperature there and by c in the paper, where c = epsilon / (blocks s_f
    sqrt(P)) is what Algorithm 1 gives a block of P columns. s_f bits differ.

    >>> round(artefact_multiple(10, 16, 16)), round(artefact_multiple(7 * 577, 7, 2), 1)
    (1667, 6.2)
    """
    each = 1.0 / (blocks * sensitivity * math.sqrt(columns))
    return sensitivity * 2.0 * each / temperature
