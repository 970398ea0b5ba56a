"""Released matrices as Markov chains, as tables and as cards of a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.intake import Labels, NamedMatrix
from veil.core.record import MOST_SHOWN, Release, checked_release
from veil.matrices.chain import Chain
from veil.vectors.array_kind import numbered


def to_chain(release: Release[Any]) -> Chain:
    """The released value as a Markov chain, ready to be analysed.

    A released chain is returned; a square matrix of transitions becomes one.
    """
    checked_release(release)
    value = release.value
    if isinstance(value, Chain):
        return value
    shape: tuple[int, ...] = getattr(value, "shape", ())
    if release.kind.name != "matrix" or len(shape) != 2 or shape[0] != shape[1]:
        found = f"shape {shape} of {release.domain.words}" if shape else release.domain.words
        raise InvalidArgument("value", expected="a square matrix of transitions", found=found)
    return Chain(NamedMatrix(value, release.row_labels, release.labels))


def matrix_lines(
    matrix: Floats, row_labels: Labels | None, labels: Labels | None
) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    """The header and the lines of a table whose first column names the rows."""
    names, columns = row_labels or numbered(len(matrix)), labels or numbered(matrix.shape[1])
    lines = [[name, *map(repr, row)] for name, row in zip(names, matrix.tolist(), strict=True)]
    return ["from", *columns], lines


def matrix_card(matrix: Floats, row_labels: Labels | None, labels: Labels | None) -> str:
    """The rows of a small HTML table with shades."""
    height, width = matrix.shape
    columns = (labels or numbered(width))[:MOST_SHOWN]
    names = (row_labels or numbered(height))[:MOST_SHOWN]
    text = f"<tr><th></th>{''.join(f'<th>{escape(label)}</th>' for label in columns)}</tr>"
    for name, row in zip(names, matrix[:MOST_SHOWN, :MOST_SHOWN], strict=True):
        cells = "".join(
            f"<td style='background:rgba(0,114,178,{0.7 * entry:.2f})'>{entry:.3f}</td>" for entry in row
        )
        text += f"<tr><th>{escape(name)}</th>{cells}</tr>"
    if max(height, width) > MOST_SHOWN:
        text += f"<tr><td>of {height} x {width}</td></tr>"
    return text
