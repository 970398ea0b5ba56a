"""Results as JSON holds them, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_ENDLESS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def plain(value: Any) -> Any:
    """As JSON holds it: numbers without end by their names, arrays as lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"endless": str(value)}
    return value


def back(value: Any) -> Any:
    """What `plain` was given, but for arrays, which stay lists."""
    if isinstance(value, list):
        return [back(item) for item in value]
    return _ENDLESS[value["endless"]] if isinstance(value, dict) else value
