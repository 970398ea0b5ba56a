"""What goes wrong in a team, as errors."""

from __future__ import annotations

from veil.core.errors import VeilError


class NotHere(VeilError):
    """There is no such thing, or it is not for this account: both look the same."""

    exit_code = 2


class NotAllowed(VeilError):
    """The account is not allowed to do this, and may know that it could be done."""

    exit_code = 2
