"""The counting, as one SQL text: written in DuckDB's dialect, rendered for the engine at hand.

Its layers, from the inside out: `visits` picks the columns (and turns states into their places in the
public list), `steps` puts each state next to the one after it, `draws` numbers a user's transitions in
the order of a salted hash, and the outermost groups and counts. Layers that are not needed are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from veil.chains.lengths import LengthBins
from veil.tables.cells import is_plain_integer
from veil.tables.engines.names import quoted, text_literal
from veil.tables.engines.protocol import Column, Engine, Kind
from veil.tables.questions import Question
from veil.tables.rendering import literal, places, render
from veil.tables.states import StateList

# So many different transitions do not come from columns that hold states.
MOST_GROUPS = 20_000_000


class CountingQuery:
    """The query for one question in one engine.

    columns: what the engine knows of the columns, by role. states: the public list, where states are to
    be turned into places inside the engine; else raw labels come out.
    """

    def __init__(
        self,
        question: Question,
        columns: Mapping[str, Column],
        engine: Engine,
        states: StateList | None,
        bins: LengthBins,
    ) -> None:
        self._question, self._columns, self._engine = question, columns, engine
        self.states, self._bins = states, bins

    @property
    def sql(self) -> str:
        """The whole query: one row for each group, with how often it was seen and kept."""
        question = self._question
        keys = dict(self._keys())
        counted = ["COUNT(*) AS seen"]
        if question.is_capped:
            counted.append(f"COUNT(CASE WHEN draw <= {self._cap} THEN 1 END) AS kept")
        if question.second_cap is not None:
            counted.append(f"COUNT(CASE WHEN draw <= {question.second_cap} THEN 1 END) AS kept_second")
        if self._needs_missing:
            counted.append("COUNT(CASE WHEN missing THEN 1 END) AS missing")
        named = ", ".join(f"{expression} AS {name}" for name, expression in keys.items())
        # Keys get their names one layer further in: an engine may not group by a name of the same layer.
        inner = ", ".join(
            [
                named,
                *(["draw", *(["moves"] if question.strata else [])] if question.is_capped else []),
                *(["missing"] if self._needs_missing else []),
            ]
        )
        text = (
            f"SELECT {', '.join(keys)}, {', '.join(counted)} "
            f"FROM (SELECT {inner} FROM {self._innermost}) AS grouped "
            f"GROUP BY {', '.join(keys)} LIMIT {MOST_GROUPS + 1}"
        )
        return self._whole(text)

    @property
    def distinct_sql(self) -> str:
        """The labels that occur."""
        selects = " UNION ".join(
            f"SELECT {self._raw(role)} AS state FROM veil_source" for role in self._question.state_roles
        )
        return self._whole(f"SELECT state FROM ({selects}) AS found LIMIT {MOST_GROUPS + 1}", listed=False)

    @property
    def gaps_sql(self) -> str:
        """How many rows lack a value, for each column that must have one; asked only to name the column."""
        roles = ("by", "order", *self._question.state_roles, "group")
        counts = [
            f"COUNT(CASE WHEN {self._lacks(role)} THEN 1 END) AS {quoted(role)}"
            for role in roles
            if role in self._columns
        ]
        return self._whole(f"SELECT {', '.join(counts)} FROM veil_source", listed=False)

    @property
    def unknown_sql(self) -> str:
        """How many different labels are not on the list, for each column of states."""
        counts = [
            f"COUNT(DISTINCT CASE WHEN {role}_list.place IS NULL THEN {self._raw(role)} END) AS {role}"
            for role in self._question.state_roles
        ]
        return self._whole(f"SELECT {', '.join(counts)} FROM veil_source {self._joins}")

    def _keys(self) -> list[tuple[str, str]]:
        """What is grouped by: names and expressions."""
        question = self._question
        keys = [("state", "state"), ("next_state", "next_state")]
        if question.strata:
            rising = "".join(
                f" WHEN moves >= {least - 1} THEN {number}"
                for number, (least, _) in reversed(list(enumerate(question.strata)))
            )
            keys.append(("stratum", f"CASE{rising} END"))
        if question.group is not None:
            keys.append(("grp", "grp"))
        if question.memory == 2:
            keys.append(("before", "before"))
        if question.sequences:
            keys.append(("is_first", "CASE WHEN place = 1 THEN 1 ELSE 0 END"))
            keys.append(("length", f"CASE WHEN next_state IS NULL THEN {self._bin} END"))
        return keys

    @property
    def _bin(self) -> str:
        """The bin of the length of a sequence, at its last state, whose place is the length."""
        least = self._bins.least
        single = next((k for k, bound in enumerate(least) if bound != k + 1), len(least))
        cases = [f"WHEN place <= {single} THEN place - 1"]
        cases += [f"WHEN place < {least[k + 1]} THEN {k}" for k in range(single, len(least) - 1)]
        return f"CASE {' '.join(cases)} ELSE {len(least) - 1} END"

    @property
    def _cap(self) -> str:
        """The cap of a user, who has so many `moves`."""
        if not self._question.strata:
            return str(self._question.cap)
        rising = "".join(
            f" WHEN moves >= {least - 1} THEN {cap}" for least, cap in reversed(self._question.strata)
        )
        return f"CASE{rising} END"

    @cached_property
    def _needs_missing(self) -> bool:
        return self._question.by is not None

    @property
    def _innermost(self) -> str:
        if self._question.is_capped:
            return f"({self._draws}) AS draws"
        if self._question.is_log:
            return f"({self._steps}) AS steps"
        return f"({self._visits}) AS visits"

    @property
    def _visits(self) -> str:
        question, columns = self._question, self._columns
        picked = []
        if question.by is not None:
            picked.append(f"{self._of('by')} AS who")
        picked += [f"{self._of(role)} AS {role}_key" for role in ("order", "tie_break") if role in columns]
        picked += [
            f"{self._coded(role)} AS {name}"
            for role, name in zip(question.state_roles, question.state_names, strict=True)
        ]
        if question.group is not None:
            picked.append(f"{self._raw('group')} AS grp")
        if self._needs_missing:
            lacks = [self._lacks(role) for role in ("by", "order") if role in columns]
            picked.append(f"({' OR '.join(lacks)}) AS missing")
        kept = ""
        if question.drop_unlisted and self.states is not None:
            kept = " WHERE " + " AND ".join(f"{role}_list.place IS NOT NULL" for role in question.state_roles)
        return f"SELECT {', '.join(picked)} FROM veil_source {self._joins}{kept}"

    @property
    def _steps(self) -> str:
        """Each state with its next one; where needed also the one before, its place, the number of moves."""
        question = self._question
        window = f"(PARTITION BY who ORDER BY {self._order})"
        # The same order again, so that one sort serves: a count over all needs none.
        whole = (
            f"(PARTITION BY who ORDER BY {self._order} "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
        )
        picked = ["who", "missing", "state"]
        if question.is_log:
            picked.append(f"LEAD(state) OVER {window} AS next_state")
        else:
            picked.append("next_state")
        if question.group is not None:
            picked.append("grp")
        if question.memory == 2:
            picked.append(f"LAG(state) OVER {window} AS before")
        if question.is_capped or question.sequences:
            picked.append(f"ROW_NUMBER() OVER {window} AS place")
        if question.is_capped:
            picked.append(f"COUNT(*) OVER {whole}{' - 1' if question.is_log else ''} AS moves")
        return f"SELECT {', '.join(picked)} FROM ({self._visits}) AS visits"

    @property
    def _draws(self) -> str:
        """The steps, with a number that orders each user's transitions by the salted hash.

        A user with no more than the cap keeps all, so nothing is hashed. The last state of a sequence
        has no transition and comes last.
        """
        question = self._question
        salt = text_literal(f"{question.salt}:")
        hashed = f"MD5({salt} || CAST(who AS TEXT) || ':' || CAST(place AS TEXT))"
        # No hash is above z, and none is as short as the empty text.
        last = "WHEN next_state IS NULL THEN 'z' " if question.is_log else ""
        least = self._cap if question.second_cap is None else f"LEAST({self._cap}, {question.second_cap})"
        key = self._collated(f"CASE {last}WHEN moves > {least} THEN {hashed} ELSE '' END", True)
        picked = ["state", "next_state", "missing", "moves"]
        if question.group is not None:
            picked.append("grp")
        if question.memory == 2:
            picked.append("before")
        if question.sequences:
            picked.append("place")
        picked.append(f"ROW_NUMBER() OVER (PARTITION BY who ORDER BY {key} ASC) AS draw")
        return f"SELECT {', '.join(picked)} FROM ({self._steps}) AS steps"

    @property
    def _order(self) -> str:
        """A total order up to rows that are the same in all that is counted."""
        question = self._question
        keys = [
            self._collated(f"{role}_key", self._is_text(role))
            for role in ("order", "tie_break")
            if role in self._columns
        ]
        for role, name in zip(question.state_roles, question.state_names, strict=True):
            keys.append(self._collated(name, self.states is None and self._is_text(role)))
        if question.group is not None:
            keys.append(self._collated("grp", self._is_text("group")))
        # A session may have another direction than this as its default.
        return ", ".join(f"{key} ASC NULLS LAST" for key in keys)

    def _is_text(self, role: str) -> bool:
        return self._columns[role].kind in {Kind.TEXT, Kind.WORDS}

    def _collated(self, expression: str, is_text: bool) -> str:
        """Text by code points, which the other engines do by themselves."""
        if is_text and self._engine.dialect == "postgres":
            return f'({expression}) COLLATE "C"'
        return expression

    def _of(self, role: str) -> str:
        column = self._columns[role]
        reference = f"veil_source.{quoted(column.identifier)}"
        if column.kind is Kind.WORDS:
            return f"CAST({reference} AS TEXT)"
        if column.kind is Kind.TEXT and role in {"group", *self._question.state_roles}:
            # A column may be declared blind to case: then one row could decide how all are spelt, or a label
            # match twice. Spark refuses to compare such a column by itself.
            return reference if self._engine.dialect == "spark" else f'({reference} COLLATE "C")'
        return reference

    def _raw(self, role: str) -> str:
        """The label in the data: a whole number or text."""
        if self._columns[role].kind is Kind.WIDE:
            return f"CAST({self._of(role)} AS BIGINT)"
        return self._of(role)

    def _coded(self, role: str) -> str:
        if self.states is None:
            return self._raw(role)
        if self.states.other is None:
            return f"{role}_list.place"
        return f"COALESCE({role}_list.place, {self.states.other})"

    def _lacks(self, role: str) -> str:
        """Whether the column has no value in a row."""
        reference = self._of(role)
        if self._columns[role].kind is Kind.FLOAT:
            return f"({reference} IS NULL OR LOWER(CAST({reference} AS TEXT)) = 'nan')"
        return f"({reference} IS NULL)"

    @property
    def _joins(self) -> str:
        if self.states is None:
            return ""
        return " ".join(
            f"LEFT JOIN {self._list_name(role)} AS {role}_list ON {role}_list.label = {self._raw(role)}"
            for role in self._question.state_roles
        )

    def _list_name(self, role: str) -> str:
        return "veil_texts" if self._is_text(role) else "veil_numbers"

    def _whole(self, text: str, *, listed: bool = True) -> str:
        """The text in the engine's dialect, after the table and the list of states that it refers to."""
        named = [f"veil_source AS (\n{self._engine.relation}\n)"]
        if listed and self.states is not None:
            named += [
                f"{name}(label, place) AS ({self._values(name == 'veil_texts')})"
                for name in sorted({self._list_name(role) for role in self._question.state_roles})
            ]
        return f"WITH {', '.join(named)}\n{render(text, self._engine.dialect)}"

    def _values(self, as_text: bool) -> str:
        assert self.states is not None
        listed = enumerate(self.states.texts)
        if as_text:
            return places((literal(text, self._engine.dialect), i) for i, text in listed)
        return places((text, i) for i, text in listed if is_plain_integer(text))
