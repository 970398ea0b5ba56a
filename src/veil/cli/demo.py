"""veil demo: the main job on built-in sample data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import refuse_existing, working


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the demo writes its files.")] = Path("demo"),
    force: options.ForceOption = False,
) -> None:
    """Release a sample class's grade distribution and open the way to its report.

    Example: veil demo --folder demo
    """
    import numpy as np

    from veil import samples
    from veil.releases.files import save, write_text
    from veil.report.console import print_release
    from veil.report.vector import VectorReport
    from veil.sources.vectors import read_vector
    from veil.workflows.release_vector import Secret, vector_job

    folder.mkdir(parents=True, exist_ok=True)
    source, record, page = (folder / f"grades.{ending}" for ending in ("csv", "json", "html"))
    roads = folder / "roads.csv"
    outputs = {f"--folder {folder}": source, "its record": record, "its report": page, "its roads": roads}
    refuse_existing(outputs, force=force)
    write_text(source, samples.path("grades.csv").read_text(encoding="utf-8"), overwrite=force)
    write_text(roads, samples.path("roads.csv").read_text(encoding="utf-8"), overwrite=force)
    data = read_vector(str(source))
    print(
        "A course had 98 students (made-up sample data). Their grade distribution is to be published so that"
    )
    print("nobody learns any single student's grade. The same by hand:")
    print(
        "  veil release vector grades.csv --records 98 --epsilon 1 --delta 1e-6 "
        "-o grades.json --report grades.html"
    )
    print()
    with working("Releasing", quiet=False):
        job = vector_job(np.array(data.values), data.labels, Secret(records=98), epsilon=1.0, delta=1e-6)
        out = job.run()
        save(out, record, overwrite=force)
        write_text(page, VectorReport.of(out).html(), overwrite=force)
    print_release(out, kept=job.kept, written=[record, page])
    print(f"Open {page.resolve().as_uri()} in a browser to see the result.")
    print(f"Next, a matrix: veil release matrix {roads} --l1 0.02 --support zeros --epsilon 2 -o roads.json")
