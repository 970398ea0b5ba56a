"""Files that belong to a release and are kept beside its record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument

_SHA256 = 64


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file beside the record of a release. sha256: of its content, by which it is recognised."""

    file: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Attachment:
        """The attachment that a file is."""
        with path.open("rb") as stream:
            return cls(path.name, hashlib.file_digest(stream, "sha256").hexdigest())

    def is_beside(self, record: Path) -> bool | None:
        """Whether the file beside the record is the one that was written; None if there is none."""
        path = record.parent / self.file
        return Attachment.of(path).sha256 == self.sha256 if path.is_file() else None

    def to_dict(self) -> dict[str, str]:
        return {"file": self.file, "sha256": self.sha256}

    @classmethod
    def from_dict(cls, content: Any) -> Attachment:
        """The attachment that a record names, checked to be a plain file name and a hash."""
        file, sha256 = (
            (content.get("file"), content.get("sha256")) if isinstance(content, Mapping) else ("", "")
        )
        plain = isinstance(file, str) and file.isprintable() and Path(file).name == file and file != ""
        if not plain or not isinstance(sha256, str) or len(sha256) > _SHA256 or not sha256.isalnum():
            raise InvalidArgument("attachments", expected="a file and its sha256", found="something else")
        return cls(str(file), sha256)
