from .adjacency import Rectangle, Rows
from .back_off import BackOffChain
from .chain import Chain
from .chain_intake import CommunicatingClass, Reducible
from .chain_summary import ChainComparison, ChainFacts, chain_facts, to_chain
from .decisions import DecisionProcess, Solution
from .error_bars import ChainIntervals, chain_intervals, intervals
from .mechanisms.bordered_rows import BorderedRows
from .mechanisms.doubly_stochastic import Birkhoff, DoublyStochastic
from .mechanisms.matrix_dirichlet import MatrixDirichlet
from .mechanisms.row_by_row import RowByRow
from .perturbation import (
    ergodicity_bound,
    expected_ergodicity_change,
    expected_largest_column_distance,
    expected_largest_row_distance,
    expected_stationary_change,
    expected_weighted_row_distance,
    row_radius,
    simultaneous_row_radii,
    stationary_bound,
    stationary_bound_from_kl,
    stationary_radii,
    stationary_radius,
)
from .planning import MatrixPlan, MatrixRow, calibrated_matrix, plan_matrix
from .report.figures import value_figure
from .stochastic import StochasticMatrix
from .value_losses import ValueLoss, value_loss
from .verbs import plan, read, release

__all__ = [
    "BackOffChain",
    "Birkhoff",
    "BorderedRows",
    "Chain",
    "ChainComparison",
    "ChainFacts",
    "ChainIntervals",
    "CommunicatingClass",
    "DecisionProcess",
    "DoublyStochastic",
    "MatrixDirichlet",
    "MatrixPlan",
    "MatrixRow",
    "Rectangle",
    "Reducible",
    "RowByRow",
    "Rows",
    "Solution",
    "StochasticMatrix",
    "ValueLoss",
    "calibrated_matrix",
    "chain_facts",
    "chain_intervals",
    "ergodicity_bound",
    "expected_ergodicity_change",
    "expected_largest_column_distance",
    "expected_largest_row_distance",
    "expected_stationary_change",
    "expected_weighted_row_distance",
    "intervals",
    "plan",
    "plan_matrix",
    "read",
    "release",
    "row_radius",
    "simultaneous_row_radii",
    "stationary_bound",
    "stationary_bound_from_kl",
    "stationary_radii",
    "stationary_radius",
    "to_chain",
    "value_figure",
    "value_loss",
]
