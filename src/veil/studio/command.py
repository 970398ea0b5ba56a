"""veil studio: the workbench in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import App

from veil.cli.ledger_options import named_ledger
from veil.cli.options import option
from veil.cli.output import working
from veil.core.errors import InvalidArgument, MissingExtra
from veil.studio.team import command as of_teams

_NEEDED = ("starlette", "uvicorn", "python_multipart")

app = App(name="studio", help_epilogue="")


@app.default
def studio(
    *,
    folder: Annotated[
        Path, option("--folder", help="Where drafts, releases and the ledger are kept.")
    ] = Path("veil-studio"),
    ledger: Annotated[
        str | None,
        option(
            "--ledger",
            help="The budgets to charge: a file, or postgresql://... Also: VEIL_LEDGER; else in the folder.",
        ),
    ] = None,
    port: Annotated[int, option("--port", least=0, help="0 takes any that is free.")] = 8765,
    demo: Annotated[bool, option("--demo", help="Bring made-up data to try.", shown=False)] = False,
    no_browser: Annotated[bool, option("--no-browser", help="Only print the address.", shown=False)] = False,
) -> int:
    """Go from a table to a private release in the browser, without writing code.

    Only this machine can reach it, by an address that is printed and works once. No data is read before you
    press Release, except for the names of its columns.

    For several people there is: veil studio serve.

    Example: veil studio --demo
    """
    for library in _NEEDED:
        if find_spec(library) is None:
            raise MissingExtra(library, "studio")
    if port > 65535:
        raise InvalidArgument("--port", expected="a number up to 65535", found=f"{port}")
    from veil.studio.server import serve
    from veil.studio.workspace import Workspace

    try:
        workspace = Workspace.opened(folder, named_ledger() if ledger is None else ledger)
    except InvalidArgument as error:
        raise InvalidArgument.at("--folder", error) from None
    if demo:
        from veil.samples.examples import write_examples

        with working("Making up data", quiet=False):
            write_examples(workspace.folder / "demo")
    serve(workspace, port=port, opens_browser=not no_browser)
    return 0


app.command(of_teams.serve, name="serve")
app.command(of_teams.users)
app.command(of_teams.make_key, name="new-key")
app.command(of_teams.log, name="log")
