"""Two checkouts of Veil against each other: `python -m bench.versions OLDER [NAME ...]`.

Every round runs each benchmark in both checkouts, one right after the other, so that a busy moment of the
machine meets both. Compared is the least time of all rounds; a row is called slower only beyond the noise,
which is the spread of each side's own rounds. OLDER is a checkout of another commit with its own bench/.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from bench.tasks import TASKS

Rows = dict[tuple[str, str, int], list[float]]
# Below so many seconds a timer and a cache decide.
_TINY = 2e-4
_LEAST_NOISE = 0.10


def measured(checkout: Path, name: str, *, quick: bool) -> dict[tuple[str, str, int], float]:
    """The seconds of each row of a benchmark in a checkout, by its name, setting and size."""
    places = [str(checkout / "src"), str(checkout / "papers" / "src"), str(checkout)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench", name, "-o", folder, *(["--quick"] if quick else [])]
        subprocess.run(command, cwd=checkout, env=environment, check=False, stdout=subprocess.DEVNULL)
        content = json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))
    rows = {
        (one["what"], one["setting"], 0): one["ours"]
        for one in content["ratios"]
        if one["unit"].startswith("seconds")
    }
    for growth in content["growths"]:
        sizes = zip(growth["sizes"], growth["seconds"], strict=True)
        rows |= {(growth["what"], growth["axis"], int(size)): seconds for size, seconds in sizes}
    return rows


def compared(older: Rows, newer: Rows) -> list[tuple[float, float, float, str]]:
    """(ratio new/old, noise, seconds, row) of the rows that both have, the slowest first."""
    lines = []
    for row in older.keys() & newer.keys():
        old, new = min(older[row]), min(newer[row])
        noise = max(max(times) / min(times) - 1.0 for times in (older[row], newer[row]))
        lines.append((new / old, max(noise, _LEAST_NOISE), new, f"{row[0]}; {row[1]}; {row[2] or ''}"))
    return sorted(lines, reverse=True)


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code is 1 if a row is slower beyond the noise."""
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("older", type=Path, metavar="OLDER", help="a checkout of another commit")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="benchmarks; by default all of speed and growth"
    )
    parser.add_argument("--full", action="store_true", help="the full data instead of the quick rows")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(arguments)
    known = [task.name for task in TASKS if task.name.startswith(("speed.", "growth."))]
    here = Path(__file__).parents[1]
    older: Rows = defaultdict(list)
    newer: Rows = defaultdict(list)
    for name in given.names or known:
        for number in range(given.rounds):
            sides = ((given.older.resolve(), older), (here, newer))
            for checkout, rows in sides if number % 2 == 0 else reversed(sides):
                for row, seconds in measured(checkout, name, quick=not given.full).items():
                    rows[row].append(seconds)
        print(f"{name}: done", flush=True)
    slower = 0
    for ratio, noise, seconds, what in compared(older, newer):
        is_slower = ratio > 1.0 + noise and seconds > _TINY
        slower += is_slower
        print(f"{ratio:6.2f} (noise {noise:5.0%}) {seconds:9.4f} s {'SLOWER ' if is_slower else ''}{what}")
    print(f"{slower} rows are slower beyond the noise, of {len(older.keys() & newer.keys())} compared")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
