"""New York's green taxis: from the packed CSV to a private chain and its report, against the bare query."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.counting import BARE_TAXI, TAXI

TRIPS: dict[str, Any] = {"origin": "PULocationID", "destination": "DOLocationID"}


def _component() -> list[int]:
    """The zones of 1 to 263 from which every other one is reached: the user's public choice of states."""
    from scipy.sparse.csgraph import connected_components

    from veil.chains import read

    counts = read(TAXI, **TRIPS)
    known = [i for i, zone in enumerate(counts.states) if isinstance(zone, int) and zone <= 263]
    _, labels = connected_components(
        np.asarray(counts.matrix)[np.ix_(known, known)], directed=True, connection="strong"
    )
    largest = np.argmax(np.bincount(labels))
    return [int(str(counts.states[i])) for i, label in zip(known, labels, strict=True) if label == largest]


def run() -> None:
    """Print seconds of the bare query, of counting and releasing, and of the report."""
    if not TAXI.is_file():
        print("the taxi data is not here")
        return
    import duckdb

    from veil import chains
    from veil.chains import read

    zones = _component()

    def bare() -> None:
        with duckdb.connect() as connection:
            connection.sql(BARE_TAXI.format(path=TAXI)).fetchall()

    def private() -> None:
        counts = read(TAXI, states=zones, drop_unlisted=True, **TRIPS)
        chains.release(counts, epsilon=1.0, rng=1)

    raw, ours = least_seconds(bare, runs=5), least_seconds(private, runs=5)
    print(f"{len(zones)} zones: bare GROUP BY {raw:.2f} s, counted and released in {ours:.2f} s", end=" ")
    print(f"(goal: at most {3 * raw + 1:.2f})")
    counts = read(TAXI, states=zones, drop_unlisted=True, **TRIPS)
    out = chains.release(counts, epsilon=1.0, rng=1)
    page = least_seconds(lambda: out.kind.page(out), runs=2)
    print(f"report {page:.2f} s (goal: at most 5)")
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "zones.csv"
        listed.write_text("zone\n" + "\n".join(map(str, zones)) + "\n")
        command = [sys.executable, "-m", "veil", "release", "chain", str(TAXI), "--from", "PULocationID"]
        command += ["--to", "DOLocationID", "--states", str(listed), "--drop-unlisted", "--epsilon", "1"]
        command += ["-o", f"{folder}/model.json", "--report", f"{folder}/model.html"]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        print(f"the whole command, from a cold start: {time.perf_counter() - start:.2f} s")
