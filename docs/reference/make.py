"""Write the reference pages: `make reference`, or `python docs/reference/make.py --check` to compare only.

A Python page has one directive for each public name of a module, so that a new name appears by itself; its
text comes from its docstring when the documentation is built. The page of the command line is written from
the commands.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, get_args, get_origin

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parent.parent / "src"
NOTE = "<!-- Written by docs/reference/make.py: edit that, or the source. -->"
# Title and guide of each page. The kinds come first: `veil` points to them for names that both have.
MODULES = {
    "veil.vectors": ("Counts and probability vectors", "getting-started.md"),
    "veil.matrices": ("Stochastic matrices, Markov chains, decision processes", "matrices.md"),
    "veil.chains": ("Markov chains counted from data", "tables.md"),
    "veil.words": ("Trajectories and other sequences of symbols", "words.md"),
    "veil.bits": ("Binary tables", "bits.md"),
    "veil.graphs": ("Graphs", "graphs.md"),
    "veil.trips": ("Trips", "trips.md"),
    "veil.ledger": ("Budgets", "ledger.md"),
    "veil.errors": ("Errors and warnings", "reference/cli.md#exit-codes"),
    "veil": ("What all kinds share", "getting-started.md"),
}
# `veil.Ledger` is the way in; its methods return the others.
LEDGER = {
    "Ledger": "veil.ledger.ledger",
    "Dataset": "veil.ledger.dataset",
    "Batch": "veil.ledger.batch",
    "Entry": "veil.ledger.entry",
}
VERBS = ("read", "plan", "release", "load")
SECTIONS = ("Functions", "Classes", "Modules")
EXIT_CODES = """\
| code | meaning |
|---|---|
| 0 | done |
| 1 | an error inside Veil; please report it |
| 2 | wrong use: an unknown option, a value that cannot be, a file that exists already, a missing extra |
| 3 | the ledger refused the charge: nothing was drawn, nothing was charged |
| 4 | bad or unreadable data, a release file whose guarantee does not hold, or a ledger that was changed |
| 5 | an audit found a violation |
| 6 | the ledger cannot be used at the moment; nothing was charged unless the message says so |
| 7 | released (and charged), but not all was written as asked; the message says where the result is |
| 8 | charged, or released without a ledger, and there is no result: it could not be drawn or kept anywhere |
| 129 | stopped because the terminal was closed (SIGHUP); the message says whether anything was charged |
| 130 | stopped with Ctrl-C; the message says whether anything was charged |
| 143 | stopped with SIGTERM; the message says whether anything was charged |
"""
LEDGER_ARGUMENTS = (
    "Arguments: the ledger (a file such as `budget.db`, or an address; `VEIL_LEDGER` unless given), then the "
    "dataset or files, as in the example."
)
# What the command line adds to every release, as it is done in Python.
IN_PYTHON = {
    "--output": "`out.save(…)`",
    "--report": "`out.report(…)`",
    "--seed": "`rng`",
    "--ledger": "`ledger`",
}


def pages() -> dict[str, str]:
    """All pages of the reference, by file name."""
    shown: dict[str, str] = {}
    found = {_file(module): _module_page(module, shown) for module in MODULES}
    return found | {"cli.md": _command_page()}


def out_of_date() -> list[str]:
    """The pages that are not as they would be written now."""
    made = pages()
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in made.keys() | written.keys() if made.get(name) != written.get(name))


def undocumented() -> list[str]:
    """The public names of the modules that no page has."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    named = set(re.findall(r"^(?:::: |### `|- \[`)(veil[\w.]*)", text, re.MULTILINE))
    wanted = [
        f"{module}.{name}" for module in MODULES for name in public_names(module) if module != "veil.ledger"
    ]
    return [name for name in wanted if name not in named]


def public_names(module: str) -> list[str]:
    """The public names of a module: the verbs, other functions, classes, then modules."""
    names = list(LEDGER) if module == "veil.ledger" else import_module(module).__all__
    defined = places(module)
    return sorted(
        (name for name in names if not name.startswith("__")),
        key=lambda name: (
            _section(name, defined),
            VERBS.index(name) if name in VERBS else len(VERBS),
            # An order of reading was chosen for the ledger.
            "" if module == "veil.ledger" else name,
        ),
    )


def places(module: str) -> dict[str, str]:
    """Where the names that a module imports are defined, from its stub file; modules are not among them."""
    if module == "veil.ledger":
        return LEDGER
    path = SOURCE.joinpath(*module.split("."))
    files = (path / "__init__.pyi", path / "__init__.py", path.with_suffix(".py"))
    source = next(file for file in files if file.exists())
    found: dict[str, str] = {}
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            place = f"{module}.{node.module}" if node.level else node.module
            found |= {alias.asname or alias.name: place for alias in node.names}
    return found


def _section(name: str, defined: dict[str, str]) -> int:
    return 2 if name not in defined else 0 if name.islower() else 1


def _module_page(module: str, shown: dict[str, str]) -> str:
    """The page of a module. shown: where objects of earlier pages are; those of this page are added."""
    title, guide = MODULES[module]
    defined = places(module)
    lines = [NOTE, f"# {title}: `{module}`", f"Guide: [{_title_of(guide)}](../{guide})."]
    for section, names in groupby(public_names(module), key=lambda name: _section(name, defined)):
        lines += [f"## {SECTIONS[section]}", *(_entry(module, name, defined, shown) for name in names)]
    return "\n\n".join(lines) + "\n"


def _entry(module: str, name: str, defined: dict[str, str], shown: dict[str, str]) -> str:
    public = f"{module}.{name}"
    if public in MODULES:
        return f"- [`{public}`]({_file(public)}): {MODULES[public][0]}."
    if name not in defined:
        return "\n\n".join([f"### `{public}`", *_inner(public)])
    place = f"{defined[name]}.{name}"
    if place in shown:
        link = shown[place]
        title = next(title for known, (title, _) in MODULES.items() if link.startswith(_file(known)))
        return f"### `{public}`\n\nSee [{title}]({link})."
    # Under the name by which users import it.
    path = (
        f"veil.{name}"
        if place == "veil.ledger.ledger.Ledger"
        else place
        if module == "veil.ledger"
        else public
    )
    shown[place] = f"{_file(module)}#{path}"
    return f"::: {path}"


def _inner(module: str) -> Iterator[str]:
    """The names of a module inside that of a kind."""
    names = getattr(import_module(module), "__all__", None)
    deeper = "    options:\n      heading_level: 4"
    if names is None:
        yield f"::: {module}\n{deeper}\n      show_root_heading: false\n      show_root_toc_entry: false"
        return
    for name in names:
        yield f"::: {module}.{name}\n{deeper}"


def _file(module: str) -> str:
    return f"{module.rpartition('.')[2]}.md"


def _title_of(guide: str) -> str:
    if guide.startswith("reference/cli.md"):
        return "Exit codes"
    return (FOLDER.parent / guide).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


# The command line


def _command_page() -> str:
    from veil.cli import app
    from veil.cli.app import build
    from veil.core.kind import every_kind

    unknown = set(re.findall(r"\b(\d+) \w", app.__doc__ or "")) - set(
        re.findall(r"^\| (\d+)", EXIT_CODES, re.MULTILINE)
    )
    if unknown:
        raise SystemExit(f"EXIT_CODES in docs/reference/make.py lacks {', '.join(sorted(unknown))}.")
    parts = [
        NOTE,
        "# The command line: `veil`",
        "Every command with its options, as `veil COMMAND --help` shows them in the terminal. The column "
        "*Python* names the argument of the Python function, or what does the same there.",
        "## Exit codes",
        EXIT_CODES.rstrip(),
    ]
    kinds = [kind for kind in every_kind() if kind.module.startswith("veil.")]
    for verb in ("release", "plan"):
        group = build((verb,))[verb]
        # Some kinds are released under the name of another one.
        for kind in (kind for kind in kinds if kind.requests(verb)):
            parts += _command((verb, kind.name), group[kind.name], kind.requests(verb))
    rest = build(())
    for kind in kinds:
        for name, place in kind.commands.items():
            parts += _command((name,), rest[name], [resolve_name(place)])
    for name in ("inspect", "audit", "demo", "studio"):
        parts += _command((name,), rest[name], [])
    for group in (("studio",), ("studio", "user"), ("ledger",)):
        commands = rest
        for name in group:
            commands = commands[name]
        for name in commands:
            if not name.startswith("-") and name != "user":
                parts += _command((*group, name), commands[name], [])
    return "\n\n".join(parts) + "\n"


def _command(name: Sequence[str], app: Any, requests: Sequence[Any]) -> list[str]:
    """A command: what it does, examples, and its options under their headings."""
    command = " ".join(("veil", *name))
    text, examples = _examples(inspect.cleandoc(app.help))
    parts = [f"## `{command}`", text]
    if examples:
        parts.append("\n".join(["```sh", *examples, "```"]))
    fields = dict(IN_PYTHON) if name[0] == "release" else {}
    for request in requests:
        for field, (_, mark, _) in request.options().items():
            fields[mark.flag] = f"`{field}`" if mark.in_python else "–"
    arguments = [one for one in app.assemble_argument_collection() if one.parameter.show is not False]
    if name[0] == "ledger":
        parts.append(LEDGER_ARGUMENTS)
    for heading, group in groupby(sorted(arguments, key=_heading_order), key=_heading):
        rows = [_row(one, fields if requests else None) for one in group]
        head = "| option | meaning | default |" + (" Python |" if requests else "")
        parts += [f"**{heading}**", "\n".join([head, "|---" * (4 if requests else 3) + "|", *rows])]
    return parts


def _examples(text: str) -> tuple[str, list[str]]:
    """The help without its examples, and the examples as lines of a shell script."""
    kept, lines = [], []
    for paragraph in re.split(r"\n\s*\n", text):
        found = re.fullmatch(r"(?s)([^:]+): (veil .+)", paragraph.strip())
        if found is None:
            kept.append(" ".join(paragraph.split()))
            continue
        if found[1] != "Example":
            lines.append(f"# {found[1]}")
        lines.append(" ".join(found[2].split()))
    return "\n\n".join(kept), lines


def _heading(argument: Any) -> str:
    group = argument.parameter.group
    group = group[0] if isinstance(group, tuple) else group
    name = getattr(group, "name", None) or "Options"
    return "Options" if name == "Parameters" else "Input" if name == "Arguments" else str(name)


def _heading_order(argument: Any) -> tuple[int, str]:
    """As in the terminal: headings with a place first, arguments before options."""
    group = argument.parameter.group
    place = getattr(group[0] if isinstance(group, tuple) else group, "sort_key", None)
    return (place if isinstance(place, int) else 0, "" if argument.index is not None else _heading(argument))


def _row(argument: Any, fields: dict[str, str] | None) -> str:
    names, default = argument.names, argument.field_info.default
    positional = not names[0].startswith("-")
    kind = "" if positional else _type_name(argument.hint)
    shown = ", ".join(f"`{name}`" for name in names) + (f" {kind}" if kind else "")
    meaning = _cell(argument.parameter.help or "")
    choices = argument.get_choices()
    if choices:
        meaning += f" One of: {', '.join(f'`{choice}`' for choice in choices)}."
    missing = "required" if argument.required else ""
    # 0 is worth telling; None, False and empty lists say that the option was not used.
    stated = missing if default in (inspect.Parameter.empty, None, ()) or default is False else f"`{default}`"
    if default is True:
        stated = "on"
    row = f"| {shown} | {meaning} | {stated} |"
    return row if fields is None else f"{row} {_python(names, fields, positional)} |"


def _python(names: Sequence[str], fields: dict[str, str], positional: bool) -> str:
    """The argument of the Python function; of what only the command line has, nothing."""
    return "first argument" if positional else next((fields[name] for name in names if name in fields), "")


def _type_name(hint: Any) -> str:
    parts = (
        [part for part in get_args(hint) if part is not type(None)] if not isinstance(hint, type) else [hint]
    )
    if get_origin(hint) is Literal or any(get_origin(part) is Literal for part in parts):
        return "WORD"
    names = {"str": "TEXT", "int": "N", "float": "NUMBER", "Path": "FILE", "bool": ""}
    return names.get(getattr(parts[0] if parts else str, "__name__", ""), "TEXT …")


def _cell(text: str) -> str:
    """Text in a cell of a table, with options as code."""
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", " ".join(text.split()).replace("|", "\\|"))


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or say which are out of date. Returns the exit code."""
    old = out_of_date()
    if "--check" in arguments:
        print(
            "\n".join(f"out of date: docs/reference/{name}" for name in old) or "The reference is up to date."
        )
        return bool(old)
    made = pages()
    for name in old:
        if name in made:
            (FOLDER / name).write_text(made[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    print(f"{len(made)} pages, {len(old)} changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
