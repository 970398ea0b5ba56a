"""What is secret of counts and vectors, as it is asked for: the same for plans and for releases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from veil.core.arrays import Floats
from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.request import Request, option
from veil.tables.given import files_among
from veil.vectors.averages import Averaged, average
from veil.vectors.counts import Contributions, Integers, Records
from veil.vectors.l1 import L1
from veil.vectors.reading import LabelledVector, read_vector
from veil.vectors.several import LabelledVectors
from veil.vectors.simplex import Transfer

_MOST_CAP = 1_000_000
_OF_VECTORS = ("transfer", "l1", "average", "weights")


@dataclass(frozen=True, kw_only=True)
class Neighbours(Request):
    """What is secret: records behind the numbers, a vector, or each of the vectors behind an average."""

    records: int | None = option(
        None,
        help="The numbers are counts or frequencies of N records; N is public. Without it, {transfer}, {l1} "
        "and {average} they are counts of records whose number is secret.",
        short="-n",
        least=1,
        group="Privacy",
    )
    transfer: float | None = option(
        None, help="The vector is secret; two entries exchange at most M.", group="Privacy"
    )
    l1: float | None = option(
        None, help="The vector is secret; it moves by an L1 distance of at most B.", group="Privacy"
    )
    average: int | None = option(
        None,
        help="The average of N vectors, one for each person and row; N is public. One row is secret: it may "
        "change in any way, or as {transfer} or {l1} says.",
        least=2,
        group="Privacy",
    )
    weights: Any = option(
        None,
        help="The average is weighted: a public weight for each row (CSV or JSON), in their order or by "
        "their names. The weights are divided by their sum.",
        group="Privacy",
    )
    change: str | None = option(
        None,
        help="One record is: replace (default with {records}) or add-remove (default otherwise).",
        choices=("replace", "add-remove"),
        group="Privacy",
    )
    cap: int = option(
        1,
        help="Of counts: one person has at most N records, in all rows of a table together; all of them are "
        "hidden. Veil cannot check it.",
        least=1,
        group="Privacy",
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return (*super().inputs, *files_among(self.weights))

    def check(self) -> None:
        super().check()
        _ = self.adjacency

    @property
    def adjacency(self) -> Records | Contributions | Transfer | L1 | Averaged:
        """Between which inputs the difference is hidden."""
        given = [name for name in ("records", "transfer", "l1") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidArgument(
                given[0],
                expected="one of {records}, {transfer} and {l1}, or none: counts whose number is secret",
                found=f"{len(given)} of them",
                names=("records", "transfer", "l1"),
            )
        if any(getattr(self, name) is not None for name in _OF_VECTORS):
            return self._of_vectors()
        cap = integer("cap", self.cap, least=1, most=_MOST_CAP)
        if self.records is not None:
            integer("records", self.records, least=1)
        elif self.change == "replace":
            expected = "the public number of records, since one is replaced"
            raise InvalidArgument("records", expected=expected, found="none")
        one = Records(self.change or ("add-remove" if self.records is None else "replace"))
        # See mechanisms/noisy_counts.md, section 3.
        return one if cap == 1 else Contributions(cap, cap * one.contributions.removed)

    def _of_vectors(self) -> Transfer | L1 | Averaged:
        averaged = self.average is not None or self.weights is not None
        what = "an average of vectors" if averaged else "a vector"
        if self.change is not None:
            raise InvalidArgument("change", expected="counts with it", found=what)
        if integer("cap", self.cap, least=1, most=_MOST_CAP) > 1:
            hint = "Vectors of which one person moves several are rows of a matrix: release that."
            raise InvalidArgument("cap", expected="counts with it", found=what, hint=hint)
        if self.records is not None:
            raise InvalidArgument("records", expected="counts with it", found=what)
        row: Transfer | L1 | None = None
        if self.transfer is not None:
            words = "a mass above 0 and at most 1"
            row = Transfer(within("transfer", self.transfer, 1e-30, 1.0, expected=words))
        if self.l1 is not None:
            words = "an L1 distance above 0 and at most 2"
            row = L1(within("l1", self.l1, 1e-30, 2.0, expected=words))
        if averaged:
            return Averaged.of(self._behind, row)
        assert row is not None
        return row

    @cached_property
    def _weighed(self) -> LabelledVector | None:
        """The weights with their names, if they have any."""
        return None if self.weights is None else read_vector(self.weights, name="weights")

    @property
    def _behind(self) -> int | tuple[float, ...]:
        """How many rows are behind the average, or with which weights."""
        if self._weighed is None:
            return integer("average", self.average, least=2)
        weights = self._weighed.values
        if self.average is not None and integer("average", self.average, least=2) != len(weights):
            expected = f"the number of weights, {len(weights)}, or none with them"
            raise InvalidArgument("average", expected=expected, found=str(self.average))
        return weights

    def averaged(
        self, rows: Floats | Integers, held: LabelledVector | LabelledVectors
    ) -> tuple[Floats, LabelledVectors]:
        """The average of rows that were validated, and what was read without the names of the rows."""
        if not isinstance(held, LabelledVectors):
            hint = "{unnamed} reads a table in which no column names the rows."
            expected, names = "a table with one row for each person", ("unnamed",)
            raise InvalidData("value", expected=expected, found="one vector", hint=hint, names=names)
        behind = self._behind
        number = behind if isinstance(behind, int) else len(behind)
        if len(rows) != number:
            # How many there are is public once it is stated; what was found may be an accident.
            raise InvalidData("value", expected=f"{number} rows, as is stated", found="another number")
        return average(rows, weights=self._in_order(held)), replace(held, row_labels=None)

    def _in_order(self, held: LabelledVectors) -> tuple[float, ...] | None:
        """The weights in the order of the rows."""
        if self._weighed is None:
            return None
        names, weights = self._weighed.labels, self._weighed.values
        if names is None:
            return weights
        by_name = dict(zip(names, weights, strict=True))
        rows = held.row_labels
        if rows is None or set(rows) != set(by_name):
            expected = "the names of the rows, each once, or weights without names"
            raise InvalidData("weights", expected=expected, found="other names")
        return tuple(by_name[row] for row in rows)
