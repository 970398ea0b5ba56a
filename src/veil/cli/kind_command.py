"""Commands that the kinds of data bring along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from veil.cli.options import command, extra_option
from veil.cli.output import print_json, refuse_other_files, working
from veil.cli.output_files import check_ending, refuse_existing
from veil.cli.release import FORCE, JSON
from veil.core.request import CommandRequest


def kind_command(request: type[CommandRequest]) -> Callable[..., int]:
    """The command that a request of a kind asks for."""

    def run(fields: dict[str, Any], *, force: bool = False, as_json: bool = False) -> int:
        asked = request(**fields)
        flags = {name: mark.named(name) for name, (_, mark, _) in request.options().items()}
        for name, (path, endings) in asked.outputs.items():
            check_ending(flags[name], path, endings)
        files = {flags[name]: path for name, (path, _) in asked.outputs.items()}
        refuse_existing(files, force=force, inputs=asked.inputs)
        asked.check()
        if request.options()["source"][2] is Path:
            refuse_other_files(Path(fields["source"]))
        with working("Working", quiet=as_json) as progress:
            found = asked.run(overwrite=force, progress=progress)
        if as_json:
            print_json(found.to_dict())
        else:
            found.show()
        return 0

    extra = [extra_option("force", bool, False, FORCE), extra_option("as_json", bool, False, JSON)]
    return command(run, (request,), extra)
