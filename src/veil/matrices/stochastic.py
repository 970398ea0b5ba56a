"""Stochastic matrices, policies and stacks of transitions: rows that are probability vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from veil.core.arrays import Floats, Places
from veil.core.checks import integer
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import named_matrix, say
from veil.core.mechanism import Domain
from veil.vectors.simplex import SUM_TOLERANCE, Simplex

_MOST_ENTRIES = 50_000_000
# A table of booleans of this size still fits into memory.
_MOST_CELLS = 2**30

ZEROS_ARE_PUBLIC = "which entries of the matrix are zero is public"
CHOSEN_FROM_DATA = "which entries are protected was chosen by looking at the matrix, and may be known"


class Alike(NamedTuple):
    """Rows that share a domain: where they stand, and the columns of their entries."""

    domain: Simplex
    rows: Places
    columns: Places

    @property
    def where(self) -> tuple[Places, Places]:
        """The index of their entries in the table."""
        return self.rows[:, None], self.columns


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

    def __post_init__(self) -> None:
        domains = _domains(self.domains)
        if self.support is not None:
            object.__setattr__(self, "support", _support(self.support))
            domains = _on_support(domains, self.support)
        object.__setattr__(self, "domains", domains)

    @property
    def rows(self) -> int | None:
        """The number of rows; None where any number will do."""
        return None if isinstance(self.domains, Simplex) else len(self.domains)

    @property
    def reads_support(self) -> bool:
        """Whether the zeros of the matrix itself are taken as its public support."""
        return self.support is None and len(set(self.sizes)) > 1

    @property
    def simplices(self) -> tuple[Simplex | None, ...]:
        """The domain of each row; a shared one comes once."""
        return (self.domains,) if isinstance(self.domains, Simplex) else tuple(self.domains)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many entries each row may have; those of a shared domain come once."""
        return tuple(1 if domain is None else domain.size for domain in self.simplices)

    def validate(self, value: Any) -> Floats:
        """The rows as floats that sum to 1: a matrix, or a stack such as P(s, a, ·)."""
        taken = named_matrix("value", value)
        if math.prod(taken.entries.shape) > _MOST_ENTRIES:
            expected = f"at most {_MOST_ENTRIES:,} entries"
            raise InvalidData("value", expected=expected, found=f"shape {taken.entries.shape}")
        matrix = taken.dense()
        self._check_shape(matrix)
        flat = _each_inside(Simplex(matrix.shape[-1]), matrix).reshape(-1, matrix.shape[-1])
        for group in self.alike(flat):
            flat[group.where] = _each_inside(group.domain, flat[group.where], group.rows)
        return flat.reshape(matrix.shape)

    def check_output(self, matrix: Floats) -> None:
        """Whether the matrix has the shape, and no entry off the support; floors are for inputs."""
        self._check_shape(matrix)
        if self.support is not None:
            self.alike(matrix.reshape(-1, matrix.shape[-1]))

    def _check_shape(self, matrix: Floats) -> None:
        rows, columns = self.rows, self.columns
        sound = matrix.ndim >= 2 and matrix.size > 0 and matrix.shape[-1] >= (columns or 2)
        if sound and rows is not None:
            sound = rows in (math.prod(matrix.shape[:-1]), matrix.shape[-2])
        if sound and columns is not None and self.support is None:
            sound = matrix.shape[-1] == columns
        if not sound:
            shape = f"{'any number of' if rows is None else rows} rows"
            shape += f" of {'two entries or more' if columns is None else f'{columns} entries'}"
            raise InvalidData("value", expected=shape, found=f"an array of shape {matrix.shape}")

    @property
    def columns(self) -> int | None:
        """The number of columns, or with a support the least number; None where it is not known."""
        if self.support is not None:
            return 1 + int(max(row[-1] for row in self.support))
        if isinstance(self.domains, Simplex):
            return self.domains.size
        return None if self.reads_support else self.domains[0].size

    def axes(self, value: Floats) -> int:
        """How many axes one item has: a matrix 2, a stack P(s, a, ·) 3; what is before them is a batch."""
        return value.ndim if self.rows in (None, math.prod(value.shape[:-1])) else 2

    def alike(self, flat: Floats) -> list[Alike]:
        """The rows of a flat table, grouped by domain; rows with one possible entry are left out."""
        total, width = flat.shape
        if isinstance(self.domains, Simplex):
            return [Alike(self.domains, np.arange(total), np.broadcast_to(np.arange(width), (total, width)))]
        if self.support is not None:
            places = [np.array(row) for row in self.support]
            outside = np.ones((len(places), width), dtype=bool)
            for row, columns in enumerate(places):
                outside[row, columns] = False
            wrong = (flat.reshape(-1, len(places), width) > 0.0) & outside
            if wrong.any():
                found = say(wrong[0] if len(wrong) == 1 else wrong, "above it")
                raise InvalidData("value", expected="zeros outside the support", found=found)
            every_row = [places[row % len(places)] for row in range(total)]
        else:
            full = None if self.reads_support else np.arange(width)
            every_row = [np.flatnonzero(row) if full is None else full for row in flat]
        groups: dict[Simplex, list[int]] = {}
        sizes = self.sizes
        for row, columns in enumerate(every_row):
            domain, size = self.domains[row % len(sizes)], sizes[row % len(sizes)]
            if len(columns) != size:
                expected = f"{size} entries above zero, as the row's domain has"
                raise InvalidData(f"value, row {row}", expected=expected, found=f"{len(columns)}")
            if domain is not None:
                groups.setdefault(domain, []).append(row)
        return [
            Alike(domain, np.array(rows), np.stack([every_row[row] for row in rows]))
            for domain, rows in groups.items()
        ]

    @property
    def assumptions(self) -> tuple[str, ...]:
        public = self.support is not None or self.reads_support
        return (ZEROS_ARE_PUBLIC,) * public + (CHOSEN_FROM_DATA,) * self.chosen_from_data

    @property
    def words(self) -> str:
        if isinstance(self.domains, Simplex):
            return f"matrices whose rows are {self.domains.words}"
        kinds = {domain.words for domain in self.domains if domain is not None}
        what = next(iter(kinds)) if len(kinds) == 1 else "probability vectors of different kinds"
        return f"matrices of {len(self.domains)} rows that are {what}"

    def describe(self) -> dict[str, Any]:
        domains = [None if domain is None else domain.describe() for domain in self.simplices]
        return {
            "name": self.name,
            "domains": domains[0] if isinstance(self.domains, Simplex) else domains,
            "support": described_support(self.support),
            "chosen_from_data": self.chosen_from_data,
        }


def known_entries(flat: Floats, size: int | None) -> Floats:
    """What everyone knows of so many draws: 1 where a row has one possible entry, 0 off the support.

    Where rows have several, the ones stand in places that a draw fills. Nothing else of the input is in it.
    """
    return np.repeat((flat > 0.0).astype(np.float64)[None], 1 if size is None else size, axis=0)


def described_support(support: Any) -> list[list[int]] | None:
    """The support as a description of a domain or a mechanism holds it."""
    return None if support is None else [list(row) for row in support]


def _each_inside(domain: Simplex, entries: Floats, rows: Places | None = None) -> Floats:
    """The rows checked against their domain; an error says which row is wrong."""
    try:
        return domain.validate(entries)
    except InvalidData:
        flat = entries.reshape(-1, entries.shape[-1])
        if np.isfinite(flat).all() and (flat >= 0.0).all():
            with np.errstate(over="ignore"):
                far = np.abs(flat.sum(axis=1) - 1.0) > SUM_TOLERANCE
            for place in np.flatnonzero(far) if far.any() else range(len(flat)):
                try:
                    domain.validate(flat[place])
                except InvalidData as error:
                    row = place if rows is None else rows[place]
                    raise InvalidData.at(f"value, row {row}", error) from None
        raise


def _simplex(domain: Any, row: str) -> Simplex | None:
    if isinstance(domain, dict):
        fields = {key: item for key, item in domain.items() if key not in ("name", "words")}
        if "size" in fields and set(fields) <= {"size", "floor", "protected", "slack"}:
            return Simplex(fields.pop("size"), **fields)
    elif domain is None or isinstance(domain, Simplex):
        return domain
    found = "a dict of other things" if isinstance(domain, dict) else type(domain).__name__
    raise InvalidArgument(f"domains{row}", expected="a vectors.Simplex", found=found)


def _domains(domains: Any) -> Any:
    if isinstance(domains, (Simplex, dict)):
        return _simplex(domains, "")
    if not isinstance(domains, Sequence) or isinstance(domains, str) or not domains:
        expected = "a vectors.Simplex, or one for each row"
        raise InvalidArgument("domains", expected=expected, found=type(domains).__name__)
    rows = tuple(_simplex(domain, f"[{row}]") for row, domain in enumerate(domains))
    if all(domain is None for domain in rows):
        raise InvalidArgument("domains", expected="a row with something to protect", found="none")
    return rows


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
                found = "rows of different lengths"
                raise InvalidArgument("support", expected="rows of equal length", found=found) from None
    if table is not None:
        if table.ndim != 2 or table.dtype != np.bool_:
            expected = "a table of True and False, or the columns of each row"
            found = f"an array of {table.dtype} of shape {table.shape}"
            raise InvalidArgument("support", expected=expected, found=found)
        rows: list[Any] = [np.flatnonzero(row) for row in table]
    else:
        try:
            rows = [sorted(integer("support", column, least=0) for column in row) for row in support]
        except TypeError:
            found = type(support).__name__
            raise InvalidArgument("support", expected="the columns of each row", found=found) from None
    empty = [i for i, row in enumerate(rows) if len(row) == 0 or len(set(row)) != len(row)]
    if not rows or empty:
        where = "no rows" if not rows else f"row {empty[0]}"
        raise InvalidArgument("support", expected="different columns for every row", found=where)
    return tuple(tuple(int(column) for column in row) for row in rows)


def _on_support(domains: Any, support: tuple[tuple[int, ...], ...]) -> tuple[Simplex | None, ...]:
    if not isinstance(domains, Simplex):
        if [1 if domain is None else domain.size for domain in domains] != list(map(len, support)):
            expected = "a Simplex of the size of its support for each row"
            raise InvalidArgument("domains", expected=expected, found="other sizes")
        return tuple(domains)
    if domains.protected is not None:
        expected = "one Simplex for each row, where only some entries are protected"
        raise InvalidArgument("domains", expected=expected, found="one for all")
    made = {size: Simplex(size, floor=domains.floor) for size in set(map(len, support)) - {1}}
    return tuple(made.get(len(row)) for row in support)
