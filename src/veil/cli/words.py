"""The options that say what words there are, and which are feasible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veil.cli.counted import listed
from veil.core.errors import InvalidArgument

if TYPE_CHECKING:
    from veil.words.language import Language
    from veil.words.table import WordTable

ByColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Column that tells words apart: a user. Twice for user and trip: the first is the person.",
    ),
]
ChainOption = Annotated[
    str | None,
    typer.Option(
        "--chain",
        help="What is feasible, public: a CSV of allowed transitions (from,to), a matrix, or a released "
        "model (.json). Without it every word over the symbols is.",
    ),
]
LeastOption = Annotated[
    float,
    typer.Option("--least", min=0.0, help="With --chain: transitions less probable than this are not."),
]
SymbolsOption = Annotated[
    str | None,
    typer.Option(
        "--symbols", help="Without --chain: the public list of symbols, as a file or a,b,c; else those found."
    ),
]
StartOption = Annotated[
    str | None, typer.Option("--start", help="The public state before the first one of every word.")
]
RadiusOption = Annotated[
    int, typer.Option("--radius", "-b", min=1, help="How many symbols of a word are hidden at once.")
]
WordMechanismOption = Annotated[
    str,
    typer.Option(
        "--mechanism",
        "-m",
        help="auto (least expected error), balanced, exponential, sequential, staircase, permute-and-flip, "
        "or generic.",
    ),
]


def check_options(chain: str | None, symbols: str | None, start: str | None, least: float = 0.0) -> None:
    """Those that do not go together, before anything is read."""
    if chain is not None and symbols is not None:
        raise InvalidArgument("--symbols", expected="none with --chain, which names them", found="both")
    if chain is None and start is not None:
        raise InvalidArgument("--start", expected="--chain with it", found="none")
    if chain is None and least > 0.0:
        raise InvalidArgument("--least", expected="--chain with it", found="none")


def ask_words(
    source: str,
    *,
    sequence_lines: bool,
    skip: int,
    separator: str | None,
    states: Any,
    progress: Callable[[str], None] | None,
    **asked: Any,
) -> WordTable:
    """The words that the options ask for."""
    from veil.tables.sequences import SequenceFile
    from veil.words.reading import read_words

    if not sequence_lines and (skip or separator is not None):
        raise InvalidArgument("--sequences", expected="it, with --skip or --separator", found="none")
    held = SequenceFile(source, separator, skip) if sequence_lines else source
    return read_words(held, states=states, progress=progress, **asked)


def support_of(chain: str, least: float) -> dict[Any, list[Any]]:
    """The allowed transitions of a file."""
    from veil.words.supports import read_support

    return read_support(chain, least=least).to_dict()


def language_of(
    support: dict[Any, list[Any]] | None, symbols: Any, length: int, start: str | None
) -> Language:
    """The feasible words: paths of the chain, or all words over the symbols."""
    from veil.words.chain_words import ChainWords
    from veil.words.language import FreeWords

    if support is None:
        return FreeWords(symbols, length)
    return ChainWords(support, length, start=_as_label(start, support))


def _as_label(text: str | None, support: dict[Any, list[Any]]) -> Any:
    """The state that an option names by its text."""
    if text is None:
        return None
    found = [label for label in support if str(label) == text]
    if not found:
        raise InvalidArgument("--start", expected="a state of the chain", found=repr(text)[:40])
    return found[0]


def listed_symbols(symbols: str | None) -> Any:
    """The list behind --symbols."""
    return None if symbols is None else listed(symbols, "--symbols")
