"""veil ledger: verify, export, back up, restore, keys and roles: what keeps a ledger trustworthy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from veil.cli.ledger import ByOption, WhyOption, print_state
from veil.cli.ledger import app as app
from veil.cli.ledger_options import (
    LedgerAndDataset,
    LedgerAndReleases,
    LedgerOnly,
    ledger_and_dataset,
    ledger_at,
    ledger_files,
    ledger_first,
)
from veil.cli.options import ForceOption, JsonOption, option
from veil.cli.output import print_json, working
from veil.cli.output_files import refuse_existing
from veil.core.bounded import read_path
from veil.core.errors import InvalidArgument, InvalidData, LedgerCorrupt, UnreadableFile
from veil.core.objects import unique
from veil.report.terminal import say


@app.command(name="verify")
def verify(
    *places: LedgerAndReleases,
    against: Annotated[
        str | None,
        option(
            "--against",
            help="What `veil ledger export` wrote, or an anchor (.jsonl, a database): shows a cut end too.",
        ),
    ] = None,
    release: Annotated[
        list[Path] | None,
        option("--release", help="A release file, as behind the ledger."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Is the ledger consistent? Every entry is replayed: each must be a step that Veil would take.

    Example: veil ledger verify budget.db private.json other.json --against heads.json
    """
    url, more = ledger_first(places)
    paths = [*map(Path, more), *(release or ())]
    ledger = ledger_at(url)
    earlier = None if against is None else known_elsewhere(against)
    with working("Verifying", quiet=as_json):
        found = ledger.verify(earlier)
        wrong = {str(path): _fault(path, ledger) for path in paths}
    faults = [fault for fault in wrong.values() if fault]
    if as_json:
        print_json(
            {
                "verified": not faults,
                "entries": found.entries,
                "keyed_from": found.keyed,
                "authenticated": found.authentic,
                "findings": list(found.findings),
                "against": earlier is not None,
                "releases": [
                    {"file": path, "charged": not fault, "fault": fault} for path, fault in wrong.items()
                ],
            }
        )
    else:
        from veil.cli.ledger_output import print_verification

        print_verification(found, compared=earlier is not None)
        for path, fault in wrong.items():
            say(f"{path}: charged as it says." if not fault else f"{path}: NOT CHARGED AS IT SAYS: {fault}")
    return LedgerCorrupt.exit_code if faults else 0


@app.command(name="export")
def export(
    *places: LedgerOnly,
    output: Annotated[Path, option("--output", "-o", help="Where to write (.json).")],
    heads: Annotated[
        bool, option("--heads", help="Only the newest hash of each dataset.", shown=False)
    ] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Write all entries, or the heads, to keep where those who can write to the ledger cannot.

    Example: veil ledger export budget.db --heads -o heads.json
    """
    from veil.core.writing import RELEASED, SENSITIVE, write_text

    url = _only_ledger(places)
    ledgers = ledger_files(url)
    refuse_existing({"--output": output}, force=force, ledgers=ledgers, endings={"--output": (".json",)})
    content = ledger_at(url).export(heads_only=heads)
    # Entries say who asked what of the data, as the ledger does; heads only what was spent in all.
    mode = RELEASED if heads else SENSITIVE
    write_text(output, json.dumps(content, indent=2) + "\n", overwrite=force, mode=mode)
    if as_json:
        print_json({"written": str(output), "datasets": list(content["datasets"])})
        return 0
    say(f"Written: {output}")
    return 0


@app.command(name="backup")
def backup(
    *places: LedgerOnly,
    output: Annotated[Path, option("--output", "-o", help="A new file that ends in .db.")],
    as_json: JsonOption = False,
) -> int:
    """Copy a ledger that is a file, also while it is in use. A server has means of its own (pg_dump).

    Example: veil ledger backup budget.db -o monday.db
    """
    url = _only_ledger(places)
    ledgers = ledger_files(url)
    endings = {"--output": (".db", ".sqlite", ".sqlite3")}
    refuse_existing({"--output": output}, force=False, ledgers=ledgers, endings=endings)
    with working("Copying", quiet=as_json):
        ledger_at(url).backup(output)
    if as_json:
        print_json({"written": str(output)})
    else:
        say(f"Written: {output}")
    return 0


@app.command(name="accept-restore")
def accept_restore(
    *places: LedgerAndDataset,
    why: WhyOption,
    by: ByOption = None,
    against: Annotated[
        str | None,
        option("--against", help="What other machines have seen: an anchor, or an export."),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Accept a ledger that is older than what this machine has seen, after a lawful restore of a backup.

    Example: veil ledger accept-restore budget.db trips --why "disk failure, backup of Monday restored"

    What had been spent in the lost entries is charged again. Who accepted it, and why, is recorded for good.
    """
    url, name = ledger_and_dataset(places)
    dataset = ledger_at(url).dataset(name)
    dataset.accept_restore(why=why, by=by, against=None if against is None else known_elsewhere(against))
    return print_state(dataset, as_json)


@app.command(name="key")
def key(
    *places: LedgerAndDataset,
    why: WhyOption,
    by: ByOption = None,
    as_json: JsonOption = False,
) -> int:
    """Authenticate all entries from now on with the key of VEIL_LEDGER_KEY, so that nobody can forge one.

    Example: VEIL_LEDGER_KEY=file:ledger.key veil ledger key budget.db trips --why "keys for all datasets"

    Several keys are separated by commas: the first is for new entries, the others verify older ones.
    """
    url, name = ledger_and_dataset(places)
    dataset = ledger_at(url).dataset(name)
    dataset.use_key(why=why, by=by)
    return print_state(dataset, as_json)


@app.command(name="new-key")
def new_key(file: Annotated[Path, Parameter(name="FILE", help="A new file.")], /) -> int:
    """Write a secret key to a new file that only its owner can read.

    Example: veil ledger new-key ledger.key
    """
    from veil.ledger.keys import new_key as made

    name = made(file).id
    say(f"Written: {file}. Its public name is {name}. Use it with VEIL_LEDGER_KEY=file:{file}")
    say("Keep it where those who can write to the ledger but must not forge entries cannot read it.")
    return 0


@app.command(name="grant")
def grant(
    *places: LedgerOnly,
    role: Annotated[str, option("--role", help="A role of the PostgreSQL server.")],
    purpose: Annotated[
        Literal["auditor", "releaser", "steward"],
        option("--as", help="auditor: reads; releaser: charges; steward: opens, raises and closes."),
    ],
    as_json: JsonOption = False,
) -> int:
    """Let a role of a PostgreSQL server use the ledger, with no more rights than its purpose needs.

    Example: veil ledger grant postgresql://owner@host/books --role analysts --as releaser

    Run it as the owner of the ledger, after the first `veil ledger open`.
    """
    statements = ledger_at(_only_ledger(places)).grant(role, purpose)
    if as_json:
        print_json({"role": role, "as": purpose, "statements": statements})
    else:
        say("\n".join(f"{statement};" for statement in statements))
    return 0


def _only_ledger(places: Sequence[str]) -> str:
    """The ledger, and nothing after it."""
    url, rest = ledger_first(places)
    if rest:
        raise InvalidArgument("LEDGER", expected="one ledger", found=f"{len(rest)} arguments after it")
    return url


def _fault(path: Path, ledger: Any) -> str:
    """What speaks against a release file; "" if nothing does."""
    from veil.core.files import load
    from veil.ledger.verification import check_charged

    try:
        check_charged(load(path), ledger, str(path))
    except (LedgerCorrupt, InvalidData) as error:
        return f"found {error.found}"
    return ""


def known_elsewhere(place: str) -> Any:
    """What `veil ledger export` wrote, or the heads that an anchor noted."""
    from veil.ledger.anchors import heads_at

    if "://" in place or place.endswith(".jsonl"):
        return heads_at(place)
    try:
        return json.loads(read_path(Path(place), place), object_pairs_hook=unique)
    except InvalidData as error:
        raise UnreadableFile(place, expected=error.expected, found=error.found) from None
    except FileNotFoundError:
        raise UnreadableFile(place, expected="an export of a ledger", found="no such file") from None
    except (OSError, ValueError, RecursionError):
        raise UnreadableFile(place, expected="an export of a ledger", found="something else") from None
