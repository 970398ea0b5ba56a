"""A click-stream of a million states: counted, released, saved, analysed and imitated; time and memory.

`python -m bench million` takes 10^4 to 10^6 states with ten transitions a state, and then a million states
with 10^8 transitions. Each size runs in a process of its own, whose largest memory is told. Making the data
up is not part of the time.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZES = ((10_000, 100_000), (100_000, 1_000_000), (1_000_000, 10_000_000), (1_000_000, 100_000_000))
EPSILON, DELTA, CAP = 1.0, 1e-8, 10
# Visits of a user on average; every state has so many likely next ones, and how often it goes elsewhere.
_LENGTH, _WAYS, _ELSEWHERE = 11, 8, 0.3
_AT_A_TIME = 5_000_000
_SEED = 1


def make(folder: Path, states: int, transitions: int) -> tuple[Path, Path]:
    """A made-up log in Parquet, and the list of its states."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(_SEED)
    popular = 1.0 / np.arange(1, states + 1) ** 0.9
    cumulative = np.cumsum(popular / popular.sum())
    ways = np.searchsorted(cumulative, rng.random((states, _WAYS))).astype(np.int32)
    log, listed = folder / "clicks.parquet", folder / "pages.csv"
    listed.write_text("page\n" + "\n".join(map(str, range(states))) + "\n", encoding="ascii")
    schema = pa.schema([("user", pa.int64()), ("at", pa.int32()), ("page", pa.int32())])
    users = max(1, transitions // (_LENGTH - 1))
    with parquet.ParquetWriter(log, schema, compression="zstd") as writer:
        for first in range(0, users, _AT_A_TIME // _LENGTH):
            some = min(_AT_A_TIME // _LENGTH, users - first)
            lengths = np.clip(rng.geometric(1.0 / (_LENGTH - 1), some) + 1, 2, 200)
            at = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            pages = _walked(rng, cumulative, ways, lengths)
            columns = [np.repeat(np.arange(first, first + some), lengths), at.astype(np.int32), pages]
            writer.write_table(pa.Table.from_arrays(list(map(pa.array, columns)), schema=schema))
    return log, listed


def _walked(rng: np.random.Generator, cumulative: Any, ways: Any, lengths: Any) -> Any:
    """The pages of users, one user after the other."""
    ends = np.cumsum(lengths)
    pages = np.searchsorted(cumulative, rng.random(int(ends[-1]))).astype(np.int32)
    starts, left = ends - lengths, np.arange(len(lengths))
    for step in range(1, int(lengths.max())):
        left = left[lengths[left] > step]
        places = starts[left] + step
        stays = rng.random(len(left)) >= _ELSEWHERE
        # Likely ways are followed unevenly.
        way = np.minimum(rng.geometric(0.35, len(left)) - 1, _WAYS - 1)
        pages[places] = np.where(stays, ways[pages[places - 1], way], pages[places])
    return pages


def measured(log: str, listed: str, folder: str) -> dict[str, Any]:
    """Every step of the work, timed."""
    from veil import chains, load

    told: dict[str, Any] = {}
    begun = time.perf_counter()

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        told[name] = round(time.perf_counter() - start, 2)
        print(f"    {name}: {told[name]:.1f} s, {_memory():.2f} GB", file=sys.stderr, flush=True)
        return result

    columns: dict[str, Any] = {"by": "user", "order": "at", "state": "page"}
    counts = timed("count", lambda: chains.read(log, states=listed, cap=CAP, once=True, **columns))
    budget: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "unit": "user"}
    out = timed("release", lambda: chains.release(counts, **budget, pairs="large"))
    told |= {"pairs": len(counts.filled()[0]), "kept": len(out.tables["cells"])}
    record = Path(folder) / "model.json"
    timed("save", lambda: out.save(record))
    timed("stationary", lambda: out.value.stationary())
    timed("synthetic steps", lambda: out.value.simulate_indices(1_000, paths=1_000, rng=1))
    told["seconds"] = round(time.perf_counter() - begun, 2)
    told["gigabytes"] = round(_memory(), 2)
    timed("load", lambda: load(record))
    return told


def _memory() -> float:
    """The most memory that this process had at a time, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def run(sizes: tuple[tuple[int, int], ...] = SIZES) -> None:
    """Print a line for each size."""
    print(
        f"epsilon = {EPSILON:g}, delta = {DELTA:g}, a whole user, at most {CAP} different transitions of each"
    )
    before: tuple[int, float] | None = None
    for states, transitions in sizes:
        with tempfile.TemporaryDirectory() as folder:
            log, listed = make(Path(folder), states, transitions)
            command = [sys.executable, "-m", "bench.million", str(log), str(listed), folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ.copy())
        if done.returncode:
            print(done.stderr)
            raise SystemExit(done.returncode)
        told = json.loads(done.stdout)
        told.pop("load")
        print(
            f"{states:,} states, {transitions:,} transitions: "
            + ", ".join(f"{k} {v:,}" for k, v in told.items())
        )
        if before is not None:
            more, longer = transitions / before[0], told["seconds"] / before[1]
            print(f"  {more:.3g} times the transitions, {longer:.3g} times the time")
        before = transitions, told["seconds"]


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(measured(*sys.argv[1:])))
    else:
        run(SIZES[: int(sys.argv[1])] if len(sys.argv) == 2 else SIZES)
