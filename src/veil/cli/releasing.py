"""From a job to a release that is charged, kept and shown, whatever goes wrong on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veil.cli.charging import Charging
from veil.cli.deferral import Deferral, Stopped
from veil.cli.keeping import STANDARD_OUTPUT, Keeper, Show, why_not
from veil.cli.output import print_error, silence_output, working
from veil.cli.output_files import OutputFiles
from veil.cli.room import Room
from veil.core.errors import ResultKept, ResultLost, VeilError
from veil.core.job import Job
from veil.ledger.dataset import Dataset
from veil.report.terminal import say


@dataclass
class Releasing:
    """One release of the command line, and how far it has come."""

    files: OutputFiles
    stops: Deferral
    as_json: bool
    account: Charging | None = None
    keeper: Keeper | None = field(default=None, init=False)

    def charge_to(self, dataset: Dataset | None) -> None:
        """The budget to charge; None for none."""
        self.account = None if dataset is None else Charging(dataset, self.stops)

    @property
    def entry(self) -> Any:
        return None if self.account is None else self.account.entry

    def guarded(self, work: Callable[[], int]) -> int:
        """Do the work of a release, and say what went wrong or where a signal stopped it. The exit code."""
        try:
            return work()
        except (ResultKept, ResultLost) as error:
            return self.say_trouble(error)
        except KeyboardInterrupt as stop:
            return self.say_stopped(stop)

    def run(self, job: Job[Any], *, rng: Any, show: Show) -> int:
        """Set room aside, charge, draw, keep, confirm, report and show. Returns the exit code."""
        with Room(self.files.places, job.kind.room(job)) as room:
            keeper = self.keeper = Keeper(self.files, job, room=room, stops=self.stops, show=show)
            with working("Releasing", quiet=self.as_json):
                out = job.run(ledger=self.account, rng=rng, keep=keeper)
        self.stops.end()
        if self.files.has_further_report and keeper.trouble is None:
            with working("Drawing the report", quiet=self.as_json):
                keeper.add_report(out)
        if keeper.trouble is not None:
            return self.say_trouble(keeper.trouble)
        if not keeper.uses_output:
            assert keeper.kept is not None
            try:
                show(out, keeper.kept, keeper.written)
                if sys.stdout is not None:
                    sys.stdout.flush()
            except BrokenPipeError:
                # Whoever read the output has seen enough; the result is in its file.
                keeper.give_up_output()
            except Exception as error:
                keeper.give_up_output()
                why, place = why_not(STANDARD_OUTPUT, error), _listed(keeper.written)
                return self.say_trouble(ResultKept(entry=self.entry, why=why, place=place))
        return 0

    def say_trouble(self, error: VeilError) -> int:
        """What went wrong after the charge, where it can still be read."""
        keeper = self.keeper
        # Not where the record itself stands, and not where nothing arrives.
        in_output = isinstance(error, ResultKept) and error.place == STANDARD_OUTPUT
        failed = sys.stdout is None or (keeper is not None and keeper.output_failed)
        try:
            print_error(error, as_json=self.as_json and not in_output and not failed)
            if not failed:
                sys.stdout.flush()
        except OSError:
            silence_output()
            say(f"veil: {error}", error=True)
        return error.exit_code

    def say_stopped(self, stop: KeyboardInterrupt) -> int:
        """What a signal left behind. Returns the exit code."""
        code = stop.exit_code if isinstance(stop, Stopped) else 130
        keeper = self.keeper
        if keeper is not None and keeper.kept is not None:
            if keeper.trouble is not None:
                return self.say_trouble(keeper.trouble)
            charged = "" if self.entry is None else f"charged as {self.entry}; "
            place = _listed(keeper.written) if keeper.written else "shown"
            say(f"veil: stopped; {charged}the result is {place}.", error=True)
            return code
        if self.entry is not None:
            lost = ResultLost(entry=self.entry, why="it was stopped twice")
            return self.say_trouble(lost)
        if self.account is not None and self.account.tried:
            where = "veil ledger show says whether it was made"
            say(f"veil: stopped during the charge; {where}. There is no result.", error=True)
            return ResultLost.exit_code
        done = "released" if self.account is None else "charged"
        say(f"veil: stopped; nothing was {done}.", error=True)
        return code


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))
