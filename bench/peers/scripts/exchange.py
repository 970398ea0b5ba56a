"""Data in and numbers out of a script in a peer's environment."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def given() -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings, and the arrays by name."""
    folder = Path(sys.argv[1])
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    return json.loads((folder / "settings.json").read_text(encoding="utf-8")), arrays


def answer(peer: str, arrays: dict[str, Any] | None = None, **numbers: Any) -> None:
    """Print the numbers with the version of the peer, and leave the arrays in the folder."""
    place = Path(sys.argv[1]) / "out"
    place.mkdir(exist_ok=True)
    for key, array in (arrays or {}).items():
        np.save(place / f"{key}.npy", np.asarray(array))
    print(json.dumps({**numbers, "version": version(peer)}))
