"""The process that computes plans: where it works, and when it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

_ASKS = """
import os, sys, time
from veil.studio.planning import Plans

if __name__ == "__main__":
    plans = Plans(sys.argv[1])
    print(plans._submitted(os.getcwd, ()).result(), plans._submitted(os.getpid, ()).result(), flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_it_ends_with_the_server_that_was_killed(tmp_path: Path) -> None:
    script, folder = tmp_path / "asks.py", tmp_path / "empty"
    script.write_text(_ASKS)
    folder.mkdir()
    order = [sys.executable, str(script), str(folder)]
    with subprocess.Popen(order, stdout=subprocess.PIPE, text=True) as asks:
        assert asks.stdout is not None
        place, number = asks.stdout.readline().split()
        assert place == str(folder)
        assert int(number) != asks.pid
        asks.send_signal(signal.SIGKILL)
        asks.wait()
        # The output ends when the last process has ended that inherited it.
        assert asks.stdout.read() == ""
