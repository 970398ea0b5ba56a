"""Text with separators as Arrow columns: of one file, or of several that are written in the same way.

Nothing is guessed about what the cells hold: they come as they are written. Rows keep their order.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from veil.core.errors import InvalidData, UnreadableFile
from veil.tables.cells import Coded, decimal_point, has_odd_zeros, is_plain_integer, joined
from veil.tables.dialect import absent, column_names, either, guess_delimiter, may_have_spaces, named, rows_of
from veil.tables.files import (
    LONGEST_LINE,
    MOST_COLUMNS,
    checked_cells,
    decoded,
    ending_of,
    files_of,
    name_of,
    text_bytes,
    too_large,
)

# So much of a file is looked at for its separator.
_SAMPLE, _LINES = 65_536, 200
# Bytes, and lines as long as the first, that are parsed together; never more bytes than the last number.
_BLOCK, _BLOCK_LINES, _MOST = 2**20, 256, 2**27


class TextFile(NamedTuple):
    """A file with separators. text: as it is. body: without comments, and with single spaces."""

    name: str
    text: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class TextTable:
    """Files of text whose separator is known.

    delimiter: None if each line is one cell, " " for any number of spaces and tabs. first: the cells of the
    first line. comments: lines that begin with # or % are left out. doubt: the error to raise if the
    separator that the user gave turns out to be wrong. asks: the user may give one.
    """

    files: list[TextFile]
    delimiter: str | None
    first: list[str]
    comments: bool
    doubt: InvalidData | None
    asks: bool

    @property
    def name(self) -> str:
        """What messages call the table."""
        return self.files[0].name

    def place(self, row: int) -> str:
        """Where one of `rows` is, by its line as an editor counts them."""
        line, _ = next(islice(self._lines(self.files[0]), row, None), (None, None))
        return self.name if line is None else f"{self.name}, line {line}"

    def rows(self, *, expected: str, decimals: bool = False) -> list[list[str]]:
        """All rows of a small table as lists of stripped cells; rows of empty cells are left out.

        expected: what the file should hold. decimals: commas are decimal if semicolons separate cells.
        """
        self._check_quotes(self.files[0], always=True)
        columns = self._cells(self.files[0], range(len(self.first)), encoded=False)
        lines = zip(*(column.to_pylist() for column in columns), strict=True)
        rows = [row for row in ([cell.strip() for cell in line] for line in lines) if any(row)]
        if not rows:
            raise UnreadableFile(self.name, expected=expected, found="empty cells")
        if decimals and self.delimiter == ";":
            return [[decimal_point(cell) for cell in row] for row in rows]
        return rows

    def has_names(self, header: bool | None, wanted: Sequence[str] | None) -> bool | None:
        """Whether the first line names the columns, as stated: who names columns in it knows that it does."""
        return True if header is None and wanted and set(wanted) <= set(self.first) else header

    def names(self, header: bool | None) -> list[str]:
        """What the columns are called: as in the first line if it is a header, otherwise by their places."""
        return named(self.first, self.name) if header else column_names(len(self.first))

    def columns(
        self,
        places: Sequence[int],
        *,
        header: bool | None,
        judge: Callable[[list[Coded]], bool | None],
        record: str,
        whole: bool = False,
    ) -> tuple[list[Coded], bool]:
        """The columns at these places without the line of names, and whether there is one.

        judge: says whether the first row has names, if header is None; None if it may be a record as well,
        which the error calls by this name. whole: columns come as whole numbers if all cells are written as
        such: 7, but not 007. Otherwise they come with texts.
        """
        parts: list[list[Coded]] = []
        for file in self.files:
            if parts and header and rows_of(sample_of(file.body, file.name), self.delimiter)[0] != self.first:
                expected = "the same first line as in the other files"
                raise InvalidData(file.name, expected=expected, found="another")
            numbers = self._whole_numbers(file, places, header) if whole else None
            if numbers is not None:
                columns, header = [Coded.of(array) for array in numbers[0]], numbers[1]
            else:
                columns = [Coded.of(array) for array in self._cells(file, places)]
                header = judge(columns) if header is None else header
                if header is None:
                    raise either(self.name, record)
                columns = [column.below for column in columns] if header else columns
            parts.append(columns)
        return [joined(one) for one in zip(*parts, strict=True)], bool(header)

    def _whole_numbers(
        self, file: TextFile, places: Sequence[int], header: bool | None
    ) -> tuple[list[Any], bool] | None:
        import pyarrow as pa

        kinds = {is_plain_integer(self.first[place]) for place in places}
        skips = True not in kinds if header is None else header
        if (header is None and len(kinds) > 1) or (not skips and False in kinds):
            return None
        if has_odd_zeros(file.body):
            return None
        table = self._parsed(file, places, pa.int64(), skip=int(skips))
        if table is None or (table.num_rows == 0 and header is None):
            return None
        return table.columns, skips

    def _cells(self, file: TextFile, places: Sequence[int], *, encoded: bool = True) -> list[Any]:
        """The columns of all lines as text."""
        import pyarrow as pa

        self._check_quotes(file)
        kind = pa.dictionary(pa.int32(), pa.string()) if encoded else pa.string()
        table = self._parsed(file, places, kind)
        if table is None:
            decoded(file.body, file.name)
            raise UnreadableFile(file.name, expected="text with separators", found="something else")
        columns: list[Any] = checked_cells(table.unify_dictionaries(), file.name, is_valid=True).columns
        return columns

    def _parsed(self, file: TextFile, places: Sequence[int], kind: Any, *, skip: int = 0) -> Any | None:
        """The columns as an Arrow table of one type; None if some cell is not of that type."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        def uneven(row: Any) -> str:
            widths.append(row.actual_columns)
            return "error" if row.text.strip() else "skip"

        widths: list[int] = []
        width = len(self.first)
        names = [f"c{i}" for i in range(width)]
        chosen = [names[i] for i in places]
        line = sum(map(len, self.first)) + width
        reading = arrow_csv.ReadOptions(
            column_names=names,
            skip_rows_after_names=skip,
            use_threads=False,
            block_size=min(max(_BLOCK, _BLOCK_LINES * line), _MOST),
        )
        parsing = arrow_csv.ParseOptions(
            delimiter=self.delimiter or "\x1f",
            newlines_in_values=b'"' in file.body,
            ignore_empty_lines=width > 1,
            invalid_row_handler=uneven,
        )
        converting = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(chosen, kind),
            include_columns=chosen,
            null_values=[],
            strings_can_be_null=False,
        )
        try:
            return arrow_csv.read_csv(
                _held_by_arrow(file.body),
                read_options=reading,
                parse_options=parsing,
                convert_options=converting,
            )
        except pa.ArrowInvalid:
            # Its text would quote the line.
            if not widths:
                return None
        raise self._uneven(file)

    def _uneven(self, file: TextFile) -> InvalidData:
        width = len(self.first)
        rows = ((number, len(cells)) for number, cells in self._lines(file))
        line, cells = next((row for row in rows if row[1] != width), (None, None))
        hint = "Is the separator another one? {delimiter} states it." if self.asks else ""
        if self.delimiter == " ":
            hint = "If labels have spaces in them, save the list as .csv, with commas between."
        name = file.name if line is None else f"{file.name}, line {line}"
        expected = f"{width} cells as in the first line" if width > 1 else "1 cell as in the first line"
        found = "another number" if cells is None else str(cells)
        return InvalidData(name, expected=expected, found=found, hint=hint, names=("delimiter",))

    def _lines(self, file: TextFile) -> Iterator[tuple[int, list[str]]]:
        """The rows of a file with the numbers of their lines, slowly; rows of empty cells are left out."""
        if self.comments or self.delimiter == " ":
            lines = re.split(r"\r\n|[\r\n]", file.text.decode("utf-8", "replace"))
            for number, line in enumerate(lines, start=1):
                if not (self.comments and line.startswith(("#", "%"))):
                    yield from ((number, row) for row in rows_of([line], self.delimiter) if any(row))
            return
        mark = self.delimiter or "\x1f"
        rows = csv.reader(io.StringIO(file.text.decode("utf-8", "replace"), newline=""), delimiter=mark)
        try:
            yield from ((rows.line_num, row) for row in rows if any(map(str.strip, row)))
        except csv.Error:
            return

    def _check_quotes(self, file: TextFile, *, always: bool = False) -> None:
        """Raise if a quote does not end: all that follows would be one cell. always: look at all quotes."""
        quotes = file.body.count(b'"')
        if not quotes or (quotes % 2 == 0 and not always):
            return
        text = io.StringIO(decoded(file.body, file.name), newline="")
        try:
            for _ in csv.reader(text, delimiter=self.delimiter or "\x1f", strict=True):
                pass
        except csv.Error:
            found = "quotes that do not end, or that end inside a cell"
            raise UnreadableFile(file.name, expected="CSV", found=found) from None


def open_text(
    source: str | os.PathLike[str], *, delimiter: str | None = None, least: int = 1, comments: bool = False
) -> TextTable | None:
    """The text in a file or in several, with its separator; None if there is none.

    delimiter: as the user gave it. least: cells that each line must have. comments: may be in files of this
    kind, unless they are .csv or .tsv.
    """
    paths = files_of(source)
    ending = ending_of(paths[0])
    comments = comments and may_have_spaces(ending)
    files = []
    for path in paths:
        text = text_bytes(path)
        body = (_without_comments(text) if comments else text).strip(b"\r\n")
        files += [TextFile(name_of(path), text, body)] if body.strip() else []
    return _table(files, ending, delimiter, least=least, comments=comments) if files else None


def small_table(raw: bytes, name: str) -> TextTable:
    """The table in the text of a small file, whose separator is a comma, a semicolon, a tab or a bar."""
    return _table([TextFile(name, raw, raw.strip(b"\r\n"))], ".csv", asks=False)


def _table(
    files: list[TextFile],
    ending: str,
    delimiter: str | None = None,
    *,
    least: int = 1,
    comments: bool = False,
    asks: bool = True,
) -> TextTable:
    lines = sample_of(files[0].body, files[0].name)
    guess = guess_delimiter(lines, ending, least=least) if delimiter is None or least == 1 else None
    mark = guess if delimiter is None else delimiter
    doubt = None
    if delimiter is not None and (least > 1 or guess is not None):
        # A table of one column has no separator. One that has another should have more columns.
        doubt = absent(delimiter, [line.replace("\t", " ") for line in lines] if delimiter == " " else lines)
    if doubt is not None and least > 1:
        raise doubt
    if mark == " ":
        files = [TextFile(file.name, file.text, _single_spaced(file.body)) for file in files]
    first = rows_of(lines, mark)[0]
    if len(first) > MOST_COLUMNS:
        raise too_large(files[0].name, "columns", MOST_COLUMNS)
    return TextTable(files, mark, first, comments, doubt, asks)


def sample_of(body: bytes, name: str) -> list[str]:
    """The first lines of a text, and the first one whole."""
    first = re.search(rb"[\r\n]", body)
    end = len(body) if first is None else first.start()
    if end > LONGEST_LINE:
        raise too_large(name, "bytes in the first line", LONGEST_LINE)
    part = body[: max(_SAMPLE, end)]
    if max(_SAMPLE, end) < len(body) and end < _SAMPLE:
        # The last line may be cut off, even in the middle of a letter.
        part = part[: max(part.rfind(b"\n"), part.rfind(b"\r"))]
    return re.split(r"\r\n|[\r\n]", decoded(part, name))[:_LINES]


def _without_comments(raw: bytes) -> bytes:
    start = 0
    while raw[start : start + 1] in (b"#", b"%"):
        end = raw.find(b"\n", start)
        start = len(raw) if end < 0 else end + 1
    raw = raw[start:] if start else raw
    if b"\n#" in raw or b"\n%" in raw:
        raw = re.sub(rb"\n[#%][^\n]*", b"", raw)
    return raw


def _single_spaced(raw: bytes) -> bytes:
    """The text with one space between cells, and none around lines."""
    if b"\t" in raw:
        raw = raw.replace(b"\t", b" ")
    while b"  " in raw:
        raw = raw.replace(b"  ", b" ")
    for beside, edge in ((b" \n", b"\n"), (b" \r", b"\r"), (b"\n ", b"\n")):
        if beside in raw:
            raw = raw.replace(beside, edge)
    return raw.strip(b" \r\n")


def _held_by_arrow(raw: bytes) -> Any:
    """A copy of a text that is Arrow's alone.

    Arrow reads ahead in a thread of its own, and does the rest in others if it may. A thread that lets go of
    what is Python's when Python has ended aborts the process, after its work is done: a command that fails
    ends so soon after reading. So it reads a copy, and works in one thread; this takes hardly longer, because
    two columns are little to share out.
    """
    import pyarrow as pa

    copy = pa.allocate_buffer(len(raw))
    memoryview(copy).cast("B")[:] = raw
    return pa.BufferReader(copy)
