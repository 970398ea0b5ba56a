"""How a release shows itself in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from veil.core.privacy.beliefs import rounded_up

if TYPE_CHECKING:
    from veil.core.record import Release

# Rows and columns that a card shows.
MOST_SHOWN = 12


def release_card(release: Release[Any]) -> str:
    """A small table of the value, and the guarantee under it."""
    notes = "".join(f"<li>Assumes: {escape(text)}.</li>" for text in release.assumptions)
    if release.reproducible:
        notes += "<li><b>Not private:</b> drawn from a seed.</li>"
    return (
        f"<div><b>veil release</b> by {escape(release.mechanism.name)}: "
        f"&epsilon; = {rounded_up(release.epsilon)}, &delta; = {rounded_up(release.delta, 3)}"
        f"<table>{release.kind.card(release)}</table><p>{escape(release.guarantee)}</p><ul>{notes}</ul></div>"
    )
