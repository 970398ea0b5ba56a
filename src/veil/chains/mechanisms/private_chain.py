"""A Markov chain from counted transitions: every table hidden, then a chain (proofs in private_chain.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement, pairwise
from typing import Any, ClassVar

from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.chain_parts import Part
from veil.chains.sequence_model import SequenceModel
from veil.chains.transition_counts import TransitionCounts, TransitionTable
from veil.core.adjacency import Adjacency
from veil.core.checks import integer, items
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.mechanism import Described, adjacency_of
from veil.core.named_matrix import Names
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.row_profiles import worst_of

Tables = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class ChainDraw:
    """What was drawn: the private tables by name, and the model made of them."""

    tables: Tables
    model: SequenceModel


@dataclass(frozen=True, init=False)
class PrivateChain(Described):
    """Hide every table of counts of a chain's data, and estimate the chain from what comes out.

    states: how many. parts: the tables and their mechanisms. Tables of several strata are of different
    users, so that one user changes only one of them; all else adds up.
    """

    states: int
    parts: tuple[Part, ...]
    groups: tuple[str, ...] | None
    name: ClassVar[str] = "PrivateChain"

    def __init__(
        self, states: int, parts: Sequence[Part | dict[str, Any]], *, groups: Sequence[str] | None = None
    ) -> None:
        object.__setattr__(self, "states", integer("states", states, least=2))
        object.__setattr__(
            self, "parts", tuple(map(_part, items("parts", parts, expected="a list of parts")))
        )
        names = None if groups is None else items("groups", groups, expected="a list of groups")
        if not all(isinstance(name, (str, int)) for name in names or ()):
            raise InvalidArgument("groups", expected="labels that are text or whole numbers", found="others")
        object.__setattr__(self, "groups", None if names is None else tuple(map(str, names)))
        self._check()

    def _check(self) -> None:
        keys = [part.key for part in self.parts]
        if len(set(keys)) != len(keys) or not any(part.of == "transitions" for part in self.parts):
            raise InvalidArgument("parts", expected="transitions, and each table once", found=", ".join(keys))
        for part in self.parts:
            if part.of in ("transitions", "second") and part.shape[-2:] != (self.states,) * 2:
                raise InvalidArgument(
                    "parts", expected=f"tables of {self.states} states", found=f"shape {part.shape}"
                )
        strata = self.strata
        if any(part.least for part in self.parts if part.of != "transitions") or (
            strata and len(strata) != sum(part.of == "transitions" for part in self.parts)
        ):
            # A user of a stratum is in the table of everybody too: they would not be in parallel.
            raise InvalidArgument("parts", expected="everybody once, or strata of transitions", found="both")
        if any(later.least <= sooner.least for sooner, later in pairwise(strata)):
            raise InvalidArgument("parts", expected="strata of growing length", found="others")
        if strata and not self.has("lengths"):
            raise InvalidArgument("parts", expected="lengths as well, which weigh the strata", found="none")
        if (self.groups is not None) != (len(self.part("transitions").shape) == 3):
            raise InvalidArgument("groups", expected="one name a group", found="another number of them")

    def part(self, of: str) -> Part:
        """The first part that counts this."""
        return next(part for part in self.parts if part.of == of)

    def has(self, of: str) -> bool:
        """Whether there is such a part."""
        return any(part.of == of for part in self.parts)

    @property
    def strata(self) -> tuple[Part, ...]:
        """The parts that count transitions of users by the length of their sequences."""
        return tuple(part for part in self.parts if part.of == "transitions" and part.least > 0)

    @property
    def domain(self) -> TransitionTable:
        return TransitionTable(self.states)

    def validate(self, value: Any) -> TransitionCounts:
        counts = self.domain.validate(value)
        for part in self.parts:
            part.check(counts)
        caps = {part.least: part.cap for part in self.strata}
        if caps and caps != {stratum.least: stratum.cap for stratum in counts.strata}:
            raise InvalidData("counts", expected="the strata of the mechanism", found="others")
        for part in self.parts:
            cap = counts.second_cap if part.of == "second" else counts.cap
            if part.cap is not None and not part.least and (cap is None or cap > part.cap):
                raise InvalidData("counts", expected=f"at most {part.cap} transitions a user", found="more")
        if self.groups is not None and list(self.groups) != list(counts.groups or {}):
            raise InvalidData("counts", expected="the groups of the mechanism", found="others")
        return counts

    def item_axes(self, valid: Any) -> int:
        return 0

    def _draw(self, rng: Rng, value: TransitionCounts, size: int | None) -> Any:
        if size is not None:
            return [self._draw(rng, value, None) for _ in range(size)]
        tables = {part.key: part.draw(rng, part.counted(value)) for part in self.parts}
        return ChainDraw(tables, self.model(tables, value.states))

    def model(self, tables: Tables, states: Names) -> SequenceModel:
        """The model that the private tables stand for: post-processing, without further cost."""
        from veil.chains.mechanisms.chain_estimate import estimate

        return estimate(self, tables, states)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The tables together: strata are of different users, everything else adds up."""
        neighbours: Transitions = adjacency_of(self, adjacency, Transitions)
        profiles = list(self._profiles(neighbours))
        return reduce(lambda one, other: one.compose(other), profiles)

    def _profiles(self, adjacency: Transitions) -> Iterator[PrivacyProfile]:
        for of in dict.fromkeys(part.of for part in self.parts):
            same = [part.profile(adjacency) for part in self.parts if part.of == of]
            if len(same) == 1 or (adjacency.unit == "user" and adjacency.change == "add-remove"):
                yield worst_of(same)
            elif adjacency.unit == "user":
                # The one who goes and the one who comes may be in two strata.
                half = Transitions("user", "add-remove", adjacency.cap)
                each = [part.profile(half) for part in self.parts if part.of == of]
                yield worst_of([one.compose(two) for one, two in combinations_with_replacement(each, 2)])
            else:
                raise InvalidArgument(
                    "adjacency", expected="whole users, where there are strata", found="less"
                )

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        found = [text for part in self.parts for text in part.mechanism.assumptions()]
        return tuple(dict.fromkeys(found))

    def describe(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "states": self.states,
            "parts": [part.describe() for part in self.parts],
        }
        if self.groups is not None:
            parameters["groups"] = list(self.groups)
        return {"name": self.name, "parameters": parameters}


def _part(given: Part | dict[str, Any]) -> Part:
    if isinstance(given, Part):
        return given
    from veil.core.kinds import kind_named
    from veil.core.registry import mechanism_from

    fields = dict(given) if isinstance(given, dict) else {}
    if not {"of", "shape"} <= set(fields) <= {"of", "mechanism", "shape", "least", "cap", "bins"}:
        raise InvalidArgument("parts", expected="parts of a chain", found="something else")
    hides: Any = mechanism_from(fields.pop("mechanism", None), kind_named("chain"))
    tuples = {
        key: tuple(items(key, fields[key], expected="a list of whole numbers"))
        for key in ("shape", "bins")
        if fields.get(key) is not None
    }
    return Part(mechanism=hides, **(fields | tuples))
