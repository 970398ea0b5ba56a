"""The counting, as one SQL text: written in DuckDB's dialect, rendered for the engine at hand.

Its layers, from the inside out: `visits` picks the columns (and turns states into their places in the
public list), `steps` puts each state next to the one after it, `draws` numbers a user's transitions in
the order of a salted hash, and the outermost groups and counts. Layers that are not needed are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from veil.chains.counting.question import Question
from veil.chains.lengths import LengthBins
from veil.tables.cells import is_plain_integer
from veil.tables.engines.protocol import (
    Column,
    Engine,
    Kind,
    exact_text,
    places,
    quoted,
    render,
    text_literal,
    told_apart,
)
from veil.tables.states import StateList

# So many different transitions do not come from columns that hold states; of a list that is given, more may.
MOST_GROUPS = 20_000_000
MOST_LISTED_GROUPS = 200_000_000


@dataclass(frozen=True)
class CountingQuery:
    """The query for one question in one engine.

    columns: what the engine knows of the columns, by role. states: the public list, where states are to
    be turned into places inside the engine; otherwise raw labels come out.
    """

    question: Question
    columns: Mapping[str, Column]
    engine: Engine
    states: StateList | None

    @property
    def sql(self) -> str:
        """The whole query: one row for each group, with how often it was seen and kept."""
        question = self.question
        # What is grouped by: names and expressions.
        keys = {"state": "state", "next_state": "next_state"}
        if question.strata:
            keys["stratum"] = self._by_moves(range(len(question.strata)))
        if question.group is not None:
            keys["grp"] = "grp"
        if question.memory == 2:
            keys["before"] = "before"
        if question.sequences:
            keys["is_first"] = "CASE WHEN place = 1 THEN 1 ELSE 0 END"
            keys["length"] = f"CASE WHEN next_state IS NULL THEN {self._bin} END"
        counted = ["COUNT(*) AS seen"]
        # Keys get their names one layer further in: an engine may not group by a name of the same layer.
        inner = [f"{expression} AS {name}" for name, expression in keys.items()]
        if question.is_capped:
            counted.append(f"COUNT(CASE WHEN draw <= {self._cap} THEN 1 END) AS kept")
            inner += ["draw", *(["moves"] if question.strata else [])]
            layer = f"({self._draws}) AS draws"
        else:
            layer = f"({self._steps}) AS steps" if question.is_log else f"({self._visits}) AS visits"
        if question.once:
            # Of the kept pairs of a user, the first from a state and the first to one.
            firsts = {"start": "nth_start", "end": "nth_end"}
            counted += [
                f"COUNT(CASE WHEN draw <= {question.cap} AND {nth} = 1 THEN 1 END) AS new_{name}"
                for name, nth in firsts.items()
            ]
            inner += firsts.values()
            layer = f"({self._first_of_each}) AS firsts"
        if question.second_cap is not None:
            counted.append(f"COUNT(CASE WHEN draw <= {question.second_cap} THEN 1 END) AS kept_second")
        if question.by is not None:
            counted.append("COUNT(CASE WHEN missing THEN 1 END) AS missing")
            inner.append("missing")
        return self._whole(
            f"SELECT {', '.join(keys)}, {', '.join(counted)} "
            f"FROM (SELECT {', '.join(inner)} FROM {layer}) AS grouped "
            f"GROUP BY {', '.join(keys)}{self._kept_groups} LIMIT {self.most_groups + 1}"
        )

    @property
    def most_groups(self) -> int:
        """How many different transitions there may be."""
        return MOST_GROUPS if self.states is None and not self.question.discovers else MOST_LISTED_GROUPS

    @property
    def _kept_groups(self) -> str:
        """Of very many transitions only kept ones leave the engine, and what is to be complained of."""
        if not self.question.once or (self.states is None and not self.question.discovers):
            return ""
        kept = f"COUNT(CASE WHEN draw <= {self.question.cap} THEN 1 END) > 0"
        missing = "COUNT(CASE WHEN missing THEN 1 END) > 0"
        return f" HAVING {kept} OR {missing} OR next_state IS NULL OR state IS NULL"

    @property
    def visitors_sql(self) -> str:
        """How many users each state has, of whom each counts for a bounded number of states, once each.

        Which ones is decided from that user's rows alone, by the salted hash of the place where a state comes
        first. Where a user has no more states than count, all do.
        """
        question = self.question
        steps = f"({self._steps}) AS steps"
        visited = f"SELECT who, state, place FROM {steps}"
        if not question.is_log:
            # Of a trip, where it starts and where it ends are two places, and two columns of any types.
            visited = (
                f"SELECT who, CAST(state AS TEXT) AS state, 2 * place AS place FROM {steps} UNION ALL "
                f"SELECT who, CAST(next_state AS TEXT) AS state, 2 * place + 1 AS place FROM {steps}"
            )
        first = f"SELECT who, state, MIN(place) AS place FROM ({visited}) AS visited GROUP BY who, state"
        several = "COUNT(*) OVER (PARTITION BY who) AS several"
        counted = f"SELECT who, state, place, {several} FROM ({first}) AS first_ones"
        salt = text_literal(f"{question.salt}:")
        hashed = f"MD5({salt} || CAST(who AS TEXT) || ':' || CAST(place AS TEXT))"
        key = exact_text(
            f"(CASE WHEN several > {question.user_states} THEN {hashed} ELSE '' END)", self.engine.dialect
        )
        drawn = (
            f"SELECT state, ROW_NUMBER() OVER (PARTITION BY who ORDER BY {key} ASC) AS draw "
            f"FROM ({counted}) AS counted"
        )
        return self._whole(
            f"SELECT state, COUNT(*) AS users FROM ({drawn}) AS drawn WHERE draw <= {question.user_states} "
            f"GROUP BY state LIMIT {MOST_GROUPS + 1}"
        )

    @property
    def distinct_sql(self) -> str:
        """The labels that occur."""
        selects = " UNION ".join(
            f"SELECT {self._of(role)} AS state FROM veil_source" for role in self.question.state_names
        )
        return self._whole(f"SELECT state FROM ({selects}) AS found LIMIT {MOST_GROUPS + 1}", listed=False)

    @property
    def gaps_sql(self) -> str:
        """How many rows lack a value, for each column that must have one; asked only to name the column."""
        roles = ("by", "order", *self.question.state_names, "group")
        counts = [
            f"COUNT(CASE WHEN {self._lacks(role)} THEN 1 END) AS {quoted(role)}"
            for role in roles
            if role in self.columns
        ]
        return self._whole(f"SELECT {', '.join(counts)} FROM veil_source", listed=False)

    @property
    def unknown_sql(self) -> str:
        """How many different labels are not on the list, for each column of states."""
        counts = [
            f"COUNT(DISTINCT CASE WHEN {role}_list.place IS NULL THEN {self._of(role)} END) AS {role}"
            for role in self.question.state_names
        ]
        return self._whole(f"SELECT {', '.join(counts)} FROM veil_source {self._joins}")

    def _by_moves(self, values: Iterable[int]) -> str:
        """The value of the stratum of a user, who has so many `moves`."""
        bounds = [least - 1 for least, _ in self.question.strata]
        rising = reversed(list(zip(bounds, values, strict=True)))
        return f"CASE{''.join(f' WHEN moves >= {bound} THEN {value}' for bound, value in rising)} END"

    @property
    def _bin(self) -> str:
        """The bin of the length of a sequence, at its last state, whose place is the length."""
        least = LengthBins.default().least
        single = next((k for k, bound in enumerate(least) if bound != k + 1), len(least))
        cases = [f"WHEN place <= {single} THEN place - 1"]
        cases += [f"WHEN place < {least[k + 1]} THEN {k}" for k in range(single, len(least) - 1)]
        return f"CASE {' '.join(cases)} ELSE {len(least) - 1} END"

    @property
    def _cap(self) -> str:
        """The cap of a user."""
        strata = self.question.strata
        return self._by_moves(cap for _, cap in strata) if strata else str(self.question.cap)

    @property
    def _visits(self) -> str:
        question, columns = self.question, self.columns
        picked = [] if question.by is None else [f"{self._of('by')} AS who"]
        picked += [f"{self._of(role)} AS {role}_key" for role in ("order", "tie_break") if role in columns]
        for role, name in question.state_names.items():
            code = self._of(role) if self.states is None else f"{role}_list.place"
            if self.states is not None and self.states.other is not None:
                code = f"COALESCE({code}, {self.states.other})"
            picked.append(f"{code} AS {name}")
        if question.group is not None:
            picked.append(f"{self._of('group')} AS grp")
        if question.by is not None:
            lacks = [self._lacks(role) for role in ("by", "order") if role in columns]
            picked.append(f"({' OR '.join(lacks)}) AS missing")
        joins = "" if self.states is None else self._joins
        kept = ""
        if question.drop_unlisted and self.states is not None:
            kept = " WHERE " + " AND ".join(f"{role}_list.place IS NOT NULL" for role in question.state_names)
        return f"SELECT {', '.join(picked)} FROM veil_source {joins}{kept}"

    @property
    def _steps(self) -> str:
        """Each state with its next one; where needed also the one before, its place, the number of moves."""
        question = self.question
        ordered = f"PARTITION BY who ORDER BY {self._order}"
        window = f"({ordered})"
        # The same order again, so that one sort serves: a count over all needs none.
        whole = f"({ordered} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
        following = f"LEAD(state) OVER {window} AS next_state" if question.is_log else "next_state"
        picked = ["who", "missing", "state", following]
        if question.group is not None:
            picked.append("grp")
        if question.memory == 2:
            picked.append(f"LAG(state) OVER {window} AS before")
        if question.is_capped or question.sequences:
            picked.append(f"ROW_NUMBER() OVER {window} AS place")
        if question.is_capped and not question.once:
            picked.append(f"COUNT(*) OVER {whole}{' - 1' if question.is_log else ''} AS moves")
        return f"SELECT {', '.join(picked)} FROM ({self._visits}) AS visits"

    @property
    def _draws(self) -> str:
        """The steps, with a number that orders each user's transitions by the salted hash.

        A user with no more than the cap keeps all, so nothing is hashed. The last state of a sequence
        has no transition and comes last.
        """
        question = self.question
        salt = text_literal(f"{question.salt}:")
        hashed = f"MD5({salt} || CAST(who AS TEXT) || ':' || CAST(place AS TEXT))"
        # No hash is above z, and none is as short as the empty text.
        last = "WHEN next_state IS NULL THEN 'z' " if question.is_log else ""
        least = self._cap if question.second_cap is None else f"LEAST({self._cap}, {question.second_cap})"
        key = exact_text(f"(CASE {last}WHEN moves > {least} THEN {hashed} ELSE '' END)", self.engine.dialect)
        picked = ["state", "next_state", "missing", "moves"]
        if question.once:
            picked.append("who")
        if question.group is not None:
            picked.append("grp")
        if question.memory == 2:
            picked.append("before")
        if question.sequences:
            picked.append("place")
        # Where states are discovered it is counted which pair from a state comes first: no ties are left.
        ties = ", place ASC" if question.once and question.discovers else ""
        picked.append(f"ROW_NUMBER() OVER (PARTITION BY who ORDER BY {key} ASC{ties}) AS draw")
        layer = self._pairs_of_users if question.once else self._steps
        return f"SELECT {', '.join(picked)} FROM ({layer}) AS steps"

    @property
    def _pairs_of_users(self) -> str:
        """Each pair of states once for each user, at the first place where it comes."""
        pairs = (
            "SELECT who, state, next_state, MIN(place) AS place, COUNT(CASE WHEN missing THEN 1 END) > 0 AS "
            f"missing FROM ({self._steps}) AS steps GROUP BY who, state, next_state"
        )
        counted = "COUNT(next_state) OVER (PARTITION BY who) AS moves"
        return f"SELECT who, state, next_state, place, missing, {counted} FROM ({pairs}) AS pairs"

    @property
    def _first_of_each(self) -> str:
        """The draws, with how many of a user's pairs from the same state, and to it, come before each."""
        within = ("state", "nth_start"), ("next_state", "nth_end")
        numbers = [
            f"ROW_NUMBER() OVER (PARTITION BY who, {state} ORDER BY draw ASC) AS {name}"
            for state, name in within
        ]
        kept = "state, next_state, missing, draw"
        return f"SELECT {kept}, {', '.join(numbers)} FROM ({self._draws}) AS draws"

    @property
    def _order(self) -> str:
        """A total order up to rows that are the same in all that is counted."""
        states = self.question.state_names
        names = {"order": "order_key", "tie_break": "tie_break_key", **states, "group": "grp"}
        coded = () if self.states is None else states
        keys = []
        for role, name in names.items():
            if role in self.columns:
                is_text = role not in coded and self._is_text(role)
                if is_text and self.engine.guesses_layout and role not in ("order", "tie_break"):
                    # Labels in files come as text: whole numbers among them are in the order of their size.
                    keys.append(f"TRY_CAST({name} AS BIGINT)")
                keys.append(exact_text(name, self.engine.dialect) if is_text else name)
        # A session may have another direction than this as its default.
        return ", ".join(f"{key} ASC NULLS LAST" for key in keys)

    def _is_text(self, role: str) -> bool:
        return self.columns[role].kind in {Kind.TEXT, Kind.WORDS}

    def _of(self, role: str) -> str:
        """The column of a role; of states and groups the label in the data, a whole number or text."""
        column, is_label = self.columns[role], role in {"group", *self.question.state_names}
        reference = told_apart(column, self.engine.dialect)
        return f"CAST({reference} AS BIGINT)" if column.kind is Kind.WIDE and is_label else reference

    def _lacks(self, role: str) -> str:
        """Whether the column has no value in a row."""
        reference = self._of(role)
        if self.columns[role].kind is Kind.FLOAT:
            return f"({reference} IS NULL OR LOWER(CAST({reference} AS TEXT)) = 'nan')"
        return f"({reference} IS NULL)"

    @property
    def _joins(self) -> str:
        return " ".join(
            f"LEFT JOIN {self._list_name(role)} AS {role}_list ON {role}_list.label = {self._of(role)}"
            for role in self.question.state_names
        )

    def _list_name(self, role: str) -> str:
        return "veil_texts" if self._is_text(role) else "veil_numbers"

    def _whole(self, text: str, *, listed: bool = True) -> str:
        """The text in the engine's dialect, after the table and the list of states that it refers to."""
        named = [f"veil_source AS (\n{self.engine.relation}\n)"]
        if listed and self.states is not None:
            for name in sorted({self._list_name(role) for role in self.question.state_names}):
                is_text = name == "veil_texts"
                listed_ones = ((label, i) for i, label in enumerate(self.states.texts))
                matching = (one for one in listed_ones if is_text or is_plain_integer(one[0]))
                values = places(matching, self.engine.dialect, text=is_text)
                named.append(f"{name}(label, place) AS ({values})")
        return f"WITH {', '.join(named)}\n{render(text, self.engine.dialect)}"
