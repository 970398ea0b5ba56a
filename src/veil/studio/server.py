"""Serves the workbench on this machine alone, and lets its owner in."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from html import escape
from pathlib import Path

import uvicorn

from veil.core.errors import InvalidArgument
from veil.report.terminal import say
from veil.studio.app import create_app
from veil.studio.gate import Gate
from veil.studio.workspace import Workspace

_LOOPBACK = "127.0.0.1"
# In the folder of the workbench: what the browser is told to open.
_LETTER = "open.html"


def serve(workspace: Workspace, *, port: int, opens_browser: bool) -> None:
    """Answer until the user ends it. port: 0 for any that is free."""
    # Everything that is written belongs to its owner alone.
    os.umask(0o077)
    gate, listener = Gate(), _bound(port)
    number = listener.getsockname()[1]
    hosts = [f"{name}:{number}" for name in (_LOOPBACK, "localhost")]
    app, _ = create_app(workspace, gate, hosts=hosts)
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="on"
    )

    def invite() -> str:
        address = f"http://{_LOOPBACK}:{number}/?token={gate.new_token()}"
        say(f"Veil Studio: {address}")
        return address

    address = invite()
    say(f"Releases and budgets are kept in {workspace.folder}.")
    say("The address lets one browser in, once. Press Enter for a new one, Ctrl-C to end.")
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_invite_again, args=(invite,), daemon=True).start()
    letter = workspace.folder / _LETTER
    if opens_browser:
        _write_letter(letter, address)
        threading.Thread(target=webbrowser.open, args=(letter.as_uri(),), daemon=True).start()
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        letter.unlink(missing_ok=True)


def _write_letter(path: Path, address: str) -> None:
    """A page that leads to the address, readable for its owner alone.

    Given to the browser as an argument, the address could be read by every user of the machine.
    """
    leads = f'<meta http-equiv="refresh" content="0;url={escape(address)}">'
    path.unlink(missing_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(f"<!doctype html>{leads}<title>Veil Studio</title>", encoding="utf-8")


def _bound(port: int) -> socket.socket:
    """A socket that nobody else on the network can reach."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
    except OSError:
        listener.close()
        hint = "0 takes any that is free."
        raise InvalidArgument(
            "--port", expected="a free port", found=f"{port}, which is taken", hint=hint
        ) from None
    return listener


def _invite_again(invite: object) -> None:
    assert callable(invite)
    for _ in sys.stdin:
        invite()
