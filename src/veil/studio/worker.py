"""The process that makes one release: the only one that reads the data.

It runs the same command that a user would type in, so that charging, keeping and stopping are those of the
command line. Its steps, and what it asks of the data, are appended to a file that outlives the workbench.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from veil.cli.charging import CHARGING
from veil.core.progress import telling
from veil.tables.trace import bytes_read, tracing


class Diary:
    """What a release did, one line of JSON for each step."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._before: int | None = None
        self._write({"process": f"{os.getpid()}"})

    def step(self, text: str) -> None:
        """A step of the release; before it is charged all of the data was read."""
        if text == CHARGING and self._before is not None:
            self._write({"read": f"{bytes_read() - self._before}"})
        self._write({"step": text})

    def question(self, source: str, text: str) -> None:
        """Something that is asked of the data."""
        if self._before is None:
            self._before = bytes_read()
        self._write({"source": source, "asked": text})

    def _write(self, line: dict[str, str]) -> None:
        os.write(self._handle, (json.dumps(line, ensure_ascii=False) + "\n").encode())


def main() -> None:
    """Run the command that is given as JSON on standard input; it may hold passwords, so not as arguments."""
    from veil.cli.app import run

    order = json.load(sys.stdin)
    diary = Diary(Path(order["diary"]))
    with telling(diary.step), tracing(diary.question):
        run(order["arguments"])


if __name__ == "__main__":
    main()
