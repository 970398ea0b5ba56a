"""`veil ledger` and `veil audit` with senseless options, and on files that are something else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import veil
from veil.core.files import to_json

from .books import clear, folder, forget, good_exports, good_file
from .byte_changes import changed
from .commands import Done, check_manners, command
from .entry import good_release
from .json_values import changed_records
from .profiles import tries
from .readers import record_values
from .test_commands import _NUMBERS

# Besides the usual ones: what is out of reach. A violation (5) would be a false alarm.
_OUT_OF_REACH = 6
# Where an address is expected it is not repeated: it may hold a password.
_ADDRESS = "mysql://me:Zanzibar@nowhere/x"
_VALUES = (
    *_NUMBERS,
    "budget.db",
    "sqlite:///budget.db",
    "sqlite://",
    "postgresql://",
    _ADDRESS,
    "no/where.json",
    "out.json",
    "out.svg",
    "trips",
    "zones",
    "old",
    "a,b",
    "a,a",
    "zcdp",
    "renyi",
    "user",
    "transfer:0.1",
    "words:1",
    "x" * 300,
    "a\nb",
    "\x1b[2J",
    ".",
)
# Arguments that work, and the options that may be put beside them.
ACTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "open": (
        ("open", "budget.db", "new", "-e", "1"),
        ("-e", "-d", "--adjacency", "--accounting", "--parts", "--why", "--by"),
    ),
    "show": (("show", "budget.db"), ("--last", "--plot")),
    "show one": (("show", "budget.db", "trips"), ("--last", "--plot")),
    "raise": (("raise", "budget.db", "trips", "--why", "approved", "-e", "9"), ("-e", "-d", "--why", "--by")),
    "close": (("close", "budget.db", "trips", "--why", "over"), ("--why", "--by")),
    "verify": (("verify", "budget.db"), ("--against", "--release")),
    "export": (("export", "budget.db", "-o", "out.json"), ("-o",)),
}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with folder() as made:
        yield made


def _fresh(place: Path) -> Path:
    for path in place.iterdir():
        path.unlink()
    forget()
    (place / "budget.db").write_bytes(good_file())
    return place


def _state(place: Path) -> dict[str, Any]:
    ledger = veil.Ledger(place / "budget.db")
    try:
        ledger.verify()
        return {name: content["chain"] for name, content in ledger.export()["datasets"].items()}
    finally:
        ledger._store.close()


def _beside(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()} - {"budget.db", "budget.db-journal"}


def _check_refusal(done: Done, secret: str | None = None) -> None:
    """As of any command; a ledger may be out of reach besides, and SQLite keeps files beside it."""
    done.made -= {"budget.db-journal"}
    if not done.err and ("NOT CHARGED AS IT SAYS" in done.out or '"verified": false' in done.out):
        # That is no refusal but the answer.
        assert (done.code, done.made) == (4, set())
        return
    if done.code == _OUT_OF_REACH:
        done.code = 4
    check_manners(done, secret=secret)


@pytest.mark.parametrize("act", ACTS)
def test_good_arguments_are_taken(act: str, place: Path) -> None:
    assert command(_fresh(place), "ledger", *ACTS[act][0]).code == 0


@pytest.mark.parametrize("act", ACTS)
@tries(15, data=st.data())
def test_senseless_options(act: str, place: Path, data: st.DataObject) -> None:
    _fresh(place)
    before = _state(place)
    arguments, options = list(ACTS[act][0]), ACTS[act][1]
    if data.draw(st.booleans()):
        # An argument that is named by its place: the ledger, or the dataset.
        arguments[data.draw(st.integers(1, min(2, len(arguments) - 1)))] = data.draw(st.sampled_from(_VALUES))
    for option in data.draw(st.lists(st.sampled_from(options), max_size=3)):
        arguments += [option, data.draw(st.sampled_from(_VALUES))]
    if data.draw(st.booleans()):
        arguments.append("--json")
    done = command(place, "ledger", *arguments)
    if "--json" in arguments and not done.err:
        # Whatever came of it, in one object; a script reads the error there.
        said = json.loads(done.out)
        done.err = f"veil: {said['error']['message']}" if "error" in said else ""
    if done.code != 0:
        hidden = arguments[1] == _ADDRESS and arguments.count(_ADDRESS) == 1
        _check_refusal(done, "Zanzibar" if hidden else None)
        assert _state(place) == before
        assert _beside(place) == set()
    else:
        for name, chain in before.items():
            assert _state(place)[name][: len(chain)] == chain


@pytest.mark.parametrize("act", ACTS)
@tries(6, content=changed(lambda: [good_file()]))
def test_broken_files(act: str, place: Path, content: bytes) -> None:
    _fresh(place)
    (place / "budget.db").write_bytes(content)
    done = command(place, "ledger", *ACTS[act][0])
    if done.code != 0:
        _check_refusal(done)


@tries(
    25,
    text=changed_records(lambda: [*map(json.loads, good_exports()), *record_values()]),
    option=st.sampled_from(("--against", "--release")),
)
def test_changed_files_to_verify_with(place: Path, text: str, option: str) -> None:
    _fresh(place)
    (place / "other.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    done = command(place, "ledger", "verify", "budget.db", option, "other.json")
    if done.code != 0:
        _check_refusal(done)


_AUDIT = ("--samples", "-d", "--confidence", "--seed", "--report")


@pytest.mark.slow
@tries(
    25,
    options=st.dictionaries(
        st.sampled_from(_AUDIT),
        st.sampled_from((*_NUMBERS, "1000", "0.9", "x.html", "out.svg", ".")),
        max_size=3,
    ),
)
def test_audits_with_senseless_options(place: Path, options: dict[str, str]) -> None:
    _fresh(place)
    (place / "private.json").write_text(to_json(good_release("word")))
    # So few draws that it takes a moment.
    given_options = {"--samples": "1000", "--seed": "1"} | options
    done = command(place, "audit", "private.json", *(part for pair in given_options.items() for part in pair))
    check_manners(done)
    if done.code == 0:
        assert done.made <= {"x.html"}


@pytest.mark.slow
@tries(15, text=changed_records(record_values))
def test_audits_of_changed_records(place: Path, text: str) -> None:
    _fresh(place)
    (place / "private.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    done = command(place, "audit", "private.json", "--samples", "1000", "--seed", "1")
    check_manners(done)
    assert done.made == set()


def test_a_ledger_is_not_made_by_looking(place: Path) -> None:
    _fresh(place)
    clear(place / "budget.db")
    for act in ("show", "verify", "export", "raise", "close"):
        done = command(place, "ledger", *ACTS[act][0])
        assert done.code == _OUT_OF_REACH
        assert done.made == set()
