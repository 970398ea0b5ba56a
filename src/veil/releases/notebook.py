"""How a release shows itself in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from veil.releases.record import Release

_MOST_ROWS = 12


def release_card(release: Release) -> str:
    """A small table of the value with bars, and the guarantee under it."""
    vector = np.atleast_2d(release.value)[0]
    labels = release.labels or tuple(str(i) for i in range(len(vector)))
    widest = float(vector.max()) or 1.0
    rows = "".join(
        f"<tr><td>{escape(label)}</td><td style='text-align:right'>{entry:.4f}</td><td>"
        f"<div style='background:#0072b2;height:.8em;width:{120 * entry / widest:.0f}px'></div></td></tr>"
        for label, entry in list(zip(labels, vector, strict=True))[:_MOST_ROWS]
    )
    more = len(vector) - _MOST_ROWS
    if more > 0:
        rows += f"<tr><td colspan='3'>and {more} more</td></tr>"
    if release.value.ndim > 1:
        rows += f"<tr><td colspan='3'>the first of a batch of shape {release.value.shape}</td></tr>"
    notes = "".join(f"<li>Assumes: {escape(text)}.</li>" for text in release.assumptions)
    if release.reproducible:
        notes += "<li><b>Not private:</b> drawn from a seed.</li>"
    return (
        f"<div><b>veil release</b> by {escape(release.mechanism.name)}: "
        f"&epsilon; = {release.epsilon:.4g}, &delta; = {release.delta:.3g}"
        f"<table>{rows}</table><p>{escape(release.guarantee)}</p><ul>{notes}</ul></div>"
    )
