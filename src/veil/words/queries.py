"""Words, as SQL texts: written in DuckDB's dialect, rendered for the engine at hand.

Three queries, each with as few columns as possible: which states and gaps there are, the words with their
lengths, and the symbols of all words one after another. The last two are in the same order of the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from veil.tables.cells import is_plain_integer
from veil.tables.engines.protocol import Column, Engine, Kind, exact_text, places, render, told_apart
from veil.tables.states import StateList

# So many different labels do not come from a column that holds states.
MOST_STATES = 1_000_000
# The code of a state that is not on the list.
UNLISTED = -1
# Keys that come as text.
_LONG = {Kind.TEXT, Kind.WORDS, Kind.WIDE}


class WordQuery:
    """The queries for the words of one table.

    keys: the columns that tell words apart. columns: the others, by role: order, state, perhaps tie_break.
    states: the public list, in whose order ties are broken; without it the labels found, in their order.
    """

    def __init__(
        self, keys: Sequence[Column], columns: Mapping[str, Column], engine: Engine, states: StateList | None
    ) -> None:
        self._keys, self._columns, self._engine, self._states = keys, columns, engine, states

    @property
    def summary_sql(self) -> str:
        """The labels that occur, in their order, with the number of rows that lack a key or an order."""
        lacking = {**dict(self._named_keys), "time": self._columns["order"]}
        picked = [f"{self._lacks(column)} AS {name}_lacks" for name, column in lacking.items()]
        counted = [f"COUNT(CASE WHEN {name}_lacks THEN 1 END) AS {name}_gaps" for name in lacking]
        listed = ", ".join(f"{name}_gaps" for name in lacking)
        return self._whole(
            f"SELECT state, number, ROW_NUMBER() OVER (ORDER BY state ASC NULLS LAST) AS place, {listed} "
            f"FROM (SELECT state, COUNT(*) AS number, {', '.join(counted)} "
            f"FROM (SELECT {self._label} AS state, {', '.join(picked)} FROM veil_source) AS visits "
            f"GROUP BY state LIMIT {MOST_STATES + 1}) AS found ORDER BY place"
        )

    @property
    def lengths_sql(self) -> str:
        """The words in the order of their keys, with their lengths."""
        names = ", ".join(name for name, _ in self._named_keys)
        return self._whole(
            f"SELECT {names}, COUNT(*) AS length FROM (SELECT {self._picked} FROM veil_source) AS visits "
            f"GROUP BY {names} ORDER BY {self._key_order}"
        )

    @property
    def codes_sql(self) -> str:
        """The place of each symbol in the list of states; words in the order of their keys."""
        sorting = {name: self._key(column) for name, column in self._named_keys}
        named, joined = [f"veil_states(label, place) AS ({self._list})"], ""
        if any(column.kind in _LONG for column in self._keys):
            # Numbers are quicker to sort than texts, by a quarter of the time for 14 million rows.
            named.append(f"veil_words AS ({render(self._numbered, self._engine.dialect)})")
            same = " AND ".join(f"veil_words.{name} = {key}" for name, key in sorting.items())
            joined, sorting = f" JOIN veil_words ON {same}", {"word": "veil_words.word"}
        sorting |= {
            f"{role}_key": self._of(self._columns[role])
            for role in ("order", "tie_break")
            if role in self._columns
        }
        picked = [f"{expression} AS {name}" for name, expression in sorting.items()]
        text = (
            f"SELECT COALESCE(place, {UNLISTED}) AS code "
            f"FROM (SELECT {', '.join(picked)}, veil_states.place AS place FROM veil_source{joined} "
            f"LEFT JOIN veil_states ON veil_states.label = {self._label}) AS visits "
            f"ORDER BY {_ordered([*sorting, 'place'])}"
        )
        return self._whole(text, *named)

    @property
    def _numbered(self) -> str:
        """The words with their numbers in the order of their keys."""
        names = ", ".join(name for name, _ in self._named_keys)
        return (
            f"SELECT {names}, CAST(ROW_NUMBER() OVER (ORDER BY {self._key_order}) AS INTEGER) "
            f"AS word FROM (SELECT DISTINCT {self._picked} FROM {_again('words')}) AS found"
        )

    @property
    def _named_keys(self) -> list[tuple[str, Column]]:
        return [(f"key_{i}", column) for i, column in enumerate(self._keys)]

    @property
    def _key_order(self) -> str:
        """The order of the words. Keys in files come as text: whole numbers among them are in that order."""
        keys = []
        for name, column in self._named_keys:
            if self._engine.guesses_layout and column.kind is Kind.TEXT:
                keys.append(f"TRY_CAST({name} AS BIGINT)")
            keys.append(name)
        return _ordered(keys)

    @property
    def _picked(self) -> str:
        return ", ".join(f"{self._key(column)} AS {name}" for name, column in self._named_keys)

    @property
    def _label(self) -> str:
        """The label in the data: a whole number or text."""
        column = self._columns["state"]
        return f"CAST({self._of(column)} AS BIGINT)" if column.kind is Kind.WIDE else self._of(column)

    def _key(self, column: Column) -> str:
        """A key as it leaves the engine: numbers of any size as text, since Arrow has none of them."""
        key = self._of(column)
        return exact_text(f"CAST({key} AS TEXT)", self._engine.dialect) if column.kind is Kind.WIDE else key

    def _of(self, column: Column) -> str:
        return told_apart(column, self._engine.dialect)

    def _lacks(self, column: Column) -> str:
        """Whether the column has no value in a row."""
        reference = self._of(column)
        if column.kind is Kind.FLOAT:
            return f"({reference} IS NULL OR LOWER(CAST({reference} AS TEXT)) = 'nan')"
        return f"({reference} IS NULL)"

    @property
    def _list(self) -> str:
        """The list of states as a table: the given one, or the labels found, numbered by the engine."""
        if self._states is None:
            found = f"SELECT DISTINCT {self._label} AS label FROM {_again('states')}"
            text = (
                "SELECT label, CAST(ROW_NUMBER() OVER (ORDER BY label ASC NULLS LAST) - 1 AS INTEGER) "
                f"AS place FROM ({found}) AS found"
            )
            return render(text, self._engine.dialect)
        listed = enumerate(self._states.texts)
        if self._columns["state"].kind in {Kind.TEXT, Kind.WORDS}:
            return places(((text, i) for i, text in listed), self._engine.dialect, text=True)
        numbers = ((text, i) for i, text in listed if is_plain_integer(text))
        return places(numbers, self._engine.dialect, text=False)

    def _whole(self, text: str, *named: str) -> str:
        """The text in the engine's dialect, after the tables that it refers to.

        Who refers to the source a second time does so by another name: engines keep a table that is named
        twice as a copy, with all of its columns, and this one may be large.
        """
        others = ("veil_states_source", "veil_words_source")
        names = ["veil_source", *(name for name in others if any(name in one for one in named))]
        tables = ", ".join([*(f"{name} AS (\n{self._engine.relation}\n)" for name in names), *named])
        return f"WITH {tables}\n{render(text, self._engine.dialect)}"


def _again(name: str) -> str:
    """The source by a name of its own, under which only one part of a query refers to it."""
    return f"veil_{name}_source AS veil_source"


def _ordered(names: Iterable[str]) -> str:
    # A session may have another direction than this as its default.
    return ", ".join(f"{name} ASC NULLS LAST" for name in names)
