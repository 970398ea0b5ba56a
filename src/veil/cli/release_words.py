"""veil release words: private versions of trajectories, each a feasible word near the true one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veil.cli import charging, counted, options, words
from veil.cli.output import AGAIN, check_ending, print_json, refuse_existing, working
from veil.core.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    from veil.core.record import Release
    from veil.words.language import Language
    from veil.words.table import WordTable

_TABLES = (".csv.gz", ".csv", ".parquet", ".pq")

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write: .csv, .csv.gz or .parquet (a row a symbol, and the record as .json beside it), "
        "or .json (the record with the words in it).",
    ),
]


def release_words(
    source: counted.Source,
    epsilon: options.Epsilon,
    by: words.ByColumns = None,
    order: counted.Order = None,
    state: counted.State = None,
    tie_break: counted.TieBreak = None,
    sequence_lines: counted.SequenceLines = False,
    skip: counted.Skip = 0,
    separator: counted.Separator = None,
    table: counted.TableName = None,
    query: counted.Query = None,
    chain: words.ChainOption = None,
    least: words.LeastOption = 0.0,
    symbols: words.SymbolsOption = None,
    start: words.StartOption = None,
    radius: words.RadiusOption = 1,
    words_each: Annotated[
        int, typer.Option("--words-each", min=1, help="How many words one person has at most; public.")
    ] = 1,
    longest: Annotated[
        int | None,
        typer.Option("--longest", min=1, help="The most symbols of a word; public. Else that of the data."),
    ] = None,
    mechanism: words.WordMechanismOption = "auto",
    keep_keys: Annotated[
        bool,
        typer.Option("--keep-keys", help="Write whose word it is; else words are numbered in random order."),
    ] = False,
    output: OutputOption = None,
    report: options.ReportOption = None,
    ledger: charging.LedgerOption = None,
    dataset: charging.DatasetOption = None,
    part: charging.PartOption = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release private words: each feasible, of the same length as the true one, and near it.

    Example: veil release words trips.csv --by user --order time --state segment --chain roads.csv
    --epsilon 5 -o private.csv

    Lines of symbols instead of a table: --sequences. Hidden is which symbol stands in any --radius places
    of a word; that there is a word, and its length, is public.
    """
    from veil.core.checks import choice, positive
    from veil.core.random.streams import generator
    from veil.words.job import word_job
    from veil.words.planning import FOR_WORDS

    record = _record_of(output)
    _check_output(output, keep_keys=keep_keys)
    check_ending("--report", report, (".html",))
    refuse_existing(
        {"--output": output, "the record beside --output": record, "--report": report},
        force=force,
        inputs=[source, *counted.files_among(source, chain, symbols)],
    )
    account = charging.account_of(ledger, dataset, part)
    again = account is None and output is not None and output.exists()
    positive("epsilon", epsilon)
    choice("mechanism", mechanism, ("auto", *FOR_WORDS))
    words.check_options(chain, symbols, start, least)
    support = None if chain is None else words.support_of(chain, least)
    with working("Reading", quiet=as_json) as tell:
        held = words.ask_words(
            source,
            sequence_lines=sequence_lines,
            skip=skip,
            separator=separator,
            states=words.listed_symbols(symbols) if support is None else list(support),
            progress=tell,
            by=None if not by else by[0] if len(by) == 1 else tuple(by),
            order=order,
            state=state,
            tie_break=tie_break,
            table=table,
            query=query,
        )
    _check_people(held, words_each)
    language = words.language_of(support, held.states, _longest(held, longest), start)
    # Before they are shuffled: the number of a wrong word is that in the order of the keys.
    _check_words(language, held)
    if not keep_keys:
        # In the order of their keys, words would say whose they are.
        held = held.reordered(generator(seed).permutation(len(held)))
    with working("Calibrating", quiet=as_json) as tell:
        job = word_job(
            _batch(held),
            language,
            epsilon=epsilon,
            radius=radius,
            words_each=words_each,
            mechanism=mechanism,
            symbols_found=support is None and symbols is None,
            layout_guessed=held.layout_guessed,
            progress=tell,
        )
    if dry_run:
        charging.say_dry_run(job, account, as_json=as_json)
        return
    with working("Drawing", quiet=as_json):
        out = job.run(ledger=account, rng=seed)
    with working("Writing", quiet=as_json):
        written = _write(out, held, output, record, keep_keys=keep_keys, force=force)
    if report is not None:
        from veil.core.files import write_text
        from veil.words.report.page import WordReport

        with working("Drawing the report", quiet=as_json):
            write_text(report, WordReport.of(out, plan=job.plan).html(), overwrite=force)
        written.append(report)
    if as_json:
        if again:
            print(f"veil: warning: {AGAIN}.", file=sys.stderr)
        print_json(_summary(out, job.chosen, written))
        return
    from veil.words.report.console import print_word_release

    print_word_release(out, chosen=job.chosen, plan=job.plan, written=written)
    charging.say_charge(account)
    if again:
        print(f"WARNING: {AGAIN}.")


def _check_words(language: Language, held: WordTable) -> None:
    try:
        language.validate(_batch(held), shorter=True)
    except InvalidData as error:
        hint = "Words are numbered from 1 in the order of their keys. Nothing was released."
        raise InvalidData(error.field, expected=error.expected, found=error.found, hint=hint) from None


def _check_output(output: Path | None, *, keep_keys: bool) -> None:
    if output is None:
        return
    if not output.name.lower().endswith((".json", *_TABLES)):
        expected = "a name that ends in " + " or ".join((".json", *_TABLES))
        raise InvalidArgument("--output", expected=expected, found=output.name)
    if keep_keys and output.suffix.lower() == ".json":
        raise InvalidArgument("--keep-keys", expected="a table as --output with it", found=output.name)


def _record_of(output: Path | None) -> Path | None:
    """The record stands beside a table, and is the output itself otherwise."""
    if output is None or output.suffix.lower() == ".json":
        return None
    stem = output.name
    for ending in _TABLES:
        if stem.lower().endswith(ending):
            return output.with_name(stem[: -len(ending)] + ".json")
    return None


def _check_people(held: WordTable, words_each: int) -> None:
    if len(held.by) == 1 and words_each > 1:
        raise InvalidArgument(
            "--words-each",
            expected="--by twice with it: who, and which word",
            found=f"--by {held.by[0]} alone, one word each",
        )
    if len(held.by) > 1:
        most = held.words_per()
        if most > words_each:
            raise InvalidData(
                "--words-each",
                expected=f"at most {words_each} words for each {held.by[0]}",
                found="someone with more",
                hint="Nothing was released. Choose --words-each from what is public, or leave words out.",
            )


def _longest(held: WordTable, longest: int | None) -> int:
    most = int(held.lengths.max())
    if longest is not None and most > longest:
        raise InvalidData("--longest", expected=f"words of at most {longest} symbols", found="a longer one")
    return most if longest is None else longest


def _batch(held: WordTable) -> Any:
    from veil.words.batch import WordBatch

    return WordBatch(held.states, held.codes, held.lengths)


def _write(
    out: Release,
    held: WordTable,
    output: Path | None,
    record: Path | None,
    *,
    keep_keys: bool,
    force: bool,
) -> list[Path]:
    from veil.core.files import save, save_record
    from veil.words.files import write_words

    if output is None:
        return []
    if record is None:
        save(out, output, overwrite=force)
        return [output]
    write_words(
        output,
        words=out.batch.codes,
        table=held,
        keys="keep" if keep_keys else "number",
        permutation=None if keep_keys else range(len(held)),
        overwrite=force,
    )
    save_record(out, record, beside=output, overwrite=force)
    return [output, record]


def _summary(out: Release, chosen: str, written: list[Path]) -> dict[str, Any]:
    from veil.words.codec import words_to_json

    return {
        "privacy": {"epsilon": out.epsilon, "delta": out.delta},
        "adjacency": out.adjacency.describe(),
        "mechanism": chosen,
        "words": len(out.batch),
        "assumptions": list(out.assumptions),
        "reproducible": out.reproducible,
        "written": [str(path) for path in written],
        # Words that are in no file would be paid for and lost.
        **({} if written else {"value": words_to_json(out.batch)}),
    }
