"""A Markov chain of states that nobody listed: which are named, what is counted among them, what is left out.

(proofs in discovered_chain.md; of the names alone in chains/sparse/selection.md)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.sparse_chain import SparseChain, SparseDraw, Tables
from veil.chains.sparse.noise import SparseNoise
from veil.chains.sparse.noisy_selection import NoisySelection, given_selection
from veil.chains.sparse.selection import Selection
from veil.chains.transition_counts import FoundTransitions, OncePerUser, TransitionCounts
from veil.core.adjacency import Adjacency
from veil.core.arrays import Places
from veil.core.checks import integer, truth
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names
from veil.core.mechanism import Described, adjacency_of
from veil.core.numerics.rounding import charge_above
from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.core.text import is_plain_text
from veil.matrices.back_off import BackOffChain
from veil.tables.states import found_states

# Room for the files of a release is set aside for so many states.
_USUAL_STATES = 10_000
# Empty pairs that may be kept, for each named state and in all.
FALSE_EACH, MOST_FALSE = 32, 4_000_000
# A chain has two states or more: so many are made up where fewer are named.
_LEAST = 2


@dataclass(frozen=True, init=False)
class DiscoveredChain(Described):
    """Names of states that enough users have, then noisy counts of the transitions among these.

    selection: how states are named. transitions, margins: the noise of `SparseChain`. totals: geometric noise
    on how many transitions were counted, and how many of them among the named states. false_pairs: about how
    many empty pairs may be kept, None for 32 a state. once: each pair of states was counted once for each
    user.
    """

    selection: Selection | NoisySelection
    transitions: SparseNoise
    margins: SparseNoise
    totals: SparseNoise
    false_pairs: int | None
    once: bool
    domain: FoundTransitions = field(repr=False, compare=False)
    name: ClassVar[str] = "DiscoveredChain"
    kind: ClassVar[str] = "sparse-chain"
    in_record: ClassVar[Mapping[str, int]] = {"named": 1, "totals": 2}
    # About how many may be named, for what is set aside before anything is drawn.
    states: ClassVar[int] = _USUAL_STATES

    def __init__(
        self,
        selection: Any,
        transitions: Any,
        margins: Any,
        totals: Any,
        false_pairs: int | None = None,
        *,
        once: bool = False,
    ) -> None:
        content = {
            "selection": given_selection(selection),
            "transitions": SparseNoise.given("transitions", transitions),
            "margins": SparseNoise.given("margins", margins),
            "totals": SparseNoise.given("totals", totals),
            "false_pairs": None if false_pairs is None else integer("false_pairs", false_pairs, least=1),
            "once": truth("once", once),
            "domain": FoundTransitions(),
        }
        for name, value in content.items():
            object.__setattr__(self, name, value)
        if self.totals.kind != "geometric":
            raise InvalidArgument("totals", expected="geometric noise", found=self.totals.kind)
        self.on(_LEAST)

    def on(self, states: int) -> SparseChain:
        """What counts the transitions among so many named states."""
        false = min(FALSE_EACH * states, MOST_FALSE) if self.false_pairs is None else self.false_pairs
        threshold = self.transitions.threshold(states**2, min(false, states**2))
        return SparseChain(states, self.transitions, self.margins, threshold, once=self.once)

    def validate(self, value: Any) -> TransitionCounts:
        counts = self.domain.validate(value)
        assert counts.visitors is not None
        if counts.visitors.most > self.selection.states:
            expected = f"at most {self.selection.states} states of a user"
            raise InvalidData("user_states", expected=expected, found=str(counts.visitors.most))
        if self.once != (counts.once is not None):
            expected = "each pair counted once a user" if self.once else "every transition counted"
            raise InvalidData("counts", expected=expected, found="others")
        for name, other in (("strata", counts.strata), ("groups", counts.groups), ("memory", counts.second)):
            if other is not None and other != ():
                raise InvalidData(name, expected="none where states are discovered", found="some")
        return counts

    def item_axes(self, valid: Any) -> int:
        return 0

    def _draw(self, rng: Rng, value: TransitionCounts, size: int | None) -> Any:
        draws = [self._one(rng, value) for _ in range(size or 1)]
        return draws[0] if size is None else draws

    def _one(self, rng: Rng, value: TransitionCounts) -> SparseDraw:
        assert value.visitors is not None
        named = self.selection.draw(rng, value.visitors.users)
        texts = [str(value.states[place]) for place in np.flatnonzero(named).tolist()]
        # A label that no file could hold is never named, whoever has it.
        states, real = ordered([text for text in texts if is_plain_text(text)])
        place_of = {str(state): place for place, state in enumerate(value.states)}
        among = _among(value, states, [place_of[str(state)] for state in states[:real]])
        tables = self.on(len(states)).tables(rng, among)
        totals = np.array([value.total, among.total], dtype=np.int64)
        tables |= {
            "named": np.array([real], dtype=np.int64),
            "totals": totals + self.totals.draw(rng, len(totals)),
        }
        return SparseDraw(tables, self.chain(tables, states), states)

    def chain(self, tables: Tables, states: Names) -> BackOffChain:
        """The chain that the private tables stand for: post-processing, without further cost."""
        return self.on(len(states)).chain(tables, states)

    def told(self, tables: Tables) -> tuple[str, ...]:
        """How many states were named, and what was left out, from the noisy totals."""
        every, among = (max(int(number), 0) for number in tables["totals"])
        real = int(tables["named"][0])
        left = (
            f"Of about {every:,} counted transitions about {100 * max(0.0, 1.0 - among / every):.2g} % were "
            "left out, since they lead to or from states that were not named (noise moves both numbers by "
            f"about {self.totals.scale:,.3g} transitions)."
            if every
            else "Too few transitions were counted to say how many were left out."
        )
        told = f"{real:,} {'state was' if real == 1 else 'states were'} named. {left}"
        few = (
            "Fewer than two states were named, so made-up ones stand in their place: there is no chain to "
            "speak of. The release is charged all the same."
        )
        return (told, few) if real < _LEAST else (told,)

    def describe(self) -> dict[str, Any]:
        parts = {
            name: getattr(self, name).describe() for name in ("selection", "transitions", "margins", "totals")
        }
        parameters = {**parts, "false_pairs": self.false_pairs, "once": self.once}
        return {"name": self.name, "parameters": parameters}

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Names, counts and totals together."""
        neighbours: Transitions = adjacency_of(self, adjacency, Transitions)
        people = people_of(neighbours, self.selection.states)
        change = neighbours.on("transitions")
        # One total is moved by what is added less what is removed, and there are two of them.
        moved = 2 * max(change.added, change.removed)
        totals = RandomizedResponses(charge_above(moved / Fraction(self.totals.scale)), kind="upper bound")
        counting = Composed.of((self.on(_LEAST).profile(neighbours), 1), (totals, 1), adaptive=True)
        return self.selection.profile_with(counting, people=people)


def people_of(neighbours: Transitions, states: int) -> int:
    """For how many people's states neighbours differ: 2 where a user is replaced by another one."""
    if neighbours.unit == "row":
        expected = "user or event, where states are discovered"
        raise InvalidArgument("unit", expected=expected, found="row")
    if neighbours.unit == "event":
        # It touches two states; with another destination, one loses it and another one gets it.
        if states < _LEAST:
            raise InvalidArgument("states", expected="2 states of a transition", found=str(states))
        return 1
    return 2 if neighbours.change == "replace" else 1


def ordered(texts: list[str]) -> tuple[Names, int]:
    """The named states in an order that they alone decide, made-up ones after them; how many were named."""
    real = found_states(texts, untyped=True).labels
    if len(real) >= _LEAST:
        return real, len(real)
    made_up: list[str] = []
    known = set(map(str, real))
    for k in range(1, 2 * _LEAST + 1):
        label = f"(not named {k})"
        if label not in known and len(real) + len(made_up) < _LEAST:
            made_up.append(label)
    return (*map(str, real), *made_up), len(real)


def _among(value: TransitionCounts, states: Names, places: list[int]) -> TransitionCounts:
    """What was counted among the named states; nothing of those that are made up."""
    from scipy.sparse import coo_array

    chosen: Places = np.array(places, dtype=np.int64)
    table, left, entered = value.among(chosen)
    size = len(states)
    table = coo_array(table)
    matrix = coo_array((table.data, (table.row, table.col)), shape=(size, size)).tocsr()
    once = None
    if left is not None and entered is not None:
        once = OncePerUser(*(_padded(margin, size) for margin in (left, entered)))
    return TransitionCounts(matrix, states, cap=value.cap, provenance=value.provenance, once=once)


def _padded(margin: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    return np.concatenate([margin, np.zeros(size - len(margin), dtype=np.int64)])
