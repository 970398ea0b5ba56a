"""Which states of a chain reach each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import VeilError
from veil.core.intake import Names
from veil.matrices.numerics.stationary import period_of_class

Places = NDArray[Any]


class Reducible(VeilError, ValueError):
    """The chain falls apart, so that what was asked for does not exist or is not unique."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class CommunicatingClass:
    """States that reach each other. closed: no way leads out. period: 1 if the class is aperiodic."""

    states: Names
    closed: bool
    period: int


def communicating_classes(
    states: Names, indptr: Places, indices: Places, labels: Places
) -> tuple[CommunicatingClass, ...]:
    """The classes of a chain in compressed rows, the closed ones and the largest first."""
    count = int(labels.max()) + 1
    origins = np.repeat(np.arange(len(states)), np.diff(indptr))
    open_classes = set(labels[origins[labels[origins] != labels[indices]]].tolist())
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1])
    inside, level = np.zeros(len(states), dtype=bool), np.full(len(states), -1)
    found = [
        CommunicatingClass(
            tuple(states[i] for i in members),
            label not in open_classes,
            period_of_class(indptr, indices, members, inside, level),
        )
        for label, members in enumerate(groups)
    ]
    return tuple(sorted(found, key=lambda group: (not group.closed, -len(group.states))))
