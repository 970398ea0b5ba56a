"""What a released chain holds, beside the chain itself."""

from __future__ import annotations

from typing import Any, cast

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.sequence_model import SequenceModel
from veil.core.checks import shown
from veil.core.errors import InvalidArgument
from veil.core.record import Release, checked_release
from veil.matrices.chain import Chain
from veil.matrices.released import to_chain


def mechanism_of(release: Release[Any]) -> PrivateChain:
    """The mechanism of a release of counted transitions, or an error if it is another release."""
    checked_release(release)
    if not isinstance(release.mechanism, PrivateChain):
        raise InvalidArgument(
            "release", expected="a chain that was counted from a table", found=release.mechanism.name
        )
    return release.mechanism


def model(release: Release[Any]) -> SequenceModel:
    """All that a released chain says of sequences: starts, lengths, the state before the last."""
    mechanism = mechanism_of(release)
    states = cast("Chain", release.value).states
    return release.derived("model", lambda: mechanism.model(release.tables, states))


def group_chain(release: Release[Any], group: str) -> Chain:
    """The chain of one group, where one was released for each."""
    found = model(release).groups if isinstance(checked_release(release).mechanism, PrivateChain) else {}
    if not isinstance(group, str) or group not in found:
        names = ", ".join(list(found)[:8]) + (", ..." if len(found) > 8 else "")
        expected = f"one of {names}" if found else "none, since the release has no groups"
        raise InvalidArgument("group", expected=expected, found=shown(group))
    return found[group]


def sequence_model(release: Release[Any]) -> SequenceModel:
    """The model to draw sequences from: of a counted chain, or of any other released chain."""
    if isinstance(release.mechanism, PrivateChain):
        return model(release)
    return SequenceModel(to_chain(release))
