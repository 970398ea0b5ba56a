from .accuracy import (
    Errors,
    concentration,
    dirichlet_errors,
    expected_absolute_deviation,
    expected_kl,
    largest_entry_failure,
    largest_entry_quantile,
    largest_expected_entry_error,
    largest_expected_kl,
    largest_expected_l1,
    published_concentration,
    total_variation_failure,
)
from .averages import Averaged, average
from .calibration import calibrated
from .counts import Contributions, Counts, Records
from .error_bars import intervals
from .l1 import L1
from .mechanisms.additive import Gaussian, Laplace
from .mechanisms.dirichlet import Dirichlet
from .mechanisms.dirichlet_counts import DirichletCounts
from .mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from .planning import Comparison, EpsilonPlan, NeededEpsilon, Row, compare, least_epsilon
from .reading import LabelledVector
from .released_counts import noisy_counts
from .several import LabelledVectors
from .simplex import Simplex, Transfer
from .verbs import plan, read, release

__all__ = [
    "L1",
    "Averaged",
    "Comparison",
    "Contributions",
    "Counts",
    "Dirichlet",
    "DirichletCounts",
    "DiscreteGaussianCounts",
    "EpsilonPlan",
    "Errors",
    "Gaussian",
    "GeometricCounts",
    "LabelledVector",
    "LabelledVectors",
    "Laplace",
    "NeededEpsilon",
    "Records",
    "Row",
    "Simplex",
    "Transfer",
    "average",
    "calibrated",
    "compare",
    "concentration",
    "dirichlet_errors",
    "expected_absolute_deviation",
    "expected_kl",
    "intervals",
    "largest_entry_failure",
    "largest_entry_quantile",
    "largest_expected_entry_error",
    "largest_expected_kl",
    "largest_expected_l1",
    "least_epsilon",
    "noisy_counts",
    "plan",
    "published_concentration",
    "read",
    "release",
    "total_variation_failure",
]
