"""Serves the workbench of a team on one port, until it is told to end."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address

import uvicorn

from veil.core.errors import InvalidArgument
from veil.report.terminal import say
from veil.studio.team.app import create_app
from veil.studio.team.team import Team


def serve(team: Team, *, host: str, port: int) -> None:
    """Answer until a signal ends it. Releases that are being made then go on by themselves."""
    # Everything that is written belongs to its owner alone.
    os.umask(0o077)
    listener = _bound(host, port)
    config = uvicorn.Config(
        create_app(team),
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        # What a proxy says of who asks is looked at by us, with the addresses that were stated.
        proxy_headers=False,
        lifespan="on",
        limit_concurrency=200,
        timeout_keep_alive=30,
    )
    say(f"Veil Studio for a team: {team.settings.address}")
    say(f"Accounts, projects and plans are in {team.database}. Ctrl-C ends it.")
    uvicorn.Server(config).run(sockets=[listener])


def check_host(host: str, *, is_proxied: bool) -> None:
    """Passwords are not sent over a network in the clear: without a proxy only this machine can ask."""
    try:
        is_here = ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if not is_here and not is_proxied:
        expected = "127.0.0.1, or --behind-proxy with the address of a proxy that speaks https"
        raise InvalidArgument("--host", expected=expected, found=host[:60])


def _bound(host: str, port: int) -> socket.socket:
    try:
        ((family, kind, protocol, _, place), *_) = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listener = socket.socket(family, kind, protocol)
    except OSError:
        raise InvalidArgument("--host", expected="an address of this machine", found=host[:60]) from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(place)
    except OSError as error:
        listener.close()
        found = f"{host}:{port}, which cannot be used ({error.strerror})"
        raise InvalidArgument("--port", expected="a free port", found=found) from None
    return listener
