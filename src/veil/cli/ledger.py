"""veil ledger: budgets of datasets, and whether they are consistent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from veil.cli.ledger_options import (
    LedgerAndDataset,
    LedgerAndPerhapsDataset,
    LedgerAndReleases,
    LedgerOnly,
    ledger_and_dataset,
    ledger_and_perhaps_dataset,
    ledger_first,
)
from veil.cli.options import ForceOption, JsonOption, option
from veil.cli.output import print_json, working
from veil.cli.output_files import PICTURES, refuse_existing
from veil.core.errors import InvalidArgument, InvalidData, LedgerCorrupt, UnreadableFile

app = App(
    name="ledger", help="Budgets of datasets: open, show, raise, close, verify, export.", help_epilogue=""
)

ByOption = Annotated[str | None, option("--by", help="Who; the user of this machine by default.")]
WhyOption = Annotated[str, option("--why", help="Why; it is recorded.")]


@app.command(name="open")
def open_dataset(
    *places: LedgerAndDataset,
    epsilon: Annotated[str, option("--epsilon", "-e", help="What all releases together may cost.")],
    delta: Annotated[str, option("--delta", "-d", help="Their failure probability together.")] = "0",
    adjacency: Annotated[
        str | None,
        option(
            "--adjacency",
            help="What every release must hide: add-remove, replace, event, row, user, edge, words:1, "
            "bits:1, row-bits:16, transfer:0.1, matrix-row:0.1 ...; left to each release unless given.",
        ),
    ] = None,
    accounting: Annotated[
        str,
        option("--accounting", help="basic (adds epsilons), or a filter: zcdp, renyi."),
    ] = "basic",
    parts: Annotated[
        str | None,
        option("--parts", help="A public partition, a,b,c: releases from different parts do not add up."),
    ] = None,
    moves: Annotated[
        bool,
        option("--moves", help="With --parts: a neighbour may have a record in another part.", shown=False),
    ] = False,
    why: Annotated[str | None, option("--why", help="What the budget is for.")] = None,
    by: ByOption = None,
    as_json: JsonOption = False,
) -> int:
    """Open a dataset with a budget. The ledger is made if there is none.

    Example: veil ledger open budget.db trips --epsilon 1 --delta 1e-6 --adjacency user
    """
    from veil.core.registry import adjacency_named
    from veil.ledger.ledger import Ledger

    url, name = ledger_and_dataset(places)
    made = Ledger(url).open(
        name,
        epsilon=epsilon,
        delta=delta,
        adjacency=None if adjacency is None else adjacency_named(adjacency),
        accounting=accounting,
        parts=None if parts is None else [part.strip() for part in parts.split(",")],
        moves=moves,
        why=why,
        by=by,
    )
    return _print_dataset(made, as_json)


@app.command(name="show")
def show(
    *places: LedgerAndPerhapsDataset,
    last: Annotated[int, option("--last", least=1, help="How many entries to show.")] = 20,
    plot: Annotated[
        Path | None, option("--plot", help="A picture of the budget over time: .svg, .png or .pdf.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """The datasets with their budgets; of one dataset also its entries, and a picture.

    Example: veil ledger show budget.db trips --plot budget.svg
    """
    from veil.ledger.history import BudgetHistory
    from veil.ledger.ledger import Ledger

    url, name = ledger_and_perhaps_dataset(places)
    if plot is not None and name is None:
        raise InvalidArgument("--plot", expected="a DATASET with it", found="none")
    inputs = [url] if "://" not in url else []
    refuse_existing({"--plot": plot}, force=force, inputs=inputs, endings={"--plot": PICTURES})
    ledger = Ledger(url)
    names = ledger.datasets() if name is None else [name]
    histories = [BudgetHistory.of(ledger.dataset(one)) for one in names]
    if plot is not None:
        from veil.cli.ledger_output import save_budget

        with working("Drawing", quiet=as_json):
            save_budget(histories[0], plot, overwrite=force)
    if as_json:
        content: Any = [history.to_dict(entries=name is not None) for history in histories]
        print_json({"datasets": content} if name is None else content[0])
        return 0
    from veil.cli.ledger_output import print_dataset, print_datasets

    if name is None:
        print_datasets(histories, str(ledger))
    else:
        print_dataset(histories[0], last=last)
    if plot is not None:
        print(f"Written: {plot}")
    return 0


@app.command(name="raise")
def raise_budget(
    *places: LedgerAndDataset,
    why: WhyOption,
    epsilon: Annotated[str | None, option("--epsilon", "-e", help="The new total.")] = None,
    delta: Annotated[str | None, option("--delta", "-d", help="The new total.")] = None,
    by: ByOption = None,
    as_json: JsonOption = False,
) -> int:
    """Raise a budget to a new total. Who and why is recorded for good.

    Example: veil ledger raise budget.db trips --epsilon 2 --why "approved by the board on 3 May"
    """
    from veil.ledger.ledger import Ledger

    if epsilon is None and delta is None:
        raise InvalidArgument("--epsilon", expected="a new total, or --delta", found="neither")
    url, name = ledger_and_dataset(places)
    dataset = Ledger(url).dataset(name)
    dataset.raise_budget(epsilon=epsilon, delta=delta, why=why, by=by)
    return _print_dataset(dataset, as_json)


@app.command(name="close")
def close(
    *places: LedgerAndDataset,
    why: WhyOption,
    by: ByOption = None,
    as_json: JsonOption = False,
) -> int:
    """Close a dataset: no further release, ever.

    Example: veil ledger close budget.db trips --why "the study has ended"
    """
    from veil.ledger.ledger import Ledger

    url, name = ledger_and_dataset(places)
    dataset = Ledger(url).dataset(name)
    dataset.close(why=why, by=by)
    return _print_dataset(dataset, as_json)


@app.command(name="verify")
def verify(
    *places: LedgerAndReleases,
    against: Annotated[
        Path | None,
        option("--against", help="What `veil ledger export` wrote earlier: shows a cut end too."),
    ] = None,
    release: Annotated[
        list[Path] | None,
        option("--release", help="A release file, as behind the ledger."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Is the ledger consistent? Every hash, every sum, every limit is computed again.

    Example: veil ledger verify budget.db private.json other.json --against heads.json
    """
    from veil.ledger.ledger import Ledger

    url, more = ledger_first(places)
    paths = [*map(Path, more), *(release or ())]
    ledger = Ledger(url)
    earlier = None if against is None else exported(against)
    with working("Verifying", quiet=as_json):
        names = ledger.verify(earlier)
        wrong = {str(path): _fault(path, ledger) for path in paths}
    counts = {name: len(ledger.dataset(name).entries()) for name in names}
    faults = [fault for fault in wrong.values() if fault]
    if as_json:
        print_json(
            {
                "verified": not faults,
                "entries": counts,
                "against": earlier is not None,
                "releases": [
                    {"file": path, "charged": not fault, "fault": fault} for path, fault in wrong.items()
                ],
            }
        )
    else:
        for name, count in counts.items():
            print(f"{name}: {count} entries are consistent, the notes that a release was made among them.")
        if earlier is None:
            print("Entries cut off at the end do not show without --against FILE (see veil ledger export).")
        else:
            print("Nothing that was exported is missing.")
        for path, fault in wrong.items():
            print(f"{path}: charged as it says." if not fault else f"{path}: NOT CHARGED AS IT SAYS: {fault}")
    return LedgerCorrupt.exit_code if faults else 0


@app.command(name="export")
def export(
    *places: LedgerOnly,
    output: Annotated[Path, option("--output", "-o", help="Where to write (.json).")],
    heads: Annotated[
        bool, option("--heads", help="Only the newest hash of each dataset.", shown=False)
    ] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Write all entries, or the heads, to keep where those who can write to the ledger cannot.

    Example: veil ledger export budget.db --heads -o heads.json
    """
    from veil.core.files import RELEASED, SENSITIVE, write_text
    from veil.ledger.ledger import Ledger

    url, rest = ledger_first(places)
    if rest:
        raise InvalidArgument("LEDGER", expected="one ledger", found=f"{len(rest)} arguments after it")
    inputs = [url] if "://" not in url else []
    refuse_existing({"--output": output}, force=force, inputs=inputs, endings={"--output": (".json",)})
    content = Ledger(url).export(heads_only=heads)
    # Entries say who asked what of the data, as the ledger does; hashes say nothing.
    mode = RELEASED if heads else SENSITIVE
    write_text(output, json.dumps(content, indent=2) + "\n", overwrite=force, mode=mode)
    if as_json:
        print_json({"written": str(output), "datasets": list(content["datasets"])})
        return 0
    print(f"Written: {output}")
    return 0


def _fault(path: Path, ledger: Any) -> str:
    """What speaks against a release file; "" if nothing does."""
    from veil.core.files import load
    from veil.ledger.verification import check_charged

    try:
        check_charged(load(path), ledger, str(path))
    except (LedgerCorrupt, InvalidData) as error:
        return f"found {error.found}"
    return ""


def exported(path: Path) -> Any:
    """What `veil ledger export` wrote."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnreadableFile(str(path), expected="an export of a ledger", found="no such file") from None
    except (OSError, ValueError, RecursionError):
        raise UnreadableFile(str(path), expected="an export of a ledger", found="something else") from None


def _print_dataset(dataset: Any, as_json: bool) -> int:
    from veil.ledger.history import BudgetHistory

    history = BudgetHistory.of(dataset)
    if as_json:
        print_json(history.to_dict(entries=False))
        return 0
    from veil.cli.ledger_output import print_dataset

    print_dataset(history, last=1)
    return 0
