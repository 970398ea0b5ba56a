"""Which noise a chain of many states gets, and which counts are kept: from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple

from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sparse.noise import Kind, SparseNoise
from veil.core.checks import choice, delta_of, integer, positive
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.numerics.rounding import float_above, float_below, stated
from veil.core.privacy.profile import calibrate
from veil.vectors.calibration import needs_delta

NOISES = ("geometric", "gaussian")
# Of epsilon, or of the square of the noise, for each of the two margins. Few cells of large counts; but where
# a user has many transitions, most that is known of a state is how busy it is.
_SHARES = {"geometric": Fraction(1, 20), "gaussian": Fraction(3, 20)}
# Empty pairs that may be kept, for each state and in all: a lower threshold keeps more that is true, and the
# estimate tells true ones from false ones better than a threshold does.
FALSE_EACH, MOST_FALSE = 32, 4_000_000
_COARSE = 1e-9


class SparseChoice(NamedTuple):
    """A mechanism, the name of its noise, and why it was chosen."""

    name: str
    mechanism: SparseChain
    why: str


def accepted(states: int, false_pairs: int | None) -> int:
    """How many empty pairs may be kept on average."""
    if false_pairs is not None:
        return integer("false_pairs", false_pairs, least=1)
    return min(FALSE_EACH * states, MOST_FALSE)


def chosen_sparse(
    name: str,
    states: int,
    adjacency: Transitions,
    *,
    epsilon: float,
    delta: float,
    once: bool = False,
    false_pairs: int | None = None,
) -> SparseChoice:
    """The named noise, or with "auto" the one with the lower threshold, at the least safe scale."""
    choice("mechanism", name, ("auto", *NOISES))
    epsilon, delta = positive("epsilon", epsilon, least=1e-9, most=1e5), delta_of(delta)
    false = accepted(states, false_pairs)
    made: dict[str, SparseChain] = {}
    for kind in NOISES if name == "auto" else (name,):
        if kind == "gaussian" and delta == 0.0:
            if name == "gaussian":
                raise needs_delta("gaussian")
            continue
        # With "auto" the geometric noise is always there.
        with suppress(*((CannotCalibrate,) if name == "auto" and kind == "gaussian" else ())):
            scales: Callable[..., tuple[SparseNoise, SparseNoise]] = _SCALED[kind]
            noises = scales(states, adjacency, epsilon=epsilon, delta=delta, once=once)
            threshold = noises[0].threshold(states**2, false)
            made[kind] = SparseChain(states, *noises, threshold, once=once)
    best = min(made, key=lambda one: made[one].threshold)
    lowest = made[best].threshold
    others = "".join(f", {one} noise from {made[one].threshold:,}" for one in made if one != best)
    why = (
        f"{'' if delta or name != 'auto' else 'delta is 0; '}of all pairs of states those with a noisy count "
        f"of at least {lowest:,} are kept, of empty ones at most about {false:,}{others}"
    )
    return SparseChoice(best, made[best], why)


def _geometric(
    states: int, adjacency: Transitions, *, epsilon: float, delta: float, once: bool
) -> tuple[SparseNoise, SparseNoise]:
    change = adjacency.on("transitions")
    total, share = change.added + change.removed, _SHARES["geometric"]
    # The loss is charged rounded up: what it is rounded to must not be above epsilon.
    budget = Fraction(float_below(stated(epsilon) * (1 - Fraction(1, 2**50))))
    margins = SparseNoise("geometric", float_above(total / (budget * share)))
    left = budget - 2 * total / Fraction(margins.scale)
    return SparseNoise("geometric", float_above(total / left)), margins


def _gaussian(
    states: int, adjacency: Transitions, *, epsilon: float, delta: float, once: bool
) -> tuple[SparseNoise, SparseNoise]:
    share = float(_SHARES["gaussian"])
    factors = 1.0 / math.sqrt(1.0 - 2.0 * share), 1.0 / math.sqrt(share)

    def made(rate: float) -> SparseChain:
        transitions, margins = (SparseNoise("gaussian", factor / rate) for factor in factors)
        return SparseChain(states, transitions, margins, 1, once=once)

    found = calibrate(made, adjacency, epsilon=epsilon, delta=delta, relative=_COARSE)
    return found.transitions, found.margins


_SCALED: dict[Kind | str, Callable[..., tuple[SparseNoise, SparseNoise]]] = {
    "geometric": _geometric,
    "gaussian": _gaussian,
}


def refuse_parts(parts: Sequence[str], floor: object) -> None:
    """What is not released of chains of many states."""
    for name, given in (("parts", parts), ("floor", floor)):
        if given is not None and given != [] and given != ():
            expected = "none where only large counts are kept"
            raise InvalidArgument(name, expected=expected, found="some", hint="With {pairs=all} it can be.")


def expected_pairs(mechanism: SparseChain) -> float:
    """About how many empty pairs are kept."""
    return mechanism.cells * mechanism.transitions.tail(mechanism.threshold).rate
