"""From a plan to a release: chosen data, a proposal, what a steward decides, and the release."""

from __future__ import annotations

from starlette.responses import Response

from veil.studio import draft_pages, release_pages
from veil.studio.team.audit import note
from veil.studio.team.visit import TeamVisit


def choose_source(visit: TeamVisit) -> Response:
    """Let a draft be about some data of the project."""
    draft = visit.room.drafts.choose(visit.path["id"], visit.form.get("source", ""))
    return visit.go(f"/draft/{draft.id}/data")


def propose(visit: TeamVisit) -> Response:
    """Freeze a draft for a steward to look at. No data is read."""
    draft = visit.room.drafts.get(visit.path["id"])
    if draft_pages.missing(draft):
        return visit.go(f"/draft/{draft.id}/release")
    proposal = visit.team.proposals.propose(visit.project, visit.account, draft)
    return visit.go(f"/proposal/{proposal.id}")


def listed(visit: TeamVisit) -> Response:
    """What was proposed."""
    found = visit.team.proposals.of(visit.project, visit.account)
    return visit.page("proposals.html", here="proposals", proposals=found)


def show(visit: TeamVisit) -> Response:
    """One plan as it was proposed, and what was changed since the version before."""
    proposals = visit.team.proposals
    proposal = proposals.get(visit.project, visit.account, visit.path["id"])
    before = proposals.before(proposal)
    return visit.page(
        "proposal.html",
        here="proposals",
        proposal=proposal,
        before=before,
        changed=[] if before is None else proposal.request.difference(before.request),
        decides=proposals.may_decide(proposal, visit.account),
        releases=visit.account.is_steward or proposal.author == visit.account.name,
        budget=_budget(visit, proposal.request.content["budget"]),
    )


def _budget(visit: TeamVisit, name: str) -> object:
    return next((history for history in visit.room.datasets() if history.name == name), None)


def approve(visit: TeamVisit) -> Response:
    """Sign a plan: what has this hash may be released, once."""
    return _decide(visit, approves=True)


def refuse(visit: TeamVisit) -> Response:
    """Say no."""
    return _decide(visit, approves=False)


def _decide(visit: TeamVisit, *, approves: bool) -> Response:
    proposal = visit.team.proposals.decide(
        visit.project,
        visit.account,
        visit.path["id"],
        approves=approves,
        seen=visit.form.get("sha256", ""),
        note_text=visit.form.get("note", ""),
    )
    return visit.go(f"/proposal/{proposal.id}")


def withdraw(visit: TeamVisit) -> Response:
    """Take a plan back."""
    visit.team.proposals.withdraw(visit.project, visit.account, visit.path["id"])
    return visit.go(f"/proposal/{visit.path['id']}")


def release(visit: TeamVisit) -> Response:
    """Ask for the release of an approved plan: from here on the data is read."""
    made = visit.team.proposals.ask_release(visit.project, visit.account, visit.path["id"])
    visit.team.runner.wake()
    return visit.go(f"/release/{made}")


def download(visit: TeamVisit) -> Response:
    """The files of a release; who took which is logged."""
    response = release_pages.download(visit)
    if response.status_code == 200:
        with visit.team.database.begin() as rows:
            note(
                rows,
                visit.account.name,
                "release downloaded",
                project=visit.project.id,
                release=visit.path["id"],
                what=visit.path["what"],
            )
    return response
