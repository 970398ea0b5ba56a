"""People with browsers who work together, and the way from a project to a release."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache

from tests.studio.visitor import Page, Visitor
from veil.studio.team.passwords import hashed


@dataclass(frozen=True)
class Kept:
    """An account. The hash is computed once for all tests: it takes long, as it should."""

    role: str
    password: str

    @property
    def hashed(self) -> str:
        return _hashed(self.password)


@lru_cache
def _hashed(password: str) -> str:
    return hashed(password)


PASSWORD = "four words for tests"
PASSWORDS = {
    "ada": Kept("steward", PASSWORD),
    "bob": Kept("steward", PASSWORD),
    "cid": Kept("analyst", PASSWORD),
    "dot": Kept("analyst", PASSWORD),
    "eve": Kept("viewer", PASSWORD),
    # Those of another project.
    "fay": Kept("steward", PASSWORD),
    "gil": Kept("analyst", PASSWORD),
    "hal": Kept("viewer", PASSWORD),
}
ENDED = ("done", "failed", "cancelled", "refused", "charged, no result")


@dataclass
class Person(Visitor):
    """Somebody with a browser. project: in which they work."""

    project: str = field(default="")

    def sign_in(self, name: str, password: str = PASSWORD, *, expect: int = 200) -> Page:
        page = self.send(self.get("/sign-in").form("/sign-in"), name=name, password=password)
        assert page.status == expect, page.text
        return page

    def at(self, path: str) -> str:
        """An address in the project."""
        return f"/project/{self.project}{path}"

    def look(self, path: str) -> Page:
        """A page of the project."""
        return self.get(self.at(path))

    def do(self, page: str, action: str, **fields: str) -> Page:
        """Send a form that is on a page of the project."""
        return self.send(self.look(page).form(action), **fields)

    def found_project(self, title: str = "Grades", *members: str) -> str:
        """Make a project with these members."""
        page = self.send(self.get("/").form("/projects"), title=title)
        assert page.status == 200, page.text
        self.project = page.path.split("/")[2]
        for name in members:
            assert self.do("/members", "/members", name=name).status == 200
        return self.project

    def grant(self, name: str = "people", epsilon: str = "1") -> None:
        """Open a budget."""
        page = self.do("/budgets", "/budgets", name=name, epsilon=epsilon)
        assert page.status == 200, page.text

    def add_source(
        self, place: str = "grades.csv", *, title: str = "Grades of a course", **fields: str
    ) -> Page:
        """Add data."""
        given = {"header": "yes", "budget": "people", **fields}
        return self.do("/sources", "/sources", title=title, place=place, **given)

    def draft(self, kind: str = "vector") -> str:
        """Begin a plan about the first data of the project; its id."""
        forms = self.look("/new").forms
        page = self.send(next(form for form in forms if ("kind", kind) in form.fields))
        draft = page.path.split("/")[4]
        form = self.look(f"/draft/{draft}/data").form("/source")
        source = self.look(f"/draft/{draft}/data").text.split('name="source" value="')[1].partition('"')[0]
        assert self.send(form, source=source).status == 200
        return draft

    def plan(self, draft: str, **fields: str) -> Page:
        """Fill in all steps; the page before the proposal."""
        given = {
            "read__label_column": "grade",
            "read__value_column": "count",
            "release__epsilon": "0.5",
            "release__change": "add-remove",
            "plan__size": "5",
            **fields,
        }
        page = self.look(f"/draft/{draft}/data")
        for step in ("data", "hidden", "choices", "plan", "budget"):
            form = self.look(f"/draft/{draft}/{step}").form(f"/draft/{draft}/{step}")
            names = {name for name, _ in form.fields} | _radios(self.look(f"/draft/{draft}/{step}").text)
            chosen = {name: text for name, text in given.items() if name.replace("__", ".") in names}
            page = self.send(form, go="on", **chosen)
            assert page.status == 200, (step, page.text)
        return page

    def propose(self, draft: str) -> str:
        """Freeze the plan; the id of the proposal."""
        page = self.do(f"/draft/{draft}/release", "/propose")
        assert "/proposal/" in page.path, page.text
        return page.path.split("/")[4]

    def proposed(self, **fields: str) -> str:
        """All of it: the id of a proposal."""
        draft = self.draft()
        self.plan(draft, **fields)
        return self.propose(draft)

    def approve(self, proposal: str) -> Page:
        """Sign it."""
        return self.do(f"/proposal/{proposal}", "/approve")

    def release(self, proposal: str) -> str:
        """Press Release; the id of the release."""
        page = self.do(f"/proposal/{proposal}", "/release")
        assert "/release/" in page.path, page.text
        return page.path.split("/")[4]

    def wait(self, release: str) -> Page:
        """The page of a release once it has ended."""
        while True:
            page = self.look(f"/release/{release}/state")
            assert page.status == 200, page.text
            if 'hx-trigger="load' not in page.text:
                return page
            time.sleep(0.05)


def _radios(text: str) -> set[str]:
    """The names of all buttons of which one is chosen."""
    parts = text.split('type="radio" name="')[1:]
    return {part.partition('"')[0] for part in parts}
