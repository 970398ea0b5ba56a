"""Veil releases structured data under differential privacy, with guarantees that anyone can check.

Everything public is a name of this module; what is behind a name is imported when it is first used,
so that ``import veil`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from veil.version import __version__

if TYPE_CHECKING:
    from veil import errors
    from veil.bits import learn
    from veil.bits.adjacency import BitFlips
    from veil.bits.domain import Bits
    from veil.bits.estimation import BitReading, bit_estimates
    from veil.bits.job import release_bits
    from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli, xor_parameters
    from veil.bits.mechanisms.randomized_response import RandomizedResponse
    from veil.bits.mechanisms.staircase_xor import StaircaseXor
    from veil.bits.mechanisms.xor import Xor
    from veil.bits.mechanisms.xor_blocks import XorBlocks
    from veil.bits.planning import BitPlan, plan_bits
    from veil.chains.adjacency import Transitions
    from veil.chains.counting.transitions import count_transitions
    from veil.chains.job import fit_chain
    from veil.chains.mechanisms.private_chain import PrivateChain
    from veil.chains.planning import plan_chain
    from veil.chains.sequence_model import SequenceModel
    from veil.chains.synthesis import synthetic
    from veil.chains.transition_counts import TransitionCounts
    from veil.chains.user_plan import UserPlan, plan_users
    from veil.core.audit.auditing import Audit, audit
    from veil.core.audit.neighbours import audit_pairs
    from veil.core.audit.pair import AuditPair
    from veil.core.audit.suite import AuditSuite, audit_suite
    from veil.core.files import load
    from veil.core.mechanism import Mechanism
    from veil.core.privacy.calibrate import calibrate
    from veil.core.privacy.profile import PrivacyProfile
    from veil.core.record import Release
    from veil.core.releasing import release
    from veil.graphs.estimation import GraphReading, graph_estimates
    from veil.graphs.graph import Graph
    from veil.graphs.job import release_graph
    from veil.graphs.likely_graph import Decoding, decode, decoding
    from veil.graphs.mechanisms.private_graph import PrivateGraph
    from veil.graphs.mechanisms.xor_graph import XorGraph
    from veil.graphs.planning import GraphPlan, plan_graph
    from veil.ledger.dataset import Dataset
    from veil.ledger.ledger import Ledger
    from veil.matrices.adjacency import Rectangle, Rows
    from veil.matrices.birkhoff import Birkhoff
    from veil.matrices.chain import Chain
    from veil.matrices.chain_comparison import ChainComparison
    from veil.matrices.chain_intervals import ChainIntervals, chain_intervals
    from veil.matrices.decisions import DecisionProcess
    from veil.matrices.mechanisms.bordered_rows import BorderedRows
    from veil.matrices.mechanisms.doubly_stochastic import DoublyStochastic
    from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
    from veil.matrices.mechanisms.row_by_row import RowByRow
    from veil.matrices.stochastic import StochasticMatrix
    from veil.matrices.value_losses import ValueLoss, value_loss
    from veil.tables.sequences import SequenceFile
    from veil.vectors.adjacency import Contributions, Records, Transfer
    from veil.vectors.calibration import calibrated
    from veil.vectors.comparison import Comparison, compare
    from veil.vectors.counts import Counts
    from veil.vectors.error_bars import intervals
    from veil.vectors.mechanisms.additive import Gaussian, Laplace
    from veil.vectors.mechanisms.dirichlet import Dirichlet
    from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
    from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
    from veil.vectors.planning import least_epsilon
    from veil.vectors.simplex import Simplex
    from veil.words.adjacency import Hamming
    from veil.words.automaton_words import AutomatonWords
    from veil.words.batch import WordBatch
    from veil.words.chain_words import ChainWords
    from veil.words.job import release_words
    from veil.words.language import FreeWords
    from veil.words.mechanisms.balanced_words import BalancedWords
    from veil.words.mechanisms.each_word import EachWord
    from veil.words.mechanisms.exponential_words import ExponentialWords
    from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
    from veil.words.mechanisms.sequential_words import SequentialWords
    from veil.words.mechanisms.staircase_words import StaircaseWords
    from veil.words.online_word import OnlineWord, online
    from veil.words.planning import WordPlan, plan_words
    from veil.words.reading import read_words

_PLACES = {
    "Audit": "core.audit.auditing",
    "AuditPair": "core.audit.pair",
    "AuditSuite": "core.audit.suite",
    "AutomatonWords": "words.automaton_words",
    "BalancedWords": "words.mechanisms.balanced_words",
    "Birkhoff": "matrices.birkhoff",
    "BitFlips": "bits.bit_flips",
    "BitPlan": "bits.planning",
    "BitReading": "bits.estimation",
    "Bits": "bits.domain",
    "BorderedRows": "chains.mechanisms.bordered_rows",
    "Chain": "matrices.chain",
    "ChainComparison": "matrices.chain_comparison",
    "ChainIntervals": "matrices.chain_intervals",
    "ChainWords": "words.chain_words",
    "Comparison": "vectors.comparison",
    "Contributions": "chains.contributions",
    "Counts": "vectors.counts",
    "Dataset": "ledger.dataset",
    "DecisionProcess": "matrices.decisions",
    "Decoding": "graphs.likely_graph",
    "Dirichlet": "vectors.mechanisms.dirichlet",
    "DirichletCounts": "vectors.mechanisms.dirichlet_counts",
    "DiscreteGaussianCounts": "vectors.mechanisms.noisy_counts",
    "DoublyStochastic": "matrices.mechanisms.doubly_stochastic",
    "EachWord": "words.mechanisms.each_word",
    "ExponentialWords": "words.mechanisms.exponential_words",
    "FreeWords": "words.language",
    "Gaussian": "vectors.mechanisms.additive",
    "GeometricCounts": "vectors.mechanisms.noisy_counts",
    "Graph": "graphs.graph",
    "GraphPlan": "graphs.planning",
    "GraphReading": "graphs.estimation",
    "Hamming": "words.hamming",
    "Laplace": "vectors.mechanisms.additive",
    "Ledger": "ledger.ledger",
    "MatrixBernoulli": "bits.mechanisms.matrix_bernoulli",
    "MatrixDirichlet": "matrices.mechanisms.matrix_dirichlet",
    "Mechanism": "core.mechanism",
    "OnlineWord": "words.online_word",
    "PermuteAndFlip": "words.mechanisms.permute_and_flip",
    "PrivacyProfile": "core.privacy.profile",
    "PrivateChain": "chains.mechanisms.private_chain",
    "PrivateGraph": "graphs.mechanisms.private_graph",
    "RandomizedResponse": "bits.mechanisms.randomized_response",
    "Records": "vectors.adjacency",
    "Rectangle": "matrices.rectangle",
    "Release": "core.record",
    "RowByRow": "matrices.mechanisms.row_by_row",
    "Rows": "vectors.adjacency",
    "SequenceFile": "tables.sequences",
    "SequenceModel": "chains.sequence_model",
    "SequentialWords": "words.mechanisms.sequential_words",
    "Simplex": "vectors.simplex",
    "StaircaseWords": "words.mechanisms.staircase_words",
    "StaircaseXor": "bits.mechanisms.staircase_xor",
    "StochasticMatrix": "matrices.stochastic",
    "Transfer": "vectors.adjacency",
    "TransitionCounts": "chains.transition_counts",
    "Transitions": "chains.contributions",
    "UserPlan": "chains.user_plan",
    "ValueLoss": "matrices.value_losses",
    "WordBatch": "words.batch",
    "WordPlan": "words.planning",
    "Xor": "bits.mechanisms.xor",
    "XorBlocks": "bits.mechanisms.xor_blocks",
    "XorGraph": "graphs.mechanisms.xor_graph",
    "audit": "core.audit.auditing",
    "audit_pairs": "core.audit.neighbours",
    "audit_suite": "core.audit.suite",
    "bit_estimates": "bits.estimation",
    "calibrate": "core.privacy.calibrate",
    "calibrated": "vectors.calibration",
    "chain_intervals": "matrices.chain_intervals",
    "compare": "vectors.comparison",
    "count_transitions": "chains.counting.transitions",
    "decode": "graphs.likely_graph",
    "decoding": "graphs.likely_graph",
    "fit_chain": "chains.job",
    "graph_estimates": "graphs.estimation",
    "intervals": "vectors.error_bars",
    "least_epsilon": "vectors.planning",
    "load": "core.files",
    "online": "words.online_word",
    "plan_bits": "bits.planning",
    "plan_chain": "chains.planning",
    "plan_graph": "graphs.planning",
    "plan_users": "chains.user_plan",
    "plan_words": "words.planning",
    "read_words": "words.reading",
    "release": "core.releasing",
    "release_bits": "bits.job",
    "release_graph": "graphs.job",
    "release_words": "words.job",
    "synthetic": "chains.synthesis",
    "value_loss": "matrices.value_losses",
    "xor_parameters": "bits.mechanisms.matrix_bernoulli",
}

__all__ = [
    "Audit",
    "AuditPair",
    "AuditSuite",
    "AutomatonWords",
    "BalancedWords",
    "Birkhoff",
    "BitFlips",
    "BitPlan",
    "BitReading",
    "Bits",
    "BorderedRows",
    "Chain",
    "ChainComparison",
    "ChainIntervals",
    "ChainWords",
    "Comparison",
    "Contributions",
    "Counts",
    "Dataset",
    "DecisionProcess",
    "Decoding",
    "Dirichlet",
    "DirichletCounts",
    "DiscreteGaussianCounts",
    "DoublyStochastic",
    "EachWord",
    "ExponentialWords",
    "FreeWords",
    "Gaussian",
    "GeometricCounts",
    "Graph",
    "GraphPlan",
    "GraphReading",
    "Hamming",
    "Laplace",
    "Ledger",
    "MatrixBernoulli",
    "MatrixDirichlet",
    "Mechanism",
    "OnlineWord",
    "PermuteAndFlip",
    "PrivacyProfile",
    "PrivateChain",
    "PrivateGraph",
    "RandomizedResponse",
    "Records",
    "Rectangle",
    "Release",
    "RowByRow",
    "Rows",
    "SequenceFile",
    "SequenceModel",
    "SequentialWords",
    "Simplex",
    "StaircaseWords",
    "StaircaseXor",
    "StochasticMatrix",
    "Transfer",
    "TransitionCounts",
    "Transitions",
    "UserPlan",
    "ValueLoss",
    "WordBatch",
    "WordPlan",
    "Xor",
    "XorBlocks",
    "XorGraph",
    "__version__",
    "audit",
    "audit_pairs",
    "audit_suite",
    "bit_estimates",
    "calibrate",
    "calibrated",
    "chain_intervals",
    "compare",
    "count_transitions",
    "decode",
    "decoding",
    "errors",
    "fit_chain",
    "graph_estimates",
    "intervals",
    "learn",
    "least_epsilon",
    "load",
    "online",
    "plan_bits",
    "plan_chain",
    "plan_graph",
    "plan_users",
    "plan_words",
    "read_words",
    "release",
    "release_bits",
    "release_graph",
    "release_words",
    "synthetic",
    "value_loss",
    "xor_parameters",
]


def __getattr__(name: str) -> Any:
    if name in ("errors", "learn"):
        return import_module({"errors": "veil.errors", "learn": "veil.bits.learn"}[name])
    if name not in _PLACES:
        raise AttributeError(f"module 'veil' has no attribute {name!r}")
    value = getattr(import_module(f"veil.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
