"""Releases as files: JSON for the record, CSV for the value alone."""

from __future__ import annotations

import csv
import io
import json
from os import PathLike
from pathlib import Path
from typing import Any

from veil.core.attachment import Attachment
from veil.core.checks import delta_of, within
from veil.core.entries import entry_from_json, entry_to_json
from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.core.kind import Kind
from veil.core.kinds import every_kind, kind_named
from veil.core.migrations import brought_up
from veil.core.record import Release
from veil.core.registry import adjacency_from, mechanism_from
from veil.core.text import one_line
from veil.core.writing import RELEASED, path_of, replacing

FORMAT = "veil-release"
SCHEMA = 3


def to_json(release: Release[Any]) -> str:
    """The record as text; floats are written so that they are read back bit for bit."""
    return json.dumps(_as_dict(release), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _as_dict(release: Release[Any]) -> dict[str, Any]:
    further = {
        "tables": {key: table.tolist() for key, table in release.tables.items()},
        "attachments": {key: file.to_dict() for key, file in release.attachments.items()},
    }
    return {
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
        "entry": entry_to_json(release.entry),
        "records": release.records,
        "value": release.kind.encode(release),
        **{key: content for key, content in further.items() if content},
    }


def save(release: Release[Any], path: str | PathLike[str], *, overwrite: bool = False) -> None:
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


def _csv(release: Release[Any]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header, lines = release.kind.rows(release)
    writer.writerow(header)
    writer.writerows(lines)
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


def load(path: str | PathLike[str]) -> Release[Any]:
    """Read a release that `Release.save` wrote, in this version of Veil or an older one."""
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


def parse_release(text: str, name: str) -> Release[Any]:
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


def _from_dict(content: Any) -> Release[Any]:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidArgument("format", expected=FORMAT, found="another file")
    content = brought_up(content, SCHEMA)
    kind = _kind(content)
    mechanism = mechanism_from(content["mechanism"], kind)
    adjacency = adjacency_from(content["adjacency"], kind)
    held = kind.decode(content, mechanism)
    if content["records"] is not None and not isinstance(content["records"], int):
        found = type(content["records"]).__name__
        raise InvalidArgument("records", expected="a number or nothing", found=found)
    entries = content["assumptions"]
    if not isinstance(entries, list) or not all(isinstance(text, str) for text in entries):
        raise InvalidArgument("assumptions", expected="a list of sentences", found="something else")
    epsilon = within(
        "epsilon", content["privacy"]["epsilon"], 0.0, 1e300, expected="a finite number of at least 0"
    )
    return Release(
        value=held.value,
        tables=held.tables,
        labels=held.labels,
        row_labels=held.row_labels,
        mechanism=mechanism,
        adjacency=adjacency,
        epsilon=epsilon,
        delta=delta_of(content["privacy"]["delta"]),
        assumptions=tuple(one_line(text) for text in entries),
        reproducible=bool(content["reproducible"]),
        entry=entry_from_json(content["entry"]),
        created=one_line(str(content["created"])),
        version=one_line(str(content["veil"])),
        records=content["records"],
        attachments={
            str(key): Attachment.from_dict(file) for key, file in content.get("attachments", {}).items()
        },
        written=content["mechanism"],
    )


def _kind(content: dict[str, Any]) -> Kind:
    """The kind that a file names; of one of version 0.1, the kind that wrote it."""
    name = content.get("kind")
    if name is not None:
        return kind_named(name)
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
