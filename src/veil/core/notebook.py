"""How a release shows itself in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from veil.core.privacy.beliefs import rounded_up
from veil.words.codec import WordsElsewhere

if TYPE_CHECKING:
    from veil.core.record import Release

_MOST_ROWS = 12


def release_card(release: Release) -> str:
    """A small table of the value with bars or shades, and the guarantee under it."""
    if release.is_words:
        rows = _word_rows(release)
    elif release.is_facts or release.graph is not None:
        rows = f"<tr><td>{escape(release.size)}</td></tr>"
    else:
        rows = _matrix_rows(release) if release.is_matrix else _vector_rows(release)
    notes = "".join(f"<li>Assumes: {escape(text)}.</li>" for text in release.assumptions)
    if release.reproducible:
        notes += "<li><b>Not private:</b> drawn from a seed.</li>"
    return (
        f"<div><b>veil release</b> by {escape(release.mechanism.name)}: "
        f"&epsilon; = {rounded_up(release.epsilon)}, &delta; = {rounded_up(release.delta, 3)}"
        f"<table>{rows}</table><p>{escape(release.guarantee)}</p><ul>{notes}</ul></div>"
    )


def _word_rows(release: Release) -> str:
    if isinstance(release.value, WordsElsewhere):
        return f"<tr><td>{len(release.value)} words in {escape(release.value.file)}</td></tr>"
    words = release.batch[:_MOST_ROWS]
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(symbol))}</td>" for symbol in word[:_MOST_ROWS]) + "</tr>"
        for word in words
    )
    more = len(release.batch) - len(words)
    return rows + (f"<tr><td>and {more} more</td></tr>" if more else "")


def _matrix_rows(release: Release) -> str:
    value = release.array[:_MOST_ROWS, :_MOST_ROWS]
    columns = (release.labels or tuple(map(str, range(release.array.shape[1]))))[:_MOST_ROWS]
    names = (release.row_labels or tuple(map(str, range(release.array.shape[0]))))[:_MOST_ROWS]
    head = "".join(f"<th>{escape(label)}</th>" for label in columns)
    text = f"<tr><th></th>{head}</tr>"
    for name, row in zip(names, value, strict=True):
        cells = "".join(
            f"<td style='background:rgba(0,114,178,{0.7 * entry:.2f})'>{entry:.3f}</td>" for entry in row
        )
        text += f"<tr><th>{escape(name)}</th>{cells}</tr>"
    if value.shape != release.array.shape:
        text += f"<tr><td>of {release.array.shape[0]} x {release.array.shape[1]}</td></tr>"
    return text


def _vector_rows(release: Release) -> str:
    vector = release.array.reshape(-1, release.array.shape[-1])[0]
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
    if release.array.ndim > 1:
        rows += f"<tr><td colspan='3'>the first of a batch of shape {release.array.shape}</td></tr>"
    return rows
