"""The `veil` command and its exit codes.

0 done, 1 our fault, 2 wrong use, 3 budget refused, 4 bad or unreadable data, 5 an audit found a violation,
6 the ledger cannot be used just now.
"""

from __future__ import annotations

import io
import os
import sys
from importlib.metadata import entry_points
from typing import Annotated

import typer

from veil.cli import audit, chain, decode, demo, inspect, ledger, plan, release, synth
from veil.cli.output import fail, json_wanted
from veil.core.errors import VeilError
from veil.version import __version__

app = typer.Typer(
    name="veil",
    help="Release structured data under differential privacy, with guarantees that anyone can check.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: veil demo",
)
app.add_typer(release.app, name="release")
app.add_typer(plan.app, name="plan")
app.add_typer(ledger.app, name="ledger")
app.command("chain")(chain.chain)
app.command("synth")(synth.synth)
app.command("decode")(decode.decode)
app.command("inspect")(inspect.inspect)
app.command("audit")(audit.audit)
app.command("demo")(demo.demo)
for _command in entry_points(group="veil.commands"):
    app.command(_command.name)(_command.load())


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"veil {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Release structured data under differential privacy, with guarantees that anyone can check."""


def run() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a bar or a label still gets the rest.
            stream.reconfigure(errors="replace")
    try:
        app()
    except VeilError as error:
        fail(error, as_json=json_wanted(sys.argv))
    except KeyboardInterrupt:
        print("veil: stopped.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has seen enough; what was asked for is done.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        # What an unforeseen error says may quote data: only its kind and place are shown.
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if place is None else f" at {place.tb_frame.f_code.co_name}:{place.tb_lineno}"
        print(f"veil: internal error: {type(error).__name__}{where}. Please report it.", file=sys.stderr)
        sys.exit(1)
