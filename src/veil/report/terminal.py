"""Lines for people, on standard output or standard error: the one place where commands print text."""

from __future__ import annotations

import sys

from veil.core.text import visible


def say(*lines: str, error: bool = False) -> None:
    """Print lines; characters that would steer the terminal are shown by their numbers.

    error: on standard error. A stream that is closed is not written to.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is not None:
        for line in lines:
            print(visible(line), file=stream)
