"""Where a result is kept that could not be written where it was asked for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from veil.core.errors import InvalidArgument, VeilError
from veil.core.state import state_place
from veil.core.writing import SENSITIVE, write_text


def folders() -> Iterator[Path]:
    """The folders that are tried: that of the user's state, then the temporary one."""
    # Where VEIL_STATE is set to nothing there is still the other one.
    with suppress(InvalidArgument):
        place = state_place()
        if place is not None:
            yield place / "kept"
    yield Path(tempfile.gettempdir()) / f"veil-kept-{os.getuid() if hasattr(os, 'getuid') else 0}"


def kept_elsewhere(text: str, name: str) -> Path | str:
    """Write the record to the first folder that takes it, readable by its owner alone. name: a new one.

    Returns the path; or, as text, why none took it.
    """
    faults = []
    for folder in folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_of_another(folder):
                faults.append(f"{folder}: it belongs to another user")
                continue
            path = folder / f"{name}.json"
            write_text(path, text, overwrite=False, mode=SENSITIVE)
            return path.absolute()
        except OSError as error:
            faults.append(f"{folder}: {error.strerror or type(error).__name__}")
        except VeilError as error:
            faults.append(f"{folder}: {getattr(error, 'found', type(error).__name__)}")
    return "; ".join(faults)


def _is_of_another(folder: Path) -> bool:
    """In the temporary folder somebody else may have made it, to read or to swap what is written."""
    return hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()
