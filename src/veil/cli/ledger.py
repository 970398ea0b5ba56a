"""veil ledger: budgets of datasets, and whether they are consistent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from veil.cli.ledger_options import (
    LedgerAndDataset,
    LedgerAndPerhapsDataset,
    ledger_and_dataset,
    ledger_and_perhaps_dataset,
    ledger_at,
    ledger_files,
)
from veil.cli.options import ForceOption, JsonOption, option
from veil.cli.output import print_json, working
from veil.cli.output_files import PICTURES, refuse_existing
from veil.core.errors import InvalidArgument
from veil.report.terminal import say

app = App(
    name="ledger", help="Budgets of datasets: open, show, raise, close, verify, back up.", help_epilogue=""
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
            help="What every release must hide: add-remove, replace, records:6, event, row, user, edge, "
            "words:1, bits:1, row-bits:16, transfer:0.1, matrix-row:0.1 ...; left to each release unless "
            "given.",
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

    url, name = ledger_and_dataset(places)
    made = ledger_at(url).open(
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
    return print_state(made, as_json)


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

    url, name = ledger_and_perhaps_dataset(places)
    if plot is not None and name is None:
        raise InvalidArgument("--plot", expected="a DATASET with it", found="none")
    ledgers = ledger_files(url)
    refuse_existing({"--plot": plot}, force=force, ledgers=ledgers, endings={"--plot": PICTURES})
    ledger = ledger_at(url)
    names = ledger.datasets() if name is None else [name]
    datasets = [ledger.dataset(one) for one in names]
    histories = [BudgetHistory.of(dataset) for dataset in datasets]
    behind = {dataset.name: dataset.set_back for dataset in datasets}
    if plot is not None:
        from veil.cli.ledger_output import save_budget

        with working("Drawing", quiet=as_json):
            save_budget(histories[0], plot, overwrite=force)
    if as_json:
        content: Any = [
            history.to_dict(entries=name is not None) | {"set_back": behind[history.name] or None}
            for history in histories
        ]
        print_json({"datasets": content} if name is None else content[0])
        return 0
    from veil.cli.ledger_output import print_dataset, print_datasets, print_warning

    if name is None:
        print_datasets(histories, str(ledger))
    else:
        print_dataset(histories[0], last=last)
    for one, found in behind.items():
        if found:
            print_warning(f"{one} has {found}")
    if plot is not None:
        say(f"Written: {plot}")
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
    if epsilon is None and delta is None:
        raise InvalidArgument("--epsilon", expected="a new total, or --delta", found="neither")
    url, name = ledger_and_dataset(places)
    dataset = ledger_at(url).dataset(name)
    dataset.raise_budget(epsilon=epsilon, delta=delta, why=why, by=by)
    return print_state(dataset, as_json)


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
    url, name = ledger_and_dataset(places)
    dataset = ledger_at(url).dataset(name)
    dataset.close(why=why, by=by)
    return print_state(dataset, as_json)


def print_state(dataset: Any, as_json: bool) -> int:
    from veil.ledger.history import BudgetHistory

    history = BudgetHistory.of(dataset)
    if as_json:
        print_json(history.to_dict(entries=False))
        return 0
    from veil.cli.ledger_output import print_dataset

    print_dataset(history, last=1)
    return 0
