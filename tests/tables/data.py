"""Real data, where the folder with it is present."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "data"


def real(name: str) -> Path:
    """The path of a file of real data; the test is skipped where there is none."""
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"the real data {name} is not here")
    return path
