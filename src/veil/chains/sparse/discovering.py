"""How a budget is split where states are discovered: names, counts, and what was left out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.discovered_chain import DiscoveredChain, people_of
from veil.chains.sparse.choosing import NOISES, chosen_sparse
from veil.chains.sparse.noise import SparseNoise
from veil.chains.sparse.noisy_selection import least_users
from veil.chains.sparse.selection import needs_delta_for_names
from veil.core.checks import choice, delta_of, positive
from veil.core.errors import CannotCalibrate
from veil.core.numerics.rounding import float_above, float_below, stated

# Of epsilon, for the names and for the totals.
_NAMES, _TOTALS = Fraction(2, 5), Fraction(1, 50)
# Noise is compared as for so many states: how many will be named is not known.
_USUAL_STATES = 10_000
PUBLISHED = (
    "states are discovered: the names of those that enough users have are published as they stand in the "
    "data, so none may be a secret in itself (a search text, an address with a token, a name of a person)"
)


class Discovery(NamedTuple):
    """A mechanism, the name of its noise, and how the budget is split."""

    name: str
    mechanism: DiscoveredChain
    why: str


@dataclass(frozen=True)
class Split:
    """What names, counts and totals may cost."""

    names: tuple[float, float]
    counts: tuple[float, float]
    totals: float

    @classmethod
    def of(cls, epsilon: float, delta: float, *, counts_need_delta: bool) -> Split:
        """Of a budget; the sum is not above it."""
        # The loss of the counts is charged rounded up: what it is rounded to must not be above.
        whole = stated(epsilon) * (1 - Fraction(1, 2**45))
        names, totals = float_below(whole * _NAMES), float_below(whole * _TOTALS)
        counts = float_below(whole - Fraction(names) - Fraction(totals))
        named = float_below(Fraction(delta) / 2) if counts_need_delta else delta
        counted = float_below(Fraction(delta) - Fraction(named)) if counts_need_delta else 0.0
        return cls((names, named), (counts, counted), totals)

    @property
    def words(self) -> str:
        """In one clause."""
        deltas = f" and {self.names[1]:.3g} + {self.counts[1]:.3g} of delta"
        return (
            f"{self.names[0]:.3g} of epsilon for the names, {self.counts[0]:.3g} for the counts, "
            f"{self.totals:.3g} for how much was left out{deltas} (names + counts)"
        )


def chosen_discovery(
    name: str,
    adjacency: Transitions,
    *,
    epsilon: float,
    delta: float,
    user_states: int,
    once: bool = False,
    false_pairs: int | None = None,
) -> Discovery:
    """The named noise on the counts, or with "auto" the one with the lower threshold."""
    choice("mechanism", name, ("auto", *NOISES))
    epsilon, delta = positive("epsilon", epsilon, least=1e-6, most=1e5), delta_of(delta)
    if delta == 0.0:
        raise needs_delta_for_names()
    people = people_of(adjacency, user_states)
    made: dict[str, tuple[Split, Any]] = {}
    for kind in NOISES if name == "auto" else (name,):
        split = Split.of(epsilon, delta, counts_need_delta=kind == "gaussian")
        with suppress(*((CannotCalibrate,) if name == "auto" and kind == "gaussian" else ())):
            budget: dict[str, Any] = {"epsilon": split.counts[0], "delta": split.counts[1], "once": once}
            counting = chosen_sparse(kind, _USUAL_STATES, adjacency, **budget, false_pairs=false_pairs)
            made[kind] = split, counting.mechanism
    best = min(made, key=lambda one: made[one][1].threshold)
    split, counting = made[best]
    selection = least_users(*split.names, user_states, people=people)
    change = adjacency.on("transitions")
    # Charged rounded up, as the counts are.
    scale = 2 * max(change.added, change.removed) / (Fraction(split.totals) * (1 - Fraction(1, 2**50)))
    mechanism = DiscoveredChain(
        selection,
        counting.transitions,
        counting.margins,
        SparseNoise("geometric", float_above(scale)),
        false_pairs,
        once=once,
    )
    of = "users" if adjacency.unit == "user" else "transitions"
    why = (
        f"states that nobody listed are named where enough {of} have them, with 95 % probability from "
        f"{selection.surely:,} on; the budget is split into {split.words}"
    )
    return Discovery(best, mechanism, why)
