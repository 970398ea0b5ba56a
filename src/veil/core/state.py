"""Where Veil keeps what belongs to one user of one machine, and to no dataset."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from veil.core.errors import InvalidArgument


def state_folder(*names: str) -> Path | None:
    """A folder for this purpose, made for its owner alone; None where there is no place for one.

    VEIL_STATE names the place; otherwise it is veil/ in XDG_STATE_HOME, or in ~/.local/state.
    """
    place = state_place()
    if place is None:
        return None
    folder = place.joinpath(*names)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def state_place() -> Path | None:
    """The folder of all of it, which may not be there yet."""
    stated = os.environ.get("VEIL_STATE")
    if stated is not None:
        if not stated.strip():
            raise InvalidArgument(
                "VEIL_STATE", expected="a folder, or that it is not set", found="an empty text"
            )
        return Path(stated).absolute()
    usual = os.environ.get("XDG_STATE_HOME", "")
    if Path(usual).is_absolute():
        return Path(usual) / "veil"
    with suppress(RuntimeError):
        return Path.home() / ".local" / "state" / "veil"
    return None
