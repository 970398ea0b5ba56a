"""The public list of states: given, in a file, or found; states that are merged; the state of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import items, plain_texts
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names
from veil.tables.cells import is_plain_integer
from veil.tables.dialect import has_usual_header
from veil.tables.engines.protocol import missing_column
from veil.tables.reading import read_rows


@dataclass(frozen=True, slots=True)
class StateList:
    """The states in their order.

    labels: how they are shown. texts: what stands in the data, as text. found: taken from the data.
    other: the place of the state that takes in all others, if there is one. joined: states with the same
    label are counted as one. shared: labels that several states were given, which keep their own by what
    stands in the data.
    """

    labels: Names
    texts: tuple[str, ...]
    found: bool = False
    other: int | None = None
    joined: bool = False
    shared: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise unless there are two states or more and all differ."""
        number = len(set(map(str, self.labels))) if self.joined else len(self.labels)
        if number < 2:
            kind = InvalidData if self.found else InvalidArgument
            raise kind("states", expected="two states or more", found=str(number))
        plain_texts("states", map(str, self.labels), error=InvalidData if self.found else InvalidArgument)
        for names in (self.texts, *(() if self.joined else (tuple(map(str, self.labels)),))):
            if len(set(names)) < len(names):
                raise InvalidArgument(
                    "states", expected="labels that all differ", found="one that occurs twice"
                )

    def place(self, name: Any) -> int | None:
        """The place of a state, by what stands in the data or by its label."""
        text = text_of(name)
        if text in self.texts:
            return self.texts.index(text)
        shown = tuple(map(str, self.labels))
        return shown.index(text) if text in shown else None


def text_of(label: Any) -> str:
    """The text by which a label is matched: 41 and "41" are the same."""
    if isinstance(label, (bool, np.bool_)):
        return str(label).lower()
    return str(label)


def given_states(states: Any, *, columns: Sequence[str] = (), joined: bool = False) -> StateList:
    """The list that the user gave: labels, {what stands in the data: label}, or the path of a file.

    columns: names of columns of the data, which may stand as the header of the file. joined: states with the
    same label are to be counted as one.
    """
    if isinstance(states, (str, Path)):
        return _from_file(str(states), columns, joined=joined)
    if isinstance(states, Mapping):
        texts = tuple(text_of(key) for key in states)
        return _labelled([text_of(name) for name in states.values()], texts, joined=joined)
    if joined:
        expected, names = "{states} as {{what is in the data: label}}, or file:key:label", ("states",)
        raise InvalidArgument("merge_labels", expected=expected, found="labels alone", names=names)
    if not isinstance(states, Iterable):
        raise InvalidArgument("states", expected="a list of labels or a path", found=type(states).__name__)
    listed = items("states", states, expected="a list of labels or a path")
    listed = [label.item() if isinstance(label, np.generic) else label for label in listed]
    if isinstance(states, (set, frozenset)):
        # A set has no order of its own that would be the same tomorrow.
        listed = sorted(listed, key=text_of)
    for label in listed:
        if label is None or isinstance(label, float) or not isinstance(label, Hashable):
            found = f"one of type {type(label).__name__}"
            raise InvalidArgument("states", expected="labels that are text or whole numbers", found=found)
    return StateList(tuple(listed), tuple(map(text_of, listed)))


def found_states(labels: Iterable[Any], *, untyped: bool = False) -> StateList:
    """The labels that occurred: whole numbers by size, text by code points.

    untyped: they are cells of a text file, in which a column of whole numbers is text too.
    """
    distinct = set(labels)
    if untyped and all(isinstance(label, str) and is_plain_integer(label) for label in distinct):
        distinct = set(map(int, distinct))
    elif not all(isinstance(label, int) for label in distinct):
        distinct = {text_of(label) for label in distinct}
    listed = sorted(distinct)
    return StateList(tuple(listed), tuple(map(str, listed)), found=True)


def with_other(states: StateList, other: Any) -> StateList:
    """The list with a state for all that is not on it; it is appended unless it is there already."""
    if not isinstance(other, (str, int)) or isinstance(other, bool) or str(other) == "":
        raise InvalidArgument("other", expected="the label of a state", found=type(other).__name__)
    place = states.place(other)
    if place is not None:
        return replace(states, other=place)
    labels, texts = (*states.labels, other), (*states.texts, text_of(other))
    return replace(states, labels=labels, texts=texts, other=len(states.labels))


@dataclass(frozen=True, slots=True)
class Places:
    """Where each state of a list is counted once some are merged. targets: the new place of each."""

    labels: Names
    targets: NDArray[np.int64]


def merged(states: StateList, merge: Mapping[Any, Any] | None) -> Places:
    """The list after a public choice to count some states together, as others of the list or as new ones."""
    if merge is None and not states.joined:
        return Places(states.labels, np.arange(len(states.labels), dtype=np.int64))
    labels = list(map(str, states.labels))
    first_of = {label: place for place, label in reversed(list(enumerate(labels)))}
    # The state as which each one is counted: a place of the list, or beyond it one of the new labels.
    counted = [first_of[label] for label in labels] if states.joined else list(range(len(labels)))
    new: list[Any] = []
    if merge is not None and not isinstance(merge, Mapping):
        raise InvalidArgument("merge", expected="{state: state}", found=type(merge).__name__)
    moved: dict[int, int] = {}
    # A public table of all states may name some that do not occur.
    some_occur = states.found and any(states.place(source) is not None for source in merge or ())
    for source, target in (merge or {}).items():
        place, onto = states.place(source), states.place(target)
        if place is None and some_occur:
            continue
        if place is None:
            raise InvalidArgument(
                "merge",
                expected="states of the list, each with what it is counted as",
                found="one that is not on it",
                hint="The list holds the states as they are in the data, before any are merged.",
            )
        if onto is None:
            text = text_of(target).strip()
            if not text:
                raise InvalidArgument("merge", expected="a label for each state", found="an empty one")
            new += [] if text in new else [text]
            onto = len(labels) + new.index(text)
        if counted[place] != onto:
            moved[counted[place]] = onto
    if set(moved) & set(moved.values()):
        raise InvalidArgument(
            "merge", expected="a state that stays for each that goes", found="one that goes itself"
        )
    counted = [moved.get(place, place) for place in counted]
    kept = sorted(set(counted))
    if len(kept) < 2 and merge is not None:
        raise InvalidArgument("merge", expected="two states or more that stay", found=str(len(kept)))
    names = (*states.labels, *new)
    plain_texts("merge", new)
    return Places(tuple(names[place] for place in kept), np.searchsorted(kept, counted).astype(np.int64))


def _labelled(names: Sequence[str], texts: tuple[str, ...], *, joined: bool) -> StateList:
    if joined:
        return StateList(tuple(names), texts, joined=True)
    shared = tuple(name for name, often in Counter(names).items() if often > 1)
    return StateList(_unique_names(names, texts, shared), texts, shared=shared)


def _unique_names(names: Sequence[str], texts: Sequence[str], shared: Collection[str]) -> Names:
    """The names, with what stands in the data in brackets where a name is shared."""
    return tuple(
        f"{name} ({text})" if name in shared else name for name, text in zip(names, texts, strict=True)
    )


def _from_file(path: str, columns: Sequence[str], *, joined: bool) -> StateList:
    """One label a line, or a lookup table: "zones.csv", "zones.csv:id", or "zones.csv:id:name"."""
    path, asked = split_path(path)
    name, lines = read_rows(path, expected="one state per line")
    if asked:
        places = [place_of(lines[0], column, name, asked) for column in asked]
        body = lines[1:]
    else:
        places = [0]
        body = lines[1:] if has_usual_header(lines, names=columns) else lines
    texts = tuple(line[places[0]] for line in body)
    if "" in texts:
        raise InvalidData(name, expected="a state in every line", found="an empty cell")
    if len(places) == 1:
        if joined:
            expected, hint = "file:key:label, with two columns", "Equal labels are those of the second."
            raise InvalidArgument("merge_labels", expected=expected, found="one", hint=hint)
        return StateList(texts, texts)
    return _labelled([line[places[1]] for line in body], texts, joined=joined)


def split_path(path: str) -> tuple[str, list[str]]:
    """The file and the columns asked for; a name that is a file as it stands has none."""
    parts = path.split(":")
    for used in range(len(parts), max(len(parts) - 3, 0), -1):
        file = ":".join(parts[:used])
        if Path(file).is_file():
            return file, parts[used:]
    return path, []


def place_of(header: Sequence[str], column: str, name: str, asked: Sequence[str]) -> int:
    """Where a column is in the first line of a file; an error if it is not there."""
    if column not in header:
        raise missing_column(list(header), column, name, asked=asked)
    return header.index(column)
