"""Releases of chains of many states as files: a record, and beside it the kept pairs and the states.

Both are Parquet. MODEL.pairs.parquet has a row for each kept pair: from, to (numbers of states), count
(noisy) and probability (of the step, beside the law that all rows share). MODEL.states.parquet has one for
each state: its label, the noisy numbers of departures and arrivals, and its share in the law. The record
names both by their hashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, UnreadableFile
from veil.core.intake import Names, checked_labels
from veil.core.kind import Content
from veil.core.record import Attachment, Release
from veil.core.writing import replacing
from veil.matrices.back_off import BackOffChain
from veil.version import __version__

PAIRS, STATES = "pairs", "states"
# Another chain than the one that its tables give would differ by more than the rounding of a computation.
_SAME = 1e-6
_BATCH = 1_000_000


def places(record: Path) -> dict[str, Path]:
    """Where the files of a record are written."""
    return {name: record.with_name(f"{record.stem}.{name}.parquet") for name in (PAIRS, STATES)}


def written_beside(release: Release[Any], record: Path, *, overwrite: bool) -> Release[Any]:
    """The release, which names the files that were written beside its record."""
    import pyarrow as pa

    chain, tables, size = release.value, release.tables, len(release.value)
    origins, ends = np.divmod(tables["cells"], size)
    probabilities = np.zeros(len(origins))
    own = chain.likely.tocoo()
    probabilities[np.searchsorted(tables["cells"], own.row.astype(np.int64) * size + own.col)] = own.data
    content = {
        PAIRS: pa.table(
            {
                "from": origins.astype(np.int32),
                "to": ends.astype(np.int32),
                "count": tables["counts"],
                "probability": probabilities,
            }
        ),
        STATES: pa.table(
            {
                "state": _labels(chain.states),
                "departures": tables["departures"],
                "arrivals": tables["arrivals"],
                "law": chain.law,
            }
        ),
    }
    from pyarrow import parquet

    attachments = {}
    for name, path in places(record).items():
        plain_texts("path", [path.name])
        with replacing(path, overwrite=overwrite) as beside:
            parquet.write_table(content[name], beside, row_group_size=_BATCH, compression="zstd")
        attachments[name] = Attachment.of(path)
    return replace(release, attachments=attachments)


def with_files(content: Mapping[str, Any], record: Path | None) -> Mapping[str, Any]:
    """The content of a record with what its files hold, which must be those that were written."""
    named = content.get("attachments", {})
    if not isinstance(named, Mapping) or not named:
        return content
    import pyarrow as pa
    from pyarrow import parquet

    read: dict[str, Any] = {}
    for name, columns in _COLUMNS.items():
        file = Attachment.from_dict(named.get(name))
        is_it = None if record is None else file.is_beside(record)
        if record is None or not is_it:
            found = "none" if is_it is None else "another file"
            expected = f"{file.file}, which was written beside the record"
            raise UnreadableFile(file.file if record is None else str(record), expected=expected, found=found)
        try:
            table = parquet.read_table(record.parent / file.file)
            read |= {f"{name}.{column}": table.column(column) for column in columns}
        except (pa.ArrowException, KeyError, OSError):
            expected = f"a table with the columns {', '.join(columns)}"
            raise UnreadableFile(file.file, expected=expected, found="something else") from None
    labels = read["states.state"].to_pylist()
    columns_of = {
        "origins": read["pairs.from"],
        "ends": read["pairs.to"],
        "counts": read["pairs.count"],
        "departures": read["states.departures"],
        "arrivals": read["states.arrivals"],
    }
    value = {"labels": labels, "probabilities": read["pairs.probability"], "law": read["states.law"]}
    arrays = {key: np.asarray(column.to_numpy()) for key, column in columns_of.items()}
    cells = arrays.pop("origins").astype(np.int64) * len(labels) + arrays.pop("ends")
    tables = {**content.get("tables", {}), "cells": cells, **arrays}
    return {**content, "tables": tables, "value": {**content["value"], **value}}


_COLUMNS = {
    PAIRS: ("from", "to", "count", "probability"),
    STATES: ("state", "departures", "arrivals", "law"),
}


def encoded(release: Release[Any]) -> dict[str, Any]:
    """What the record says of the value: all of it, unless it is in files beside it."""
    chain: BackOffChain = release.value
    summary: dict[str, Any] = {
        "type": "sparse-chain",
        "states": len(chain),
        "pairs": len(release.tables["cells"]),
    }
    if release.attachments:
        return summary
    states = [state if type(state) in (int, str) else str(state) for state in chain.states]
    own = chain.likely.tocoo()
    places = np.searchsorted(release.tables["cells"], own.row.astype(np.int64) * len(chain) + own.col)
    probabilities = np.zeros(len(release.tables["cells"]))
    probabilities[places] = own.data
    return {**summary, "labels": states, "probabilities": probabilities.tolist(), "law": chain.law.tolist()}


def decoded(content: Mapping[str, Any], mechanism: Any) -> Content:
    """The chain and the private tables, checked to be ones that the mechanism can have made."""
    from scipy.sparse import csr_array

    value, further = content["value"], mechanism.in_record
    labels = checked_labels(value["labels"])
    assert labels is not None
    states = _names(value["labels"])
    size, mechanism = len(states), mechanism.on(len(states))
    tables = {
        key: np.asarray(content["tables"][key])
        for key in ("cells", "counts", "departures", "arrivals", *further)
    }
    for key, table in tables.items():
        expected_length = further.get(key, len(tables["cells"]) if key in ("cells", "counts") else size)
        if table.ndim != 1 or len(table) != expected_length or (len(table) and table.dtype.kind not in "iu"):
            expected = f"{key}: {expected_length} whole numbers"
            raise InvalidArgument("tables", expected=expected, found="something else")
        tables[key] = table.astype(np.int64)
    cells, counts = tables["cells"], tables["counts"]
    if len(cells) and (cells[0] < 0 or cells[-1] >= mechanism.cells or (np.diff(cells) <= 0).any()):
        raise InvalidArgument("tables", expected="cells: rising pairs of states", found="others")
    if (counts < mechanism.threshold).any():
        expected = f"counts: none below the threshold, {mechanism.threshold}"
        raise InvalidArgument("tables", expected=expected, found="some")
    probabilities = np.asarray(value["probabilities"], dtype=np.float64)
    if probabilities.shape != cells.shape:
        raise InvalidArgument("value", expected="a probability for each kept pair", found="others")
    origins, ends = np.divmod(cells, size)
    likely = csr_array((probabilities, (origins, ends)), shape=(size, size))
    chain = BackOffChain(likely, np.asarray(value["law"], dtype=np.float64), states=states)
    # Another version may have made another chain of the same tables: its files stay readable.
    if content["veil"] == __version__:
        made = mechanism.chain(tables, states)
        gap = abs(made.likely - chain.likely)
        if (gap.nnz and float(gap.max()) > _SAME) or float(np.abs(made.law - chain.law).max()) > _SAME:
            raise InvalidArgument("value", expected="the chain that the tables give", found="another")
    return Content(chain, tables, labels)


def _labels(states: Names) -> Any:
    """Whole numbers if they all are, else text."""
    import pyarrow as pa

    if all(type(state) is int for state in states):
        return pa.array(states, pa.int64())
    return pa.array(list(map(str, states)), pa.large_string())


def _names(labels: Any) -> Names:
    return tuple(labels)
