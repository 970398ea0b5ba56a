"""What all kinds of data share whose values are arrays of probabilities: vectors here, matrices elsewhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from pkgutil import resolve_name
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.brief import short
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Labels, checked_labels, labels_of, row_labels_of
from veil.core.job import Job
from veil.core.kind import Content, Kind
from veil.core.mechanism import ONE_PER_PERSON, WITHIN_THE_CAP
from veil.core.record import MOST_SHOWN, Release, Tables, frozen
from veil.vectors.counts import Contributions
from veil.vectors.simplex import Simplex

# Characters of a float in a file, with the space around it.
FLOAT_TEXT = 32


class ArrayKind(Kind):
    """A kind whose values are arrays of floats, the last axis of which sums to one."""

    # What the items of a batch are called.
    items: ClassVar[str] = "vectors"
    # The head of the column of their names in tables.
    row_name: ClassVar[str] = "from"
    # The function that draws plans, as "module:function".
    plans_figure: ClassVar[str]
    former_assumptions: ClassVar[Mapping[str, str]] = {
        "one item per person: each vector of the batch belongs to someone else": ONE_PER_PERSON
    }

    # Releases

    def labels(self, value: Any, valid: Any) -> tuple[Labels | None, Labels | None]:
        labels, row_labels = labels_of(value), row_labels_of(value)
        if labels is not None and len(labels) != np.shape(valid)[-1]:
            raise InvalidData("value", expected="one label for each entry", found=f"{len(labels)} labels")
        if row_labels is not None and (np.ndim(valid) != 2 or len(row_labels) != len(valid)):
            row_labels = None
        return labels, row_labels

    def assumptions(self, mechanism: Any, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        is_batch = getattr(mechanism, "is_batch", lambda valid: np.ndim(valid) > 1)(valid)
        # Several records may be in several items (mechanisms/noisy_counts.md, section 3); one is in one.
        of_batch = WITHIN_THE_CAP if isinstance(adjacency, Contributions) else ONE_PER_PERSON
        return (
            *mechanism.assumptions(adjacency),
            *adjacency.assumptions,
            *((of_batch,) if is_batch else ()),
        )

    def implied_assumptions(self, release: Release[Any]) -> tuple[str, ...]:
        implied = super().implied_assumptions(release)
        # Records of earlier versions state what is narrower.
        narrower = {self.former_assumptions.get(text, text) for text in release.assumptions}
        return tuple(
            ONE_PER_PERSON if text == WITHIN_THE_CAP and ONE_PER_PERSON in narrower else text
            for text in implied
        )

    def frozen(self, value: Any, tables: Tables) -> Any:
        return frozen(np.asarray(value, dtype=np.float64))

    # Files

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        labels, rows = _label_lists(release)
        return {
            "type": self.name,
            "labels": labels,
            **({} if rows is None else {"row_labels": rows}),
            "data": release.value.tolist(),
        }

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        value = content["value"]
        array = np.array(value["data"], dtype=np.float64)
        labels, rows = checked_labels(value["labels"]), checked_labels(value.get("row_labels"))
        if array.ndim == 0 or (labels is not None and len(labels) != array.shape[-1]):
            raise InvalidArgument(
                "value", expected="vectors with one label for each entry", found="another shape"
            )
        Simplex(array.shape[-1]).validate(array)
        if rows is not None and (array.ndim != 2 or len(rows) != len(array)):
            raise InvalidArgument("value", expected="one label for each row", found="another number")
        self.check_drawn(mechanism, array)
        return Content(array, labels=labels, row_labels=rows)

    @abstractmethod
    def check_drawn(self, mechanism: Any, array: Floats) -> None:
        """Refuse an array that the mechanism cannot have made."""

    def room(self, job: Job[Any]) -> int:
        return super().room(job) + FLOAT_TEXT * int(np.size(job.value))

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        array = release.value
        columns = release.labels or numbered(array.shape[-1])
        if array.ndim == 1:
            return ["label", "probability"], list(zip(columns, map(repr, array.tolist()), strict=True))
        lines = [list(map(repr, row)) for row in array.reshape(-1, array.shape[-1]).tolist()]
        if release.row_labels is None:
            return columns, lines
        return [self.row_name, *columns], [
            [name, *line] for name, line in zip(release.row_labels, lines, strict=True)
        ]

    def to_pandas(self, release: Release[Any]) -> Any:
        import pandas

        array = release.value
        names, rows = _label_lists(release)
        if array.ndim == 1:
            return pandas.Series(array.copy(), index=names, name="probability")
        flat = array.reshape(-1, array.shape[-1])
        return pandas.DataFrame(flat.copy(), index=rows, columns=names)

    # Words and pictures

    def size(self, release: Release[Any]) -> str:
        *batch, entries = release.value.shape
        each = f"{entries:,} entries"
        return f"{' x '.join(f'{count:,}' for count in batch)} {self.items} of {each}" if batch else each

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        return {"shape": release.value.shape}

    def card(self, release: Release[Any]) -> str:
        """One vector, the first of a batch, with bars."""
        array = release.value
        vector = array.reshape(-1, array.shape[-1])[0]
        labels = release.labels or numbered(len(vector))
        widest = float(vector.max()) or 1.0
        rows = "".join(
            f"<tr><td>{escape(short(label))}</td><td style='text-align:right'>{entry:.4f}</td><td>"
            f"<div style='background:#0072b2;height:.8em;width:{120 * entry / widest:.0f}px'></div></td></tr>"
            for label, entry in list(zip(labels, vector, strict=True))[:MOST_SHOWN]
        )
        if len(vector) > MOST_SHOWN:
            rows += f"<tr><td colspan='3'>and {len(vector) - MOST_SHOWN:,} more</td></tr>"
        if array.ndim > 1:
            rows += f"<tr><td colspan='3'>the first of {self.size(release)}</td></tr>"
        return rows

    def plot_plans(self, plans: Sequence[Any], chosen: float) -> Any:
        return resolve_name(self.plans_figure)(plans, chosen)


def numbered(count: int) -> Labels:
    """Labels for what has none: 0, 1, ..."""
    return tuple(map(str, range(count)))


def _label_lists(release: Release[Any]) -> list[list[str] | None]:
    """The labels of the columns and of the rows."""
    return [None if labels is None else list(labels) for labels in (release.labels, release.row_labels)]
