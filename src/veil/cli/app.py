"""The `veil` command and its exit codes.

0 done, 1 our fault, 2 wrong use, 3 budget refused, 4 bad or unreadable data, 5 an audit found a violation,
6 the ledger cannot be used just now, 7 released, but not all was written as asked: the message says where the
result is, 8 charged, and there is no result, 129, 130, 143 stopped by SIGHUP, Ctrl-C or SIGTERM: the
message says whether anything was charged. With all others above 0 nothing was charged, unless 6 says so.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from cyclopts import App, CycloptsError

from veil.cli.output import print_error, print_json, print_misuse, silence_output
from veil.cli.signals import listening, on_stop
from veil.core.errors import InvalidArgument, VeilError
from veil.report.terminal import say
from veil.tables.engines.spill import remove_all
from veil.version import __version__

if TYPE_CHECKING:
    from veil.core.request import Request

_HELP = "Release structured data under differential privacy, with guarantees that anyone can check."
# Commands of the command line itself, imported when they are used.
_OWN = {
    "inspect": "veil.cli.inspect:inspect",
    "audit": "veil.cli.audit:audit",
    "demo": "veil.cli.demo:demo",
    "studio": "veil.studio.command:app",
}


# What writing to a stream fails with; files are written where errors name them.
_OUTPUT_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def build(tokens: Sequence[str]) -> App:
    """The command line, with as much of it as these arguments need."""
    app = App(
        name="veil",
        help=_HELP,
        version=f"veil {__version__}",
        help_format="plaintext",
        help_epilogue="Start with: veil demo",
        help_flags=["-h", "--help"],
        suppress_keyboard_interrupt=False,
    )
    app.register_install_completion_command(help="Let the shell complete commands and options.")
    first = tokens[0] if tokens else ""
    app.command(_of_kinds("release", "Release a private version of data.", tokens))
    app.command(_of_kinds("plan", "Show what a budget buys, before any data is touched.", tokens))
    from veil.cli import ledger_keeping

    app.command(ledger_keeping.app)
    for name, place in _OWN.items():
        made = resolve_name(place)
        app.command(made, **({} if isinstance(made, App) else {"name": name, "help_epilogue": ""}))
    if first not in (*_OWN, "release", "plan", "ledger", "--version"):
        _add_others(app)
    return app


def _of_kinds(name: str, text: str, tokens: Sequence[str]) -> App:
    """A command with one subcommand for each kind; of a kind that is named, only that one is built."""
    from veil.cli.commands import FileOptions, JsonOptions, PlotOptions, ReleaseOptions, planned, released
    from veil.cli.options import command
    from veil.core.kind import Kind, every_kind, kind_named

    group = App(name=name, help=text, help_epilogue="")
    if not tokens or tokens[0] not in (name, "--install-completion"):
        return group
    wanted = tokens[1] if tokens[0] == name and len(tokens) > 1 else ""
    try:
        # Without looking for the kinds of other packages.
        kinds: tuple[Kind, ...] = (kind_named(wanted),)
    except InvalidArgument:
        kinds = every_kind()
    for kind in kinds:
        requests = kind.requests(name)
        if not requests:
            continue
        run: Callable[..., int] = partial(released, kind)
        options: tuple[type[Request], ...] = (ReleaseOptions, FileOptions)
        if name == "plan":
            is_drawn = type(kind).plot_plans is not Kind.plot_plans
            run, options = partial(planned, kind), (FileOptions, PlotOptions) if is_drawn else (JsonOptions,)
        tables = {"tables": ", ".join(kind.table_endings)}
        _add(group, command(run, (*requests, *options), tables), kind.name, requests)
    return group


def _add_others(app: App) -> None:
    """The commands of the kinds, and of other installed packages."""
    from veil.cli.commands import kind_command
    from veil.core.kind import every_kind

    for kind in every_kind():
        for name, place in kind.commands.items():
            request = resolve_name(place)
            _add(app, kind_command(request), name, [request])
    for added in entry_points(group="veil.commands"):
        app.command(added.load(), name=added.name, help_epilogue="")


def _add(group: App, made: Callable[..., Any], name: str, requests: Sequence[type[Request]]) -> None:
    """Register a command with the text of its last request, and its examples as they are typed in."""
    from veil.cli.options import flags_of

    last, flags = requests[-1], flags_of(requests)
    paragraphs = (last.__doc__ or "").strip().split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for words, fields in last.examples:
        parts = ["veil", *(one for one in group.name if one != "veil"), name]
        parts += [str(value) for field, value in fields.items() if field == "source"]
        for field, value in fields.items():
            flag = flags.get(field, "-o" if field == "output" else f"--{field.replace('_', '-')}")
            if isinstance(value, (tuple, list)):
                value = ",".join(map(str, value))
            shown = f" {value:g}" if isinstance(value, float) else "" if value is True else f" {value}"
            parts += [] if field == "source" else [flag + shown]
        text += f"\n\n{words or 'Example'}: {' '.join(parts)}"
    made.__doc__, made.__name__ = text, name
    group.command(made, name=name, help=text, help_epilogue="")


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a bar or a label still gets the rest.
            stream.reconfigure(errors="replace")
    warnings.showwarning = _say_warning
    forget = on_stop(remove_all)
    try:
        with listening():
            sys.exit(main(list(sys.argv[1:] if arguments is None else arguments)))
    finally:
        forget()


def _open_closed() -> None:
    """Streams that were closed by who started us lead nowhere: the next file must not get their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line: where in the code it arose means nothing to who runs a command."""
    say(f"veil: warning: {message}", error=True)


def _asks_for_json(tokens: Sequence[str]) -> bool:
    """Whether errors are to be JSON, also where the arguments cannot be made sense of."""
    given = [token.partition("=") for token in tokens if token.partition("=")[0] == "--json"]
    return any(value.lower() not in ("false", "no", "n", "0", "f") for _, _, value in given)


def _flushed(code: int) -> int:
    """The exit code, once all that was printed has gone out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        silence_output()
        return code
    except OSError as error:
        silence_output()
        say(f"veil: standard output could not be written ({error.strerror}).", error=True)
        return code or InvalidArgument.exit_code


def main(tokens: Sequence[str]) -> int:
    """Run a command, say what went wrong, and return the exit code."""
    as_json = _asks_for_json(tokens)
    try:
        done = build(tokens)(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return _flushed(done if isinstance(done, int) else 0)
    except CycloptsError as error:
        return print_misuse(error, as_json=as_json)
    except VeilError as error:
        print_error(error, as_json=as_json)
        return error.exit_code
    except KeyboardInterrupt:
        say("veil: stopped.", error=True)
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough; what was asked for is done.
        silence_output()
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _OUTPUT_FAULTS and error.filename is None:
            silence_output()
            say(f"veil: standard output could not be written ({error.strerror}).", error=True)
            return InvalidArgument.exit_code
        # What an unforeseen error says may quote data: only its kind and place are shown.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f" in {place.name} ({Path(place.filename).name}:{place.lineno})"
        message = f"internal error: {type(error).__name__}{where}. Please report it."
        if as_json:
            print_json({"error": {"kind": "Internal", "message": message}})
        else:
            say(f"veil: {message}", error=True)
        return 1
