"""veil demo: the main job on built-in sample data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from veil.cli.deferral import Deferral
from veil.cli.options import ForceOption, option
from veil.cli.output import working
from veil.cli.output_files import OutputFiles, refuse_existing
from veil.cli.releasing import Releasing
from veil.core.record import Release
from veil.report.terminal import say

_DRIVES, _STREETS = "drives.csv", "streets.csv"


@dataclass(frozen=True)
class _Story:
    """One main job. model, page: what it writes. data: what it reads. told: what is said before, as lines.

    read, release: the fields of the two requests. again: the same by hand.
    """

    model: str
    page: str
    data: tuple[str, ...]
    told: tuple[str, ...]
    again: str
    read: dict[str, Any]
    release: dict[str, Any]


def demo(
    *,
    folder: Annotated[Path, option("--folder", help="Where the demo writes its files.")] = Path("demo"),
    trips: Annotated[
        int, option("--trips", least=1000, help="How many trips the made-up city has.")
    ] = 1_000_000,
    kind: Annotated[
        Literal["chain", "trips"],
        option("--kind", help="chain: from zone to zone; trips: GPS points, on a map."),
    ] = "chain",
    force: ForceOption = False,
) -> int:
    """Release where a made-up city's taxis go, from a million trips, and open the way to the report.

    Example: veil demo --folder demo
    """
    from veil.core.kind import kind_named
    from veil.samples.examples import FILES, write_examples

    folder.mkdir(parents=True, exist_ok=True)
    story = _of_zones(folder, trips) if kind == "chain" else _of_points(folder)
    data = {f"--folder {folder}": folder / story.data[0]}
    data |= {name: folder / name for name in story.data[1:]}
    model, page = folder / story.model, folder / story.page
    outputs = data | {"its record": model, "its report": page}
    others = {name: folder / name for name in FILES if folder / name not in outputs.values()}
    refuse_existing(outputs | others, force=force)
    with working("Making up a city", quiet=False):
        write_examples(folder, trips=trips, overwrite=force)
    for line in (*story.told, f"  {story.again}", ""):
        say(line)
    asked = kind_named(kind)
    reads, releases = asked.requests("release")
    with working("Counting", quiet=False) as progress:
        value = reads(**story.read).read(progress)
    job = releases(**story.release).prepare(value)

    def show(out: Release[Any], _kept: Release[Any], written: list[Path]) -> None:
        asked.print_release(out, job=job, written=[*data.values(), *written])

    # As of `veil release`: what is drawn is not lost, whatever happens.
    with Deferral() as stops:
        making = Releasing(OutputFiles(model, None, page, force), stops, as_json=False)
        code = making.guarded(lambda: making.run(job, rng=None, show=show))
    if code != 0:
        return code
    say(f"Open {page.resolve().as_uri()} in a browser to see the result.")
    steps = _after_zones(folder, model) if kind == "chain" else _after_points(folder, model)
    for line in (*steps, *_next_steps(folder)):
        say(line)
    return 0


def _of_zones(folder: Path, trips: int) -> _Story:
    from veil.samples.city import zones

    table, listed = str(folder / "trips.parquet"), str(folder / "zones.csv")
    return _Story(
        model="city.json",
        page="city.html",
        data=("trips.parquet", "zones.csv"),
        told=(
            f"A city has {len(zones())} zones and {trips:,} taxi trips (made-up sample data). How taxis go",
            "from zone to zone is to be published so that nobody learns of any single trip.",
            "The same by hand:",
        ),
        again=f"veil release chain {table} --from pickup --to dropoff --states {listed} --epsilon 1 "
        "-o city.json --report city.html",
        read={"source": table, "origin": "pickup", "destination": "dropoff", "states": listed},
        release={"epsilon": 1.0},
    )


def _of_points(folder: Path) -> _Story:
    from veil.samples.gps import AREA, CELLS

    table = str(folder / "points.csv")
    columns = {"lat": "lat", "lng": "lng", "by": "user", "trip": "trip", "order": "time"}
    options = " ".join(f"--{name} {column}" for name, column in columns.items())
    return _Story(
        model="map.json",
        page="map.html",
        data=("points.csv",),
        told=(
            "GPS points of 4,000 trips of 900 people (made-up sample data). A map of where people live,",
            "work and travel is to be published so that nobody learns of any one person. The same by hand:",
        ),
        again=f"veil release trips {table} --places {CELLS} --box {AREA} {options} --unit user --times "
        "--epsilon 2 -o map.json --report map.html",
        read={"source": table, "places": CELLS, "box": AREA, **columns},
        release={"epsilon": 2.0, "unit": "user", "times": True},
    )


def _after_zones(folder: Path, model: Path) -> list[str]:
    table, listed, people = folder / "trips.parquet", folder / "zones.csv", folder / "people.json"
    return [
        f"Next, made-up trips that nobody took: veil synth {model} -n 100000 -o {folder / 'synthetic.csv'}",
        f"Or hide whole passengers, not single trips: veil release chain {table} --from pickup \\",
        f"  --to dropoff --by passenger --states {listed} --unit user --cap 20 --epsilon 1 -o {people}",
        "Or GPS points, on a map: veil demo --kind trips --folder demo-map",
    ]


def _after_points(folder: Path, model: Path) -> list[str]:
    made, flows = folder / "synthetic.geojson", folder / "flows.csv"
    return [f"Next, made-up trips that nobody took: veil trips {model} -n 1000 -o {made} --flows {flows}"]


def _next_steps(folder: Path) -> list[str]:
    private, budget = folder / "private.csv", folder / "budget.db"
    return [
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
