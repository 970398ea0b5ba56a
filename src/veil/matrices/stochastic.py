"""Stochastic matrices, policies and stacks of transitions: rows that are probability vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import named_matrix, say
from veil.core.mechanism import Domain
from veil.vectors.simplex import SUM_TOLERANCE, Simplex

Places = NDArray[np.intp]
_MOST_ENTRIES = 50_000_000

ZEROS_ARE_PUBLIC = "which entries of the matrix are zero is public"
CHOSEN_FROM_DATA = "which entries are protected was chosen by looking at the matrix, and may be known"


@dataclass(frozen=True, slots=True)
class Alike:
    """Rows that share a domain: where they stand, and the columns of their entries."""

    domain: Simplex
    rows: Places
    columns: Places


@dataclass(frozen=True)
class StochasticMatrix(Domain):
    """Matrices whose rows are probability vectors, each row in a domain of its own.

    domains: one Simplex for every row, or a sequence with one for each row; None stands for a row with
        a single possible entry. A row's Simplex has as many entries as the row may have.
    support: the public places of the entries that may be above zero, for each row its columns (or a
        table of True and False). Everything else is zero, and stays it. If None and the rows' domains
        are of different sizes, the zeros of the matrix are read as its support and assumed public.
    chosen_from_data: the domains were chosen by looking at the matrix; releases then say so.
    """

    domains: Any
    _: KW_ONLY
    support: Any = None
    chosen_from_data: bool = False
    name: ClassVar[str] = "StochasticMatrix"
    kind: ClassVar[str] = "matrix"
    _columns: int | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        support = None if self.support is None else _support(self.support)
        domains = self.domains
        if not isinstance(domains, Simplex):
            domains = _sequence(domains)
        if support is not None:
            domains = _on_support(domains, support)
        object.__setattr__(self, "support", support)
        object.__setattr__(self, "domains", domains)
        if support is not None:
            object.__setattr__(self, "_columns", 1 + max(row[-1] for row in support))

    @property
    def rows(self) -> int | None:
        """The number of rows; None where any number will do."""
        return None if isinstance(self.domains, Simplex) else len(self.domains)

    @property
    def reads_support(self) -> bool:
        """Whether the zeros of the matrix itself are taken as its public support."""
        if self.support is not None or isinstance(self.domains, Simplex):
            return False
        return len({1 if domain is None else domain.size for domain in self.domains}) > 1

    def each(self) -> Iterator[tuple[Simplex | None, int]]:
        """The domain of each row with the row's number; a shared domain comes once, as row 0."""
        if isinstance(self.domains, Simplex):
            yield self.domains, 0
        else:
            for row, domain in enumerate(self.domains):
                yield domain, row

    def validate(self, value: Any) -> Floats:
        """The rows as floats that sum to 1: a matrix, or a stack such as P(s, a, ·)."""
        taken = named_matrix("value", value).entries
        if math.prod(taken.shape) > _MOST_ENTRIES:
            raise InvalidData(
                "value", expected=f"at most {_MOST_ENTRIES:,} entries", found=f"shape {taken.shape}"
            )
        matrix: Floats = taken.toarray() if hasattr(taken, "toarray") else taken
        self._check_shape(matrix)
        plain = Simplex(max(2, matrix.shape[-1]))
        flat = _each_row(plain, matrix).reshape(-1, matrix.shape[-1])
        for group in self.alike(flat):
            entries = flat[group.rows[:, None], group.columns]
            flat[group.rows[:, None], group.columns] = _each_inside(group, entries)
        return flat.reshape(matrix.shape)

    def check_output(self, matrix: Floats) -> None:
        """Whether the matrix has the shape, and no entry off the support; floors are for inputs."""
        self._check_shape(matrix)
        if self.support is not None:
            self.alike(matrix.reshape(-1, matrix.shape[-1]))

    def _check_shape(self, matrix: Floats) -> None:
        rows, columns = self.rows, self.columns
        sound = matrix.ndim >= 2 and matrix.size > 0 and matrix.shape[-1] >= 2
        if sound and rows is not None:
            sound = math.prod(matrix.shape[:-1]) % rows == 0 and self._is_stack_of(matrix, rows)
        if not sound or (columns is not None and matrix.shape[-1] < columns):
            shape = f"{'any number of' if rows is None else rows} rows"
            shape += f" of {'two entries or more' if columns is None else f'{columns} entries'}"
            raise InvalidData("value", expected=shape, found=f"an array of shape {matrix.shape}")
        if columns is not None and self.support is None and matrix.shape[-1] != columns:
            raise InvalidData(
                "value", expected=f"rows of {columns} entries", found=f"an array of shape {matrix.shape}"
            )

    @staticmethod
    def _is_stack_of(matrix: Floats, rows: int) -> bool:
        return math.prod(matrix.shape[:-1]) == rows or matrix.shape[-2] == rows

    @property
    def columns(self) -> int | None:
        """The number of columns, or with a support the least number; None where it is not known."""
        if self._columns is not None:
            return self._columns
        if isinstance(self.domains, Simplex):
            return self.domains.size
        return None if self.reads_support else self.domains[0].size

    def axes(self, value: Floats) -> int:
        """How many axes one item has: a matrix 2, a stack P(s, a, ·) 3; what is before them is a batch."""
        rows = self.rows
        if rows is None or math.prod(value.shape[:-1]) == rows:
            return value.ndim
        return 2

    def alike(self, flat: Floats) -> list[Alike]:
        """The rows of a flat table, grouped by domain; rows with one possible entry are left out."""
        total, width = flat.shape
        if isinstance(self.domains, Simplex):
            every = np.broadcast_to(np.arange(width), (total, width))
            return [Alike(self.domains, np.arange(total), every)]
        if self.support is not None:
            places = [np.array(row) for row in self.support]
            outside = np.ones((len(places), width), dtype=bool)
            for row, columns in enumerate(places):
                outside[row, columns] = False
            wrong = (flat.reshape(-1, len(places), width) > 0.0) & outside
            if len(wrong) == 1:
                wrong = wrong[0]
            if wrong.any():
                raise InvalidData("value", expected="zeros outside the support", found=say(wrong, "above it"))
            every_row = [places[row % len(places)] for row in range(total)]
        elif self.reads_support:
            every_row = [np.flatnonzero(row) for row in flat]
        else:
            every_row = [np.arange(width)] * total
        groups: dict[Simplex, list[int]] = {}
        for row in range(total):
            domain = self.domains[row % len(self.domains)]
            self._check_row(row, domain, every_row[row])
            if domain is not None:
                groups.setdefault(domain, []).append(row)
        return [
            Alike(domain, np.array(rows), np.stack([every_row[row] for row in rows]))
            for domain, rows in groups.items()
        ]

    @staticmethod
    def _check_row(row: int, domain: Simplex | None, columns: Places) -> None:
        entries = 1 if domain is None else domain.size
        if len(columns) != entries:
            raise InvalidData(
                f"value, row {row}",
                expected=f"{entries} entries above zero, as the row's domain has",
                found=f"{len(columns)}",
            )

    @property
    def assumptions(self) -> tuple[str, ...]:
        public = self.support is not None or self.reads_support
        found = [ZEROS_ARE_PUBLIC] if public else []
        if self.chosen_from_data:
            found.append(CHOSEN_FROM_DATA)
        return tuple(found)

    @property
    def words(self) -> str:
        if isinstance(self.domains, Simplex):
            return f"matrices whose rows are {self.domains.words}"
        kinds = {domain.words for domain in self.domains if domain is not None}
        what = next(iter(kinds)) if len(kinds) == 1 else "probability vectors of different kinds"
        return f"matrices of {len(self.domains)} rows that are {what}"

    def describe(self) -> dict[str, Any]:
        shared = isinstance(self.domains, Simplex)
        return {
            "name": self.name,
            "domains": self.domains.describe()
            if shared
            else [None if domain is None else domain.describe() for domain in self.domains],
            "support": None if self.support is None else [list(row) for row in self.support],
            "chosen_from_data": self.chosen_from_data,
        }


def _each_row(plain: Simplex, matrix: Floats) -> Floats:
    """All rows as probability vectors; where a sum is wrong, the error says of which row."""
    try:
        return plain.validate(matrix)
    except InvalidData as error:
        if "sum to 1" in error.expected:
            rows = matrix.reshape(-1, matrix.shape[-1])
            with np.errstate(over="ignore"):
                far = np.flatnonzero(np.abs(rows.sum(axis=1) - 1.0) > SUM_TOLERANCE)
            raise InvalidData(
                f"value, row {far[0]}",
                expected=error.expected,
                found=error.found,
                hint=error.hint,
                names=error.names,
            ) from None
        raise


def _each_inside(group: Alike, entries: Floats) -> Floats:
    try:
        return group.domain.validate(entries)
    except InvalidData:
        for place, row in enumerate(group.rows):
            try:
                group.domain.validate(entries[place])
            except InvalidData as error:
                raise InvalidData(
                    f"value, row {row}",
                    expected=error.expected,
                    found=error.found,
                    hint=error.hint,
                    names=error.names,
                ) from None
        raise


def _simplex(domain: Any, row: str) -> Simplex | None:
    if isinstance(domain, dict):
        fields = {key: item for key, item in domain.items() if key not in ("name", "words")}
        if "size" not in fields or not set(fields) <= {"size", "floor", "protected", "slack"}:
            raise InvalidArgument(
                f"domains{row}", expected="a vectors.Simplex", found="a dict of other things"
            )
        return Simplex(fields.pop("size"), **fields)
    if domain is None or isinstance(domain, Simplex):
        return domain
    raise InvalidArgument(f"domains{row}", expected="a vectors.Simplex", found=type(domain).__name__)


def _sequence(domains: Any) -> Simplex | tuple[Simplex | None, ...]:
    if isinstance(domains, dict):
        found = _simplex(domains, "")
        assert found is not None
        return found
    if not isinstance(domains, Sequence) or isinstance(domains, str) or not domains:
        raise InvalidArgument(
            "domains", expected="a vectors.Simplex, or one for each row", found=type(domains).__name__
        )
    rows = tuple(_simplex(domain, f"[{row}]") for row, domain in enumerate(domains))
    if all(domain is None for domain in rows):
        raise InvalidArgument("domains", expected="a row with something to protect", found="none")
    return rows


# A table of booleans of this size still fits into memory.
_MOST_CELLS = 2**30


def _support(support: Any) -> tuple[tuple[int, ...], ...]:
    """The columns of each row, from lists of columns or from a table of True and False."""
    if hasattr(support, "tocsr"):
        if np.prod(support.shape, dtype=float) > _MOST_CELLS:
            raise InvalidArgument("support", expected=f"at most {_MOST_CELLS:,} cells", found="more")
        support = support.toarray() != 0
    table = np.asarray(support) if isinstance(support, np.ndarray) else None
    if table is None and isinstance(support, Sequence) and len(support) > 0:
        first = support[0]
        if isinstance(first, (list, tuple)) and first and isinstance(first[0], (bool, np.bool_)):
            try:
                table = np.array(support)
            except ValueError:
                raise InvalidArgument(
                    "support", expected="rows of equal length", found="rows of different lengths"
                ) from None
    if table is not None:
        if table.ndim != 2 or table.dtype != np.bool_:
            raise InvalidArgument(
                "support",
                expected="a table of True and False, or the columns of each row",
                found=f"an array of {table.dtype} of shape {table.shape}",
            )
        rows: list[Any] = [np.flatnonzero(row) for row in table]
    else:
        try:
            rows = [sorted(integer("support", column, least=0) for column in row) for row in support]
        except TypeError:
            raise InvalidArgument(
                "support", expected="the columns of each row", found=type(support).__name__
            ) from None
    empty = [i for i, row in enumerate(rows) if len(row) == 0 or len(set(row)) != len(row)]
    if not rows or empty:
        where = "no rows" if not rows else f"row {empty[0]}"
        raise InvalidArgument("support", expected="different columns for every row", found=where)
    return tuple(tuple(int(column) for column in row) for row in rows)


def _on_support(
    domains: Simplex | tuple[Simplex | None, ...], support: tuple[tuple[int, ...], ...]
) -> tuple[Simplex | None, ...]:
    if not isinstance(domains, Simplex):
        sizes = tuple(1 if domain is None else domain.size for domain in domains)
        if sizes != tuple(map(len, support)):
            raise InvalidArgument(
                "domains",
                expected="a Simplex of the size of its support for each row",
                found="other sizes",
            )
        return domains
    if domains.protected is not None:
        raise InvalidArgument(
            "domains",
            expected="one Simplex for each row, where only some entries are protected",
            found="one for all",
        )
    made = {size: Simplex(size, floor=domains.floor) for size in set(map(len, support)) - {1}}
    return tuple(made.get(len(row)) for row in support)
