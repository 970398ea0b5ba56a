"""The long run: atheris on every parser, guided by coverage. `make fuzz`, or by hand:

    python -m tests.fuzz.long_run --seconds 600

The time is divided among the parsers, each in a process of its own. They begin with good files that are made
here, and whatever is neither read nor refused with a VeilError is kept in a folder: the run then ends with 1.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What coverage is measured of, and guided by: what a file goes through. Numba cannot compile what the fuzzer
# changes: its code is in other folders.
_MEASURED = re.compile(r"veil\.(tables|ledger|core\.\w+$|\w+\.(mechanisms|counting)\b|\w+\.\w+$)")
# Engines that need a server, interfaces, and what is only imported to be shown.
_LEFT_OUT = re.compile(r"veil\.(tables\.engines\.(spark|postgres)|cli|samples|report|__main__)\b")
_CRASHES = Path("build") / "fuzz-crashes"
_MEGABYTES = 6000
_SECONDS_EACH = 30
_STRUCTURE = "release by structure"
_LINE = re.compile(r"#(\d+)\s+DONE\s+cov: (\d+)")
_SPEED = re.compile(r"average_exec_per_sec:\s+(\d+)")


@dataclass(frozen=True)
class Result:
    """What came of one parser."""

    name: str
    runs: int
    each_second: int
    coverage: int
    crashes: int

    def __str__(self) -> str:
        said = f"{self.crashes} CRASHES" if self.crashes else "no crash"
        speed = f"{self.runs:>9,} runs {self.each_second:>6,} a second"
        return f"{self.name:22} {speed} {self.coverage:>6,} edges  {said}"


def _names() -> list[str]:
    from .readers import READERS

    return [*(str(reader) for reader in READERS), _STRUCTURE]


def _kept(folder: Path) -> set[str]:
    """The inputs that are kept in a folder; beside each stands what was said."""
    found = folder.iterdir() if folder.is_dir() else ()
    return {path.name for path in found if path.suffix != ".txt"}


def _run(name: str, seconds: float, crashes: Path) -> Result:
    """One parser in a process of its own: libFuzzer ends the process that it runs in."""
    before = _kept(crashes)
    with tempfile.TemporaryDirectory(prefix="veil-fuzz-") as folder:
        done = subprocess.run(
            [
                sys.executable, "-m", "tests.fuzz.long_run", "--parser", name, "--seconds", str(seconds),
                "--crashes", str(crashes), "--folder", folder,
            ],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )  # fmt: skip
    new = len(_kept(crashes) - before)
    line, speed = _LINE.search(done.stderr), _SPEED.search(done.stderr)
    if (done.returncode != 0 or line is None) and not new:
        # It never began, or the fuzzer itself failed: that is no success either.
        print(done.stderr[-2000:], file=sys.stderr)
        new = 1
    return Result(
        name,
        int(line[1]) if line else 0,
        int(speed[1]) if speed else 0,
        int(line[2]) if line else 0,
        new,
    )


def _keeping(read: Callable[[bytes], object], crashes: Path) -> Callable[[bytes], None]:
    """The parser as the fuzzer calls it. What it finds is kept, one for each place, and the run goes on."""
    from veil.errors import VeilError

    seen = set()

    def attempt(data: bytes) -> None:
        try:
            read(data)
        except VeilError as error:
            if not str(error).isprintable():
                _keep(crashes, "unprintable", data, str(error))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__}-{Path(place.filename).stem}-{place.lineno}"
            if key not in seen:
                seen.add(key)
                _keep(crashes, key, data, traceback.format_exc())

    return attempt


def _keep(crashes: Path, key: str, data: bytes, said: str) -> None:
    crashes.mkdir(parents=True, exist_ok=True)
    name = f"{key}-{hashlib.sha256(data).hexdigest()[:8]}"
    (crashes / name).write_bytes(data)
    (crashes / f"{name}.txt").write_text(said, encoding="utf-8", errors="backslashreplace")


def _structured() -> Callable[[bytes], object]:
    """Records by their structure: the fuzzer chooses what Hypothesis then changes in a good record."""
    from hypothesis import given

    from veil.core.files import parse_release

    from .json_values import changed_records
    from .profiles import examples_of
    from .readers import record_values

    @examples_of(1)
    @given(text=changed_records(record_values))
    def read(text: str) -> None:
        parse_release(text, "private.json")

    hypothesis: Any = getattr(read, "hypothesis", None)
    found: Callable[[bytes], object] = hypothesis.fuzz_one_input
    return found


def _fuzz(name: str, seconds: float, crashes: Path, folder: Path) -> None:
    """Run the fuzzer on one parser. Does not return."""
    import atheris

    # All of them now: many are otherwise imported only when they are used, and would not be measured.
    measured, others = _modules()
    with atheris.instrument_imports(include=["veil"], exclude=others):
        for module in measured:
            importlib.import_module(module)
    from . import readers

    corpus, work = folder / "corpus", folder / "work"
    corpus.mkdir()
    work.mkdir()
    longest = 20_000
    if name == _STRUCTURE:
        read = _structured()
    else:
        reader = next(one for one in readers.READERS if str(one) == name)
        for number, content in enumerate(reader.good()):
            (corpus / f"good-{number}").write_bytes(content)
            longest = max(longest, 2 * len(content))

        def read(data: bytes) -> object:
            return readers.write_and_read(reader, data, work)

    options = [
        f"-max_total_time={max(1, round(seconds))}",
        f"-rss_limit_mb={_MEGABYTES}",
        f"-timeout={_SECONDS_EACH}",
        f"-artifact_prefix={crashes}/",
        f"-dict={_dictionary(folder)}",
        f"-max_len={longest}",
        "-print_final_stats=1",
        "-verbosity=1",
    ]
    crashes.mkdir(parents=True, exist_ok=True)
    atheris.Setup([sys.argv[0], *options, str(corpus)], _keeping(read, crashes))
    atheris.Fuzz()


def _modules() -> tuple[list[str], list[str]]:
    """The modules of Veil that are measured, and all others."""
    root = Path(str(importlib.import_module("veil").__file__)).parent
    names = [
        ".".join(("veil", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(root.rglob("*.py"))
    ]
    measured = [name for name in names if _MEASURED.match(name) and not _LEFT_OUT.match(name)]
    return measured, [name for name in names if name not in measured]


def _dictionary(folder: Path) -> Path:
    """The pieces that break files, in the fuzzer's own format."""
    from .byte_changes import PIECES

    path = folder / "pieces.dict"
    pieces = (piece for piece in PIECES if 0 < len(piece) <= 64)
    path.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in piece) + '"\n' for piece in pieces))
    return path


def main() -> int:
    """Run all parsers and say what came of each; 1 if any did what it must not."""
    parser = argparse.ArgumentParser(description="Fuzz every parser for a while.")
    parser.add_argument("--seconds", type=float, default=600.0, help="for all parsers together")
    parser.add_argument("--parser", help="only this one")
    parser.add_argument("--crashes", type=Path, default=_CRASHES, help="where inputs that crash are kept")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("Skipped: atheris is not installed. Install it with: pip install 'veil[fuzz]'")
        return 0
    if chosen.folder is not None:
        _fuzz(chosen.parser, chosen.seconds, chosen.crashes, chosen.folder)
    names = _names() if chosen.parser is None else [chosen.parser]
    results = []
    for name in names:
        results.append(_run(name, chosen.seconds / len(names), chosen.crashes.resolve()))
        print(results[-1], flush=True)
    crashes = sum(result.crashes for result in results)
    runs = sum(result.runs for result in results)
    print(
        f"{runs:,} runs of {len(results)} parsers: "
        + (f"{crashes} crashes, kept in {chosen.crashes}" if crashes else "no crash")
    )
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
