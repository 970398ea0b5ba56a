"""veil audit: attack a mechanism on made-up data, and say what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from veil.cli.options import ForceOption, JsonOption, ReportOption, option
from veil.cli.output import print_json, refuse_other_files, working
from veil.cli.output_files import refuse_existing
from veil.core.errors import InvalidArgument, UnreadableFile

if TYPE_CHECKING:
    from veil.core.audit.suite import AuditSuite

# A claim that does not hold is neither wrong use nor bad data.
VIOLATION = 5


def audit(
    path: Annotated[
        Path | None,
        Parameter(name="RELEASE", help="A release file (.json): its mechanism is audited."),
    ] = None,
    /,
    *,
    everything: Annotated[
        bool, option("--all", help="Audit a mechanism of every kind instead: takes minutes.", shown=False)
    ] = False,
    samples: Annotated[
        int | None,
        option(
            "--samples",
            least=1000,
            help="Draws for each made-up value; a few seconds worth of them by default.",
        ),
    ] = None,
    delta: Annotated[
        float | None,
        option(
            "--delta",
            "-d",
            help="Compare at this delta; by default 0, or 0.01 if 0 has no epsilon.",
            is_number=True,
        ),
    ] = None,
    confidence: Annotated[
        float,
        option(
            "--confidence", help="One less the chance of a false alarm in all that is done.", is_number=True
        ),
    ] = 0.999_999_999,
    seed: Annotated[
        int | None, option("--seed", least=0, help="Draw from this seed, to see the same again.")
    ] = None,
    report: ReportOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Try to beat a mechanism's claim, on made-up neighbours: the data behind a release is never needed.

    Example: veil audit private.json --report audit.html

    A mechanism of every kind: veil audit --all --samples 2000

    Exit code 0 where nothing was found, which does not prove that there is nothing; 5 where a claim was
    beaten or a fault found.
    """
    from veil.core.audit.suite import audit_examples, audit_suite
    from veil.core.claim import claim_of
    from veil.core.files import load
    from veil.core.random.streams import generator
    from veil.core.writing import write_text

    inputs = [] if path is None else [path]
    refuse_existing({"--report": report}, force=force, inputs=inputs, endings={"--report": (".html",)})
    if everything == (path is not None):
        raise InvalidArgument(
            "RELEASE", expected="a release file, or --all", found="both" if everything else "neither"
        )
    if path is None:
        chosen: list[tuple[Any, Any]] = list(audit_examples())
    else:
        refuse_other_files(path)
        with working("Checking", quiet=as_json):
            release = load(path)
            holds = claim_of(release, str(path)).holds
        if not holds:
            raise UnreadableFile(
                str(path),
                expected="a record that says what follows from its mechanism",
                found="a smaller epsilon, or fewer assumptions",
                hint="See: veil inspect.",
            )
        chosen = [(release.mechanism, release.adjacency)]
    # The chance of a false alarm is that of all of them together.
    each = 1.0 - (1.0 - confidence) / len(chosen) if 0.0 < confidence < 1.0 else confidence
    stream = None if seed is None else generator(seed)
    with working("Auditing", quiet=as_json) as say:
        suites = [
            audit_suite(
                mechanism,
                adjacency,
                delta=delta,
                samples=samples,
                confidence=each,
                rng=stream,
                progress=say,
            )
            for mechanism, adjacency in chosen
        ]
    if report is not None:
        from veil.report.audit import AuditReport

        page = AuditReport(tuple(suites), confidence, "" if path is None else path.name).html()
        write_text(report, page, overwrite=force)
    if as_json:
        print_json(
            {
                "violated": any(suite.violated for suite in suites),
                "confidence": confidence,
                "mechanisms": [_as_json(suite) for suite in suites],
            }
        )
    else:
        from veil.report.audit import print_audits

        print_audits(suites, confidence=confidence, written=report)
    return VIOLATION if any(suite.violated for suite in suites) else 0


def _as_json(suite: AuditSuite) -> dict[str, Any]:
    """What was found, for machines; an epsilon without end is null."""

    def number(value: float) -> float | None:
        return None if value == float("inf") else value

    return {
        "mechanism": suite.mechanism.describe(),
        "adjacency": suite.adjacency.describe(),
        "delta": suite.delta,
        "samples": suite.samples,
        "claimed": number(suite.claimed),
        "lower": number(suite.lower),
        "violated": suite.violated,
        "faults": list(suite.faults),
        "note": suite.note,
        "pairs": [
            {
                "name": pair.name,
                "lower": number(found.lower),
                "exact": found.exact,
                "violated": found.violated,
                "by_bits": found.by_bits,
                "fault": found.fault,
            }
            for pair, found in suite.rows
        ],
        "independence": {"fault": suite.reuse.fault, "smallest": suite.reuse.smallest},
    }
