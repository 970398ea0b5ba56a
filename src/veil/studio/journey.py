"""The way from data to a release: its steps, and which fields are filled in at each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from veil.core.kind import Kind
from veil.core.request import Request
from veil.studio.draft import Draft
from veil.studio.forms import FormField, fields_of, labels_of

# What nobody should choose for the user: it decides who is protected.
_STARTS_EMPTY = ("unit", "change")
# Asked for together with the source itself.
_ABOUT_THE_SOURCE = ("source", "table", "header")
_BUDGET = ("epsilon", "delta")
# Of plans: the other way round, from an error to an epsilon.
_OTHER_WAY = ("error",)


@dataclass(frozen=True)
class Step:
    """One page on the way. question: what is asked there; lead: what a newcomer should know first."""

    name: str
    title: str
    question: str
    lead: str


STEPS = (
    Step(
        "data",
        "Data",
        "Which data is it?",
        "Veil reads the names of the columns and nothing else. No row is looked at before you press Release.",
    ),
    Step(
        "hidden",
        "What is hidden",
        "Whose secret is to be kept?",
        "The release looks almost the same with and without what you choose here. Nothing is chosen for you.",
    ),
    Step(
        "choices",
        "Public choices",
        "What may everyone know?",
        "These choices are published with the release. Make them from what is public, never from the data.",
    ),
    Step(
        "plan",
        "Plan",
        "How accurate, how private?",
        "The expected error comes from public numbers alone: the data is not looked at.",
    ),
    Step(
        "budget",
        "Budget",
        "From which budget is it paid?",
        "Every release uses up some of the budget of its data set, for good.",
    ),
    Step(
        "release",
        "Release",
        "Is this what you want?",
        "Only now is the data read. The budget is charged before anything is drawn.",
    ),
)


def step_named(name: str) -> Step | None:
    """The step of this name."""
    return next((step for step in STEPS if step.name == name), None)


def requests_of(kind: Kind) -> tuple[type[Request], ...]:
    """How the data is read, what is released, and what is planned."""
    return (*kind.requests("release"), *kind.requests("plan"))


def labels(kind: Kind) -> dict[str, str]:
    """What people call the fields of a kind."""
    return labels_of(requests_of(kind))


def step_fields(kind: Kind, step: str) -> Iterator[FormField]:
    """The fields of one step: what is read, who is hidden, what is public, what it may cost."""
    read, release = kind.requests("release")
    for field in (*fields_of("read", read), *fields_of("release", release, blank=_STARTS_EMPTY)):
        if field.name not in _ABOUT_THE_SOURCE and _step_of(field) == step:
            yield field
    if step == "plan":
        yield from public_numbers(kind)


def _step_of(field: FormField) -> str:
    if field.name in _BUDGET:
        return "plan"
    if field.input == "share" and field.mark.group == "Privacy":
        # How epsilon is split between the parts of a release.
        return "budget"
    if field.mark.group == "Input":
        return "data"
    return "hidden" if field.mark.group == "Privacy" else "choices"


def public_numbers(kind: Kind) -> Iterator[FormField]:
    """What a plan asks for and a release does not: sizes that are public."""
    read, release = kind.requests("release")
    (plan,) = kind.requests("plan")
    known = {field.name: field for field in (*fields_of("read", read), *fields_of("release", release))}
    for field in fields_of("plan", plan):
        same = known.get(field.name)
        if field.name in (*_BUDGET, *_OTHER_WAY):
            continue
        # Of the same name, it may mean another thing, or one that a release can do without.
        if same is None or same.takes is not field.takes or (field.required and not same.required):
            yield field
        elif field.input == "number" and field.mark.help != same.mark.help:
            # About how many there are is asked of a plan; stated for a release, it is a public fact in it.
            yield field


def plan_texts(draft: Draft) -> dict[str, str]:
    """What was typed in, as the plan of the kind takes it."""
    kind = draft.kind
    (plan,) = kind.requests("plan")
    own = {*(field.name for field in public_numbers(kind)), *_OTHER_WAY}
    known = {
        field.name: field.takes for request in kind.requests("release") for field in fields_of("", request)
    }
    texts = {}
    for field in fields_of("plan", plan):
        places: tuple[str, ...] = (field.key,) if field.name in own else ()
        if field.name not in own or known.get(field.name) is field.takes:
            places += (f"release.{field.name}", f"read.{field.name}")
        texts[field.key] = next((draft.text(place) for place in places if draft.text(place)), "")
    return texts
