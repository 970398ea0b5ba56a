"""A release that was paid for is kept, whatever fails after the charge."""

from __future__ import annotations

import errno
import importlib
import io
import json
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.cli.conftest import Done, Run
from veil.cli import keeping, second_place
from veil.core import writing
from veil.core.digest import result_digest
from veil.ledger.dataset import Dataset
from veil.ledger.ledger import Ledger
from veil.vectors.kind import VectorKind

VECTOR = ("release", "vector", "grades.csv", "-e", "0.5")
CHARGED = ("--ledger", "budget.db", "--dataset", "grades")


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("VEIL_STATE", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def budget(folder: Path) -> Dataset:
    (folder / "grades.csv").write_text("grade,count\nA,31\nB,28\nC,21\n")
    return Ledger(str(folder / "budget.db")).open("grades", epsilon=5)


def _kinds(budget: Dataset) -> list[str]:
    return [entry.kind for entry in budget.entries()]


def _kept(state: Path) -> list[Path]:
    return list((state / "kept").glob("*.json"))


def _fail(times: int, number: int = errno.ENOSPC, real: Callable[..., Any] | None = None) -> Any:
    """A function that fails so many times as a full disk does, and then works."""
    left = [times]

    def call(*arguments: Any, **options: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise OSError(number, os.strerror(number))
        return None if real is None else real(*arguments, **options)

    return call


# Every step of writing a file.
STEPS = {
    "making a file": ("tempfile.mkstemp", errno.EACCES),
    "writing": ("Path.write_text", errno.ENOSPC),
    "permissions": ("os.chmod", errno.EPERM),
    "reaching the disk": ("os.fsync", errno.EIO),
    "renaming": ("os.replace", errno.EXDEV),
}


def _break(monkeypatch: pytest.MonkeyPatch, step: str, times: int) -> None:
    place, number = STEPS[step]
    module, name = place.split(".")
    owner = getattr(writing, module)
    monkeypatch.setattr(owner, name, _fail(times, number, getattr(owner, name)))


@pytest.mark.slow_for("writing", "making a file")
@pytest.mark.parametrize("step", STEPS)
def test_a_result_that_cannot_be_written_is_kept_elsewhere(
    run: Run, budget: Dataset, state: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    # From here on, so that the ledger itself is not hit.
    real = Dataset.reserve_charge

    def charged(self: Dataset, charge: Any) -> Any:
        entry = real(self, charge)
        _break(monkeypatch, step, 1)
        return entry

    monkeypatch.setattr(Dataset, "reserve_charge", charged)
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 7
    (path,) = _kept(state)
    assert "charged as grades/2, but out.json could not be written" in done.err
    assert str(path) in done.err
    assert not Path("out.json").exists()
    assert not list(Path().glob(".*"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    out = veil.load(path)
    assert str(out.entry) == "grades/2"
    assert _kinds(budget) == ["open", "reserve", "confirm"]
    assert budget.entries()[-1].content["result"] == result_digest(out)


@pytest.mark.parametrize("step", STEPS)
def test_without_a_ledger_the_same_applies(
    run: Run, budget: Dataset, state: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    _break(monkeypatch, step, 1)
    done = run(*VECTOR, "-o", "out.json", "--json")
    assert done.code == 7
    (path,) = _kept(state)
    error = done.json["error"]
    assert error["kind"] == "ResultKept"
    assert (error["entry"], error["kept"]) == (None, str(path))
    assert error["message"].startswith("the release was made, but out.json could not be written")


def test_a_table_is_kept_with_its_record_when_the_record_fails(
    run: Run, budget: Dataset, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.replace, []

    def second(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*arguments)

    monkeypatch.setattr(os, "replace", second)
    done = run(*VECTOR, *CHARGED, "-o", "out.csv")
    assert done.code == 7
    assert len(_kept(state)) == 1
    assert Path("out.csv").exists()


def test_where_no_folder_takes_it_the_record_goes_to_standard_output(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", _fail(99))
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 7
    assert done.json["entry"]["number"] == 2
    assert "the result is kept in standard output" in done.err


class Broken(io.StringIO):
    """A stream on a full disk, or whose reader has gone."""

    number = errno.ENOSPC

    def write(self, text: str) -> int:
        raise OSError(self.number, os.strerror(self.number))


class Gone(Broken):
    number = errno.EPIPE


def _with_output(run: Run, stream: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Done:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        return run(*arguments)


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("stream", [Broken, Gone])
def test_standard_output_that_fails_is_the_same_as_a_full_disk(
    run: Run,
    budget: Dataset,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: type[Broken],
    more: tuple[str, ...],
) -> None:
    done = _with_output(run, stream(), monkeypatch, *VECTOR, *CHARGED, "--no-output", *more)
    assert done.code == 7
    (path,) = _kept(state)
    assert "charged as grades/2, but standard output could not be written" in done.err
    assert str(path) in done.err
    assert veil.load(path).entry.number == 2


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_where_nothing_works_the_charge_is_said(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr(os, "replace", _fail(99))
    done = _with_output(run, Broken(), monkeypatch, *VECTOR, *CHARGED, "-o", "out.json", *more)
    assert done.code == 8
    assert "charged as grades/2, and the result could not be kept: out.json" in done.err
    # Not made as far as anybody knows.
    assert _kinds(budget) == ["open", "reserve"]


@pytest.mark.parametrize(("stream", "code"), [(Broken, 7), (Gone, 0)])
def test_the_result_in_its_file_is_not_lost_with_the_output(
    run: Run, budget: Dataset, state: Path, monkeypatch: pytest.MonkeyPatch, stream: type[Broken], code: int
) -> None:
    done = _with_output(run, stream(), monkeypatch, *VECTOR, *CHARGED, "-o", "out.json", "--json")
    assert done.code == code
    assert ("the result is kept in out.json" in done.err) == (code == 7)
    assert veil.load("out.json").entry.number == 2
    assert not _kept(state)


@pytest.mark.slow
def test_an_output_that_is_closed_is_refused_before_the_charge(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = _with_output(run, None, monkeypatch, *VECTOR, *CHARGED, "--no-output")
    assert done.code == 2
    assert "standard output is closed" in done.err
    assert _kinds(budget) == ["open"]
    assert _with_output(run, None, monkeypatch, *VECTOR, *CHARGED, "-o", "out.json").code == 0
    # JSON about what is wrong would reach nobody either.
    wrong = _with_output(run, None, monkeypatch, *VECTOR, *CHARGED, "--json")
    assert (wrong.code, "standard output is closed" in wrong.err) == (2, True)


def test_room_is_set_aside_before_the_charge(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", _fail(1))
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 2
    assert "expected a folder with room for" in done.err
    assert _kinds(budget) == ["open"]
    # A file system that cannot set room aside is no reason to refuse.
    monkeypatch.setattr(os, "posix_fallocate", _fail(1, errno.EOPNOTSUPP))
    assert run(*VECTOR, *CHARGED, "-o", "out.json").code == 0


def test_a_report_that_fails_leaves_the_record(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> str:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(VectorKind, "page", broken)
    done = run(*VECTOR, *CHARGED, "-o", "out.json", "--report", "out.html")
    assert done.code == 7
    assert "out.html could not be written (ZeroDivisionError); the result is kept in out.json" in done.err
    assert _kinds(budget) == ["open", "reserve", "confirm"]
    # Where it is the only file, the record is kept elsewhere.
    assert run(*VECTOR, *CHARGED, "--report", "other.html").code == 7


def test_a_draw_that_fails_says_that_it_was_charged(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(veil.vectors.GeometricCounts, "_noisy", broken)
    done = run(*VECTOR, *CHARGED, "-o", "out.json", "--json")
    assert done.code == 8
    assert done.json["error"]["message"] == "charged as grades/2, and there is no result: MemoryError."
    assert done.json["error"]["entry"]["number"] == 2


def test_a_ledger_that_falls_silent_afterwards_does_not_hide_the_result(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: Dataset) -> Any:
        raise veil.errors.LedgerUnavailable("gone")

    monkeypatch.setattr(Dataset, "spent", property(gone))
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 0
    assert "Charged to grades." in done.out


def test_the_folders_that_are_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VEIL_STATE", "/state")
    assert next(second_place.folders()) == Path("/state/kept")
    monkeypatch.delenv("VEIL_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg")
    assert next(second_place.folders()) == Path("/xdg/veil/kept")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/ann")
    assert next(second_place.folders()) == Path("/home/ann/.local/state/veil/kept")
    # Nobody has a home, as a service may not.
    monkeypatch.setattr(Path, "home", lambda: Path("~nobody-at-all").expanduser())
    assert [folder.parent for folder in second_place.folders()] == [Path(tempfile.gettempdir())]


# Signals


@pytest.fixture
def handlers() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    assert {number: signal.getsignal(number) for number in numbers} == before


def _signal_at(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: int, *, times: int = 1
) -> None:
    """Let a signal arrive in the middle of a step."""
    real, left = getattr(owner, name), [times]

    def call(*arguments: Any, **options: Any) -> Any:
        while left[0]:
            left[0] -= 1
            signal.raise_signal(number)
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, call)


BEFORE = [("veil.vectors.requests:read_vectors", "reading"), ("veil.cli.releasing:Room", "making room")]
AFTER = [
    (veil.vectors.GeometricCounts, "_noisy"),
    (keeping.Keeper, "_write"),
    (os, "fsync"),
    (os, "replace"),
    (Dataset, "confirm_release"),
]
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


@SIGNALS
@pytest.mark.parametrize("place", BEFORE, ids=str)
@pytest.mark.usefixtures("handlers")
def test_before_the_charge_a_signal_stops_at_once(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch, place: tuple[str, str], number: int
) -> None:
    module, name = place[0].split(":")
    _signal_at(monkeypatch, importlib.import_module(module), name, number)
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 128 + number
    assert done.err == "veil: stopped; nothing was charged.\n"
    assert _kinds(budget) == ["open"]
    assert not Path("out.json").exists()
    _signal_at(monkeypatch, importlib.import_module(module), name, number)
    assert run(*VECTOR, "-o", "out.json").err == "veil: stopped; nothing was released.\n"


@pytest.mark.mostly_slow(quick=3)
@SIGNALS
@pytest.mark.parametrize(("owner", "name"), AFTER, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.usefixtures("handlers")
def test_after_the_charge_the_result_is_kept_first(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: int
) -> None:
    _signal_at(monkeypatch, owner, name, number)
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 128 + number
    assert done.err.endswith("veil: stopped; charged as grades/2; the result is out.json.\n")
    assert veil.load("out.json").entry.number == 2
    assert _kinds(budget) == ["open", "reserve", "confirm"]


@pytest.mark.usefixtures("handlers")
def test_a_signal_during_the_charge_waits(run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    _signal_at(monkeypatch, Dataset, "reserve_charge", signal.SIGTERM)
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 143
    assert "charged as grades/2" in done.err
    # Refused all the same, nothing is charged.
    done = run("release", "vector", "grades.csv", "-e", "50", *CHARGED, "-o", "other.json")
    assert done.code == 3
    assert _kinds(budget) == ["open", "reserve", "confirm"]


@pytest.mark.usefixtures("handlers")
def test_a_second_signal_gives_the_result_up_and_says_so(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _signal_at(monkeypatch, veil.vectors.GeometricCounts, "_noisy", signal.SIGINT, times=2)
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 8
    assert "charged as grades/2, and there is no result" in done.err
    assert _kinds(budget) == ["open", "reserve"]


@pytest.mark.usefixtures("handlers")
def test_a_second_request_of_the_system_waits_as_well(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _signal_at(monkeypatch, veil.vectors.GeometricCounts, "_noisy", signal.SIGTERM, times=3)
    assert run(*VECTOR, *CHARGED, "-o", "out.json").code == 143
    assert veil.load("out.json").entry.number == 2


@pytest.mark.usefixtures("handlers")
def test_stopped_twice_during_the_charge_nobody_knows(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _signal_at(monkeypatch, Dataset, "reserve_charge", signal.SIGINT, times=2)
    done = run(*VECTOR, *CHARGED, "-o", "out.json")
    assert done.code == 8
    assert "veil ledger show says whether it was made" in done.err


@pytest.mark.usefixtures("handlers")
def test_a_signal_while_the_report_is_drawn(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    _signal_at(monkeypatch, VectorKind, "page", signal.SIGINT)
    done = run(*VECTOR, *CHARGED, "-o", "out.json", "--report", "out.html")
    assert done.code == 130
    assert "charged as grades/2; the result is out.json" in done.err


def test_handlers_of_others_run_and_ignored_signals_stay_ignored(
    run: Run, budget: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    before = signal.signal(signal.SIGTERM, lambda *_: called.append("cleaned"))
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        _signal_at(monkeypatch, veil.vectors.requests, "read_vectors", signal.SIGHUP)
        assert run(*VECTOR, "-o", "out.json").code == 0
        _signal_at(monkeypatch, veil.vectors.requests, "read_vectors", signal.SIGTERM)
        assert run(*VECTOR, "-o", "other.json").code == 143
        assert called == ["cleaned"]
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, ignored)


def test_nothing_is_kept_of_the_random_numbers(run: Run, budget: Dataset, state: Path) -> None:
    done = run(*VECTOR, *CHARGED, "--json", "--seed", "123456789")
    assert "123456789" not in json.dumps(done.json)
    assert "123456789" not in "".join(entry.body for entry in budget.entries())
