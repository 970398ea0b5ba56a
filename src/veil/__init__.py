"""Veil releases structured data under differential privacy, with guarantees that anyone can check.

Everything public is a name of this module; what is behind a name is imported when it is first used,
so that ``import veil`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from veil.version import __version__

if TYPE_CHECKING:
    from veil import errors, learn
    from veil.analysis.audit import Audit, audit
    from veil.analysis.audit_pair import AuditPair
    from veil.analysis.audit_suite import AuditSuite, audit_suite
    from veil.analysis.bit_estimates import BitReading, bit_estimates
    from veil.analysis.chain_intervals import ChainIntervals, chain_intervals
    from veil.analysis.decoding import Decoding, decode, decoding
    from veil.analysis.graph_estimates import GraphReading, graph_estimates
    from veil.analysis.intervals import intervals
    from veil.analysis.neighbours import audit_pairs
    from veil.domains.adjacency import Records, Rows, Transfer
    from veil.domains.automaton_words import AutomatonWords
    from veil.domains.bit_flips import BitFlips
    from veil.domains.bits import Bits
    from veil.domains.chain import Chain
    from veil.domains.chain_comparison import ChainComparison
    from veil.domains.chain_words import ChainWords
    from veil.domains.contributions import Contributions, Transitions
    from veil.domains.counts import Counts
    from veil.domains.decisions import DecisionProcess
    from veil.domains.doubly import Birkhoff
    from veil.domains.graph import Graph
    from veil.domains.hamming import Hamming
    from veil.domains.rectangle import Rectangle
    from veil.domains.sequence_model import SequenceModel
    from veil.domains.simplex import Simplex
    from veil.domains.stochastic import StochasticMatrix
    from veil.domains.transition_counts import TransitionCounts
    from veil.domains.word_batch import WordBatch
    from veil.domains.words import FreeWords
    from veil.ledger.dataset import Dataset
    from veil.ledger.ledger import Ledger
    from veil.mechanisms.additive import Gaussian, Laplace
    from veil.mechanisms.balanced_words import BalancedWords
    from veil.mechanisms.base import Mechanism
    from veil.mechanisms.bordered_rows import BorderedRows
    from veil.mechanisms.dirichlet import Dirichlet
    from veil.mechanisms.dirichlet_counts import DirichletCounts
    from veil.mechanisms.doubly_stochastic import DoublyStochastic
    from veil.mechanisms.each_word import EachWord
    from veil.mechanisms.exponential_words import ExponentialWords
    from veil.mechanisms.matrix_bernoulli import MatrixBernoulli, xor_parameters
    from veil.mechanisms.matrix_dirichlet import MatrixDirichlet
    from veil.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
    from veil.mechanisms.permute_and_flip import PermuteAndFlip
    from veil.mechanisms.private_chain import PrivateChain
    from veil.mechanisms.private_graph import PrivateGraph
    from veil.mechanisms.randomized_response import RandomizedResponse
    from veil.mechanisms.row_by_row import RowByRow
    from veil.mechanisms.sequential_words import SequentialWords
    from veil.mechanisms.staircase_words import StaircaseWords
    from veil.mechanisms.staircase_xor import StaircaseXor
    from veil.mechanisms.xor import Xor
    from veil.mechanisms.xor_blocks import XorBlocks
    from veil.mechanisms.xor_graph import XorGraph
    from veil.privacy.calibrate import calibrate
    from veil.privacy.profile import PrivacyProfile
    from veil.releases.files import load
    from veil.releases.online import OnlineWord, online
    from veil.releases.record import Release
    from veil.releases.release import release
    from veil.sources.sequences import SequenceFile
    from veil.sources.transitions import count_transitions
    from veil.sources.words import read_words
    from veil.workflows.bit_plan import BitPlan, plan_bits
    from veil.workflows.bits import release_bits
    from veil.workflows.compare import Comparison, compare
    from veil.workflows.decisions import ValueLoss, value_loss
    from veil.workflows.fit_chain import fit_chain
    from veil.workflows.graph_plan import GraphPlan, plan_graph
    from veil.workflows.graphs import release_graph
    from veil.workflows.plan import least_epsilon
    from veil.workflows.plan_chain import plan_chain
    from veil.workflows.synthetic import synthetic
    from veil.workflows.user_plan import UserPlan, plan_users
    from veil.workflows.vectors import calibrated
    from veil.workflows.word_plan import WordPlan, plan_words
    from veil.workflows.words import release_words

_PLACES = {
    "Audit": "analysis.audit",
    "AuditPair": "analysis.audit_pair",
    "AuditSuite": "analysis.audit_suite",
    "AutomatonWords": "domains.automaton_words",
    "BalancedWords": "mechanisms.balanced_words",
    "Birkhoff": "domains.doubly",
    "BitFlips": "domains.bit_flips",
    "BitPlan": "workflows.bit_plan",
    "BitReading": "analysis.bit_estimates",
    "Bits": "domains.bits",
    "BorderedRows": "mechanisms.bordered_rows",
    "Chain": "domains.chain",
    "ChainComparison": "domains.chain_comparison",
    "ChainIntervals": "analysis.chain_intervals",
    "ChainWords": "domains.chain_words",
    "Comparison": "workflows.compare",
    "Contributions": "domains.contributions",
    "Counts": "domains.counts",
    "Dataset": "ledger.dataset",
    "DecisionProcess": "domains.decisions",
    "Decoding": "analysis.decoding",
    "Dirichlet": "mechanisms.dirichlet",
    "DirichletCounts": "mechanisms.dirichlet_counts",
    "DiscreteGaussianCounts": "mechanisms.noisy_counts",
    "DoublyStochastic": "mechanisms.doubly_stochastic",
    "EachWord": "mechanisms.each_word",
    "ExponentialWords": "mechanisms.exponential_words",
    "FreeWords": "domains.words",
    "Gaussian": "mechanisms.additive",
    "GeometricCounts": "mechanisms.noisy_counts",
    "Graph": "domains.graph",
    "GraphPlan": "workflows.graph_plan",
    "GraphReading": "analysis.graph_estimates",
    "Hamming": "domains.hamming",
    "Laplace": "mechanisms.additive",
    "Ledger": "ledger.ledger",
    "MatrixBernoulli": "mechanisms.matrix_bernoulli",
    "MatrixDirichlet": "mechanisms.matrix_dirichlet",
    "Mechanism": "mechanisms.base",
    "OnlineWord": "releases.online",
    "PermuteAndFlip": "mechanisms.permute_and_flip",
    "PrivacyProfile": "privacy.profile",
    "PrivateChain": "mechanisms.private_chain",
    "PrivateGraph": "mechanisms.private_graph",
    "RandomizedResponse": "mechanisms.randomized_response",
    "Records": "domains.adjacency",
    "Rectangle": "domains.rectangle",
    "Release": "releases.record",
    "RowByRow": "mechanisms.row_by_row",
    "Rows": "domains.adjacency",
    "SequenceFile": "sources.sequences",
    "SequenceModel": "domains.sequence_model",
    "SequentialWords": "mechanisms.sequential_words",
    "Simplex": "domains.simplex",
    "StaircaseWords": "mechanisms.staircase_words",
    "StaircaseXor": "mechanisms.staircase_xor",
    "StochasticMatrix": "domains.stochastic",
    "Transfer": "domains.adjacency",
    "TransitionCounts": "domains.transition_counts",
    "Transitions": "domains.contributions",
    "UserPlan": "workflows.user_plan",
    "ValueLoss": "workflows.decisions",
    "WordBatch": "domains.word_batch",
    "WordPlan": "workflows.word_plan",
    "Xor": "mechanisms.xor",
    "XorBlocks": "mechanisms.xor_blocks",
    "XorGraph": "mechanisms.xor_graph",
    "audit": "analysis.audit",
    "audit_pairs": "analysis.neighbours",
    "audit_suite": "analysis.audit_suite",
    "bit_estimates": "analysis.bit_estimates",
    "calibrate": "privacy.calibrate",
    "calibrated": "workflows.vectors",
    "chain_intervals": "analysis.chain_intervals",
    "compare": "workflows.compare",
    "count_transitions": "sources.transitions",
    "decode": "analysis.decoding",
    "decoding": "analysis.decoding",
    "fit_chain": "workflows.fit_chain",
    "graph_estimates": "analysis.graph_estimates",
    "intervals": "analysis.intervals",
    "least_epsilon": "workflows.plan",
    "load": "releases.files",
    "online": "releases.online",
    "plan_bits": "workflows.bit_plan",
    "plan_chain": "workflows.plan_chain",
    "plan_graph": "workflows.graph_plan",
    "plan_users": "workflows.user_plan",
    "plan_words": "workflows.word_plan",
    "read_words": "sources.words",
    "release": "releases.release",
    "release_bits": "workflows.bits",
    "release_graph": "workflows.graphs",
    "release_words": "workflows.words",
    "synthetic": "workflows.synthetic",
    "value_loss": "workflows.decisions",
    "xor_parameters": "mechanisms.matrix_bernoulli",
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
        return import_module(f"veil.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'veil' has no attribute {name!r}")
    value = getattr(import_module(f"veil.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
