"""A mechanism of every kind and every domain, small enough to be audited in seconds."""

from __future__ import annotations

import numpy as np

from veil.bits.bit_flips import BitFlips
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.mechanisms.xor import Xor
from veil.bits.mechanisms.xor_blocks import XorBlocks
from veil.chains.contributions import Contributions, Transitions
from veil.chains.mechanisms.bordered_rows import BorderedRows
from veil.chains.mechanisms.chain_parts import Part
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.mechanism import Mechanism
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.matrices.mechanisms.doubly_stochastic import DoublyStochastic
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.matrices.rectangle import Rectangle
from veil.vectors.adjacency import Adjacency, Records, Rows, Transfer
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.vectors.simplex import Simplex
from veil.words.chain_words import ChainWords
from veil.words.language import FreeWords
from veil.words.mechanisms.balanced_words import BalancedWords
from veil.words.mechanisms.each_word import EachWord
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.mechanisms.staircase_words import StaircaseWords

_TRANSFER = Transfer(0.05)
_ROADS = {"home": ["shop", "work"], "shop": ["home", "work"], "work": ["home"]}


def audit_examples() -> list[tuple[Mechanism, Adjacency | None]]:
    """Every mechanism that there is, with an adjacency where it has none of its own."""
    return [*_numbers(), *_chains(), *_words(), *_bits()]


def _numbers() -> list[tuple[Mechanism, Adjacency | None]]:
    row = Simplex(3, floor=0.08)
    return [
        (Dirichlet(20.0, Simplex(5, floor=0.08)), _TRANSFER),
        (Dirichlet(40.0, Simplex(4, floor=0.08), smooth=True), _TRANSFER),
        (DirichletCounts(2.0, 10.0, 3), Records("add-remove")),
        (DirichletCounts(2.0, 10.0, 3), Records("replace")),
        (Laplace(0.1, Simplex(4)), _TRANSFER),
        (Gaussian(0.1, Simplex(4)), _TRANSFER),
        (GeometricCounts(1.0, 4), Records("add-remove")),
        (GeometricCounts(2.0, 4), Contributions(2, 2)),
        (DiscreteGaussianCounts(2.0, 4), Records("replace")),
        (MatrixDirichlet((20.0, 40.0), [row] * 2), Rows(1, _TRANSFER)),
        (RowByRow(Laplace(0.2, Simplex(3)), rows=3), Rows("all", _TRANSFER)),
        (DoublyStochastic(0.2, 3), Rectangle(0.1)),
        (DoublyStochastic(0.2, 3, noise="gaussian"), Rectangle(0.1)),
        (BorderedRows([30.0] * 2, [0.1] * 2, [40, 60], size=3), Records("replace")),
    ]


def _chains() -> list[tuple[Mechanism, Adjacency | None]]:
    counted = PrivateChain(3, [Part("transitions", GeometricCounts(1.0, 9), (3, 3))])
    rows = PrivateChain(3, [Part("transitions", DirichletCounts(1.5, 12.0, 3), (3, 3))])
    both = PrivateChain(
        3,
        [
            Part("transitions", GeometricCounts(4.0, 9), (3, 3)),
            Part("starts", GeometricCounts(2.0, 3), (3,)),
            Part("lengths", GeometricCounts(2.0, 3), (3,), bins=(1, 2, 5)),
        ],
    )
    return [(counted, Transitions()), (rows, Transitions()), (both, Transitions("user", "add-remove", 4))]


def _words() -> list[tuple[Mechanism, Adjacency | None]]:
    free, chain = FreeWords(3, 4), ChainWords(_ROADS, 5)
    return [
        (ExponentialWords(chain, 1.0), None),
        (ExponentialWords(FreeWords(4, 12), 1.0, radius=2), None),
        (BalancedWords(chain, 1.0), None),
        (SequentialWords(chain, 1.0), None),
        (PermuteAndFlip(chain, 1.0), None),
        (StaircaseWords(free, 1.0, radius=2), None),
        (EachWord(ExponentialWords(free, 1.0), words_each=2), None),
    ]


def _bits() -> list[tuple[Mechanism, Adjacency | None]]:
    theta = np.array([[0.4, 0.2], [0.2, -0.3]])
    block = Xor(MatrixBernoulli(theta, 0.2 * np.eye(2), 2))
    square = MatrixBernoulli(0.4 * np.eye(6), 0.05 * np.eye(6), 6)
    return [
        (RandomizedResponse(1.0), None),
        (StaircaseXor(5, 1.0), None),
        (StaircaseXor(4, 1.0, flips=2, rows=4), None),
        (block, BitFlips(2, where="row")),
        (XorBlocks([[block, block]]), BitFlips(4, where="row")),
        (XorGraph(square), None),
        (PrivateGraph(1.0, statistics=("degrees", "edges", "triangles"), share=0.5), None),
        (PrivateGraph(1.0, statistics=("edges",), share=1.0), None),
    ]
