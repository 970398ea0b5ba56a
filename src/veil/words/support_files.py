"""Files and tables of allowed transitions: lists with one transition in each row, matrices, releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.files import holds_release, parse_release
from veil.matrices.transition_lists import Edges, from_text, listed, weight_of
from veil.tables.cells import is_plain_integer
from veil.tables.files import decoded, ending_of, file_of, name_of, text_bytes
from veil.tables.json_texts import is_json, parse_json, parse_json_lines
from veil.tables.typed_files import read_parquet

_TEXTS, _LINES, _PARQUET = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson"), (".parquet", ".pq")


def from_file(path: str, origin: str | None, destination: str | None, layout: str) -> Any:
    """What a file holds: a list of transitions, a matrix, a mapping or a release."""
    file = file_of(path)
    name, suffix = name_of(file), ".csv" if file == "-" else ending_of(file)
    if suffix not in {*_TEXTS, *_LINES, *_PARQUET, ".json"}:
        raise UnreadableFile(
            name,
            expected="a file of a known kind",
            found=f"the ending {suffix or 'none'}",
            hint="Known are .csv, .tsv, .txt, .json and .jsonl (also .gz), and .parquet.",
        )
    if suffix in _PARQUET:
        return from_table(read_parquet(file, name), name, origin, destination, layout)
    raw = text_bytes(file)
    if not raw.strip():
        raise UnreadableFile(name, expected="allowed transitions", found="an empty file")
    text = decoded(raw, name)
    if holds_release(text):
        return parse_release(text, name)
    if suffix in _LINES:
        return _records(parse_json_lines(raw, name), name, origin, destination)
    if is_json(raw, f"data{suffix}"):
        return _from_json(parse_json(raw, name), name, origin, destination)
    return from_text(raw, name, origin, destination, layout)


def _from_json(content: Any, name: str, origin: str | None, destination: str | None) -> Any:
    if isinstance(content, list) and content and all(map(_is_record, content)):
        return _records(content, name, origin, destination)
    if not isinstance(content, (list, dict)) or not content:
        raise UnreadableFile(
            name,
            expected="a list of rows, {state: [states]} or {state: {state: probability}}",
            found="neither",
        )
    return _with_numbers(content) if isinstance(content, dict) else content


def _is_record(row: Any) -> bool:
    """Whether a row is a transition rather than one of a matrix: it has names, or text in it."""
    return isinstance(row, Mapping) or (isinstance(row, list) and any(isinstance(cell, str) for cell in row))


def _with_numbers(rows: dict[str, Any]) -> dict[Any, Any]:
    """The mapping with whole numbers for labels if all are; in JSON the keys are always text."""
    inside = [label for row in rows.values() if isinstance(row, (list, dict)) for label in row]
    if not all(isinstance(label, (int, str)) and is_plain_integer(str(label)) for label in (*rows, *inside)):
        return rows
    return {
        int(label): {int(end): number for end, number in row.items()}
        if isinstance(row, dict)
        else list(map(int, row))
        for label, row in rows.items()
        if isinstance(row, (list, dict))
    }


def _records(rows: Sequence[Any], name: str, origin: str | None, destination: str | None) -> Edges:
    """JSON objects, one for each transition; or lists of two states."""
    if not all(isinstance(row, (Mapping, list)) for row in rows):
        raise InvalidData(name, expected="a transition in every line", found="something else")
    if isinstance(rows[0], list):
        if origin is not None or any(not isinstance(row, list) or len(row) not in (2, 3) for row in rows):
            raise InvalidData(name, expected="two states in every line", found="something else")
        return Edges([(row[0], row[1], weight_of(row[2]) if len(row) == 3 else None) for row in rows])
    keys = list(rows[0])
    if any(not isinstance(row, Mapping) or not set(keys) <= set(row) for row in rows):
        raise InvalidData(name, expected="the same fields in every line", found="others")
    columns = {key: [row[key] for row in rows] for key in keys}
    return listed(columns, name, origin, destination)


def from_table(source: Any, name: str, origin: str | None, destination: str | None, layout: str) -> Any:
    """A table in memory: a list of transitions, or where its rows are named like its columns, a matrix."""
    is_pandas = type(source).__module__.partition(".")[0] == "pandas"
    if layout == "matrix" and not is_pandas:
        source, is_pandas = _arrow(source).to_pandas(), True
    if is_pandas:
        if layout == "matrix" or (layout == "auto" and origin is None and _is_square(source)):
            return source.astype("int8") if all(kind.kind == "b" for kind in source.dtypes) else source
        named = [str(column) for column in source.columns]
        columns = {key: source.iloc[:, i].tolist() for i, key in enumerate(named)}
    else:
        table = _arrow(source)
        columns = {key: table.column(i).to_pylist() for i, key in enumerate(table.column_names)}
    return listed(columns, name, origin, destination)


def _arrow(source: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError, ValueError):
        raise InvalidArgument(
            "support", expected="a table in memory", found=f"an object of type {type(source).__name__}"
        ) from None


def _is_square(frame: Any) -> bool:
    labels = [str(label) for label in frame.columns]
    numeric = all(getattr(kind, "kind", "O") in "iufb" for kind in frame.dtypes)
    return numeric and sorted(map(str, frame.index)) == sorted(labels)
