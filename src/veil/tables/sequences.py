"""Sequences, each a line of a file or a list: a log in which every sequence is a user of its own."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.checks import integer
from veil.core.errors import InvalidArgument, InvalidData
from veil.tables.files import file_of, name_of, read_text


@dataclass(frozen=True, slots=True)
class SequenceFile:
    """A text file with a sequence in each line, also packed.

    separator: between states; white space unless given. skip: lines before the first sequence.
    """

    path: str | Path
    separator: str | None = None
    skip: int = 0

    def __post_init__(self) -> None:
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise InvalidArgument("separator", expected="a mark between states", found="none")
        if not isinstance(self.path, (str, os.PathLike)):
            raise InvalidArgument("path", expected="the path of a file", found=type(self.path).__name__)
        object.__setattr__(self, "skip", integer("skip", self.skip, least=0))


def as_log(source: Any, *, is_sampled: bool = False) -> Any | None:
    """The log behind a SequenceFile or a list of lists; None if the source is something else.

    is_sampled: sequences are named, not numbered. Where one is taken out, those after it would get other
    numbers, and with them other samples of their transitions: one sequence would change everybody's.
    """
    if isinstance(source, SequenceFile):
        log = _table(source)
    elif isinstance(source, (list, tuple)):
        log = _from_lists(source)
    else:
        return None
    return _named(log) if is_sampled else log


def _named(log: Any) -> Any:
    """The log with each sequence named by what it holds, and by which one of those that hold the same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.cast(log.column("state").combine_chunks(), pa.large_string())
    words = words.dictionary_encode(null_encoding="encode")
    each = [blake2b(repr(word).encode(), digest_size=16).digest() for word in words.dictionary.to_pylist()]
    content = np.array(each, dtype="V16")[words.indices.to_numpy()].tobytes()
    numbers = log.column("sequence").to_numpy()
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    seen: Counter[str] = Counter()
    names = []
    for start, end in pairwise([*first.tolist(), len(numbers)]):
        name = blake2b(content[16 * start : 16 * end], digest_size=16).hexdigest()
        seen[name] += 1
        names.append(f"{name}.{seen[name]}")
    lengths = np.diff(first, append=len(numbers))
    repeated = pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), lengths)))
    return log.set_column(0, "sequence", repeated)


def _table(file: SequenceFile) -> Any:
    """The log in a file. Lines without a state are no sequences; states that are all numbers become such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    path = file_of(file.path)
    name, text = name_of(path), read_text(path)
    # Only line breaks end a line: splitlines() would also split at some marks that labels may hold.
    lines = pc.utf8_trim_whitespace(pa.array(text.split("\n")[file.skip :], pa.large_string()))
    lines = lines.filter(pc.not_equal(lines, ""))
    if len(lines) == 0:
        raise InvalidData(name, expected="a sequence in each line", found="no line with states")
    if file.separator is None:
        cells = pc.utf8_split_whitespace(lines)
        states = cells.flatten()
    else:
        cells = pc.split_pattern(lines, file.separator)
        states = pc.utf8_trim_whitespace(cells.flatten())
        # Nothing between two separators is an empty cell, not a state without a name.
        states = pc.if_else(pc.equal(states, ""), pa.scalar(None, pa.large_string()), states)
    return _log(pc.list_value_length(cells).to_numpy(zero_copy_only=False), _whole_numbers(states))


def _from_lists(sequences: list[Any] | tuple[Any, ...]) -> Any:
    import pyarrow as pa

    if not sequences or not all(isinstance(sequence, (list, tuple)) for sequence in sequences):
        raise InvalidArgument(
            "source", expected="a list of sequences, each a list of states", found="another list"
        )
    flat = [label for sequence in sequences for label in sequence]
    if any(isinstance(label, (bool, float)) for label in flat):
        raise InvalidData("source", expected="states that are text or whole numbers", found="others")
    try:
        states = pa.array(flat)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        states = None
    if states is None or not (
        pa.types.is_integer(states.type) or pa.types.is_string(states.type) or pa.types.is_null(states.type)
    ):
        raise InvalidData(
            "source", expected="states that are all text or all whole numbers", found="a mixture"
        )
    return _log(np.array([len(sequence) for sequence in sequences], dtype=np.int64), states)


def _log(lengths: Any, states: Any) -> Any:
    import pyarrow as pa

    lengths = np.asarray(lengths, dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    return pa.table({"sequence": sequence, "place": place, "state": states})


def _whole_numbers(states: Any) -> Any:
    """The states as whole numbers if they all are, and would be written in the same way."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(states, pa.int64())
    except pa.ArrowInvalid:
        return states
    same = pc.all(pc.equal(pc.cast(numbers, states.type), states)).as_py()
    return numbers if same is not False else states
