"""Released matrices as Markov chains."""

from __future__ import annotations

from typing import Any

from veil.core.errors import InvalidArgument
from veil.core.intake import NamedMatrix
from veil.core.record import Release, checked_release
from veil.matrices.chain import Chain


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
