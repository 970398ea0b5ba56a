"""Faults of floats: laws that are right to many digits, and last bits or ways of computing that tell.

Most of them no named test sees: the standard audit does (suites.py). Those that it cannot see have a test.
"""

from functools import partial

from tests.faults import float_samplers as samplers
from tests.faults.planting import Edit, Sampler
from tests.faults.registry import mutant
from veil.core.random import streams as randomness
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import GeometricCounts
from veil.vectors.simplex import Simplex

mutant(
    "dirichlet-of-0.1",
    "Dirichlet vectors are drawn by the floats of 0.1: in logarithms if any shape of the call is small.",
    Sampler(Dirichlet, samplers.dirichlet_of_old),
    Sampler(DirichletCounts, samplers.dirichlet_of_old),
)
mutant(
    "laplace-of-0.1",
    "Laplace noise is a float that is added to a float, and the rounding of entries is not charged for.",
    Sampler(Laplace, samplers.laplace_of_old),
    Edit(Simplex, "largest_move", "near.entries(self.size) * ENTRY_ROUNDING", "0"),
)
mutant(
    "gaussian-of-0.1",
    "Gaussian noise is a float that is added to a float, and the rounding of entries is not charged for.",
    Sampler(Gaussian, samplers.gaussian_of_old),
    Edit(Simplex, "largest_move", "near.entries(self.size) * ENTRY_ROUNDING", "0"),
)
mutant(
    "noise-of-single-precision",
    "Laplace noise is rounded to 24 bits before it is added.",
    Sampler(Laplace, samplers.laplace_of_single_precision),
)
mutant(
    "grid-around-the-value",
    "Laplace noise is rounded to a grid, and the value that it is added to is not.",
    Sampler(Laplace, samplers.laplace_on_a_grid_around_the_value),
)
mutant(
    "last-bit-tells-the-value",
    "The last bit of every entry says whether the true entry is above a quarter.",
    Sampler(Laplace, samplers.laplace_with_the_parity_of_the_value),
)
mutant(
    "noise-cut-off",
    "A loop gives up early, so that noise on counts never exceeds four times its scale.",
    Sampler(GeometricCounts, samplers.geometric_cut_off),
)
mutant(
    "rounded-by-another-item",
    "Every item of a batch is rounded to 24 bits if one of them has an empty cell.",
    Sampler(GeometricCounts, samplers.geometric_rounded_by_another_item),
)
mutant(
    "words-of-another-item",
    "Where an item has an empty cell the next one of the batch is drawn from the same random words.",
    Sampler(GeometricCounts, samplers.geometric_with_words_of_another_item),
)
mutant(
    "seeds-of-eight-bits",
    "Every call takes one of 256 seeds.",
    Edit(
        randomness, "generator", "return SecretStream()", "return np.random.default_rng(secrets.randbits(8))"
    ),
)
mutant(
    "uniforms-of-32-bits",
    "Laplace noise is computed from uniform numbers of 32 bits.",
    Sampler(Laplace, partial(samplers.laplace_from_short_uniforms, bits=32)),
    caught_by=("tests/faults/test_watch_floats.py::test_no_short_uniform_number_is_behind_the_noise[32]",),
)
mutant(
    "uniforms-of-24-bits",
    "Laplace noise is computed from uniform numbers of 24 bits.",
    Sampler(Laplace, partial(samplers.laplace_from_short_uniforms, bits=24)),
    caught_by=("tests/faults/test_watch_floats.py::test_no_short_uniform_number_is_behind_the_noise[24]",),
)
mutant(
    "remainders-of-words",
    "A place in a table of 50,000 is the remainder of a word of 16 bits, so that some are twice as likely.",
    Sampler(GeometricCounts, samplers.geometric_by_remainders),
    caught_by=("tests/faults/test_watch_floats.py::test_noisy_counts_follow_their_law",),
)
