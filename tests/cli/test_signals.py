"""Signals in the command line: what was registered is done, and the former handlers come back."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from veil.cli.signals import STOPPING, listening, on_stop

TOLD = """
import os, signal
from veil.cli.signals import listening, on_stop
def fails():
    print("second", flush=True)
    raise RuntimeError("hush")
on_stop(lambda: print("last", flush=True))
on_stop(fails)
forget = on_stop(lambda: print("never", flush=True))
on_stop(lambda: print("first", flush=True))
forget()
forget()
with listening():
    os.kill(os.getpid(), signal.{name})
    print("not reached", flush=True)
"""


@pytest.mark.parametrize("number", STOPPING)
def test_everything_registered_is_done_last_first(number: signal.Signals) -> None:
    code = TOLD.replace("{name}", number.name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "first\nsecond\nlast\n", "")


def test_handlers_come_back() -> None:
    def own(number: int, frame: object) -> None:
        """A handler of a program that uses Veil."""

    former = {one: signal.getsignal(one) for one in STOPPING}
    try:
        signal.signal(signal.SIGTERM, own)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        # Of others, and as under nohup: they stay.
        with listening():
            assert signal.getsignal(signal.SIGTERM) is own
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with listening():
            assert callable(signal.getsignal(signal.SIGTERM))
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)


def test_a_thread_leaves_handlers_alone() -> None:
    seen: list[object] = []

    def work() -> None:
        with listening():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


@pytest.mark.slow
def test_the_library_alone_changes_no_handler() -> None:
    code = (
        "import signal, veil\n"
        "before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]\n"
        "veil.chains.read({'o': ['a', 'b'], 'd': ['b', 'a']}, origin='o', destination='d')\n"
        "assert before == [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    forget = on_stop(lambda: None)
    forget()
