"""Private words: many short ones, a long one, and against a list of all candidates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.peers.environment import Environments, PeerMissing
from veil.samples.streets import streets, write_streets
from veil.words.chain_words import ChainWords
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip

WORDS, LENGTH = 1_000_000, 14
STATES, FOLLOWERS = 1_000, 5
LONG, FLIPPED = 10_000, 300
# Candidates that the peers are given: as many as they can hold within a few seconds.
CANDIDATES = (10_000, 100_000, 1_000_000)

_DIFFPRIVLIB = """
import json, sys, time
from diffprivlib.mechanisms import PermuteAndFlip
utilities = json.load(sys.stdin)
start = time.perf_counter()
PermuteAndFlip(epsilon=2.0, sensitivity=1.0, utility=utilities).randomise()
print(time.perf_counter() - start)
"""


def network(seed: int = 0) -> dict[int, list[int]]:
    """A made-up network in which every state has the same number of followers."""
    rng = np.random.default_rng(seed)
    return {i: rng.choice(STATES, FOLLOWERS, replace=False).tolist() for i in range(STATES)}


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def many() -> None:
    """A million words through the Python call; compilation and certificate apart."""
    language = ChainWords(streets(), LENGTH)
    made, mechanism = _seconds(lambda: ExponentialWords(language, 5.0))
    certified, _ = _seconds(lambda: mechanism.certified_epsilon)
    words = language.walks(WORDS).as_labels()
    mechanism.sample(words[:1000])
    seconds = least_seconds(lambda: mechanism.sample(words), runs=3)
    print(f"certificate {made + certified:.1f} s; {WORDS:,} words of {LENGTH}: {seconds:.1f} s (goal: 15)")


def _table(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = ChainWords(streets(), LENGTH).walks(WORDS, rng=3)
    order = np.random.default_rng(1).permutation(WORDS * LENGTH)
    symbols = pa.array(list(words.labels)).take(pa.array(words.codes[order]))
    pq.write_table(pa.table({"user": order // LENGTH, "time": order % LENGTH, "segment": symbols}), path)


def command() -> None:
    """The same from Parquet to Parquet through the command line, from a cold start."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _table(place / "trips.parquet")
        write_streets(place / "roads.csv")
        call = [sys.executable, "-m", "veil", "release", "words", str(place / "trips.parquet")]
        call += ["--by", "user", "--order", "time", "--state", "segment", "--chain", str(place / "roads.csv")]
        call += ["--epsilon", "5", "--mechanism", "exponential", "-o", str(place / "private.parquet")]
        seconds, _ = _seconds(lambda: subprocess.run(call, check=True, stdout=subprocess.DEVNULL))
    print(f"the whole command, Parquet to Parquet: {seconds:.1f} s (goal: 30)")


def long() -> None:
    """One long word, and permute-and-flip on a shorter one, each in a process of its own."""
    for name, goal in (("exponential", 3), ("flip", 20)):
        found = json.loads(subprocess.check_output([sys.executable, "-m", "bench.words", name]))
        print(
            f"{found['name']}: certificate {found['made']:.1f} s, one word {found['seconds']:.2f} s "
            f"(goal: {goal}), {found['memory']:.2f} GB in all"
        )


def _one(name: str) -> dict[str, Any]:
    length = LONG if name == "exponential" else FLIPPED
    language = ChainWords(network(), length, start=0)
    kind: Any = ExponentialWords if name == "exponential" else PermuteAndFlip
    mechanism = kind(language, 5.0)
    made, _ = _seconds(lambda: mechanism.rate)
    # The loops are compiled on a short word.
    short = ChainWords(network(), 20, start=0)
    kind(short, 5.0).sample(short.walks(1)[0])
    word = language.walks(1)[0]
    seconds, _ = _seconds(lambda: mechanism.sample(word))
    return {
        "name": f"{mechanism.name}, {length:,} symbols over {STATES:,} states",
        "made": made,
        "seconds": seconds,
        "memory": _peak(),
    }


def _peak() -> float:
    """The most memory that this process held, in GB; getrusage would count that of its parent too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20


def peers() -> None:
    """One private word against libraries that need a list of all candidates with their errors."""
    for candidates in CANDIDATES:
        length = next(n for n in range(2, 20) if _language(n).number_of_words > candidates / 4)
        language = _language(length)
        if language.number_of_words <= 100_000:
            word = language.walks(1)
            errors = (language.enumerate().rows != word.rows[0]).sum(axis=1)
        else:
            # As many candidates as there are words, at the distances that they have.
            errors = np.random.default_rng(1).binomial(length, 0.8, language.number_of_words)
            word = language.walks(1)
        mechanism = PermuteAndFlip(language, 2.0)
        mechanism.sample(word[0])
        ours = least_seconds(partial(mechanism.sample, word[0]), runs=5)
        line = f"{language.number_of_words:,} words of {length}: ours {1e3 * ours:.1f} ms"
        for name, seconds in (("OpenDP noisy max", _opendp(errors)), ("diffprivlib", _diffprivlib(errors))):
            said = "not installed" if seconds is None else f"{1e3 * seconds:.0f} ms, {seconds / ours:.0f}x"
            line += f"; {name} {said}"
        print(line, flush=True)


def _language(length: int) -> ChainWords:
    return ChainWords(streets(), length, start="Ash 1st-2nd")


def _opendp(errors: Any) -> float | None:
    try:
        import opendp.prelude as peer
    except ImportError:
        return None
    dp: Any = peer
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    try:
        noisy = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=1.0, negate=True)
    except (AttributeError, TypeError, dp.OpenDPException):
        noisy = dp.m.make_report_noisy_max_gumbel(*space, scale=1.0, optimize="min")
    values = errors.astype(float).tolist()
    return least_seconds(lambda: noisy(values), runs=2)


def _diffprivlib(errors: Any) -> float | None:
    try:
        python = os.environ.get("VEIL_PEERS") or str(Environments().python("diffprivlib"))
    except PeerMissing:
        return None
    given = json.dumps((-errors).astype(float).tolist())
    # It chooses again and again among those that are left, and its time varies: the best of three.
    call = [python, "-c", _DIFFPRIVLIB]
    return min(float(subprocess.run(call, input=given, check=True, capture_output=True, text=True).stdout)
               for _ in range(3))  # fmt: skip


def run() -> None:
    """Print seconds and ratios."""
    many()
    command()
    long()
    peers()


if __name__ == "__main__":
    print(json.dumps(_one(sys.argv[1])))
