from . import perturbation
from .adjacency import Rectangle, Rows
from .birkhoff import Birkhoff
from .chain import Chain
from .chain_comparison import ChainComparison
from .chain_facts import ChainFacts, chain_facts
from .chain_intervals import ChainIntervals, chain_intervals
from .decisions import DecisionProcess
from .error_bars import intervals
from .mechanisms.bordered_rows import BorderedRows
from .mechanisms.doubly_stochastic import DoublyStochastic
from .mechanisms.matrix_dirichlet import MatrixDirichlet
from .mechanisms.row_by_row import RowByRow
from .planning import MatrixPlan
from .released import to_chain
from .stochastic import StochasticMatrix
from .value_losses import ValueLoss, value_loss
from .verbs import plan, read, release

__all__ = [
    "Birkhoff",
    "BorderedRows",
    "Chain",
    "ChainComparison",
    "ChainFacts",
    "ChainIntervals",
    "DecisionProcess",
    "DoublyStochastic",
    "MatrixDirichlet",
    "MatrixPlan",
    "Rectangle",
    "RowByRow",
    "Rows",
    "StochasticMatrix",
    "ValueLoss",
    "chain_facts",
    "chain_intervals",
    "intervals",
    "perturbation",
    "plan",
    "read",
    "release",
    "to_chain",
    "value_loss",
]
