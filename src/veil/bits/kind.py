"""Tables of bits as a kind of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Table, warn_of_graph
from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.brief import card_rows
from veil.core.errors import InvalidArgument
from veil.core.intake import Labels, checked_labels, labels_of
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places
from veil.core.mechanism import Mechanism
from veil.core.record import MOST_SHOWN, Release, Tables, frozen
from veil.core.request import PlanRequest

_MECHANISMS = "veil.bits.mechanisms"


class BitKind(Kind):
    """Tables of bits: votes, answers, features."""

    name = "bits"
    module = "veil.bits"
    description = "tables of bits: votes, answers, features"
    mechanisms: ClassVar[Places] = {
        "RandomizedResponse": f"{_MECHANISMS}.randomized_response:RandomizedResponse",
        "StaircaseXor": f"{_MECHANISMS}.staircase_xor:StaircaseXor",
        "Xor": f"{_MECHANISMS}.xor:Xor",
        "XorBlocks": f"{_MECHANISMS}.xor:XorBlocks",
    }
    domains: ClassVar[Places] = {"Bits": "veil.bits.domain:Bits"}
    adjacencies: ClassVar[Places] = {"BitFlips": "veil.bits.adjacency:BitFlips"}
    short_adjacencies: ClassVar[Any] = {
        "bits:": lambda size: BitFlips(int(size)),
        "row-bits:": lambda size: BitFlips(int(size), where="row"),
    }
    read_request = "veil.bits.requests:BitRead"
    release_request = "veil.bits.requests:BitRelease"
    plan_request = "veil.bits.requests:BitPlanning"
    audit_subject = "veil.bits.auditing:BitAudit"
    release_printer = "veil.bits.report.console:print_bit_release"
    table_endings = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq")

    def check(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> None:
        warn_of_graph(valid)

    def stated_epsilon(self, mechanism: Any) -> float | None:
        return getattr(mechanism, "epsilon", None)

    def labels(self, value: Any, valid: Any) -> tuple[Labels | None, Labels | None]:
        """The names of columns are public; those of records, and their order, may tell what is in them."""
        return labels_of(value), None

    def assumptions(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        return mechanism.assumptions(adjacency)

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """Columns that say the same of everybody."""
        table = np.atleast_2d(job.value)
        same = int((table == table[:1]).all(axis=0).sum())
        return (f"{same:,} of {table.shape[1]:,} columns have the same bit in every row",) if same else ()

    def frozen(self, value: Any, tables: Tables) -> Any:
        return frozen(np.asarray(value, dtype=np.bool_))

    def wrote(self, content: Mapping[str, Any]) -> bool:
        return super().wrote(content) and content["value"]["type"] == "bits"

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        labels = None if release.labels is None else list(release.labels)
        return _encoded(release.value) | {"labels": labels}

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        table = _decoded(content["value"])
        mechanism.validate(table)
        labels = checked_labels(content["value"]["labels"])
        if labels is not None and len(labels) != table.shape[-1]:
            raise InvalidArgument("value", expected="one label for each column", found="another number")
        return Content(table, labels=labels)

    def room(self, job: Job[Any]) -> int:
        return super().room(job) + 2 * int(np.size(job.value))

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        return _names(release), np.atleast_2d(release.value).astype(np.int64).tolist()

    def to_pandas(self, release: Release[Any]) -> Any:
        import pandas

        if release.value.ndim == 1:
            return pandas.Series(release.value.copy(), index=release.labels, name="bit")
        return pandas.DataFrame(release.value.copy(), columns=release.labels)

    def check_output(self, path: Path, job: Job[Any], *, csv_safe: bool = False) -> None:
        from veil.bits.files import check_columns

        held = job.source
        check_columns(path, held.columns, held.ones, held.zeros, csv_safe=csv_safe)

    def write_table(
        self, path: Path, release: Release[Any], job: Job[Any], *, overwrite: bool, csv_safe: bool = False
    ) -> Release[Any]:
        from veil.bits.files import write_bits

        held = job.source
        write_bits(
            path,
            release.value,
            held.columns,
            ones=held.ones,
            zeros=held.zeros,
            overwrite=overwrite,
            csv_safe=csv_safe,
        )
        return release

    def size(self, release: Release[Any]) -> str:
        *rows, columns = release.value.shape
        bits = f"{columns:,} bit{'' if columns == 1 else 's'}"
        return f"{rows[0]:,} row{'' if rows[0] == 1 else 's'} of {bits}" if rows else bits

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        return {"shape": release.value.shape}

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        return _baselines(release.mechanism, release.value)

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        # How many rows and columns there are is public.
        return _baselines(job.mechanism, job.value)

    def check_plot(self, request: PlanRequest) -> None:
        if getattr(request, "rows", None) is None:
            raise InvalidArgument("rows", expected="the number of records, to draw errors", found="none")

    def plot_plans(self, plans: Sequence[Any], chosen: float) -> Any:
        from veil.bits.report.page import plans_figure

        return plans_figure(plans, chosen)

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        from veil.bits.report.page import bit_page

        return bit_page(release)

    def card(self, release: Release[Any]) -> str:
        from veil.bits.estimation import estimates

        try:
            listed = estimates(release).listed
        except InvalidArgument:
            # The first bits as they are, of a mechanism whose noise nobody can correct for.
            table = np.atleast_2d(release.value)[:MOST_SHOWN, :MOST_SHOWN].astype(int).tolist()
            return card_rows(_names(release)[:MOST_SHOWN], table) + card_rows((), [(self.size(release),)])
        lines = [(name, f"{share:.3f}", f"{low:.3f} to {high:.3f}") for name, share, low, high in listed]
        more = len(lines) - MOST_SHOWN
        last = f"and {more:,} more columns; {self.size(release)}" if more > 0 else self.size(release)
        header = ("column", "share of ones, estimated", "95 % interval")
        return card_rows(header, lines[:MOST_SHOWN]) + card_rows((), [(last,)])

    def views(self, release: Release[Any]) -> Sequence[Any]:
        from veil.bits.report.views import bit_views

        return bit_views(release)

    def plot(self, release: Release[Any]) -> Any:
        from veil.bits.estimation import estimates
        from veil.bits.report.page import shares_figure

        return shares_figure(estimates(release))


def _baselines(mechanism: Any, table: Table) -> tuple[Baseline, ...]:
    from veil.bits.planning import baselines_of, planned_row
    from veil.bits.profiles import PROFILES

    rows, columns = np.atleast_2d(table).shape
    try:
        return baselines_of(planned_row("", mechanism, columns, rows, PROFILES), PROFILES)
    except InvalidArgument:
        # Of other noise nothing is estimated.
        return ()


def _names(release: Release[Any]) -> tuple[str, ...]:
    return release.labels or tuple(map(str, range(release.value.shape[-1])))


def _encoded(table: Table) -> dict[str, Any]:
    """A row is a text of 0 and 1."""
    rows = np.atleast_2d(table).astype(np.uint8) + ord("0")
    data = [row.tobytes().decode("ascii") for row in rows]
    return {"type": "bits", "axes": int(np.ndim(table)), "data": data}


def _decoded(content: Any) -> Table:
    data, axes = content["data"], content["axes"]
    if not isinstance(data, list) or not data or axes not in (1, 2) or (axes == 1 and len(data) != 1):
        raise InvalidArgument("value", expected="rows of bits", found="something else")
    width = len(data[0])
    if not width or any(not isinstance(row, str) or len(row) != width for row in data):
        raise InvalidArgument("value", expected="rows of equally many bits", found="something else")
    codes = np.frombuffer("".join(data).encode("ascii", "replace"), dtype=np.uint8)
    if not np.isin(codes, (ord("0"), ord("1"))).all():
        raise InvalidArgument("value", expected="rows of 0 and 1", found="something else")
    table: Table = np.equal(codes, ord("1")).reshape(len(data), width)
    return table if axes == 2 else np.array(table[0])
