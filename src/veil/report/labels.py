"""Labels that are too long for a picture or a terminal."""

from __future__ import annotations

from collections.abc import Sequence

# Longer ones are cut even where two of them then look the same.
_LONGEST = 50


def short(label: str, most: int = 26) -> str:
    """Long labels often differ at their end only, so the middle goes."""
    end = (most - 6) // 2
    return label if len(label) <= most else f"{label[: most - end - 2]}…{label[-end:]}"


def shorts(labels: Sequence[str], most: int = 26) -> list[str]:
    """All of them short, but never so short that two different ones look the same."""
    found: list[str] = []
    for allowed in range(most, _LONGEST + 1, 4):
        found = [short(label, allowed) for label in labels]
        if len(set(found)) == len(set(labels)):
            break
    return found
