"""The benchmarks: `make bench`, `make bench-quick`, or `python -m bench NAME` for one of them.

Without names: all comparisons with peers and all growths, as results.json and a page. A name is that of one
comparison (accuracy.counts, speed.words, growth.nodes ...), or of an older benchmark, which prints text.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

from bench.measure import Growth, Missing, Ratio
from bench.page import value
from bench.peers.environment import PEERS, Environments, PeerMissing
from bench.pictures import law, times
from bench.results import Results
from bench.tasks import TASKS
from bench.work import Task, Work

# These print text, and look at single parts of Veil in more depth; some take minutes or need the data folder.
PRINTING = (
    "cold",
    "batch",
    "exactness",
    "simulation",
    "stationary",
    "doubly",
    "counting",
    "taxi",
    "auto",
    "exact_noise",
    "words",
    "sessions",
    "classification",
    "bits",
    "facebook",
    "ledger",
    "randomness",
    "polya_urn",
    "studio",
    "estimates",
    "clicks",
    "million",
    "trips",
)


def compare(tasks: list[Task], *, quick: bool, without: list[str]) -> tuple[Results, bool]:
    """Run the tasks; whether all went well."""
    from veil.core.numerics.compiled import one_thread

    wanted = tuple(peer for peer in PEERS if peer not in without)
    results, environments, well = Results(quick), Environments(wanted=wanted, tell=_tell), True
    _set_up(environments)
    for number, task in enumerate(tasks, start=1):
        work, start = Work(quick, environments, task.name), time.perf_counter()
        try:
            with one_thread():
                found = task.run(work)
        except Exception as error:
            # One that fails must not lose what the others found; it is told, and so is the exit code.
            traceback.print_exc()
            results.missing.append(Missing(task.name, task.name, "", f"failed: {type(error).__name__}"))
            found, well = [], False
        results.ratios += [one for one in found if isinstance(one, Ratio)]
        results.growths += [one for one in found if isinstance(one, Growth)]
        results.missing += work.missing
        results.seconds[task.name] = round(time.perf_counter() - start, 2)
        _tell(f"[{number}/{len(tasks)}] {task.name}: {len(found)} rows in {results.seconds[task.name]:.1f} s")
    results.versions |= environments.versions
    return results, well


def _set_up(environments: Environments) -> None:
    """Install the peers first, so that the tasks only measure."""
    for peer in environments.wanted:
        try:
            environments.python(peer)
        except PeerMissing as error:
            _tell(f"{peer} {error}; its rows are left out")


def _tell(text: str) -> None:
    print(text, flush=True)


def show(results: Results) -> None:
    """A short table."""
    for name, ratios in results.groups.items():
        print(f"\n{name}")
        for one in ratios:
            numbers = f"{value(one.ours, one.unit)} against {value(one.theirs, one.unit)}"
            print(f"  {times(one.ratio):>8} {one.verdict:6} {one.what}; {one.peer}: {numbers} ({one.unit})")
    if results.growths:
        print("\nHow the cost grows")
    for growth in results.growths:
        peer = f"; {growth.peer}: {law(growth, peer=True)}" if growth.peer_sizes else ""
        print(f"  {growth.what}: {law(growth)}{peer}")
    for missing in results.missing:
        print(f"  left out: {missing.what}: {missing.peer} {missing.why}")
    print(f"\n{', '.join(f'{name} {number}' for name, number in results.versions.items())}")
    counted = ", ".join(f"{verdict} {results.number(verdict)}" for verdict in ("wins", "even", "loses"))
    print(f"Veil {counted}; {sum(results.seconds.values()):.0f} s without setting up")


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    known = {task.name: task for task in TASKS}
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*known, *PRINTING)))
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer runs: minutes")
    parser.add_argument("--without", action="append", default=[], choices=PEERS, help="leave a peer out")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/bench"), help="folder of the results"
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in known and name not in PRINTING]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    for name in given.names:
        if name in PRINTING:
            print(f"== {name}")
            import_module(f"bench.{name}").run()
    tasks = [known[name] for name in given.names if name in known] if given.names else list(TASKS)
    if not tasks:
        return 0
    results, well = compare(tasks, quick=given.quick, without=given.without)
    show(results)
    results.write(given.output)
    print(f"written to {given.output / 'index.html'} and {given.output / 'results.json'}")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
