"""The hash that stands for the result of a release: what a ledger binds to the charge."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veil.core.record import Release


def result_digest(release: Release[Any]) -> str:
    """The SHA-256 of what was released: the value, its tables and labels, and the files beside the record.

    It is that of a canonical JSON text (sorted keys, no spaces, ASCII) with the fields "kind", "value",
    "tables", "labels", "row_labels" and "attachments". It does not depend on how a file is laid out, and a
    release that is saved and loaded has the same one. What a release costs and assumes is not part of it: the
    ledger's own entry says that.
    """
    content = {
        "kind": release.kind.name,
        "value": release.kind.digested(release),
        "labels": None if release.labels is None else list(release.labels),
        "row_labels": None if release.row_labels is None else list(release.row_labels),
        **release.kind.digested_parts(release),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
