"""Curves that are too low, searches that stop on the wrong side, compositions that forget."""

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.core.numerics import rounding
from veil.core.numerics.tilted import HalfLine
from veil.core.privacy import losses, profile
from veil.core.privacy.loss_measure import LossMeasure
from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import DiscreteGaussianShift, RandomizedResponses, TiltedPair
from veil.core.privacy.profile import PrivacyProfile
from veil.core.privacy.renyi import RenyiProfile
from veil.vectors import published_bounds as published
from veil.vectors.mechanisms.dirichlet import Dirichlet

mutant(
    "one-direction-only",
    "Of a pair of neighbours only one direction is looked at.",
    Edit(
        PrivacyProfile,
        "_log_delta",
        "max(direction(epsilon) for direction in set(self.log_deltas()))",
        "self.log_deltas()[0](epsilon)",
    ),
    caught_by=("tests/core/test_pairs.py::test_the_worse_direction_of_a_gamma_pair_counts",),
)
mutant(
    "backward-is-forward",
    "The second direction of a pair is the first one once more.",
    Edit(TiltedPair, "log_deltas", "return forward, backward", "return forward, forward"),
    caught_by=("tests/core/test_pairs.py::test_the_worse_direction_of_a_gamma_pair_counts",),
)
mutant(
    "sign-of-the-gap",
    "The point from which losses exceed epsilon lies on the wrong side of where the loss is nought.",
    Edit(HalfLine, "beyond", "side * zero.value + step", "side * zero.value - step"),
    caught_by=(
        "tests/core/test_pairs.py::test_figures_of_the_grades_example",
        "tests/core/test_pairs.py::test_normal_pairs",
    ),
)
mutant(
    "gap-counted-from-the-other-end",
    "What of a response exceeds epsilon is measured from epsilon downwards.",
    Edit(
        LazyResponse,
        "_log_delta",
        "Fraction(self.each) - Fraction(epsilon)",
        "Fraction(epsilon) - Fraction(self.each)",
    ),
    caught_by=(
        "tests/bits/test_mechanisms.py::test_the_profile_of_the_staircase_is_that_of_brute_force[1-1]",
    ),
)
mutant(
    "jump-off-by-one",
    "The first loss above epsilon is left out of the delta of discrete Gaussian noise.",
    Edit(DiscreteGaussianShift, "_log_delta", "+ middle) + 1", "+ middle) + 2"),
    caught_by=("tests/core/test_discrete_gaussian.py::test_never_below_the_truth_next_to_a_jump[0.2]",),
)
mutant(
    "floor-ignored",
    "The worst pair of a Dirichlet vector has typical entries, not entries at the floor.",
    Edit(
        Dirichlet,
        "_profile_on",
        "near.worst_pair(k * floor, ",
        "near.worst_pair(k / size, ",
    ),
    caught_by=("tests/vectors/test_dirichlet.py::test_grade_example",),
)
mutant(
    "calibrated-to-the-unsafe-side",
    "Calibration returns a number a hair beyond the last one that is safe.",
    Edit(
        profile,
        "calibrate",
        "if mechanism.profile(adjacency).delta(target) <= delta:\n            return mechanism",
        "return factory(number * (1.0 + 1e-9))",
    ),
    caught_by=("tests/core/test_calibrate.py::test_pure_privacy_uses_its_whole_budget_and_no_more",),
)
mutant(
    "edge-of-the-unsafe-side",
    "The search returns the end of its bracket that is not safe.",
    Edit(rounding, "safe_edge", "return best", "return math.exp(b)"),
    caught_by=("tests/core/test_search.py::test_the_result_was_seen_to_be_safe_and_is_near_the_edge",),
)
mutant(
    "epsilon-rounded-to-nearest",
    "An epsilon is rounded to twelve digits, downwards as well as upwards.",
    Edit(
        PrivacyProfile, "epsilon", "plain < epsilon and self._as_charged(plain) <= delta", "plain < epsilon"
    ),
    caught_by=("tests/core/test_safe_rounding.py::test_an_epsilon_is_never_rounded_down",),
)
mutant(
    "delta-without-room",
    "A delta is the exponential of its logarithm as it comes, without room for the rounding.",
    Edit(
        rounding,
        "probability_above",
        "min(1.0, math.nextafter(math.exp(log_probability) * (1.0 + slack), math.inf))",
        "math.exp(log_probability)",
    ),
    caught_by=(
        "tests/core/test_rounding.py::test_probability_above_among_subnormal_numbers",
        "tests/core/test_rounding.py::test_probability_above_is_above_and_near",
    ),
)
mutant(
    "float-above-is-the-nearest",
    "What should round upwards rounds to the nearest float.",
    Edit(
        rounding,
        "float_above",
        "nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)",
        "nearest",
    ),
    caught_by=("tests/core/test_rounding.py::test_floats_around_a_rational",),
)
mutant(
    "flip-rate-rounded-down",
    "The probability of a flip is the next float below the one that is needed.",
    Edit(
        RandomizedResponse,
        "flip_rate",
        "return float_above(decay / (1 + decay))",
        "return math.nextafter(float_above(decay / (1 + decay)), 0.0)",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_the_flip_rate_is_the_least_float_that_is_safe[1e-06]",),
)
mutant(
    "composition-drops-a-part",
    "Of releases of different kinds that are composed one is left out.",
    Edit(Composed, "of", "cls(tuple(counted), adaptive)", "cls(tuple(counted[:-1] or counted))"),
    caught_by=(
        "tests/core/test_losses.py::test_the_order_and_the_grouping_do_not_matter",
        "tests/core/test_losses.py::test_closed_forms_are_used_where_they_exist",
    ),
)
mutant(
    "repetitions-of-noise-forgotten",
    "Gaussian noise that is drawn several times is composed as if it were drawn once.",
    Edit(losses, "_united", "times * Fraction(part.tilt) ** 2", "Fraction(part.tilt) ** 2"),
    caught_by=(
        "tests/core/test_losses.py::test_closed_forms_are_used_where_they_exist",
        "tests/matrices/test_row_by_row.py::test_gaussian_rows_add_up_in_squares[2-2]",
    ),
)
mutant(
    "divergences-not-repeated",
    "The Renyi divergence of a release that is made several times is that of one.",
    Edit(RenyiProfile, "together", "times * part.divergence(orders)", "part.divergence(orders)"),
    caught_by=("tests/core/test_renyi.py::test_composed_with_itself",),
)
mutant(
    "pure-sum-forgotten",
    "Several randomised responses are pure at the epsilon of one of them.",
    Edit(RandomizedResponses, "__post_init__", "(self.each, self.times)", "(self.each, 1)"),
    caught_by=("tests/core/test_responses.py::test_ten_tenths",),
)
mutant(
    "rounding-of-convolutions-forgotten",
    "What convolutions lose to rounding is not added to their masses.",
    Edit(LossMeasure, "together", " * (1.0 + ULP * (terms + 2))", ""),
    caught_by=("tests/core/test_loss_measure.py::test_masses_of_a_product_are_not_below_the_exact_ones",),
)
mutant(
    "ends-of-a-product-forgotten",
    "What is cut off at the upper end of a product of loss measures is dropped.",
    Edit(LossMeasure, "trimmed", "certain += float", "certain += 0.0 * float"),
    caught_by=("tests/core/test_loss_measure.py::test_ends_that_are_cut_off_move_up[0]",),
)
mutant(
    "one-direction-for-all",
    "Of parts that are asked in any direction only the forward one counts.",
    Edit(losses, "_powers", "np.maximum(forward, backward)", "forward"),
    caught_by=(
        "tests/core/test_directions.py::test_directions_that_are_chosen_on_the_way_cost_more_and_are_charged",
    ),
)
mutant(
    "no-choice-of-directions",
    "A batch counts as if the direction of each query were fixed.",
    Edit(Composed, "_products", "not self.adaptive and ", ""),
    caught_by=(
        "tests/core/test_directions.py::test_directions_that_are_chosen_on_the_way_cost_more_and_are_charged",
    ),
)
mutant(
    "gamma-misread",
    "In the published bound the largest ratio of two entries is that of two entries, not of all.",
    Edit(published, "published_bound", "(1.0 - (entries - 1) * gamma) / gamma", "(1.0 - gamma) / gamma"),
    caught_by=("tests/vectors/test_published.py::test_formula_by_hand",),
)
mutant(
    "best-vertex-for-the-worst",
    "The delta of the published bound is that of its best vertex.",
    Edit(published, "published_delta", "worst = max(worst,", "worst = min(worst,"),
    caught_by=(
        "tests/vectors/test_published.py::test_delta_against_quadrature_over_the_vertices[20.0-0.1-0.1-0.01]",
    ),
)
mutant(
    "outside-misread",
    "In the published bound the mass outside the protected entries is taken for nothing.",
    Edit(published, "published_bound", "outside = _mass_outside(domain)", "outside = 0.0"),
    caught_by=("tests/vectors/test_published.py::test_formula_by_hand",),
)
