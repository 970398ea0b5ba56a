"""Releases as files: JSON for the record, CSV for the value alone. Nobody ever sees a file half written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from veil.core.account import EntryId
from veil.core.bounded import read_path
from veil.core.checks import delta_of, plain_texts, shown, truth, within
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile, VeilError
from veil.core.formulas import safe_cell
from veil.core.kind import Kind, every_kind, kind_named
from veil.core.objects import unique
from veil.core.record import Attachment, Release
from veil.core.registry import adjacency_from, mechanism_from
from veil.core.text import is_plain_text, json_text, texts_in, visible
from veil.core.writing import path_of, write_text

FORMAT = "veil-release"
SCHEMA = 3
Content = dict[str, Any]


# Writing a release


def to_json(release: Release[Any]) -> str:
    """The record as text; floats are written so that they are read back bit for bit."""
    further = {
        "chosen": release.chosen,
        "tables": release.kind.recorded_tables(release),
        "attachments": {key: file.to_dict() for key, file in release.attachments.items()},
    }
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "kind": release.kind.name,
        "veil": release.version,
        "created": release.created,
        "mechanism": release.description,
        "domain": release.domain.describe() | {"words": release.domain.words},
        "adjacency": release.adjacency.describe() | {"words": release.adjacency.words},
        "privacy": {"epsilon": release.epsilon, "delta": release.delta, "kind": release.profile.kind},
        "assumptions": list(release.assumptions),
        "reproducible": release.reproducible,
        "entry": None if release.entry is None else entry_to_json(release.entry),
        "records": release.records,
        "value": release.kind.encode(release),
        **{key: parts for key, parts in further.items() if parts},
    }
    return json_text(content, indent=2) + "\n"


def entry_to_json(entry: Any) -> Content:
    """Of Veil's ledger: which ledger, dataset and number. Of another one: its own name for it."""
    if isinstance(entry, EntryId):
        return entry.to_dict()
    if type(entry) is int:
        return {"id": entry}
    return {"id": str(entry) if is_plain_text(str(entry)) else visible(str(entry))}


def save(
    release: Release[Any], target: Path, *, overwrite: bool = False, csv_safe: bool = False
) -> Release[Any]:
    """Write by the ending of the path: .json the whole record, .csv the value with its labels.

    csv_safe: in CSV, an apostrophe in front of text that a spreadsheet would take for a formula. Returns the
    release as it was recorded: what is too large for the record is in files beside it.
    """
    if target.suffix.lower() == ".csv":
        out = io.StringIO()
        header, lines = release.kind.rows(release)
        rows: list[Sequence[Any]] = [header, *lines]
        if truth("csv_safe", csv_safe):
            rows = [[safe_cell(cell) for cell in row] for row in rows]
        csv.writer(out, lineterminator="\n").writerows(rows)
        text = out.getvalue()
    elif target.suffix.lower() == ".json":
        release = release.kind.write_beside(release, target, overwrite=overwrite)
        text = to_json(release)
    else:
        raise InvalidArgument("path", expected="an ending of .json or .csv", found=repr(target.suffix))
    write_text(target, text, overwrite=overwrite)
    return release


# Reading one


def is_release(path: str | PathLike[str]) -> bool:
    """Whether a file holds a release of Veil; unreadable ones do not."""
    try:
        return holds_release(read_path(Path(path), str(path)).decode("utf-8"))
    except (OSError, UnicodeDecodeError, UnreadableFile):
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


def load(path: str | PathLike[str]) -> Release[Any]:
    """Read a release that `Release.save` wrote, in this version of Veil or an older one."""
    source = path_of(path)
    try:
        text = read_path(source, str(source)).decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableFile(str(source), expected="a release in JSON", found="something else") from None
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise UnreadableFile(str(source), expected="a release file", found=why) from None
    return parse_release(text, str(source), record=source)


def parse_release(text: str, name: str, *, record: Path | None = None) -> Release[Any]:
    """The release in the text of a file with this name. record: where it lies, for what is beside it."""
    try:
        content = json.loads(text, object_pairs_hook=unique)
    except InvalidData as error:
        raise UnreadableFile(name, expected=error.expected, found=error.found) from None
    except (ValueError, RecursionError):
        raise UnreadableFile(name, expected="a release in JSON", found="something else") from None
    try:
        return _from_dict(content, record)
    except VeilError as error:
        raise UnreadableFile(name, expected="a release of Veil", found=str(error).rstrip(".")) from error
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        what = f"without {error}" if isinstance(error, KeyError) else "with a malformed field"
        found = f"a record {what}"[:200]
        raise UnreadableFile(name, expected="a release of Veil", found=found) from None


def _from_dict(content: Any, record: Path | None) -> Release[Any]:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidArgument("format", expected=FORMAT, found="another file")
    if content.get("schema") == SCHEMA:
        # Earlier versions wrote any label of a mechanism, and their files stay readable.
        plain_texts("mechanism", texts_in(content["mechanism"]))
    content = brought_up(content, SCHEMA)
    kind = kind_named(content["kind"]) if content.get("kind") is not None else _kind_of_old(content)
    mechanism = mechanism_from(content["mechanism"], kind)
    held = kind.decode(kind.read_beside(content, record), mechanism)
    records, sentences = content["records"], content["assumptions"]
    if records is not None and not isinstance(records, int):
        raise InvalidArgument("records", expected="a number or nothing", found=type(records).__name__)
    if not isinstance(sentences, list) or not all(isinstance(text, str) for text in sentences):
        raise InvalidArgument("assumptions", expected="a list of sentences", found="something else")
    privacy, finite = content["privacy"], "a finite number of at least 0"
    return Release(
        value=held.value,
        tables=held.tables,
        labels=held.labels,
        row_labels=held.row_labels,
        mechanism=mechanism,
        adjacency=adjacency_from(content["adjacency"], kind),
        epsilon=within("epsilon", privacy["epsilon"], 0.0, 1e300, expected=finite),
        delta=delta_of(privacy["delta"]),
        assumptions=tuple(visible(text) for text in sentences),
        reproducible=bool(content["reproducible"]),
        entry=_entry_from_json(content["entry"]),
        created=visible(str(content["created"])),
        version=visible(str(content["veil"])),
        records=records,
        chosen=_sentence("chosen", content.get("chosen", "")),
        attachments={
            str(key): Attachment.from_dict(file) for key, file in content.get("attachments", {}).items()
        },
        written=content["mechanism"],
    )


def _sentence(field: str, text: Any) -> str:
    """A sentence of a record, shown as it can be."""
    if not isinstance(text, str):
        raise InvalidArgument(field, expected="a sentence", found=type(text).__name__)
    return visible(text)


def _kind_of_old(content: Content) -> Kind:
    """The kind that wrote a file of version 0.1, which names none."""
    if not isinstance(content["mechanism"], dict):
        raise InvalidArgument("mechanism", expected="a name and parameters", found="something else")
    for kind in every_kind():
        if kind.wrote(content):
            return kind
    raise InvalidArgument(
        "mechanism.name",
        expected="a mechanism of Veil",
        found=repr(content["mechanism"].get("name"))[:40],
        hint="A newer Veil may know it.",
    )


def _entry_from_json(content: Any) -> Any:
    """The entry of a ledger, checked to be one."""
    if content is None:
        return None
    if not isinstance(content, dict):
        raise InvalidArgument("entry", expected="an entry of a ledger", found=type(content).__name__)
    if "id" in content:
        name = content["id"]
        if type(name) not in (int, str) or (isinstance(name, str) and not is_plain_text(name)):
            raise InvalidArgument("entry", expected="a number or a name", found="something else")
        return name
    ledger, dataset, number, sha256 = (content[key] for key in ("ledger", "dataset", "number", "sha256"))
    if not all(isinstance(text, str) and is_plain_text(text) for text in (ledger, dataset, sha256)):
        raise InvalidArgument("entry", expected="the names of a ledger and a dataset", found="something else")
    if type(number) is not int:
        raise InvalidArgument("entry", expected="the number of an entry", found="something else")
    return EntryId(ledger, dataset, number, sha256)


# Files of older versions


def _entry_says_whose(content: Content) -> Content:
    """From 1 to 2: the entry of the ledger is an object that says of which ledger; it was a bare name."""
    entry = content["entry"]
    if entry is not None and (isinstance(entry, bool) or not isinstance(entry, (int, str))):
        raise InvalidArgument("entry", expected="a number or nothing", found=type(entry).__name__)
    return content | {"entry": None if entry is None else {"id": entry}}


def _words_are_attached(content: Content) -> Content:
    """From 2 to 3: a file beside the record is an attachment. Which kind wrote a record, the kinds know."""
    value = content["value"]
    if not isinstance(value, dict) or "file" not in value:
        return content
    rest = {key: item for key, item in value.items() if key not in ("file", "sha256")}
    attached = {"words": {key: value.get(key) for key in ("file", "sha256")}}
    return content | {"value": rest, "attachments": attached}


# The step under n leads from schema n to the next.
_STEPS: dict[int, Callable[[Content], Content]] = {1: _entry_says_whose, 2: _words_are_attached}


def brought_up(content: Content, schema: int) -> Content:
    """The content as the present schema has it; that of a newer one is refused."""
    written = content.get("schema")
    if isinstance(written, bool) or not isinstance(written, int) or not 1 <= written <= schema:
        raise InvalidArgument(
            "schema",
            expected=f"1 to {schema}",
            found=shown(written),
            hint="A newer Veil wrote this file; install it to read the file.",
        )
    for step in range(written, schema):
        content = _STEPS[step](content)
    return content
