from .accuracy import (
    Errors,
    expected_kl,
    largest_expected_entry_error,
    largest_expected_kl,
    largest_expected_l1,
)
from .adjacency import Contributions, Records, Transfer
from .calibration import calibrated
from .comparison import Comparison, compare
from .concentration import (
    concentration,
    largest_entry_failure,
    largest_entry_quantile,
    total_variation_failure,
)
from .counts import Counts
from .error_bars import intervals
from .mechanisms.additive import Gaussian, Laplace
from .mechanisms.dirichlet import Dirichlet
from .mechanisms.dirichlet_counts import DirichletCounts
from .mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from .planning import EpsilonPlan, least_epsilon
from .reading import LabelledVector
from .simplex import Simplex
from .verbs import plan, read, release

__all__ = [
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
    "Laplace",
    "Records",
    "Simplex",
    "Transfer",
    "calibrated",
    "compare",
    "concentration",
    "expected_kl",
    "intervals",
    "largest_entry_failure",
    "largest_entry_quantile",
    "largest_expected_entry_error",
    "largest_expected_kl",
    "largest_expected_l1",
    "least_epsilon",
    "plan",
    "read",
    "release",
    "total_variation_failure",
]
