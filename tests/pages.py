"""Pages of the documentation as scripts: their Python, shell and file blocks in the order of the page."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import warnings
from pathlib import Path
from types import ModuleType

import duckdb

from veil import samples
from veil.cli.app import main
from veil.errors import PrivacyWarning
from veil.samples.city import write_city_trips, zones
from veil.samples.gps import write_points
from veil.samples.streets import write_drives, write_streets

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# "Create a file `grades.csv` (...):" in the paragraph before a block names what is in the block.
_FILE = re.compile(r"(?:a file|into|such as) `([\w.]+)`[^`\n]*:\n+$")
# What a test cannot run, and why.
NOT_RUN = {
    "make": "installs, or runs tests, benchmarks and the demo; the files of the demo are made below",
    ".venv/bin/veil": "only after `make setup`",
    "python": "installs",
    "pg_dump": "a server",
    "createdb": "a server",
}
_SERVER = "postgresql://"
_MINUTES = ("veil audit --all", "veil plan words", "veil plan trips", "veil demo")
# What serves until it is stopped.
_SERVES = ("veil studio",)
# Pages on which every command needs a server.
WITHOUT_A_SERVER_NOTHING = ("ledger-server.md",)
# What a page takes for granted.
_BEFORE = {"incidents.md": "veil ledger open budget.db trips --epsilon 1"}
# Of a page's folders those that are there for sure.
_ELSEWHERE = "/mnt/elsewhere"
_TRIPS = 3000


def blocks_of(page: Path) -> list[tuple[str, str, str]]:
    """(language, text, the name of the file that it is, or "") of each block."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        named = _FILE.search(text[: match.start()])
        found.append((match[1], match[2], named[1] if named else ""))
    return found


def has_shell(page: Path) -> bool:
    """Whether there is a command on the page that a test can run."""
    if page.name in WITHOUT_A_SERVER_NOTHING:
        return False
    shell = [text for language, text, _ in blocks_of(page) if language in ("sh", "console")]
    return any(_runs(command) for text in shell for command in commands_of(text))


def commands_of(text: str) -> list[list[str]]:
    """The commands of a shell block, split into words."""
    lines = [line.removeprefix("$ ") for line in text.replace("\\\n", " ").splitlines()]
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def _runs(words: list[str]) -> bool:
    needs_a_server = any(_SERVER in word for word in words)
    takes_minutes = " ".join(words).startswith((*_MINUTES, *_SERVES))
    return words[0] not in NOT_RUN and not needs_a_server and not takes_minutes


def put_demo_files(folder: Path) -> None:
    """What `veil demo` puts into its folder, with fewer trips."""
    folder.mkdir(exist_ok=True)
    for name in ("grades.csv", "roads.csv", "ballots.csv", "friends.txt"):
        shutil.copyfile(samples.path(name), folder / name)
    write_drives(folder / "drives.csv")
    write_streets(folder / "streets.csv")
    write_points(folder / "points.csv", trips=400)
    lines = ["zone,district", *(f"{zone},{district}" for zone, district in zones())]
    (folder / "zones.csv").write_text("\n".join(lines) + "\n")
    write_city_trips(folder / "trips.parquet", trips=_TRIPS)


def put_own_files(folder: Path) -> None:
    """Stand-ins for what a page calls files of the reader's own."""
    table = f"'{folder / 'trips.parquet'}'"
    made = "pickup, dropoff, hour, passenger, 'yes' AS paid, TIMESTAMP '2026-11-15 00:10:00' + "
    made += "INTERVAL 1 HOUR * hour AS started"
    with duckdb.connect(str(folder / "city.duckdb")) as database:
        database.execute(f"CREATE TABLE trips AS SELECT {made} FROM {table}")
        database.execute(f"COPY trips TO '{folder / 'trips.csv'}'")
    visits = ["1 2 3", "4 4 17", "9", "2 2 2 5 6", *(f"{n} {n % 17 + 1}" for n in range(1, 18))]
    (folder / "sessions.txt").write_text("\n".join(visits) + "\n")
    pages = ["/home", *(f"/page/{n}" for n in range(1, 5_000))]
    (folder / "pages.csv").write_text("\n".join(["page", *pages]) + "\n")
    clicks = [f"/home /page/{n % 7 + 1} /home /page/{n}" for n in range(1, 1_000)]
    (folder / "clicks.txt").write_text("\n".join(clicks) + "\n")
    (folder / "public.csv").write_text("from,a,b,c\na,0.5,0.3,0.2\nb,0.1,0.6,0.3\nc,0.2,0.3,0.5\n")


def run_shell(text: str) -> None:
    """Run the commands of a block in this process; lines that are no commands are what they print."""
    said = io.StringIO()
    for words in commands_of("\n".join(line for line in text.splitlines() if _is_command(line, text))):
        name, *arguments = (word.replace(_ELSEWHERE, "elsewhere") for word in words)
        if not _runs(words):
            continue
        if name == "cd":
            os.chdir(arguments[0])
        elif name == "export":
            key, _, value = arguments[0].partition("=")
            os.environ[key] = value
        elif name == "cp":
            shutil.copyfile(*arguments)
        elif name == "veil":
            with contextlib.redirect_stdout(said):
                code = main(arguments)
            if code != 0:
                sys.exit(f"{shlex.join(words)}: exit code {code}\n{said.getvalue()[-2000:]}")
        else:
            sys.exit(f"{name}: a command that tests/pages.py does not know")
    printed = [" ".join(line.split()) for line in said.getvalue().splitlines()]
    for line in text.splitlines():
        shown = " ".join(line.split())
        if not _is_command(line, text) and not any(found.startswith(shown) for found in printed):
            sys.exit(f"The page prints {shown!r}, the command:\n{said.getvalue()}")


def _is_command(line: str, text: str) -> bool:
    return line.startswith("$ ") or not text.startswith("$ ")


def run_page(page: Path) -> None:
    """Everything on the page from top to bottom, in the folder where we are."""
    # Every other warning is an error; this one cannot be avoided, and the page speaks of it.
    warnings.filterwarnings("ignore", "states are discovered", PrivacyWarning)
    here = Path.cwd()
    Path("elsewhere").mkdir()
    text = page.read_text(encoding="utf-8")
    if "make demo" in text or "veil demo" in text:
        inside = "cd demo" in text
        put_demo_files(here / "demo" if inside else here)
        if "files of your own" in text:
            put_own_files(here)
    run_shell(_BEFORE.get(page.name, ""))
    # The page is the script that runs: what it defines is found there by name.
    sys.modules["__main__"] = ModuleType("__main__")
    names = vars(sys.modules["__main__"])
    for language, block, file in blocks_of(page):
        if file:
            Path(file).write_text(block)
        elif language == "python":
            # Without what this module imports from the future: the reader does not either.
            exec(compile(block, str(page), "exec", dont_inherit=True), names)
        elif language in ("sh", "console"):
            run_shell(block)


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
