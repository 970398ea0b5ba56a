"""Composition by adding privacy losses (proofs: losses.md).

Only for a set of releases that was fixed beforehand: adding loss distributions is unsound when a later
mechanism is chosen after seeing an earlier output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import delta_of, within
from veil.core.errors import NoGuarantee
from veil.core.numerics.rounding import (
    FUNCTION_ERROR,
    charged_below,
    charged_together,
    float_above,
    float_below,
)
from veil.core.privacy.loss_measure import TAIL, LossMeasure, repeated
from veil.core.privacy.pairs import NormalPair, RandomizedResponses
from veil.core.privacy.profile import Kind, NothingRevealed, PrivacyProfile, SymmetricProfile
from veil.core.privacy.renyi import RenyiProfile

if TYPE_CHECKING:
    from dp_accounting.pld.pld_pmf import PLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from veil.core.privacy.rigorous import Enclosure

_MOST_POINTS = 40_000
_LARGEST_STEP = 500.0
# What lies beyond the grid counts as a certain loss: as little as there is room for.
_TAILS = (TAIL, 1e-20, 1e-16, 1e-12)
# Parts whose two directions differ are combined in so many ways at most; from there on each counts by the
# larger of its directions.
_MOST_DIRECTIONS = 16


def loss_distribution(profile: PrivacyProfile, interval: float | None) -> PrivacyLossDistribution:
    """The profile's dominating pair as a discretised loss distribution of Google's dp-accounting."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    interval = natural_interval(profile) if interval is None else interval
    top = math.ceil(_reach(profile) / interval)
    if top > _MOST_POINTS:
        raise NoGuarantee(
            f"composing losses of such different sizes needs {2 * top + 1} grid points, more than "
            f"{2 * _MOST_POINTS}; add their (epsilon, delta) instead"
        )
    forward, backward = profile.deltas(interval * np.arange(top + 1, dtype=np.float64))
    other = None if forward is backward else _one_direction(backward, forward, interval)
    return PrivacyLossDistribution(_one_direction(forward, backward, interval), other)


def natural_interval(profile: PrivacyProfile) -> float:
    """A grid step that suits the profile: a power of two, so that most profiles can share one."""
    reach = _reach(profile)
    step = float(2.0 ** math.floor(math.log2(reach / profile.grid_points))) if reach > 0.0 else 1.0
    if not step < _LARGEST_STEP:
        raise NoGuarantee("losses of this size cannot be composed: their grid would need steps beyond e^500")
    return step


def _reach(profile: PrivacyProfile) -> float:
    # What is itself composed is not followed down to the smallest tail.
    for tail in _TAILS:
        reach = profile.reach(tail)
        if math.isfinite(reach):
            return reach
    raise NoGuarantee("this profile has no finite epsilon at any usable delta: it cannot be composed")


def _one_direction(forward: Floats, backward: Floats, interval: float) -> PLDPmf:
    from dp_accounting.pld import pld_pmf

    top = len(forward) - 1
    losses = interval * np.arange(top, 0, -1)
    # E_{-e}(P || Q) = 1 - exp(-e) + exp(-e) E_e(Q || P)
    below = -np.expm1(-losses) + np.exp(-losses) * backward[:0:-1]
    deltas = np.concatenate([below, forward])
    # The true curve falls; where rounding made a step up, the points before it are raised.
    deltas = np.maximum.accumulate(deltas[::-1])[::-1]
    return pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, -top, top, deltas)


def _united(parts: list[tuple[PrivacyProfile, int]]) -> list[tuple[PrivacyProfile, int]]:
    """The parts with those put together whose composition has a closed form of the same kind.

    Normal pairs add their squared shifts; randomised responses of one parameter add their numbers.
    """
    closed = (NormalPair, RandomizedResponses, RenyiProfile)
    united = [(part, times) for part, times in parts if not isinstance(part, closed)]
    normal = [(part, times) for part, times in parts if isinstance(part, NormalPair)]
    if sum(times for _, times in normal) > 1:
        square = float_above(sum((times * Fraction(part.tilt) ** 2 for part, times in normal), Fraction()))
        normal = [(NormalPair(math.nextafter(math.sqrt(square), math.inf), _kind_of(normal)), 1)]
    united += normal
    renyi = [(part, times) for part, times in parts if isinstance(part, RenyiProfile)]
    united += [(RenyiProfile.together(renyi), 1)] if sum(times for _, times in renyi) > 1 else renyi
    responses = [(part, times) for part, times in parts if isinstance(part, RandomizedResponses)]
    for each in dict.fromkeys(part.each for part, _ in responses):
        alike = [(part, times) for part, times in responses if part.each == each]
        if sum(times for _, times in alike) > 1:
            number = sum(part.times * times for part, times in alike)
            alike = [(RandomizedResponses(each, number, _kind_of(alike)), 1)]
        united += alike
    return united


def _kind_of(parts: Sequence[tuple[PrivacyProfile, int]]) -> Kind:
    return "exact" if all(part.kind == "exact" for part, _ in parts) else "upper bound"


@dataclass(frozen=True)
class Composed(SymmetricProfile):
    """Several releases together, each part with the number of times it was made.

    adaptive: what is asked of the data, and so which neighbour has the larger answer, may depend on the
        outputs before. The list of mechanisms may not.
    """

    parts: tuple[tuple[PrivacyProfile, int], ...]
    adaptive: bool = False
    kind: Kind = field(default="upper bound", init=False)

    @classmethod
    def of(cls, *repeated: tuple[PrivacyProfile, int], adaptive: bool = False) -> PrivacyProfile:
        """The composition, flattened, so that losses are never put on a grid twice."""
        counted: list[tuple[PrivacyProfile, int]] = []
        for profile, repeats in repeated:
            if isinstance(profile, NothingRevealed):
                continue
            parts: tuple[tuple[PrivacyProfile, int], ...] = ((profile, 1),)
            if isinstance(profile, Composed):
                parts, adaptive = profile.parts, adaptive or profile.adaptive
            for part, times in ((part, times * repeats) for part, times in parts):
                for index, (known, count) in enumerate(counted):
                    if known is part or known == part:
                        counted[index] = (known, count + times)
                        break
                else:
                    counted.append((part, times))
        counted = _united(counted)
        if not counted:
            return NothingRevealed()
        if len(counted) == 1 and counted[0][1] == 1:
            return counted[0][0]
        return cls(tuple(counted), adaptive)

    def __post_init__(self) -> None:
        if all(math.isfinite(part.pure_epsilon) for part, _ in self.parts):
            total = charged_together((part.pure_epsilon, times) for part, times in self.parts)
            object.__setattr__(self, "pure_epsilon", total)

    def covers(self, epsilon: float, delta: float) -> bool:
        epsilon = within("epsilon", epsilon, 0.0, expected="a number of at least 0", finite=False)
        # Where simply adding is enough, nothing has to be convolved.
        if math.isfinite(epsilon) and self._added(charged_below(epsilon)) <= delta_of(delta):
            return True
        return super().covers(epsilon, delta)

    def epsilon(self, delta: float) -> float:
        try:
            return super().epsilon(delta)
        except NoGuarantee:
            # Losses too large for a grid; their sum is known all the same.
            if math.isfinite(self.pure_epsilon):
                return self.pure_epsilon
            raise

    def _added(self, epsilon: float) -> float:
        """delta by adding the losses of pure parts to what one other part has; 1 where there are more."""
        pure = [(part, times) for part, times in self.parts if math.isfinite(part.pure_epsilon)]
        rest = [(part, times) for part, times in self.parts if not math.isfinite(part.pure_epsilon)]
        left = Fraction(epsilon) - sum(
            (times * Fraction(part.pure_epsilon) for part, times in pure), Fraction()
        )
        is_known = left >= 0 and len(rest) == 1 and rest[0][1] == 1
        return rest[0][0].delta(float_below(left)) if is_known else 1.0

    @cached_property
    def _measures(self) -> list[LossMeasure]:
        return self._products(likely=False)

    @cached_property
    def _likely_measures(self) -> list[LossMeasure]:
        return self._products(likely=True)

    def _products(self, *, likely: bool) -> list[LossMeasure]:
        """Of the parts together, one for each way in which their directions can be combined."""
        ways = math.prod(times + 1 for part, times in self.parts if not _is_symmetric(part))
        mixed = not self.adaptive and ways <= _MOST_DIRECTIONS
        products: list[LossMeasure] = []
        # Small losses first, while the grid is fine.
        for (part, times), step in sorted(zip(self.parts, self._steps, strict=True), key=lambda one: one[1]):
            make = _powers if _can_be_kept(part) else _powers.__wrapped__
            powers = make(part, times, step, mixed=mixed, likely=likely)
            products = [one.together(power) for one in products for power in powers] if products else powers
        return products

    @cached_property
    def _steps(self) -> list[float]:
        """The steps of the grids of the parts."""
        # Many different parts are cut up less finely: as safe, looser by 1e-3 of epsilon, much quicker.
        coarser = 2.0 ** min(3, max(0, len(self.parts).bit_length() - 3))
        return [coarser * natural_interval(part) for part, _ in self.parts]

    def enclosure(self, epsilon: float) -> Enclosure | None:
        """From what each part reveals alone to the composition of the parts' enclosures, in whole numbers.

        Each part counts by the larger of its two directions.
        """
        if epsilon >= self.pure_epsilon or any(part.enclosure(0.0) is None for part, _ in self.parts):
            return super().enclosure(epsilon)
        from veil.core.privacy.rigorous import Enclosure, products

        lows, grids = [], []
        for (part, times), step in zip(self.parts, self._steps, strict=True):
            alone, *found = (part.enclosure(float(point)) for point in (epsilon, *_grid(part, step)))
            known = [one for one in found if one is not None]
            if alone is None or len(known) < len(found):
                return None
            lows.append(alone.low)
            grids.append(products.Grid(step, [one.high for one in known], times))
        return Enclosure(max(lows), products.delta_above(grids, epsilon))

    def pld(self, interval: float | None = None) -> PrivacyLossDistribution:
        """The loss distribution for Google's dp-accounting; the rounding of its convolutions is their own."""
        step = max(natural_interval(part) for part, _ in self.parts) if interval is None else interval
        each = [(loss_distribution(part, step), times) for part, times in self.parts]
        # Inside, empty cells are divided by nothing on purpose.
        with np.errstate(all="ignore"):
            powers = [one.self_compose(times, TAIL) if times > 1 else one for one, times in each]
            return reduce(lambda one, other: one.compose(other, TAIL), powers)

    def rdp(self, order: float) -> float:
        """Renyi divergences add."""
        each = [(part.rdp(order), times) for part, times in self.parts]
        if not all(math.isfinite(divergence) for divergence, _ in each):
            return math.inf
        return float_above(sum((times * Fraction(divergence) for divergence, times in each), Fraction()))

    def zcdp(self) -> float:
        return float_above(sum((times * Fraction(part.zcdp()) for part, times in self.parts), Fraction()))

    def likely_log_delta(self, epsilon: float) -> float:
        try:
            likely = max(product.delta(epsilon) for product in self._likely_measures)
        except NoGuarantee:
            return self._log_delta(epsilon)
        likely = min(likely, self._added(epsilon))
        # The quick curves cancel to about 1e-14; far above that they serve.
        return math.log(likely) if 1e-10 < likely < 1.0 else self._log_delta(epsilon)

    def _log_delta(self, epsilon: float) -> float:
        added = self._added(epsilon)
        try:
            convolved = max(product.delta(epsilon) for product in self._measures)
        except NoGuarantee:
            if added == 1.0:
                raise
            convolved = 1.0
        log = math.log(min(convolved, added))
        return log + FUNCTION_ERROR * (1.0 - log)


def _grid(profile: PrivacyProfile, interval: float) -> Floats:
    top = math.ceil(_reach(profile) / interval)
    return np.asarray(interval * np.arange(top + 1, dtype=np.float64))


def _is_symmetric(profile: PrivacyProfile) -> bool:
    forward, backward = profile.log_deltas()
    return forward == backward


def _can_be_kept(profile: PrivacyProfile) -> bool:
    """Whether results for this profile can be found again: not if its fields have no hash, such as arrays."""
    try:
        hash(profile)
    except TypeError:
        return False
    return True


@lru_cache(maxsize=64)
def _powers(
    profile: PrivacyProfile, times: int, interval: float, *, mixed: bool, likely: bool
) -> list[LossMeasure]:
    """The measures of so many equal parts, for each number of them that go forward.

    Where the directions are equal, or are not combined, there is one: that of the larger curve. Kept, because
    a release, its record and its page ask for the same ones, and each takes a good part of a second.
    """
    grid = _grid(profile, interval)
    forward, backward = profile.likely_deltas(grid) if likely else profile.deltas(grid)
    if not mixed or _is_symmetric(profile):
        larger = np.maximum(forward, backward)
        return [repeated(LossMeasure.of_curves(larger, larger, interval), times)]
    ahead, back = (
        LossMeasure.of_curves(one, other, interval)
        for one, other in ((forward, backward), (backward, forward))
    )
    inner = [repeated(ahead, some).together(repeated(back, times - some)) for some in range(1, times)]
    return [repeated(back, times), *inner, repeated(ahead, times)]
