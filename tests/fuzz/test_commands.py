"""Commands on broken files and with senseless options: exit codes 0, 2, 3, 4, one line, no half work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import strategies as st

from .byte_changes import changed
from .commands import check_manners, command
from .json_values import changed_records
from .profiles import tries
from .readers import READERS, SECRET, record_values

_LOG = ("--by", "who", "--order", "when", "--state", "where")
# What each kind of file is handed to; the input follows.
COMMANDS = {
    "vector .csv": ("release", "vector", "-m", "geometric", "-e", "1"),
    "vector .json": ("release", "vector", "-m", "geometric", "-e", "1"),
    "matrix .csv": ("release", "matrix", "--transfer", "0.05", "-m", "laplace", "-e", "1"),
    "matrix .json": ("chain",),
    "trips .csv": ("release", "chain", "--from", "origin", "--to", "destination", "-e", "1"),
    "log .csv": ("release", "chain", *_LOG, "--unit", "user", "--cap", "2", "-e", "1"),
    "words .csv": ("release", "words", *_LOG, "-m", "exponential", "-e", "2"),
    "walks .txt": ("release", "chain", "--sequences", "--unit", "row", "-e", "1"),
    "bits .csv": ("release", "bits", "-e", "2"),
    "edges .txt": ("release", "graph", "-e", "2"),
    "support .csv": ("plan", "words", "--length", "3", "-e", "2", "--chain"),
}
_WRITES = {name for name, arguments in COMMANDS.items() if arguments[0] == "release"}
# Numbers that make no sense, or are honest work only if small.
_NUMBERS = (
    "0",
    "-1",
    "1",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e-400",
    "abc",
    "",
    "9" * 30,
    "1_0",
    "٣",
    "1e12",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("commands")


def _fresh(place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return place


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("name", COMMANDS)
@tries(6, data=st.data())
def test_broken_input(name: str, place: Path, data: st.DataObject) -> None:
    reader = next(one for one in READERS if str(one) == name)
    content, folder = data.draw(changed(reader.good)), _fresh(place)
    (folder / f"data{reader.ending}").write_bytes(content)
    outputs = ["-o", "out.json", "--seed", "1"] if name in _WRITES else []
    done = command(folder, *COMMANDS[name], f"data{reader.ending}", *outputs)
    named = SECRET.encode() in content.replace(b"\r", b"\n").lstrip().split(b"\n")[0]
    check_manners(done, secret=None if named else SECRET)
    if done.code == 0 and name in _WRITES:
        assert done.made == {"out.json"}


@pytest.mark.parametrize(
    "arguments",
    [("inspect",), ("chain",), ("synth", "-n", "5", "--seed", "1"), ("decode",)],
    ids=" ".join,
)
@tries(15, text=changed_records(record_values))
def test_changed_records(arguments: tuple[str, ...], place: Path, text: str) -> None:
    folder = _fresh(place)
    (folder / "private.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    done = command(folder, *arguments, "private.json")
    assert done.made == set()
    # A record whose guarantee does not hold is shown, with 4.
    if done.code != 4 or done.err:
        check_manners(done)
    assert done.code in {0, 2, 4}


_OPTIONS = st.sampled_from(
    ("-e", "-d", "--records", "--transfer", "--l1", "--change", "-m", "--seed", "--floor", "--report", "-o")
)


@pytest.mark.slow
@tries(
    25,
    options=st.dictionaries(
        _OPTIONS,
        st.sampled_from((*_NUMBERS, "auto", "replace", "x.html", "data.csv", ".", "no/where.json")),
        max_size=4,
    ),
)
def test_senseless_options(place: Path, options: dict[str, str]) -> None:
    folder = _fresh(place)
    (folder / "data.csv").write_bytes(b"a,5\nb,3\nc,2\n")
    given_options = {"-e": "1", "-o": "out.json"} | options
    done = command(
        folder, "release", "vector", "data.csv", *(part for pair in given_options.items() for part in pair)
    )
    check_manners(done)
    assert (folder / "data.csv").read_bytes() == b"a,5\nb,3\nc,2\n"
    assert not any(name.startswith(".") for name in done.made)
