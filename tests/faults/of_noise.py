"""Too little noise, or none where there should be some."""

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.matrices.mechanisms.doubly_stochastic import DoublyStochastic
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.vectors.mechanisms.additive import Gaussian, Laplace, _Additive
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts, _NoisyCounts
from veil.vectors.simplex import Simplex

mutant(
    "half-laplace",
    "Laplace noise has half the scale that is charged for.",
    Edit(Laplace, "_noisy", "self.scale", "0.5 * self.scale"),
    caught_by=(
        "tests/matrices/test_row_by_row.py::test_rows_are_drawn_as_vectors_are[laplace-law0]",
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[Laplace]",
    ),
)
mutant(
    "half-gaussian",
    "Gaussian noise has half the standard deviation that is charged for.",
    Edit(Gaussian, "_noisy", "self.sigma", "0.5 * self.sigma"),
    caught_by=("tests/contracts/test_contract.py::test_audit_finds_no_violation[RowByRow, gaussian]",),
)
mutant(
    "half-geometric",
    "Geometric noise on counts has half the scale that is charged for.",
    Edit(GeometricCounts, "noise", "Fraction(self.scale)", "Fraction(self.scale) / 2"),
    caught_by=(
        "tests/chains/test_private_chain.py::test_no_attack_beats_the_claim[event replaced-geometric]",
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[GeometricCounts, replaced]",
    ),
)
mutant(
    "half-discrete-gaussian",
    "Discrete Gaussian noise has half the standard deviation that is charged for.",
    Edit(DiscreteGaussianCounts, "noise", "Fraction(self.sigma) ** 2", "(Fraction(self.sigma) / 2) ** 2"),
    caught_by=(
        "tests/chains/test_private_chain.py::test_no_attack_beats_the_claim[event-gaussian]",
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[DiscreteGaussianCounts, replaced]",
    ),
)
mutant(
    "half-birkhoff",
    "The noise on doubly stochastic matrices has half its scale.",
    Edit(DoublyStochastic, "_draw", "scale=self.scale_in_steps", "scale=self.scale_in_steps // 4 * 2"),
    caught_by=("tests/contracts/test_contract.py::test_audit_finds_no_violation[DoublyStochastic, laplace]",),
)
mutant(
    "double-concentration",
    "A probability vector is drawn with twice the k that is charged for.",
    Edit(Dirichlet, "float_shapes", "self.k * self.smoothed(np", "2.0 * self.k * self.smoothed(np"),
    caught_by=("tests/vectors/test_dirichlet.py::test_mean_and_variance",),
)
mutant(
    "double-weight-of-records",
    "A record weighs twice what is charged for in Dirichlet rows of counts.",
    Edit(DirichletCounts, "float_shapes", "self.scale * ", "2.0 * self.scale * "),
    caught_by=(
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[DirichletCounts, replaced]",
        "tests/chains/test_private_chain.py::test_dirichlet_rows_are_random_everywhere",
    ),
)
mutant(
    "prior-for-empty-cells-only",
    "Only categories without records get the pseudo-count that hides them.",
    Edit(DirichletCounts, "float_shapes", "+ self.prior", "+ self.prior * (np.asarray(valid) == 0)"),
    caught_by=(
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[DirichletCounts, replaced]",
        "tests/chains/test_private_chain.py::test_dirichlet_rows_are_random_everywhere",
    ),
)
mutant(
    "largest-k-for-all-rows",
    "Every row of a matrix is drawn with the largest k of any row.",
    Edit(
        MatrixDirichlet,
        "_shapes",
        "self._k_of(row) for row in group.rows",
        "max(map(self._k_of, range(len(flat)))) for row in group.rows",
    ),
    caught_by=("tests/matrices/test_matrix_dirichlet.py::test_every_entry_has_its_own_beta_law",),
)
mutant(
    "last-entry-without-noise",
    "The last entry of a vector gets no Laplace or Gaussian noise.",
    Edit(
        _Additive,
        "_draw",
        "self._noisy(rng, np.broadcast_to(value, batch_shape(value, size)))",
        "np.where(np.arange(self.domain.size) < self.domain.size - 1, "
        "self._noisy(rng, np.broadcast_to(value, batch_shape(value, size))), value)",
    ),
    caught_by=("tests/matrices/test_row_by_row.py::test_rows_are_drawn_as_vectors_are[laplace-law0]",),
)
mutant(
    "last-count-without-noise",
    "The last count of a row gets no noise.",
    Edit(
        _NoisyCounts,
        "_noisy",
        "self.noise(rng, batch_shape(value, size))",
        "self.noise(rng, batch_shape(value, size)) * ([1] * (self.size - 1) + [0])",
    ),
    caught_by=(
        "tests/faults/test_watch_positions.py::test_no_violation_at_the_end[GeometricCounts, replaced]",
    ),
)
mutant(
    "last-row-without-noise",
    "The last row of a matrix comes out as it went in.",
    Edit(
        MatrixDirichlet,
        "_draw",
        "return drawn.reshape(",
        "drawn[:, -1] = flat[-1]\n    return drawn.reshape(",
    ),
    caught_by=(
        "tests/faults/test_watch_positions.py::test_no_violation_at_the_end[MatrixDirichlet, smoothed]",
        "tests/faults/test_watch_positions.py::test_no_position_is_constant[MatrixDirichlet, published form]",
    ),
)
mutant(
    "smoothed-by-its-own-floor",
    "A vector is smoothed by its own least entry where that is below the floor, so zeros stay zeros.",
    Edit(
        Dirichlet,
        "smoothed",
        "+ self.domain.floor",
        "+ vectors.min(axis=-1, keepdims=True).clip(max=self.domain.floor)",
    ),
    caught_by=(
        "tests/contracts/test_contract.py::test_every_position_is_randomised[Dirichlet, smoothed]",
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[Dirichlet, smoothed]",
    ),
)
mutant(
    "smoothing-does-not-shrink",
    "Smoothing adds the floor without shrinking the vector first.",
    Edit(Dirichlet, "smoothed", "self._shrinkage * vectors", "vectors"),
    caught_by=("tests/matrices/test_matrix_dirichlet.py::test_smoothing_takes_zeros_inside_the_support",),
)
mutant(
    "floor-not-checked",
    "A vector below the floor is taken as if it respected it.",
    Edit(
        Simplex,
        "_check_borders",
        "guarded & (vectors < self.floor * (1.0 - _ROUNDING))",
        "np.zeros_like(guarded)",
    ),
    caught_by=("tests/core/test_attacks.py::test_a_vector_a_little_below_the_floor_is_refused",),
)
mutant(
    "urn-of-twice-the-k",
    "The urn of the exact form is filled for twice the k that is charged for.",
    Edit(Dirichlet, "exact_shape", "Fraction(self.k), ", "2 * Fraction(self.k), "),
    caught_by=(
        "tests/vectors/test_exact_dirichlet.py::test_shapes_are_not_rounded[False]",
        "tests/vectors/test_exact_dirichlet.py::test_the_profile_covers_all_outputs[vectors]",
    ),
)
mutant(
    "urn-without-smoothing",
    "The urn of the exact form is filled with the vector as it is, zeros and all.",
    Edit(Dirichlet, "exact_shape", "if not self.smooth:", "if True:"),
    caught_by=(
        "tests/vectors/test_exact_dirichlet.py::test_shapes_are_not_rounded[True]",
        "tests/vectors/test_exact_dirichlet.py::test_the_profile_covers_all_outputs[smoothed vectors]",
    ),
)
