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
from typing import Any

from veil.core.errors import InvalidData, UnreadableFile
from veil.tables.cells import decimal_point, has_odd_zeros, is_plain_integer
from veil.tables.coded import Coded, joined
from veil.tables.dialect import absent, guess_delimiter, may_have_spaces, rows_of
from veil.tables.files import decoded, ending_of, files_of
from veil.tables.limits import LONGEST_CELL, MOST_COLUMNS, too_large
from veil.tables.text_file import TextFile, open_file, sample_of, single_spaced

# Bytes, and lines as long as the first, that are parsed together; never more bytes than the last number.
_BLOCK, _BLOCK_LINES, _MOST = 2**20, 256, 2**27


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
        found = next((line for i, (line, _) in enumerate(self._lines(self.files[0])) if i == row), None)
        return self.name if found is None else f"{self.name}, line {found}"

    def rows(self) -> list[list[str]]:
        """All rows of a small table as lists of stripped cells; rows of empty cells are left out."""
        self._check_quotes(self.files[0], always=True)
        columns = self._cells(self.files[0], range(len(self.first)), encoded=False)
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return [row for row in ([cell.strip() for cell in row] for row in rows) if any(row)]

    def columns(
        self,
        places: Sequence[int],
        *,
        header: bool | None,
        judge: Callable[[list[Coded]], bool],
        whole: bool = False,
    ) -> tuple[list[Coded], bool]:
        """The columns at these places without the line of names, and whether there is one.

        judge: says whether the first row has names, if header is None. whole: columns come as whole numbers
        if all cells are written as such: 7, but not 007. Otherwise they come with texts.
        """
        parts: list[list[Coded]] = []
        for file in self.files:
            if parts and header and rows_of(sample_of(file), self.delimiter)[0] != self.first:
                expected = "the same first line as in the other files"
                raise InvalidData(file.name, expected=expected, found="another")
            found = self._whole_numbers(file, places, header) if whole else None
            if found is not None:
                columns, header = [Coded.of(array) for array in found[0]], found[1]
            else:
                columns = [Coded.of(array) for array in self._cells(file, places)]
                header = judge(columns) if header is None else header
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
        import pyarrow.compute as pc

        self._check_quotes(file)
        kind = pa.dictionary(pa.int32(), pa.string()) if encoded else pa.string()
        table = self._parsed(file, places, kind)
        if table is None:
            decoded(file.body, file.name)
            raise UnreadableFile(file.name, expected="text with separators", found="something else")
        columns: list[Any] = table.unify_dictionaries().columns
        for column in columns:
            texts = column.chunk(0).dictionary if encoded and column.num_chunks else column
            if (pc.max(pc.binary_length(texts)).as_py() or 0) > LONGEST_CELL:
                raise too_large(file.name, "bytes in a cell", LONGEST_CELL)
        return columns

    def _parsed(self, file: TextFile, places: Sequence[int], kind: Any, *, skip: int = 0) -> Any | None:
        """The columns as an Arrow table of one type; None if some cell is not of that type."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        def uneven(row: Any) -> str:
            found.append(row.actual_columns)
            return "error" if row.text.strip() else "skip"

        found: list[int] = []
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
            if not found:
                return None
        raise self._uneven(file)

    def _uneven(self, file: TextFile) -> InvalidData:
        width = len(self.first)
        rows = ((number, len(cells)) for number, cells in self._lines(file))
        line, cells = next((row for row in rows if row[1] != width), (None, None))
        hint = "Is the separator another one? {delimiter} states it." if self.asks else ""
        if self.delimiter == " ":
            hint = "If labels have spaces in them, save the list as .csv, with commas between."
        return InvalidData(
            file.name if line is None else f"{file.name}, line {line}",
            expected=f"{width} cells as in the first line" if width > 1 else "1 cell as in the first line",
            found="another number" if cells is None else str(cells),
            hint=hint,
            names=("delimiter",),
        )

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
    files = [file for file in (open_file(path, comments=comments) for path in paths) if file.body.strip()]
    return _table(files, ending, delimiter, least=least, comments=comments) if files else None


def parse_rows(
    raw: bytes, name: str, *, expected: str, decimals: bool = False
) -> tuple[TextTable, list[list[str]]]:
    """The rows of a small table that has been read already, and the table, for the places of its rows.

    expected: what the file should hold. decimals: a comma is a decimal comma if semicolons separate cells.
    """
    if not raw.strip():
        raise UnreadableFile(name, expected=expected, found="an empty file")
    table = _table([TextFile(name, raw, raw.strip(b"\r\n"))], ".csv", asks=False)
    rows = table.rows()
    if not rows:
        raise UnreadableFile(name, expected=expected, found="empty cells")
    if decimals and table.delimiter == ";":
        rows = [[decimal_point(cell) for cell in row] for row in rows]
    return table, rows


def _table(
    files: list[TextFile],
    ending: str,
    delimiter: str | None = None,
    *,
    least: int = 1,
    comments: bool = False,
    asks: bool = True,
) -> TextTable:
    lines = sample_of(files[0])
    guess = guess_delimiter(lines, ending, least=least) if delimiter is None or least == 1 else None
    mark = guess if delimiter is None else delimiter
    doubt = None
    if delimiter is not None and (least > 1 or guess is not None):
        # A table of one column has no separator. One that has another should have more columns.
        doubt = absent(delimiter, [line.replace("\t", " ") for line in lines] if delimiter == " " else lines)
    if doubt is not None and least > 1:
        raise doubt
    if mark == " ":
        files = [TextFile(file.name, file.text, single_spaced(file.body)) for file in files]
    first = rows_of(lines, mark)[0]
    if len(first) > MOST_COLUMNS:
        raise too_large(files[0].name, "columns", MOST_COLUMNS)
    return TextTable(files, mark, first, comments, doubt, asks)


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
