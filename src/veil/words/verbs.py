"""Read, plan and release words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veil.core.account import Account
from veil.core.job import run_with_warnings
from veil.core.record import Release
from veil.words.planning import WordPlan
from veil.words.requests import WordPlanning, WordRead, WordRelease
from veil.words.table import WordTable
from veil.words.word_batch import WordBatch


def read(
    source: Any,
    *,
    by: Sequence[str] | str | None = None,
    order: str | None = None,
    state: str | None = None,
    tie_break: str | None = None,
    time_format: str | None = None,
    lines: bool = False,
    skip: int = 0,
    separator: str | None = None,
    table: str | None = None,
    query: str | None = None,
    chain: Any = None,
    least: float = 0.0,
    symbols: Any = None,
    start: str | int | None = None,
) -> WordTable:
    """Read the words in a table. They are sensitive data, not a release.

    source: a path or glob (CSV, Parquet, JSON lines, DuckDB), a table in memory, DuckDB, PostgreSQL or Spark;
        or a list of words, each a list of states, which needs no columns.
    by: the column that tells words apart, or several, such as ("user", "trip"): a word for each combination.
        The first says who.
    order, state: a word is its states in this order. Rows of the same time are ordered by tie_break (a
        column), then by the order of the states. Times that are text are ordered character by character.
    lines: the source is a text file with one word per line; skip: lines before the first word; separator:
        between states, white space unless given.
    time_format: how times that are text are written: "iso", "day-first", "month-first", or a pattern such as
        "%d.%m.%Y %H:%M". Without it they are ISO, or texts of one length such as 0042.
    table, query: which table of a database, or one SELECT: of a database, or of a file or frame, which it
        calls input.
    chain: which state may follow which, public: {state: [states]}, a matrix, a list of transitions, a
        `veil.Chain`, a NetworkX digraph, a release of a chain, or a file with one of these. Without it every
        word over the symbols is feasible. least: transitions less probable than this are not allowed.
    symbols: without a chain, the public list of symbols (a list, a file, or "a,b,c"); a state that is not on
        it is an error. Without either the states found, whose list is then assumed public.
    start: with a chain, the public state before the first one of every word.

    Every row must have a key, an order and a state. Words come in the order of their keys; keys that are
    numbers beyond 64 bits come as text. The sorting is done where the data is; a query is run three times
    and must give the same rows each time.

    >>> from veil import words
    >>> log = {"who": ["b", "a", "b"], "time": [2, 1, 1], "street": ["Ash", "Ash", "Birch"]}
    >>> trips = words.read(log, by="who", order="time", state="street")
    >>> trips.states, trips.to_lists()
    (('Ash', 'Birch'), [['Ash'], ['Birch', 'Ash']])
    """
    return WordRead.given(locals()).read()


def plan(
    *,
    length: int | None = None,
    epsilon: float | None = None,
    chain: Any = None,
    least: float = 0.0,
    symbols: Any = None,
    start: str | int | None = None,
    radius: int = 1,
    error: float | None = None,
    shorter: bool = False,
    language: Any = None,
    typical: Any = None,
) -> WordPlan:
    """Every mechanism by its expected number of wrong symbols, from public facts alone.

    length: the number of symbols of a word. epsilon: what a word costs; or error: the other way round, the
        epsilon at which the best mechanism gets so many symbols of a word wrong.
    chain, least, start: which state may follow which, as for `read`; or symbols: how many there are, or their
        list; or language: an object such as `words.AutomatonWords`, which has a length of its own, or a JSON
        file that describes one.
    radius: how many symbols of a word are hidden at once. shorter: words of fewer symbols are to be hidden as
        well.
    typical: public words like those to be hidden, or a text file with one per line; None for random walks.

    >>> from veil import words
    >>> plan = words.plan(symbols=list("ACGT"), length=20, epsilon=2.0)
    >>> plan.best.name, round(plan.best.error, 2)
    ('exponential', 5.78)
    """
    return WordPlanning.given(locals()).plan()


def release(
    words: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    radius: int = 1,
    words_each: int = 1,
    longest: int | None = None,
    keep_keys: bool = False,
    language: Any = None,
    typical: Any = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[WordBatch]:
    """Release a private version of every word: feasible, of the same length, and near the true one.

    Hidden is which symbols stand in any `radius` places of a word; that there is a word, and its length, is
    public.

    words: what `read` returned, or a sequence of words, each a sequence of symbols. Words that were read are
        put into a random order, since the order of their keys would say whose they are.
    epsilon: what one person's words cost together. delta: not needed, since these mechanisms are pure;
        nothing is spent on it.
    mechanism: "auto" takes the one with the least expected error on made-up words; or "balanced",
        "exponential", "sequential", "staircase", "permute-and-flip", "generic".
    radius: how many symbols of a word are hidden at once. words_each: how many words one person has at most,
        public. longest: the most symbols of a word, public; None for that of the data.
    keep_keys: leave words in the order of their keys.
    language: what is feasible, an object such as `words.ChainWords` or a JSON file that describes one, with
        the length of the longest word. None for what was read with the words, or for all words over the
        symbols that occur, whose list is then assumed public.
    typical: public words like those to be hidden, on which mechanisms are compared.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    >>> from veil import words
    >>> language = words.FreeWords("ab", 3)
    >>> out = words.release([["a", "b"], ["b", "b", "a"]], language=language, epsilon=2, rng=1)
    >>> [len(word) for word in out.value], out.epsilon
    ([2, 3], 2.0)
    """
    request = WordRelease.given(locals())
    return run_with_warnings(request.prepare(words, rng=rng), ledger=ledger, rng=rng)
