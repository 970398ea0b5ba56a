"""A Markov chain from counted transitions: every table hidden, then a chain (proofs in private_chain.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations_with_replacement, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import OF_SEQUENCES, OF_TRANSITIONS, Transitions
from veil.chains.estimation.groups import GroupEstimates
from veil.chains.estimation.transition_table import TableEstimate
from veil.chains.lengths import LengthBins, smoothed_lengths, spread_lengths
from veil.chains.strata import combined_strata, second_order
from veil.chains.transition_counts import TransitionCounts, TransitionTable
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, integer, items
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names
from veil.core.mechanism import Described, adjacency_of
from veil.core.numerics.denoise import Noise, denoised
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.chain import Chain
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.row_profiles import worst_of
from veil.vectors.counts import Contributions, Integers, Records
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

if TYPE_CHECKING:
    from veil.chains.sequence_model import SequenceModel

CountMechanism = GeometricCounts | DiscreteGaussianCounts | DirichletCounts | BorderedRows
Tables = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Part:
    """One table of counts: what it counts, its shape, and the mechanism that hides it.

    of: "transitions" [from, to] (with groups [group, from, to]), "second" [before, from, to], "sizes"
        (how many leave each state), "starts", "ends" (by state), "lengths" (by bin).
    least: counts only the users whose sequences have at least so many states, and fewer than the next
        part of the same kind; 0 for everybody.
    cap: the most transitions of one user in it, where that differs from the adjacency's.
    bins: of "lengths", the least length of each bin.

    key: its name among the parts of a release. is_noisy_counts: whether what is released is counts with
    noise, rather than probabilities. noise: the public law of the noise on every cell, if it is; mean_move:
    by how much it moves a count on average.
    """

    of: str
    mechanism: CountMechanism
    shape: tuple[int, ...]
    least: int = 0
    cap: int | None = None
    bins: tuple[int, ...] | None = None
    key: str = field(init=False, repr=False, compare=False)
    is_noisy_counts: bool = field(init=False, repr=False, compare=False)
    noise: Noise | None = field(init=False, repr=False, compare=False)
    mean_move: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        choice("of", self.of, OF_TRANSITIONS + OF_SEQUENCES)
        sides = items("shape", self.shape, expected="a list")
        shape = tuple(integer("shape", side, least=1) for side in sides)
        hides, noise, moved = self.mechanism, None, 0.0
        if not shape or not isinstance(hides, CountMechanism):
            raise InvalidArgument("parts", expected="a shape and a mechanism of counts", found="others")
        if isinstance(hides, GeometricCounts):
            noise = Noise("geometric", hides.scale)
            moved = 1.0 / math.sinh(min(1.0 / hides.scale, 700.0))
        elif isinstance(hides, DiscreteGaussianCounts):
            noise = Noise("gaussian", hides.sigma)
            moved = hides.sigma * math.sqrt(2.0 / math.pi)
        size = shape[-1] if noise is None else math.prod(shape)
        if hides.size != size:
            raise InvalidArgument("mechanism", expected=f"{size} counts", found=str(hides.size))
        least = integer("least", self.least, least=0)
        cap = None if self.cap is None else integer("cap", self.cap, least=1)
        if (self.bins is not None) != (self.of == "lengths"):
            raise InvalidArgument("bins", expected="the bins of lengths, and of nothing else", found="others")
        bins = None if self.bins is None else LengthBins(tuple(self.bins)).least
        if bins is not None and len(bins) != shape[0]:
            raise InvalidArgument("bins", expected=f"{shape[0]} bins", found=str(len(bins)))
        key = self.of if least == 0 else f"{self.of}, {least} states or more"
        content = {"shape": shape, "least": least, "cap": cap, "bins": bins, "key": key, "noise": noise}
        for name, value in (content | {"is_noisy_counts": noise is not None, "mean_move": moved}).items():
            object.__setattr__(self, name, value)

    def contributions(self, adjacency: Transitions) -> Contributions:
        """By how much neighbours differ in this table."""
        return adjacency.on(self.of, self.cap)

    def profile(self, adjacency: Transitions) -> PrivacyProfile:
        """What this table alone reveals."""
        if adjacency.unit == "event" and self.of in ("transitions", "sizes"):
            if adjacency.change == "replace":
                # The origin stays, so one row changes and its size does not.
                return NothingRevealed() if self.of == "sizes" else self.mechanism.profile(Records("replace"))
            if isinstance(self.mechanism, BorderedRows):
                return self.mechanism.profile(Records(adjacency.change))
        return self.mechanism.profile(adjacency.on(self.of, self.cap))

    def counted(self, counts: TransitionCounts) -> Integers:
        """The table that it hides."""
        table: Any
        if self.least > 0:
            table = next((part.matrix for part in counts.strata if part.least == self.least), None)
        elif self.of == "second":
            table = counts.second
        elif self.of in OF_SEQUENCES:
            table = getattr(counts.sequences, self.of, None)
        elif len(self.shape) == 3:
            table = None if counts.groups is None else np.stack(list(counts.groups.values()))
        elif self.of == "sizes":
            table = np.asarray(counts.matrix.sum(axis=1), dtype=np.int64)
        else:
            table = counts.matrix if isinstance(counts.matrix, np.ndarray) else counts.matrix.toarray()
        if table is None:
            hint = "Count again and ask for it."
            raise InvalidData("counts", expected=f"a table of {self.of}", found="none", hint=hint)
        if table.shape != self.shape:
            expected = f"a table of {self.of} of shape {self.shape}"
            raise InvalidData("counts", expected=expected, found=f"{table.shape}")
        return np.asarray(table)

    def draw(self, rng: Rng, counts: Integers, size: int | None = None) -> NDArray[Any]:
        """The private version of the table: noisy counts, or rows of probabilities.

        size: so many of them, along a new leading axis.
        """
        if isinstance(self.mechanism, (DirichletCounts, BorderedRows)):
            rows: NDArray[Any] = self.mechanism.sample(counts, rng=rng, size=size)
            return rows
        return counts + self.mechanism.noise(rng, self.shape if size is None else (size, *self.shape))

    def simulated(self, rng: np.random.Generator, counts: NDArray[Any]) -> NDArray[Any]:
        """The same in floating point, for plans only: not private. counts: of any shape."""
        if isinstance(self.mechanism, (GeometricCounts, DiscreteGaussianCounts)):
            return counts + self.mechanism.simulated_noise(rng, counts.shape)
        return self.draw(rng, counts)


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

    strata: the parts that count transitions of users by the length of their sequences. first: the first part
    that counts each of what is counted, by name.
    """

    states: int
    parts: tuple[Part, ...]
    groups: tuple[str, ...] | None
    domain: TransitionTable = field(repr=False, compare=False)
    strata: tuple[Part, ...] = field(repr=False, compare=False)
    first: Mapping[str, Part] = field(repr=False, compare=False)
    name: ClassVar[str] = "PrivateChain"

    def __init__(
        self, states: int, parts: Sequence[Part | dict[str, Any]], *, groups: Sequence[str] | None = None
    ) -> None:
        size = integer("states", states, least=2)
        given = items("parts", parts, expected="a list of parts")
        tables = tuple(part if isinstance(part, Part) else _part(part) for part in given)
        names = None if groups is None else items("groups", groups, expected="a list of groups")
        if not all(isinstance(name, (str, int)) for name in names or ()):
            raise InvalidArgument("groups", expected="labels that are text or whole numbers", found="others")
        first: dict[str, Part] = {}
        for part in tables:
            first.setdefault(part.of, part)
        keys = [part.key for part in tables]
        if len(set(keys)) != len(keys) or "transitions" not in first:
            raise InvalidArgument("parts", expected="transitions, and each table once", found=", ".join(keys))
        for part in tables:
            if part.of in ("transitions", "second") and part.shape[-2:] != (size, size):
                found = f"shape {part.shape}"
                raise InvalidArgument("parts", expected=f"tables of {size} states", found=found)
        layers = [part for part in tables if part.least]
        if layers and layers != [part for part in tables if part.of == "transitions"]:
            # A user of a stratum is in the table of everybody too: they would not be in parallel.
            raise InvalidArgument("parts", expected="everybody once, or strata of transitions", found="both")
        if any(later.least <= sooner.least for sooner, later in pairwise(layers)):
            raise InvalidArgument("parts", expected="strata of growing length", found="others")
        if layers and "lengths" not in first:
            raise InvalidArgument("parts", expected="lengths as well, which weigh the strata", found="none")
        if (names is not None) != (len(first["transitions"].shape) == 3):
            raise InvalidArgument("groups", expected="one name a group", found="another number of them")
        content = {
            "states": size,
            "parts": tables,
            "groups": None if names is None else tuple(map(str, names)),
            "domain": TransitionTable(size),
            "strata": tuple(layers),
            "first": first,
        }
        for name, value in content.items():
            object.__setattr__(self, name, value)

    def part(self, of: str) -> Part:
        """The first part that counts this."""
        return self.first[of]

    def has(self, of: str) -> bool:
        """Whether there is such a part."""
        return of in self.first

    def validate(self, value: Any) -> TransitionCounts:
        counts = self.domain.validate(value)
        for part in self.parts:
            table = part.counted(counts)
            if not part.is_noisy_counts:
                part.mechanism.validate(table)
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
        drawn = {part.key: part.draw(rng, part.counted(value), size or 1) for part in self.parts}
        tables = [{key: some[place] for key, some in drawn.items()} for place in range(size or 1)]
        draws = [ChainDraw(one, self.model(one, value.states)) for one in tables]
        return draws[0] if size is None else draws

    def model(self, tables: Tables, states: Names, *, rank: int | None = None) -> SequenceModel:
        """The model that the private tables stand for: post-processing, without further cost.

        rank: hidden dimensions of the transitions, taken as given instead of chosen from the tables.
        """
        from veil.chains.sequence_model import LengthLaw, SequenceModel

        noises = {part.key: part.noise for part in self.parts if part.noise is not None}
        lengths, by_group, strata = None, {}, self.strata
        by_length: Sequence[Floats] = ()
        if "lengths" in noises:
            bins = self.first["lengths"].bins or ()
            lengths = spread_lengths(smoothed_lengths(tables["lengths"], noises["lengths"], bins), bins)
        if strata and lengths is not None:
            noisy = np.stack([tables[part.key] for part in strata])
            bounds = [(part.least, part.cap or 1) for part in strata]
            found = combined_strata(noisy, [noises[part.key] for part in strata], bounds, lengths, rank=rank)
            counts, by_length = found.counts, list(found.laws)
        elif "transitions" not in noises:
            counts = np.asarray(tables["transitions"])
        else:
            table, noise = tables["transitions"], noises["transitions"]
            if self.groups is None:
                counts = TableEstimate.of(table, noise, rank=rank).counts
            else:
                estimates = GroupEstimates.of(table, noise, rank=rank)
                by_group = dict(zip(self.groups, estimates.counts, strict=True))
                counts = estimates.together.counts
        once = {
            of: np.asarray(denoised(tables[of][None, :], noises[of])[0])
            for of in ("starts", "ends", "sizes")
            if of in noises
        }
        return SequenceModel(
            chain=Chain(counts / counts.sum(axis=1, keepdims=True), states=states),
            second=second_order(tables["second"], noises["second"], counts) if "second" in noises else None,
            starts=once["starts"] / once["starts"].sum() if "starts" in once else None,
            ends=once["ends"] / once["ends"].sum() if "ends" in once else None,
            lengths=None if lengths is None else LengthLaw.of_users(lengths),
            # Of rows of probabilities, how many transitions there were is known only if it was released.
            sizes=counts.sum(axis=1) if self.first["transitions"].is_noisy_counts else once.get("sizes"),
            groups={
                name: Chain(table / table.sum(axis=1, keepdims=True), states=states)
                for name, table in by_group.items()
            },
            strata=tuple(
                (part.least, Chain(law / law.sum(axis=1, keepdims=True), states=states))
                for part, law in zip(strata, by_length, strict=True)
            ),
            strata_sizes=tuple(law.sum(axis=1) for law in by_length),
            doubts={of: noises[of].deviation / once[of].sum() for of in once if of != "sizes"},
            group_sizes={name: table.sum(axis=1) for name, table in by_group.items()},
        )

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The tables together: strata are of different users, everything else adds up."""
        neighbours: Transitions = adjacency_of(self, adjacency, Transitions)
        profiles = []
        for of in self.first:
            same = [part for part in self.parts if part.of == of]
            each = [part.profile(neighbours) for part in same]
            if len(same) > 1 and neighbours.unit != "user":
                expected = "whole users, where there are strata"
                raise InvalidArgument("adjacency", expected=expected, found="less")
            if len(same) > 1 and neighbours.change == "replace":
                # The one who goes and the one who comes may be in two strata.
                half = Transitions("user", "add-remove", neighbours.cap)
                each = [part.profile(half) for part in same]
                each = [one.compose(two) for one, two in combinations_with_replacement(each, 2)]
            profiles.append(worst_of(each))
        return reduce(lambda one, other: one.compose(other), profiles)

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        assumed = [text for part in self.parts for text in part.mechanism.assumptions()]
        return tuple(dict.fromkeys(assumed))

    def describe(self) -> dict[str, Any]:
        parts = []
        for part in self.parts:
            content = {"of": part.of, "mechanism": part.mechanism.describe(), "shape": list(part.shape)}
            given = {"least": part.least or None, "cap": part.cap, "bins": part.bins and list(part.bins)}
            parts.append(content | {name: value for name, value in given.items() if value is not None})
        groups = {} if self.groups is None else {"groups": list(self.groups)}
        return {"name": self.name, "parameters": {"states": self.states, "parts": parts, **groups}}


def _part(given: Any) -> Part:
    from veil.core.kind import kind_named
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
