"""veil inspect: what a release file is and what it guarantees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from veil.cli.options import ForceOption, JsonOption, ReportOption, option
from veil.cli.output import print_json, refuse_other_files, working
from veil.cli.output_files import refuse_existing
from veil.report.terminal import say


def inspect(
    path: Annotated[Path, Parameter(name="RELEASE", help="A release file (.json).")],
    /,
    *,
    rigorous: Annotated[
        bool, option("--rigorous", help="Certify the guarantee by ball arithmetic too.", shown=False)
    ] = False,
    report: ReportOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Show what a release file is and what it guarantees. The guarantee is computed again, rounded up.

    What cannot be computed from the file, and has to be taken on trust, is listed.

    With --rigorous the true delta at the claimed epsilon is enclosed by ball arithmetic, if that is available
    for the mechanism: the claim is certified or refuted. This needs the extra "rigorous".

    Example: veil inspect private.json --report private.html
    """
    from veil.core.claim import claim_of
    from veil.core.files import entry_to_json, load
    from veil.core.writing import write_text

    refuse_existing({"--report": report}, force=force, inputs=[path], endings={"--report": (".html",)})
    refuse_other_files(path)
    with working("Checking", quiet=as_json):
        release = load(path)
        claim = claim_of(release, str(path))
    certificate = None
    if rigorous:
        from veil.core.certificate import certificate_of

        with working("Certifying by ball arithmetic", quiet=as_json):
            certificate = certificate_of(release)
    beside = {name: (file.file, file.is_beside(path)) for name, file in release.attachments.items()}
    if report is not None:
        with working("Drawing the report", quiet=as_json):
            write_text(report, release.kind.page(release, record=path), overwrite=force)
    if as_json:
        compared = [same for _, same in beside.values() if same is not None]
        print_json(
            {
                "file": str(path),
                "kind": release.kind.name,
                "mechanism": release.description,
                "adjacency": release.adjacency.describe(),
                "domain": release.domain.describe(),
                "privacy": {"epsilon": release.epsilon, "delta": release.delta, "kind": release.profile.kind},
                "computed_epsilon": claim.epsilon,
                "verified": claim.holds,
                **({} if certificate is None else {"rigorous": certificate.to_json()}),
                "assumptions": list(release.assumptions),
                "assumptions_left_out": list(claim.missing),
                "added_since_it_was_written": list(claim.added),
                "reproducible": release.reproducible,
                "entry": None if release.entry is None else entry_to_json(release.entry),
                **release.kind.sizes(release),
                "knowing_nothing": [line.to_dict() for line in release.kind.baselines(release)],
                **({"table_is_the_one_written": all(compared)} if compared else {}),
                **({"chosen": release.chosen} if release.chosen else {}),
                "created": release.created,
                "veil": release.version,
            }
        )
    else:
        from veil.report.console import print_inspection

        print_inspection(release, claim, certificate=certificate)
        for file, same in beside.values():
            is_it = "is" if same else "is NOT"
            what = "was not found" if same is None else f"{is_it} the one that was written"
            say(f"The table {file} beside it {what}.")
    refuted = certificate is not None and certificate.holds is False
    is_right = claim.holds and not refuted and all(same is not False for _, same in beside.values())
    return 0 if is_right else 4
