"""A workbench that is served on loopback, as `veil studio` does, with made-up data in it."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.studio.visitor import Visitor

pytest.importorskip("starlette", reason="veil[studio] is not installed")

import uvicorn

from veil.samples import examples
from veil.studio.app import create_app
from veil.studio.gate import Gate
from veil.studio.workspace import Workspace


@dataclass(frozen=True)
class Workbench:
    """A server that runs in this process. studio: what its pages share."""

    workspace: Workspace
    gate: Gate
    address: str
    studio: Any

    def visitor(self) -> Visitor:
        """Somebody who came in by the address that was printed."""
        visitor = Visitor(self.address, self.studio, self.gate.base)
        page = visitor.get(f"/?token={self.gate.new_token()}")
        assert page.status == 200
        return visitor


@contextmanager
def serving(workspace: Workspace) -> Iterator[Workbench]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # From here on a connection waits for the server rather than being refused.
    listener.listen(128)
    host, gate = f"127.0.0.1:{listener.getsockname()[1]}", Gate()
    app, studio = create_app(workspace, gate, hosts=[host])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield Workbench(workspace, gate, f"http://{host}", studio)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up data, with a small city."""
    folder = tmp_path_factory.mktemp("made-up") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "TRIPS", 3000)
        examples.write_examples(folder)
    return folder


@pytest.fixture
def serve(made_up: Path, tmp_path: Path) -> Iterator[Callable[[], Workbench]]:
    """Serves a workspace; called again, another server serves the same one."""
    folder = tmp_path / "studio"
    folder.mkdir()
    shutil.copytree(made_up, folder / "demo")
    with ExitStack() as stack:
        yield lambda: stack.enter_context(serving(Workspace.opened(folder)))


@pytest.fixture
def workbench(serve: Callable[[], Workbench]) -> Workbench:
    return serve()


@pytest.fixture
def visitor(workbench: Workbench) -> Visitor:
    return workbench.visitor()
