"""What an audit looks at in every draw: a row of numbers, whatever was drawn.

Whatever is computed from a draw is post-processing: a bound that is found on it is one for the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from veil.bits.domain import Bits
from veil.bits.events import graph_numbers
from veil.chains.audit.events import chain_numbers, tables_alone
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.transition_counts import TransitionTable
from veil.core.audit.reading import MOST_CHANGED, chosen_places, entry_numbers
from veil.core.errors import NoGuarantee
from veil.core.intake import Floats
from veil.core.random.streams import Rng
from veil.graphs.graph import Graph
from veil.vectors.counts import Counts
from veil.words.batch import WordBatch
from veil.words.language import Language
from veil.words.mechanisms.each_word import EachWord

Reader = Callable[[Any], Floats]
# Numbers that are held at once.
_AT_ONCE = 4_000_000


def drawn_rows(mechanism: Any, value: Any, reader: Reader, draws: int, stream: Rng) -> Floats:
    """So many outputs for the value, each as a row of numbers."""
    each = max(1, min(draws, _AT_ONCE // _size(mechanism, value)))
    sizes = [min(each, draws - begin) for begin in range(0, draws, each)]
    rows = [reader(drawn(mechanism, value, size, stream)) for size in sizes]
    return np.nan_to_num(np.concatenate(rows), nan=0.0, posinf=1e60, neginf=-1e60)


def drawn(mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
    """So many outputs for the value, as the mechanism gives them out."""
    valid = mechanism.validate(value)
    if isinstance(mechanism, EachWord):
        # Every word is drawn for itself: a table many times over is as good as many tables.
        times = (np.tile(valid.codes, draws), np.tile(valid.lengths, draws))
        found = mechanism.sample(WordBatch(valid.labels, *times), rng=stream)
        return found.codes.reshape(draws, -1)
    if isinstance(mechanism, PrivateChain):
        return tables_alone(mechanism).sample(valid, rng=stream, size=draws)
    if isinstance(valid, Graph):
        return mechanism.sample(valid.plain(), rng=stream, size=draws)
    return mechanism.sample(value, rng=stream, size=draws)


def _size(mechanism: Any, value: Any) -> int:
    valid = mechanism.validate(value)
    if isinstance(valid, WordBatch):
        return max(1, len(valid.codes))
    if isinstance(mechanism.domain, TransitionTable):
        return len(valid) ** 2
    return max(1, len(valid) if isinstance(valid, Graph) else int(np.size(valid)))


def reader_of(mechanism: Any, value: Any, neighbour: Any) -> Reader:
    """What to look at, where these two are to be told apart."""
    first, second = mechanism.validate(value), mechanism.validate(neighbour)
    if isinstance(first, WordBatch):
        return _of_words(mechanism, first, second)
    if isinstance(mechanism.domain, TransitionTable):
        return lambda found: chain_numbers(mechanism, found, first, second)
    if isinstance(first, Graph):
        return lambda found: graph_numbers(found, first, second)
    if isinstance(mechanism.domain, Bits):
        return _of_bits(mechanism, first, second)
    return _of_arrays(mechanism, value, neighbour)


def outputs_as_keys(mechanism: Any, found: Any) -> list[Hashable]:
    """Draws of a mechanism with few outputs, as its `distribution` names them."""
    if isinstance(mechanism.domain, Language):
        return [tuple(row) for row in found.tolist()] if isinstance(found, np.ndarray) else list(found)
    if isinstance(mechanism.domain, Bits):
        return [tuple(row) for row in np.asarray(found).reshape(len(found), -1).astype(int).tolist()]
    return [tuple(row) if isinstance(row, list) else row for row in np.asarray(found).tolist()]


def _of_arrays(mechanism: Any, value: Any, neighbour: Any) -> Reader:
    inputs = [np.asarray(mechanism.validate(item), dtype=np.float64) for item in (value, neighbour)]
    if isinstance(mechanism.domain, Counts):
        inputs = [item / np.maximum(item.sum(axis=-1, keepdims=True), 1.0) for item in inputs]
    before, after = (item.ravel() for item in inputs)

    def read(found: Any) -> Floats:
        outputs = np.asarray(found, dtype=np.float64)
        flat = outputs.reshape(len(outputs), -1)
        # An output that is not laid out as the input is can only be looked at as it is.
        columns = entry_numbers(flat, before, after) if flat.shape[1] == len(before) else [flat]
        if hasattr(mechanism, "log_density"):
            ratio = mechanism.log_density(outputs, value) - mechanism.log_density(outputs, neighbour)
            columns.append(np.asarray(ratio)[:, None])
        return np.hstack(columns)

    return read


def _of_words(mechanism: Any, first: WordBatch, second: WordBatch) -> Reader:
    before, after = first.codes, second.codes
    single = not isinstance(mechanism, EachWord)

    def read(found: Any) -> Floats:
        codes = mechanism.domain.validate(found).rows if single else found
        changed = np.flatnonzero(before != after)
        places = chosen_places(changed, codes.shape[1])
        few = changed[: 4 * MOST_CHANGED]
        nearer = (codes == before).sum(axis=1) - (codes == after).sum(axis=1)
        right = (codes[:, places] == before[places]).sum(axis=1)
        columns = [codes[:, places], codes[:, few] == before[few], codes[:, few] == after[few]]
        columns += [nearer[:, None], right[:, None]]
        if single:
            ratio = mechanism.log_probabilities(codes, before) - mechanism.log_probabilities(codes, after)
            columns.append(ratio[:, None])
        return np.hstack([np.asarray(part, dtype=np.float64) for part in columns])

    return read


def _of_bits(mechanism: Any, first: Any, second: Any) -> Reader:
    before, after = first.ravel(), second.ravel()
    changed = np.flatnonzero(before != after)
    try:
        mechanism.log_noise(np.atleast_2d(first)[None])
        has_law = True
    except (NoGuarantee, AttributeError):
        has_law = False

    def read(found: Any) -> Floats:
        tables = np.asarray(found, dtype=np.bool_)
        flat = tables.reshape(len(tables), -1)
        places = chosen_places(changed, flat.shape[1])
        agree = (flat[:, changed] == before[changed]).sum(axis=1)
        columns = [flat[:, places], agree[:, None], flat.sum(axis=1)[:, None]]
        if has_law:
            noise = [(flat ^ item).reshape(-1, *np.atleast_2d(first).shape) for item in (before, after)]
            columns.append((mechanism.log_noise(noise[0]) - mechanism.log_noise(noise[1]))[:, None])
        return np.hstack([np.asarray(part, dtype=np.float64) for part in columns])

    return read
