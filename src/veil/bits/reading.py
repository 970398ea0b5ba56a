"""From a table with two values in each column to bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.bits.domain import Table
from veil.bits.tables import open_bits
from veil.bits.values import GAPS, Pair, given_pairs, pair_of
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.request import texts
from veil.tables.cells import Coded
from veil.tables.frames import checked_columns

if TYPE_CHECKING:
    from veil.bits.requests import BitRead

OWN_COLUMN = "own-column"
MISSING = ("no", "yes", "drop-column", OWN_COLUMN)
# What is added to the name of a column for the one that says where it has gaps, and what that holds.
_GAPS_OF, _THERE, _MISSING = "{} missing", "no", "yes"
ROWS = "the number of rows is public"
VALUES = "the two values of each column are public"
DROPPED = "which columns have gaps is public"


@dataclass(frozen=True, eq=False, repr=False)
class BitSource:
    """A binary table as it was read. It is sensitive data, not a release.

    table: a row for each record, a column for each name. ones, zeros: what 1 and 0 mean in each column.
    dropped: the columns that were left out because of their gaps. assumptions: what is taken to be public.
    """

    table: Table
    columns: tuple[str, ...]
    ones: tuple[str, ...]
    zeros: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.table.setflags(write=False)

    def __repr__(self) -> str:
        return f"<BitSource of {self.table.shape[0]} rows and {len(self.columns)} columns, sensitive>"

    def __len__(self) -> int:
        return len(self.table)


def read_bits(request: BitRead) -> BitSource:
    """The bits of a table in which every column has two values."""
    columns, missing = request.columns, request.missing
    wanted = checked_columns(texts("columns", columns) if isinstance(columns, str) else columns)
    cells, assumptions, shown = open_bits(
        request.source,
        wanted,
        header=request.header,
        delimiter=request.delimiter,
        table=request.table,
        query=request.query,
    )
    names = list(cells)
    given = given_pairs(
        _listed(request.values), names, may_be_cells=shown != dict(zip(names, names, strict=True))
    )
    with_gaps = [name for name in names if any(_is_gap(one, given.get(name)) for one in cells[name].values)]
    if missing is None and with_gaps:
        raise _gaps([shown[name] for name in with_gaps])
    dropped = set(with_gaps) if missing == "drop-column" else set()
    kept = [name for name in names if name not in dropped]
    if not kept:
        raise InvalidData("columns", expected="a column without gaps", found="none")
    columns_of_bits: list[Table] = []
    pairs: list[Pair] = []
    for name in kept:
        pair = given.get(name) or pair_of(cells[name].values - GAPS - {None}, shown[name])
        columns_of_bits.append(_bits(cells[name], pair, shown[name], gap=missing == "yes"))
        pairs.append(pair)
        if missing == OWN_COLUMN:
            # Of every column, whether it has gaps or not: which have some is not for the public.
            columns_of_bits.append(_where_gaps_are(cells[name], given.get(name)))
            pairs.append(Pair(_THERE, _MISSING))
    named = _with_gaps_of(kept) if missing == OWN_COLUMN else kept
    assumptions += [ROWS]
    assumptions += [VALUES] if any(pair.found for pair in pairs) else []
    assumptions += [DROPPED] if missing == "drop-column" else []
    return BitSource(
        np.ascontiguousarray(np.stack(columns_of_bits, axis=1)),
        tuple(named),
        tuple(pair.one for pair in pairs),
        tuple(pair.zero for pair in pairs),
        tuple(name for name in names if name in dropped),
        tuple(assumptions),
    )


def _is_gap(text: str | None, given: Pair | None) -> bool:
    """Whether a value is a gap; one that the user says is a value is none."""
    return text is None or (text in GAPS and (given is None or given.bit_of(text) is None))


def _where_gaps_are(cells: Coded, given: Pair | None) -> Table:
    """1 for the rows in which a column has a gap."""
    is_gap = np.array([_is_gap(text, given) for text in cells.texts or []], dtype=np.bool_)
    where: Table = is_gap[cells.codes]
    return where


def _with_gaps_of(names: Sequence[str]) -> list[str]:
    """The names of columns, each followed by that of the column of its gaps."""
    named = [one for name in names for one in (name, _GAPS_OF.format(name))]
    if len(set(named)) < len(named):
        expected = f"no column of the name that another one has with {_GAPS_OF.format('')!r} after it"
        raise InvalidData("columns", expected=expected, found="one")
    return named


def _bits(cells: Coded, pair: Pair, name: str, *, gap: bool) -> Table:
    """The bits of a column, with a bit in the place of gaps."""
    texts = cells.texts or []
    meaning = np.zeros(len(texts), dtype=np.bool_)
    strangers = set()
    for code in cells.used:
        text = texts[code]
        bit = None if text is None else pair.bit_of(text)
        if bit is None and not _is_gap(text, pair):
            strangers.add(text)
        meaning[code] = gap if bit is None else bit
    if strangers:
        raise InvalidData(
            name,
            expected="one of its two values in every row",
            found="another one" if len(strangers) == 1 else f"{len(strangers)} different other ones",
            hint="{values} must give both as they are spelt, for each column its own if they differ.",
            names=("values",),
        )
    bits: Table = meaning[cells.codes]
    return bits


def _gaps(names: Sequence[str]) -> InvalidData:
    number = "1 column has" if len(names) == 1 else f"{len(names)} columns have"
    return InvalidData(
        names[0],
        expected="a value in every row",
        found=f"gaps; {number} some",
        hint="Give {missing} no or yes to take them for 0 or 1, own-column to release where they are as "
        "further bits, or drop-column.",
        names=("missing",),
    )


def _listed(values: Any) -> Any:
    """What 0 and 1 are called, where it is given as text: one pair for all columns, or pairs by name."""
    listed = [values] if isinstance(values, str) else values
    if not listed or not isinstance(listed, (list, tuple)):
        return listed or None
    if len(listed) == 2 and not any("," in str(one) for one in listed):
        return listed
    pairs: dict[str, tuple[str, str]] = {}
    for text in map(str, listed):
        name, _, pair = text.rpartition("=")
        parts = [part.strip() for part in pair.split(",")]
        if len(parts) != 2 or not all(parts):
            expected = "two values with a comma: no,yes - or column=no,yes"
            raise InvalidArgument("values", expected=expected, found=repr(text)[:40])
        if not name:
            if len(listed) > 1:
                expected = "either one pair for all columns, or column=no,yes for each"
                raise InvalidArgument("values", expected=expected, found="both")
            return parts[0], parts[1]
        pairs[name] = (parts[0], parts[1])
    return pairs
