"""Counting transitions against the query that one would write oneself, in the same engine."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from veil.chains import read

TRIPS, VISITS, SPARK_TRIPS, ZONES, USERS = 100_000_000, 10_000_000, 1_000_000, 63, 500_000
TAXI = Path(__file__).parents[2] / "shared" / "data" / "nyc_green_trips_2020-03_2020-12.csv.gz"
LOG: dict[str, Any] = {"by": "who", "order": "moment", "state": "zone"}

BARE_TRIPS = "SELECT origin, destination, COUNT(*) FROM '{path}' GROUP BY ALL"
BARE_LOG = """
SELECT zone, next_zone, COUNT(*) FROM (
  SELECT zone, LEAD(zone) OVER (PARTITION BY who ORDER BY moment) AS next_zone FROM '{path}'
) WHERE next_zone IS NOT NULL GROUP BY ALL"""
BARE_CAP = """
SELECT zone, next_zone, COUNT(*) FROM (
  SELECT zone, next_zone, ROW_NUMBER() OVER (
    PARTITION BY who ORDER BY MD5('0123456789abcdef0123456789abcdef:' || who || ':' || place)
  ) AS draw FROM (
    SELECT who, zone, LEAD(zone) OVER ordered AS next_zone, ROW_NUMBER() OVER ordered AS place
    FROM '{path}' WINDOW ordered AS (PARTITION BY who ORDER BY moment)
  ) WHERE next_zone IS NOT NULL
) WHERE draw <= 10 GROUP BY ALL"""
BARE_TAXI = 'SELECT "PULocationID", "DOLocationID", COUNT(*) FROM \'{path}\' GROUP BY ALL'


def _write(path: Path, select: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")


def write_trips(path: Path) -> None:
    """Trips between zones, of which some are far more frequent than others."""
    zone = "CAST(sqrt(hash(i + {salt}) % CAST({cells} AS UBIGINT)) AS INTEGER)"
    origin, destination = (zone.format(salt=salt, cells=(ZONES - 1) ** 2 + 1) for salt in (0, 1_000_000_007))
    _write(path, f"SELECT {origin} AS origin, {destination} AS destination FROM range({TRIPS}) AS t(i)")


def write_log(path: Path) -> None:
    """Visits in no order, about twenty a user, few of them at the same time."""
    _write(
        path,
        f"SELECT CAST(hash(i) % {USERS} AS INTEGER) AS who, "
        f"CAST(hash(i + 7) % 100000000 AS BIGINT) AS moment, "
        f"CAST(hash(i + 13) % {ZONES} AS INTEGER) AS zone FROM range({VISITS}) AS t(i)",
    )


def _bare(text: str, path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.sql(text.format(path=path)).to_arrow_table()


WORK: dict[str, tuple[str, Callable[[Path], object]]] = {
    "trips": (BARE_TRIPS, lambda path: read(path, origin="origin", destination="destination")),
    "listed": (
        BARE_TRIPS,
        lambda path: read(path, origin="origin", destination="destination", states=range(ZONES)),
    ),
    "log": (BARE_LOG, lambda path: read(path, **LOG)),
    "log, listed": (BARE_LOG, lambda path: read(path, **LOG, states=range(ZONES))),
    "log, cap 10": (BARE_CAP, lambda path: read(path, **LOG, states=range(ZONES), cap=10)),
    "taxi": (
        BARE_TAXI,
        lambda path: read(path, origin="PULocationID", destination="DOLocationID"),
    ),
}


def measure(name: str, path: Path, *, runs: int) -> dict[str, float]:
    """The ratio of ours to the bare query, run in turn, and the peak memory of ours by itself.

    In CPU seconds of all threads: on a machine with other work the wall clock of one and the same query
    varied fivefold, which hid the difference; both are reported.
    """
    bare, ours = WORK[name]
    ours(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    _bare(bare, path)
    used: dict[str, list[float]] = {"bare": [], "ours": [], "bare wall": [], "ours wall": []}
    for turn in range(runs):
        # Each goes first in every other turn, so that neither always finds the files warm.
        for key in ("bare", "ours") if turn % 2 else ("ours", "bare"):
            start, wall = time.process_time(), time.perf_counter()
            if key == "bare":
                _bare(bare, path)
            else:
                ours(path)
            used[key].append(time.process_time() - start)
            used[f"{key} wall"].append(time.perf_counter() - wall)
    ratios = [ours / bare for ours, bare in zip(used["ours"], used["bare"], strict=True)]
    found = {key: statistics.median(values) for key, values in used.items()}
    return found | {"ratio": statistics.median(ratios), "worst": max(ratios), "peak": peak}


def _report(name: str, path: Path, *, runs: int = 7) -> None:
    # In a process of its own: the peak memory of a process never falls.
    command = [sys.executable, "-m", "bench.counting", name, str(path), str(runs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    print(
        f"{name}: {found['ratio']:.2f}x the CPU time of the bare query, at worst {found['worst']:.2f}x "
        f"(goal: 1.3x); {found['ours']:.2f} and {found['bare']:.2f} s, on the wall clock "
        f"{found['ours wall']:.2f} and {found['bare wall']:.2f} s; peak {found['peak']:.2f} GB (goal: 2 GB)",
        flush=True,
    )


def _spark(folder: Path) -> None:
    """The same counts from Spark as from DuckDB."""
    warnings.simplefilter("ignore")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("Spark: not installed")
        return
    session: Any = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    path = folder / "few.parquet"
    _write(path, f"SELECT * FROM '{folder / 'log.parquet'}' LIMIT {SPARK_TRIPS}")
    frame = session.read.parquet(str(path))
    options: dict[str, Any] = {**LOG, "states": range(ZONES), "cap": 2, "salt": "same"}
    start = time.perf_counter()
    counts = read(frame, **options)
    seconds = time.perf_counter() - start
    same = counts == read(path, **options)
    print(f"Spark, {SPARK_TRIPS:,} visits, cap 2: {seconds:.1f} s; the same counts as DuckDB: {same}")
    session.stop()


def run() -> None:
    """Print ratios to the bare query, and peak memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_log(folder / "log.parquet")
        for kind in ("log", "log, listed", "log, cap 10"):
            _report(kind, folder / "log.parquet")
        if TAXI.exists():
            _report("taxi", TAXI)
        _spark(folder)
        write_trips(folder / "trips.parquet")
        for kind in ("trips", "listed"):
            _report(kind, folder / "trips.parquet")


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), runs=int(sys.argv[3]))))
