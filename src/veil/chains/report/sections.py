"""What a released chain holds beside its transitions: groups, starts, ends, lengths, memory, strata."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from veil.chains.mechanisms.chain_estimate import noise_of
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.released import model
from veil.chains.report.accuracy import drowned, mean_move
from veil.chains.sequence_model import LengthLaw
from veil.core.arrays import Floats
from veil.core.numerics.denoise import denoised
from veil.core.record import Release

_MOST_GROUPS = 60
_MOST_PAIRS = 10
_SPOKEN = {
    "starts": "starts",
    "ends": "ends",
    "lengths": "lengths",
    "sizes": "how many leave each state",
    "second": "the state before",
}


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group: its size, where its chain is most, and its most frequent transition with its share of all."""

    name: str
    size: float
    top: str | None
    top_share: float
    origin: str
    destination: str
    share: float


@dataclass(frozen=True, slots=True)
class Pair:
    """A step that depends on the state before: its probability without and with it."""

    before: str
    origin: str
    destination: str
    share: float
    alone: float
    known: float


@dataclass(frozen=True, slots=True)
class StratumLine:
    """Users with so many states (most: None without an end), what was counted of one, and the noise."""

    least: int
    most: int | None
    cap: int
    moved: float


@dataclass(frozen=True, slots=True)
class LengthFacts:
    """The law of lengths in a few numbers."""

    law: LengthLaw
    mean: float
    median: int
    most_of_all: int


@dataclass(frozen=True, slots=True)
class Sections:
    """Empty or None where the release does not hold it. silent: the tables that hardly differ from noise."""

    groups: tuple[GroupLine, ...]
    more_groups: int
    starts: Floats | None
    ends: Floats | None
    lengths: LengthFacts | None
    pairs: tuple[Pair, ...]
    gain: float
    strata: tuple[StratumLine, ...]
    silent: frozenset[str]

    @classmethod
    def of(cls, release: Release[Any], mechanism: PrivateChain) -> Sections:
        held = model(release)
        pairs, gain = _pairs(release)
        return cls(
            groups=_groups(release, mechanism),
            more_groups=max(0, len(mechanism.groups or ()) - _MOST_GROUPS),
            starts=held.starts,
            ends=held.ends,
            lengths=None if held.lengths is None else _lengths(held.lengths),
            pairs=pairs,
            gain=gain,
            strata=_strata(mechanism),
            silent=frozenset(part.of for part in mechanism.parts if drowned(release.tables[part.key], part)),
        )


def also_holds(release: Release[Any]) -> str | None:
    """One line of what a release holds beside its transitions."""
    mechanism = release.mechanism
    if not isinstance(mechanism, PrivateChain):
        return None
    found = [words for of, words in _SPOKEN.items() if mechanism.has(of)]
    said = [", ".join(found)] if found else []
    if mechanism.groups is not None:
        names = ", ".join(mechanism.groups[:3]) + (", ..." if len(mechanism.groups) > 3 else "")
        said.append(f"{len(mechanism.groups)} groups ({names})")
    if mechanism.strata:
        said.append(f"transitions in {len(mechanism.strata)} tables, by the length of the sequences")
    return f"Also holds: {'; '.join(said)}." if said else None


def _groups(release: Release[Any], mechanism: PrivateChain) -> tuple[GroupLine, ...]:
    if mechanism.groups is None:
        return ()
    part = mechanism.part("transitions")
    noisy = release.tables[part.key]
    counts = denoised(noisy, noise_of(part))
    names = list(map(str, model(release).chain.states))
    found = []
    for name, table, seen in list(zip(mechanism.groups, counts, noisy, strict=True))[:_MOST_GROUPS]:
        chain = model(release).groups[name]
        shares = chain.stationary() if chain.is_irreducible else None
        top = None if shares is None else int(np.argmax(shares))
        i, j = divmod(int(np.argmax(table)), len(names))
        found.append(
            GroupLine(
                name,
                # Of the noisy counts themselves: their sum is right on average.
                max(0.0, float(seen.sum())),
                None if top is None else names[top],
                0.0 if shares is None or top is None else float(shares[top]),
                names[i],
                names[j],
                float(table[i, j] / table.sum()),
            )
        )
    return tuple(found)


def _lengths(law: LengthLaw) -> LengthFacts:
    below = np.cumsum(law.probabilities)

    def quantile(share: float) -> int:
        return int(law.lengths[min(int(np.searchsorted(below, share)), len(below) - 1)])

    return LengthFacts(law, law.mean, quantile(0.5), quantile(0.95))


def _pairs(release: Release[Any]) -> tuple[tuple[Pair, ...], float]:
    """The steps that the state before changes most, by how often they happen; and the mean change."""
    held = model(release)
    if held.second is None or (held.sizes is None and not held.chain.is_irreducible):
        return (), 0.0
    joint, matrix = held.joint(), held.chain.to_numpy()
    names = list(map(str, held.chain.states))
    size, found, gain = len(names), [], 0.0
    # One state before at a time: all differences at once may be more than fits.
    for before in range(size):
        change = joint[before][:, None] * np.abs(held.second[before] - matrix)
        gain += 0.5 * float(change.sum())
        for place in np.argsort(-change, axis=None, kind="stable")[:_MOST_PAIRS]:
            origin, end = divmod(int(place), size)
            found.append((-float(change[origin, end]), before, origin, end))
    found.sort()
    best = [
        Pair(
            names[before],
            names[origin],
            names[end],
            float(joint[before, origin]),
            float(matrix[origin, end]),
            float(held.second[before, origin, end]),
        )
        for change, before, origin, end in found[:_MOST_PAIRS]
        if change < 0.0
    ]
    return tuple(best), gain


def _strata(mechanism: PrivateChain) -> tuple[StratumLine, ...]:
    strata = mechanism.strata
    ends = [later.least - 1 for _, later in pairwise(strata)] + [None] * bool(strata)
    return tuple(
        StratumLine(part.least, most, part.cap or 1, mean_move(part))
        for part, most in zip(strata, ends, strict=True)
    )
