"""Releases as files: JSON for the record, CSV for the value alone."""

from __future__ import annotations

import json
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.bits.codec import (
    facts_from_json,
    graph_from_json,
    graph_to_json,
    is_plain_text,
    table_from_json,
    table_to_json,
)
from veil.bits.domain import Bits
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.checks import delta_of, within
from veil.core.entries import entry_from_json, entry_to_json
from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.core.mechanism import Mechanism
from veil.core.migrations import brought_up
from veil.core.record import Release
from veil.core.registry import mechanism_from
from veil.core.writing import RELEASED, path_of, replacing
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.chain import Chain
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.adjacency import Adjacency, adjacency_from
from veil.vectors.simplex import Simplex
from veil.version import __version__
from veil.words.codec import WordsElsewhere, words_from_json, words_to_json, words_to_rows
from veil.words.language import Language
from veil.words.mechanisms.each_word import EachWord

FORMAT = "veil-release"
SCHEMA = 2


def to_json(release: Release) -> str:
    """The record as text; floats are written so that they are read back bit for bit."""
    return json.dumps(_as_dict(release), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _as_dict(release: Release) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "veil": release.version,
        "created": release.created,
        "mechanism": release.mechanism.describe(),
        "domain": release.domain.describe() | {"words": release.domain.words},
        "adjacency": release.adjacency.describe() | {"words": release.adjacency.words},
        "privacy": {"epsilon": release.epsilon, "delta": release.delta, "kind": release.profile.kind},
        "assumptions": list(release.assumptions),
        "reproducible": release.reproducible,
        "entry": entry_to_json(release.entry),
        "records": release.records,
        "value": _written_value(release),
        **(
            {"tables": {key: table.tolist() for key, table in release.tables.items()}}
            if release.tables
            else {}
        ),
    }


def _written_value(release: Release) -> dict[str, Any]:
    if release.is_words:
        return _written_words(release)
    if release.graph is not None:
        return graph_to_json(release.graph)
    if release.is_facts:
        return {"type": "facts"}
    if release.is_bits:
        labels = None if release.labels is None else list(release.labels)
        return table_to_json(release.value) | {"labels": labels}
    return _written_array(release)


def _written_words(release: Release) -> dict[str, Any]:
    if isinstance(release.value, WordsElsewhere):
        return release.value.to_json()
    return words_to_json(release.batch)


def save_record(release: Release, path: Path, *, beside: Path, overwrite: bool = False) -> None:
    """Write the record of words that were written to a table, which it names instead of holding them."""
    elsewhere = replace(release, value=WordsElsewhere.of(release.batch, beside))
    write_text(path, to_json(elsewhere), overwrite=overwrite)


def _written_array(release: Release) -> dict[str, Any]:
    return {
        "type": "chain" if release.is_chain else "matrix" if release.is_matrix else "vector",
        "labels": _written_labels(release),
        **({} if release.row_labels is None else {"row_labels": list(release.row_labels)}),
        "data": release.array.tolist(),
    }


def _written_labels(release: Release) -> list[Any] | None:
    if isinstance(release.value, Chain):
        # Numbers stay numbers, so that the chain that is read back has the same states.
        return [state if type(state) in (int, str) else str(state) for state in release.value.states]
    return None if release.labels is None else list(release.labels)


def save(release: Release, path: str | PathLike[str], *, overwrite: bool = False) -> None:
    """Write by the ending of the path: .json the whole record, .csv the value with its labels."""
    target = path_of(path)
    if target.suffix.lower() == ".csv":
        text = _csv(release)
    elif target.suffix.lower() == ".json":
        text = to_json(release)
    else:
        raise InvalidArgument("path", expected="an ending of .json or .csv", found=repr(target.suffix))
    write_text(target, text, overwrite=overwrite)


def write_text(target: Path, text: str, *, overwrite: bool, mode: int = RELEASED) -> None:
    """Write beside the target and rename, so that nobody ever sees half a file."""
    with replacing(target, overwrite=overwrite, mode=mode) as beside:
        Path(beside).write_text(text, encoding="utf-8", newline="")


def _csv(release: Release) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if release.is_words:
        writer.writerow(["word", "position", "symbol"])
        writer.writerows(words_to_rows(release.batch))
        return out.getvalue()
    if release.is_facts:
        writer.writerow(["fact", "number"])
        writer.writerows([key, number] for key, table in release.tables.items() for number in table.tolist())
        return out.getvalue()
    if release.graph is not None:
        writer.writerow(["origin", "destination"])
        writer.writerows(release.graph.labelled_edges())
        return out.getvalue()
    size = release.array.shape[-1]
    labels = release.labels or tuple(str(i) for i in range(size))
    if release.is_bits:
        writer.writerow(labels)
        writer.writerows(np.atleast_2d(release.array).astype(np.int64).tolist())
    elif release.array.ndim == 1:
        writer.writerow(["label", "probability"])
        writer.writerows(zip(labels, map(repr, release.array.tolist()), strict=True))
    else:
        named = release.row_labels is not None or release.is_matrix
        rows = release.row_labels or tuple(map(str, range(release.array.size // size)))
        writer.writerow(["from", *labels] if named else labels)
        for label, row in zip(rows, release.array.reshape(-1, size).tolist(), strict=True):
            writer.writerow([label, *map(repr, row)] if named else map(repr, row))
    return out.getvalue()


def is_release(path: str | PathLike[str]) -> bool:
    """Whether a file holds a release of Veil; unreadable ones do not."""
    try:
        return holds_release(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False


def holds_release(text: str) -> bool:
    """Whether the text is that of a release, however its JSON is laid out."""
    if text.lstrip()[:1] != "{" or FORMAT not in text:
        return False
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def load(path: str | PathLike[str]) -> Release:
    """Read a release that `Release.save` wrote."""
    source = path_of(path)
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnreadableFile(str(source), expected="a release file", found="no such file") from None
    except OSError as error:
        raise UnreadableFile(str(source), expected="a release file", found=str(error.strerror)) from None
    except UnicodeDecodeError:
        raise UnreadableFile(str(source), expected="a release in JSON", found="something else") from None
    return parse_release(text, str(source))


def parse_release(text: str, name: str) -> Release:
    """The release in the text of a file with this name."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableFile(name, expected="a release in JSON", found="something else") from None
    try:
        return _from_dict(content)
    except VeilError as error:
        raise UnreadableFile(name, expected="a release of Veil", found=str(error).rstrip(".")) from error
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        what = f"without {error}" if isinstance(error, KeyError) else "with a malformed field"
        found = f"a record {what}"
        raise UnreadableFile(name, expected="a release of Veil", found=found[:200]) from None


def _one_line(text: str) -> str:
    """Without line breaks and other control characters, with which a file could speak in our name."""
    return "".join(character if character.isprintable() else " " for character in text)


def _from_dict(content: Any) -> Release:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidArgument("format", expected=FORMAT, found="another file")
    content = brought_up(content, SCHEMA)
    adjacency = {key: item for key, item in content["adjacency"].items() if key != "words"}
    mechanism = mechanism_from(content["mechanism"])
    if isinstance(mechanism.domain, Language):
        is_table = isinstance(mechanism, EachWord)
        value = words_from_json(content["value"], mechanism.domain, is_table=is_table)
        # No word that the mechanism does not cover, such as a shorter one.
        if isinstance(value, WordsElsewhere):
            shorter = isinstance(mechanism, EachWord) and mechanism.mechanism.covers_shorter
            value.check_lengths(mechanism.domain.length, shorter=shorter)
        elif isinstance(mechanism, EachWord):
            mechanism.validate(value)
        return _record(content, mechanism, adjacency_from(adjacency), value)
    if isinstance(mechanism, PrivateGraph) and mechanism.response is None:
        tables = facts_from_json(content["tables"], mechanism.statistics, None)
        return _record(content, mechanism, adjacency_from(adjacency), tables, tables=tables)
    if isinstance(mechanism.domain, Bits) and content["value"]["type"] == "graph":
        graph = graph_from_json(content["value"])
        # No graph under a mechanism for tables, of other nodes, or of a kind that it does not take.
        mechanism.validate(graph)
        wanted = mechanism.statistics if isinstance(mechanism, PrivateGraph) else ()
        tables = facts_from_json(content.get("tables", {}), wanted, graph)
        near = adjacency_from(adjacency)
        return _record(content, mechanism, near, graph.as_given(), graph=graph, tables=tables)
    labels, row_labels = content["value"]["labels"], content["value"].get("row_labels")
    for names in (labels, row_labels):
        if names is not None and not isinstance(names, list):
            raise InvalidArgument("labels", expected="a list", found=type(names).__name__)
        if names is not None and any(isinstance(name, str) and not is_plain_text(name) for name in names):
            raise InvalidArgument("labels", expected="printable text", found="control characters")
    if isinstance(mechanism.domain, Bits):
        bits = table_from_json(content["value"])
        # No table under a mechanism for graphs.
        mechanism.validate(bits)
        if labels is not None and len(labels) != bits.shape[-1]:
            raise InvalidArgument("value", expected="one label a column", found="another number")
        named = None if labels is None else tuple(map(str, labels))
        return _record(content, mechanism, adjacency_from(adjacency), bits, labels=named)
    value = np.array(content["value"]["data"], dtype=np.float64)
    if value.ndim == 0 or (labels is not None and len(labels) != value.shape[-1]):
        raise InvalidArgument("value", expected="vectors with one label an entry", found="another shape")
    Simplex(value.shape[-1]).validate(value)
    if row_labels is not None and (value.ndim != 2 or len(row_labels) != len(value)):
        raise InvalidArgument("value", expected="one row label a row", found="another number")
    tables = _tables(mechanism, content.get("tables", {}))
    if isinstance(mechanism.domain, StochasticMatrix):
        mechanism.domain.check_output(value)
    elif isinstance(mechanism.domain, Birkhoff):
        mechanism.domain.validate(value)
    return _record(
        content,
        mechanism,
        adjacency_from(adjacency),
        _chain(content, mechanism, tables, value) if isinstance(mechanism, PrivateChain) else value,
        labels=None if labels is None else tuple(map(str, labels)),
        row_labels=None if row_labels is None else tuple(map(str, row_labels)),
        tables=tables,
    )


def _record(
    content: dict[str, Any], mechanism: Mechanism, adjacency: Adjacency, value: Any, **more: Any
) -> Release:
    """The release of a file whose value was read."""
    if content["records"] is not None and not isinstance(content["records"], int):
        found = type(content["records"]).__name__
        raise InvalidArgument("records", expected="a number or nothing", found=found)
    entries = content["assumptions"]
    if not isinstance(entries, list) or not all(isinstance(text, str) for text in entries):
        raise InvalidArgument("assumptions", expected="a list of sentences", found="something else")
    epsilon = within(
        "epsilon", content["privacy"]["epsilon"], 0.0, 1e300, expected="a finite number of at least 0"
    )
    delta = delta_of(content["privacy"]["delta"])
    return Release(
        value=value,
        mechanism=mechanism,
        adjacency=adjacency,
        epsilon=epsilon,
        delta=delta,
        assumptions=tuple(_one_line(text) for text in entries),
        reproducible=bool(content["reproducible"]),
        entry=entry_from_json(content["entry"]),
        created=_one_line(str(content["created"])),
        version=_one_line(str(content["veil"])),
        records=content["records"],
        **more,
    )


def _tables(mechanism: Mechanism, content: Any) -> dict[str, NDArray[Any]]:
    """The private tables of a chain, checked to be those that its mechanism makes."""
    if not isinstance(mechanism, PrivateChain):
        return {}
    tables = {}
    for part in mechanism.parts:
        table = np.array(content[part.key])
        if table.shape != part.shape or table.dtype.kind not in ("i" if part.is_noisy_counts else "fi"):
            kind = "whole numbers" if part.is_noisy_counts else "numbers"
            expected = f"{part.key}: {kind} of shape {part.shape}"
            raise InvalidArgument("tables", expected=expected, found="something else")
        if not part.is_noisy_counts:
            Simplex(part.shape[-1]).validate(table)
        tables[part.key] = table.astype(np.int64 if part.is_noisy_counts else np.float64)
    return tables


def _chain(
    content: dict[str, Any], mechanism: PrivateChain, tables: dict[str, NDArray[Any]], value: Any
) -> Chain:
    """The chain of a file, checked to be the one that its tables stand for.

    Another version may have made another chain of the same tables: its files stay readable.
    """
    if value.shape != (mechanism.states, mechanism.states):
        raise InvalidArgument("value", expected=f"{mechanism.states} states", found=f"shape {value.shape}")
    chain = Chain(value, states=content["value"]["labels"])
    if len(set(map(str, chain.states))) != len(chain):
        raise InvalidArgument("labels", expected="labels that all differ", found="one that stands twice")
    if content["veil"] != __version__:
        return chain
    made = mechanism.model(tables, chain.states).chain
    if np.abs(made.to_numpy() - chain.to_numpy()).max() > 1e-6:
        raise InvalidArgument("value", expected="the chain that the tables give", found="another")
    return chain
