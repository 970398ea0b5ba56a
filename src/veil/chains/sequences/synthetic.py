"""Synthetic sequences: drawn from a release alone, which also says what it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.counting.question import group_text
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sequence_model import SequenceModel, group_chain, model
from veil.core.brief import brief_repr
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument
from veil.core.intake import Labels
from veil.core.record import Release, checked_release
from veil.matrices.chain_summary import to_chain

# Without released lengths, a trip: from one state to the next.
DEFAULT_LENGTH = 2
# From here on it is said how far the transitions of sequences are from those of the release.
_WORTH_SAYING = 0.01


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Sequences that nobody made. states: all of them one after the other, by number; lengths: of each.

    notes: what was not in the release and how it was replaced.
    """

    states: NDArray[np.int32]
    lengths: NDArray[np.int64]
    labels: Labels
    notes: tuple[str, ...] = ()

    __repr__ = brief_repr

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[list[str]]:
        names = np.array(self.labels, dtype=object)
        for end, length in zip(np.cumsum(self.lengths), self.lengths, strict=True):
            yield names[self.states[end - length : end]].tolist()

    def to_arrow(self) -> Any:
        """A table with one row per state: sequence, place, state."""
        import pyarrow as pa

        ends = np.cumsum(self.lengths)
        places = np.arange(len(self.states)) - np.repeat(ends - self.lengths, self.lengths)
        return pa.table(
            {
                "sequence": np.repeat(np.arange(len(self)), self.lengths),
                "place": places,
                "state": pa.DictionaryArray.from_arrays(pa.array(self.states), pa.array(self.labels)),
            }
        )


def synthetic(
    release: Release[Any], count: int, *, length: int | None = None, group: str | None = None, rng: Any = None
) -> Synthetic:
    """So many sequences drawn from a released chain. Free: nothing but the release is used.

    Where lengths were released, the sequences have the released transitions, starts, ends and lengths
    together; else they follow the chain. `notes` of the result say what the release does not have.

    length: the number of states of each; None takes the released lengths, or 2 where there are none.
    group: of a release with groups, the chain to draw from.

    >>> from veil import chains
    >>> counts = chains.TransitionCounts([[800, 200], [100, 400]], ["home", "work"])
    >>> made = chains.synthetic(chains.release(counts, epsilon=1.0, rng=1), 3, length=4, rng=1)
    >>> [len(sequence) for sequence in made]
    [4, 4, 4]
    """
    count = integer("count", count, least=1)
    checked_release(release)
    is_counted = isinstance(release.mechanism, (PrivateChain, SparseChain))
    held = model(release) if is_counted else SequenceModel(to_chain(release))
    if group is not None:
        chain = group_chain(release, group)
        sizes = held.group_sizes[group_text(group)]
        held = replace(held, chain=chain, sizes=sizes, second=None, starts=None, ends=None)
    notes = list(_notes(held, length, of_group=group is not None))
    if length is None and held.lengths is None:
        length = DEFAULT_LENGTH
    try:
        random = np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidArgument("rng", expected="None, a seed or a Generator", found=shown(rng)) from None
    states, lengths = held.sequences(count, length=length, rng=random)
    labels = tuple(map(str, held.chain.states))
    return Synthetic(states, lengths, labels, tuple(notes))


def _notes(held: SequenceModel, length: int | None, *, of_group: bool) -> Iterator[str]:
    """What the release does not have, and what is done instead."""
    none = "the release has none of its own"
    if held.starts is None and held.fitted is not None:
        yield f"starts: such that the released transitions and lengths come out; {none}"
    elif held.starts is None:
        where = "the stationary distribution" if held.sizes is None else "where transitions start"
        yield f"starts: drawn from {where}; {none}"
    if held.lengths is None and length is None:
        yield f"lengths: {DEFAULT_LENGTH} states each; {none}"
    elif held.lengths is not None and length is None and of_group:
        yield "lengths: those of all groups together"
    if held.fitted is not None and held.fitted.gap > _WORTH_SAYING:
        yield (
            f"transitions: {held.fitted.gap:.2g} (total variation) from the released ones, with which the "
            "other released tables do not go together better"
        )
    elif held.fitted is None and held.sizes is not None and held.lengths is not None:
        yield "steps: those of the chain however long the sequence is; there are too many states to fit them"
