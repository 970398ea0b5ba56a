"""Compiled functions: they call one another, and do without a folder for their machine code."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veil.core.numerics.compiled import compiled


@compiled
def _square(x: float) -> float:
    return x * x


@compiled
def _sum_of_squares(numbers: int) -> float:
    """Add them up."""
    total = 0.0
    for x in range(numbers):
        total += _square(float(x))
    return total


def test_compiled_functions_call_one_another() -> None:
    assert _sum_of_squares(4) == 14.0
    assert _sum_of_squares.__doc__ == "Add them up."


def test_without_a_folder_for_the_cache() -> None:
    # Numba finds no place for the machine code of a function that is in no file.
    namespace: dict[str, Callable[[int], int]] = {}
    exec("def double(x):\n    return 2 * x", namespace)
    assert compiled(namespace["double"])(21) == 42


def test_a_full_disk_fails_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def full(*_: Any, **__: Any) -> None:
        asked.append("disk")
        raise OSError(28, "No space left on device")

    def tripled(value: int) -> int:
        return 3 * value

    kernel = compiled(tripled)
    # The folder was writable when the function was first used; now nothing can be read or written.
    _ = kernel._machine_code
    for target in (
        "numba.core.caching.IndexDataCacheFile._load_data",
        "numba.core.caching.IndexDataCacheFile._save_data",
        "tempfile.TemporaryFile",
    ):
        monkeypatch.setattr(target, full)
    assert kernel(14) == 42
    assert len(asked) == 2


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from caller import doubled
print(doubled({argument}))
"""


def run_kernel(folder: Path, argument: str) -> str:
    """What a process of its own computes, with the machine code that earlier processes left behind."""
    program = PROGRAM.format(folder=str(folder), argument=argument)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_machine_code_follows_a_change_in_a_called_function(tmp_path: Path) -> None:
    heading = "from veil.core.numerics.compiled import compiled\n"
    called = heading + "@compiled\ndef times(value):\n    return {} * value\n"
    (tmp_path / "called.py").write_text(called.format(2))
    (tmp_path / "caller.py").write_text(
        heading + "from called import times\n@compiled\ndef doubled(value):\n    return times(value)\n"
    )
    assert run_kernel(tmp_path, "21") == "42\n"
    # A second kind of argument has machine code of its own, under a name that no other can take.
    assert run_kernel(tmp_path, "0.25") == "0.5\n"
    names = {path.name.split("-")[0] for path in tmp_path.glob("__pycache__/*.nbc")}
    assert names == {"caller.doubled", "called.times"}
    assert len(list(tmp_path.glob("__pycache__/caller*.nbc"))) == 2
    assert not list(tmp_path.glob("__pycache__/*.nbi"))
    (tmp_path / "called.py").write_text(called.format(3))
    assert run_kernel(tmp_path, "21") == "63\n"
