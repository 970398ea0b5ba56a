"""veil plan words: what a budget buys for trajectories, before any data is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from veil.cli import options, words
from veil.cli.output import check_ending, print_json, refuse_existing, working
from veil.core.errors import InvalidArgument


def plan(
    length: Annotated[int, typer.Option("--length", "-n", min=1, help="The number of symbols of a word.")],
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="Privacy loss.")] = None,
    chain: words.ChainOption = None,
    least: words.LeastOption = 0.0,
    symbols: Annotated[
        str | None, typer.Option("--symbols", help="Without --chain: how many symbols there are, or a,b,c.")
    ] = None,
    start: words.StartOption = None,
    radius: words.RadiusOption = 1,
    error: Annotated[
        float | None,
        typer.Option("--error", help="The other way round: the epsilon for so many wrong symbols a word."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw error against epsilon: .svg, .png or .pdf.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """What to expect of each mechanism for words, without any data.

    Example: veil plan words --chain roads.csv --length 14 --epsilon 5

    Words without constraints: veil plan words --symbols 17 --length 10 --epsilon 2. Which epsilon for one
    wrong symbol a word: veil plan words --chain roads.csv --length 14 --error 1
    """
    from veil.words.planning import error_curve, least_epsilon_for_words, plan_words

    check_ending("--plot", plot, (".svg", ".png", ".pdf"))
    refuse_existing({"--plot": plot}, force=force)
    if (epsilon is None) == (error is None):
        raise InvalidArgument("--epsilon", expected="either --epsilon or --error", found="both or neither")
    if (chain is None) == (symbols is None):
        raise InvalidArgument("--chain", expected="either --chain or --symbols", found="both or neither")
    words.check_options(chain, symbols, start, least)
    support = None if chain is None else words.support_of(chain, least)
    language = words.language_of(support, _alphabet(symbols), length, start)
    if epsilon is None:
        assert error is not None
        with working("Searching", quiet=as_json) as tell:
            epsilon = least_epsilon_for_words(language, error=error, radius=radius, progress=tell)
    with working("Measuring every mechanism", quiet=as_json) as tell:
        table = plan_words(language, epsilon, radius=radius, progress=tell)
    if plot is not None:
        from veil.vectors.planning import epsilons_around
        from veil.words.report.figures import error_figure

        with working("Drawing", quiet=as_json) as tell:
            curves = error_curve(language, epsilons_around(epsilon), radius=radius, progress=tell)
            error_figure(curves, marks=[epsilon]).savefig(plot, dpi=150)
    if as_json:
        print_json(table.to_dict())
        return
    from veil.words.report.console import print_word_plan

    print_word_plan(table, error=error)
    if plot is not None:
        print(f"Drawn: {plot}")


def _alphabet(symbols: str | None) -> Any:
    """A number of symbols, or their list."""
    if symbols is None:
        return None
    if symbols.isdigit():
        return int(symbols)
    from veil.tables.states import given_states

    return list(given_states(words.listed_symbols(symbols)).labels)
