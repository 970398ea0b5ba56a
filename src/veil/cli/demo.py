"""veil demo: the main job on built-in sample data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import refuse_existing, working

_SMALL = ("grades.csv", "roads.csv", "ballots.csv", "friends.txt")
_DRIVES, _STREETS = "drives.csv", "streets.csv"


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the demo writes its files.")] = Path("demo"),
    trips: Annotated[int, typer.Option(min=1000, help="How many trips the made-up city has.")] = 1_000_000,
    force: options.ForceOption = False,
) -> None:
    """Release where a made-up city's taxis go, from a million trips, and open the way to the report.

    Example: veil demo --folder demo
    """
    from veil import samples
    from veil.chains.counting.transitions import count_transitions
    from veil.chains.job import chain_job
    from veil.chains.report.console import print_chain_release
    from veil.cli.keeping import chain_page
    from veil.core.files import save, write_text
    from veil.core.writing import replacing
    from veil.samples.city import write_city_trips, zones
    from veil.samples.streets import write_drives, write_streets

    folder.mkdir(parents=True, exist_ok=True)
    table, listed, model, page = (
        folder / name for name in ("trips.parquet", "zones.csv", "city.json", "city.html")
    )
    outputs = {f"--folder {folder}": table, "its zones": listed, "its record": model, "its report": page}
    refuse_existing(outputs | {name: folder / name for name in (*_SMALL, _DRIVES, _STREETS)}, force=force)
    for name, write in ((_DRIVES, write_drives), (_STREETS, write_streets)):
        with replacing(folder / name, overwrite=force) as beside:
            write(Path(beside))
    for name in _SMALL:
        write_text(folder / name, samples.path(name).read_text(encoding="utf-8"), overwrite=force)
    lines = ["zone,district", *(f"{zone},{district}" for zone, district in zones())]
    write_text(listed, "\n".join(lines) + "\n", overwrite=force)
    with working("Making up a city", quiet=False), replacing(table, overwrite=force) as beside:
        write_city_trips(beside, trips=trips)
    print(
        f"A city has {len(zones())} zones and {trips:,} taxi trips (made-up sample data). How taxis go from"
    )
    print("zone to zone is to be published so that nobody learns of any single trip. The same by hand:")
    print(
        f"  veil release chain {table} --from pickup --to dropoff --states {listed} --epsilon 1 "
        "-o city.json --report city.html"
    )
    print()
    with working("Counting", quiet=False) as tell:
        counts = count_transitions(
            str(table), origin="pickup", destination="dropoff", states=str(listed), progress=tell
        )
    with working("Releasing", quiet=False):
        job = chain_job(counts, epsilon=1.0, delta=1e-6)
        out = job.run()
        save(out, model, overwrite=force)
    with working("Drawing the report", quiet=False):
        write_text(page, chain_page(out), overwrite=force)
    print_chain_release(
        out, why=f"{job.chosen}: {job.why}", warnings=job.warnings, written=[table, listed, model, page]
    )
    print(f"Open {page.resolve().as_uri()} in a browser to see the result.")
    print(f"Next, made-up trips that nobody took: veil synth {model} -n 100000 -o {folder / 'synthetic.csv'}")
    people = folder / "people.json"
    print(f"Or hide whole passengers, not single trips: veil release chain {table} --from pickup \\")
    print(f"  --to dropoff --by passenger --states {listed} --unit user --cap 20 --epsilon 1 -o {people}")
    print(
        f"Or whole drives through a town: veil release words {folder / _DRIVES} --by driver --order minute \\"
    )
    print(
        f"  --state segment --chain {folder / _STREETS} --epsilon 5 -o {folder / 'private.csv'} "
        f"--report {folder / 'private.html'}"
    )
    print(
        f"Or friendships: veil release graph {folder / 'friends.txt'} --epsilon 3 -o {folder / 'graph.txt'} "
        f"--report {folder / 'graph.html'}"
    )
    print(
        f"Or votes: veil release bits {folder / 'ballots.csv'} --missing no --epsilon 4 "
        f"-o {folder / 'votes.csv'} --report {folder / 'votes.html'}"
    )
    print(
        f"And keep count of what it all costs: veil ledger open {folder / 'budget.db'} city --epsilon 2 "
        f"--delta 1e-5, then add --ledger {folder / 'budget.db'} --dataset city to each release"
    )
