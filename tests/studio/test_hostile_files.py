"""Files that were made to do harm: refused in words, in bounded time and memory."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.studio.conftest import Workbench
from tests.studio.visitor import Page, Visitor
from veil.studio.schema import schema_of


def _begun(visitor: Visitor, kind: str = "chain") -> Page:
    return visitor.send(next(form for form in visitor.get("/new").forms if ("kind", kind) in form.fields))


def _parquet(names: list[str]) -> bytes:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    written = io.BytesIO()
    pq.write_table(pa.table({name: [1] for name in names}), written)
    return written.getvalue()


def _long_footer() -> bytes:
    """One that says its end has two gigabytes."""
    return b"PAR1" + b"\0" * 100 + struct.pack("<I", 2**31 - 1) + b"PAR1"


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", b"PAR1PAR1", _long_footer(), b"PAR1" + b"\xff" * 4000 + struct.pack("<I", 3900) + b"PAR1"],
    ids=["empty", "short", "without an end", "long", "garbage"],
)
def test_a_broken_parquet_file_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trips.parquet"
    path.write_bytes(content)
    found = schema_of(str(path), table=None, has_header=False)
    assert found.columns == ()
    assert "a Parquet file" in found.error
    assert str(tmp_path) not in found.error


def test_of_very_many_columns_some_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    path.write_bytes(_parquet([f"column {number}" for number in range(6000)]))
    assert len(schema_of(str(path), table=None, has_header=False).columns) == 4096


def test_of_a_file_that_unpacks_to_very_much_little_is_read(tmp_path: Path) -> None:
    """200 MB of one line, packed into 200 KB."""
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(200):
            stream.write(b"a" * 2**20)
    found = schema_of(str(path), table=None, has_header=True)
    assert sum(len(name) for name, _ in found.columns) <= 2**20
    assert found.bytes < 2**22


@pytest.mark.parametrize("source", ["/dev/zero", "fifo", "folder", "missing", "~nobody/x", "\0", "a" * 5000])
def test_what_is_no_file_is_not_opened(visitor: Visitor, tmp_path: Path, source: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    form = _begun(visitor).form("/source")
    path = str(tmp_path / source) if source.isalpha() and len(source) < 99 else source
    refused = visitor.send(form, source=path)
    assert refused.status == 422, refused.text
    assert "There is no such file." in refused.text


def test_an_uploaded_link_is_a_file_of_its_own(
    workbench: Workbench, visitor: Visitor, tmp_path: Path
) -> None:
    """A link that stands where an upload is about to go is not followed."""
    from io import BytesIO

    from veil.studio import uploads

    victim = tmp_path / "victim"
    victim.write_text("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uploads, "new_id", lambda: "0" * 16)
        (workbench.workspace.folder / "uploads" / ("0" * 16)).symlink_to(tmp_path)
        with pytest.raises(FileExistsError):
            uploads.save_upload(workbench.workspace, "victim", BytesIO(b"theirs"))
    assert victim.read_text() == "mine"


def test_a_release_of_a_hostile_file_says_what_is_wrong(workbench: Workbench, visitor: Visitor) -> None:
    visitor.open_budget("people", "1")
    draft = visitor.start("Grades of a course")
    form = visitor.get(f"/draft/{draft}/data").form("/source")
    taken = visitor.upload(form, "grades.parquet", _long_footer(), source="")
    assert taken.status == 422
    assert "a Parquet file" in taken.text


def test_the_reader_of_names_is_bounded() -> None:
    """Memory and time end before the machine does."""
    code = "from veil.studio.schema_reader import _bound; _bound(); bytearray(2**34)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"MemoryError" in done.stderr


def test_the_address_is_no_argument_of_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are seen by every user of the machine; the page that is opened by its owner alone."""
    import uvicorn

    from veil.studio import server
    from veil.studio.workspace import Workspace

    opened: list[Any] = []

    def run(_: Any, sockets: list[Any]) -> None:
        (letter,) = tmp_path.glob("*.html")
        opened.append((letter.stat().st_mode & 0o777, letter.read_text()))
        for one in sockets:
            one.close()

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr("webbrowser.open", opened.append)
    before = os.umask(0o022)
    try:
        server.serve(Workspace.opened(tmp_path), port=0, opens_browser=True)
    finally:
        os.umask(before)
    (mode, text), address = sorted(opened, key=lambda one: isinstance(one, str))
    assert mode == 0o600
    assert "?token=" in text
    assert "token" not in address
    assert address.startswith("file://")
    assert not list(tmp_path.glob("*.html"))
