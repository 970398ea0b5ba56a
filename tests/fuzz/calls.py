"""Calls of public entry points in which some arguments are replaced by others that make no sense."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from .entry import Arguments, Entry
from .odd_values import anything

# Between these a size is honest work for minutes, as None may be; beyond, it must be refused.
_WORK = 50, 2_000_000_000


@st.composite
def spoiled(draw: Any, entry: Entry) -> Arguments:
    """Good arguments of an entry, of which one to three are anything."""
    arguments = entry.good()
    names = [*arguments, *entry.more]
    if not names:
        return arguments
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)):
        value: Any = draw(anything)
        if name in entry.heavy:
            assume(value is not None)
            if isinstance(value, (int, float, np.integer, np.floating)):
                low, high = _WORK
                assume(not low < value < high)
        arguments[name] = value
    return arguments
