"""veil demo: the main job on built-in sample data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from veil.cli.deferral import Deferral
from veil.cli.options import ForceOption, option
from veil.cli.output import working
from veil.cli.output_files import OutputFiles, refuse_existing
from veil.cli.releasing import Releasing
from veil.core.record import Release
from veil.report.terminal import say

_DRIVES, _STREETS = "drives.csv", "streets.csv"


def demo(
    *,
    folder: Annotated[Path, option("--folder", help="Where the demo writes its files.")] = Path("demo"),
    trips: Annotated[
        int, option("--trips", least=1000, help="How many trips the made-up city has.")
    ] = 1_000_000,
    force: ForceOption = False,
) -> int:
    """Release where a made-up city's taxis go, from a million trips, and open the way to the report.

    Example: veil demo --folder demo
    """
    from veil.core.kind import kind_named
    from veil.samples.city import zones
    from veil.samples.examples import FILES, write_examples

    folder.mkdir(parents=True, exist_ok=True)
    table, listed, model, page = (
        folder / name for name in ("trips.parquet", "zones.csv", "city.json", "city.html")
    )
    outputs = {f"--folder {folder}": table, "its zones": listed, "its record": model, "its report": page}
    others = {name: folder / name for name in FILES if folder / name not in outputs.values()}
    refuse_existing(outputs | others, force=force)
    with working("Making up a city", quiet=False):
        write_examples(folder, trips=trips, overwrite=force)
    say(f"A city has {len(zones())} zones and {trips:,} taxi trips (made-up sample data). How taxis go from")
    say("zone to zone is to be published so that nobody learns of any single trip. The same by hand:")
    say(
        f"  veil release chain {table} --from pickup --to dropoff --states {listed} --epsilon 1 "
        "-o city.json --report city.html"
    )
    say("")
    kind = kind_named("chain")
    reads, releases = kind.requests("release")
    with working("Counting", quiet=False) as progress:
        read = reads(source=str(table), origin="pickup", destination="dropoff", states=str(listed))
        counts = read.read(progress)
    job = releases(epsilon=1.0).prepare(counts)

    def show(out: Release[Any], _kept: Release[Any], written: list[Path]) -> None:
        kind.print_release(out, job=job, written=[table, listed, *written])

    # As of `veil release`: what is drawn is not lost, whatever happens.
    with Deferral() as stops:
        making = Releasing(OutputFiles(model, None, page, force), stops, as_json=False)
        code = making.guarded(lambda: making.run(job, rng=None, show=show))
    if code != 0:
        return code
    say(f"Open {page.resolve().as_uri()} in a browser to see the result.")
    for line in _next_steps(folder, table, listed, model):
        say(line)
    return 0


def _next_steps(folder: Path, table: Path, listed: Path, model: Path) -> list[str]:
    people, private, budget = folder / "people.json", folder / "private.csv", folder / "budget.db"
    return [
        f"Next, made-up trips that nobody took: veil synth {model} -n 100000 -o {folder / 'synthetic.csv'}",
        f"Or hide whole passengers, not single trips: veil release chain {table} --from pickup \\",
        f"  --to dropoff --by passenger --states {listed} --unit user --cap 20 --epsilon 1 -o {people}",
        f"Or whole drives through a town: veil release words {folder / _DRIVES} --by driver \\",
        f"  --order minute --state segment --chain {folder / _STREETS} --epsilon 5 -o {private} \\",
        f"  --report {folder / 'private.html'}",
        f"Or friendships: veil release graph {folder / 'friends.txt'} --epsilon 3 \\",
        f"  -o {folder / 'graph.txt'} --report {folder / 'graph.html'}",
        f"Or votes: veil release bits {folder / 'ballots.csv'} --missing no --epsilon 4 \\",
        f"  -o {folder / 'votes.csv'} --report {folder / 'votes.html'}",
        "The same in the browser, without typing: veil studio --demo",
        f"And keep count of what it all costs: veil ledger open {budget} city --epsilon 2 --delta 1e-5,",
        f"  then add --ledger {budget} --dataset city to each release",
    ]
