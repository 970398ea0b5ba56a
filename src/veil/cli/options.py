"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Epsilon = Annotated[float, typer.Option("--epsilon", "-e", help="Privacy loss; smaller is more private.")]
Delta = Annotated[float, typer.Option("--delta", "-d", help="Failure probability; far below 1/people.")]
RecordsOption = Annotated[
    int | None,
    typer.Option("--records", "-n", help="The numbers are counts or frequencies of N records; N is public."),
]
CountsOption = Annotated[
    bool, typer.Option("--counts", help="The numbers are counts whose total is not public.")
]
TransferOption = Annotated[
    float | None, typer.Option("--transfer", help="The vector is secret; two entries exchange at most M.")
]
L1Option = Annotated[
    float | None, typer.Option("--l1", help="The vector is secret; neighbours are within L1 distance B.")
]
ChangeOption = Annotated[
    str | None,
    typer.Option(
        help="One record is: replace (default with --records) or add-remove (default with --counts)."
    ),
]
MechanismOption = Annotated[
    str,
    typer.Option(
        "--mechanism",
        "-m",
        help="dirichlet, or auto for the least expected error; counts: geometric, discrete-gaussian; "
        "vectors: laplace, gaussian.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where to write: .json (the record) or .csv (value, and a .json)."),
]
RowsOption = Annotated[
    str, typer.Option("--rows", help="How many rows of the matrix may change at once: a number, or all.")
]
TransferInRow = Annotated[
    float | None, typer.Option("--transfer", help="In a changed row, two entries exchange at most M.")
]
L1InRow = Annotated[
    float | None, typer.Option("--l1", help="In a changed row, two entries move by an L1 distance of B.")
]
SupportOption = Annotated[
    str | None,
    typer.Option(
        "--support",
        help="Public places of entries above zero: a table (0 is never), or the word zeros: the input's "
        "own zeros are public.",
    ),
]
ReportOption = Annotated[Path | None, typer.Option("--report", help="Also write an HTML report here.")]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Reproducible, for experiments: the release is then NOT private."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the charge; draw and write nothing.")]
ForceOption = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
