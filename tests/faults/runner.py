"""A process that runs tests under one mutant after another: what they import is imported once.

`python -m tests.faults.runner`, from the root of the repository. A line of input is a job in JSON: arguments
of pytest, environment variables, a file for what is printed, and the most seconds. Each job runs in a forked
process of its own, so that no fault outlives it; a line of output is its exit code.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any


def _import_much() -> None:
    """All of our modules, and what nearly every test imports besides. Not the plugins of pytest."""
    import mpmath
    import networkx
    import pandas
    import scipy.stats

    from tests.faults import mutants

    _ = mpmath, networkx, pandas, scipy.stats, mutants
    from tests.faults.planting import modules

    modules()


def _run(job: dict[str, Any]) -> int:
    import pytest

    signal.alarm(int(job["seconds"]))
    printed = os.open(job["printed"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(printed, stream)
    os.environ.update(job["environment"])
    return int(pytest.main(job["arguments"]))


def main() -> None:
    _import_much()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = 3
            try:
                code = _run(json.loads(line))
            finally:
                # Without the ends of the parent's: its standard input is still being read.
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
