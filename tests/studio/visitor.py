"""A browser without pictures: it follows links, fills in forms as they stand, and keeps cookies."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4


@dataclass
class Form:
    """A form of a page. fields: what it would send as it stands; buttons: name and value of each."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.inside: Form | None = None
        self.button = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = Form(given.get("action", ""), given.get("method", "get"))
            self.forms.append(self.inside)
        elif self.inside is not None and tag == "input" and "name" in given:
            kind, bare = given.get("type", "text"), dict(attrs)
            if kind == "file" or (kind in ("radio", "checkbox") and "checked" not in bare):
                return
            self.inside.fields.append((given["name"], given.get("value", "")))
        elif self.inside is not None and tag == "button":
            self.inside.buttons.append((given.get("name", ""), given.get("value", ""), ""))
            self.button = True

    def handle_data(self, data: str) -> None:
        if self.button and self.inside is not None:
            name, value, text = self.inside.buttons[-1]
            self.inside.buttons[-1] = name, value, text + data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = None
        elif tag == "button":
            self.button = False


@dataclass(frozen=True)
class Page:
    """What came back."""

    path: str
    status: int
    text: str
    headers: Mapping[str, str]
    content: bytes = b""

    @property
    def forms(self) -> list[Form]:
        reader = _Reader()
        reader.feed(self.text)
        return reader.forms

    def form(self, action: str) -> Form:
        """The form whose address ends so."""
        found = [form for form in self.forms if form.action.endswith(action)]
        assert found, f"{self.path} has no form for {action}: {self.text[:2000]}"
        return found[0]


@dataclass
class Visitor:
    """Somebody with a browser. studio: what the pages share, to wait for what is done beside them."""

    address: str
    studio: Any = None
    base: str = ""
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        follows: bool = True,
    ) -> Page:
        """One request, and those that it leads to."""
        host = urlsplit(self.address).netloc
        if path.startswith("/") and not path.startswith((self.base or "//", "/static", "/?token=")):
            path = self.base + path
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        connection = http.client.HTTPConnection(host, timeout=600)
        try:
            connection.request(method, path, body=body, headers={**sent, **(headers or {})})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0].strip('"')
        where = answer.getheader("location")
        if follows and where is not None:
            return self.ask("GET", where)
        # Read as if there were no base, which differs from server to server.
        text = content.decode("utf-8", "replace")
        text = text.replace(self.base, "") if self.base else text
        return Page(
            path.removeprefix(self.base),
            answer.status,
            text,
            {k.lower(): v for k, v in answer.getheaders()},
            content,
        )

    def get(self, path: str, **headers: str) -> Page:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, fields: Mapping[str, str], **more: Any) -> Page:
        headers = {"Content-Type": "application/x-www-form-urlencoded", **more.pop("headers", {})}
        return self.ask("POST", path, urlencode(fields).encode(), headers, **more)

    def send(self, form: Form, **fields: str) -> Page:
        """Send a form with some fields filled in; dots in names are written as two underscores."""
        filled = dict(form.fields) | {name.replace("__", "."): value for name, value in fields.items()}
        return self.post(form.action, filled)

    def upload(self, form: Form, name: str, content: bytes, **fields: str) -> Page:
        """Send a form with a file."""
        return self.upload_as(form, "file", name, content, **fields)

    def upload_as(self, form: Form, field: str, name: str, content: bytes, **fields: str) -> Page:
        """Send a form with a file in a field."""
        mark = uuid4().hex
        parts = []
        for key, value in (dict(form.fields) | fields).items():
            parts.append(
                f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            )
        disposition = f'Content-Disposition: form-data; name="{field}"; filename="{name}"'
        parts.append(f"--{mark}\r\n{disposition}\r\nContent-Type: text/csv\r\n\r\n".encode() + content)
        body = b"".join([*parts, f"\r\n--{mark}--\r\n".encode()])
        return self.ask("POST", form.action, body, {"Content-Type": f"multipart/form-data; boundary={mark}"})

    # The usual way

    def start(self, words: str) -> str:
        """Begin with an example; the id of its draft."""
        home = self.get("/")
        forms = [form for form in home.forms if form.action == "/try"]
        texts = home.text.split('action="/try"')[1:]
        (form,) = [
            form for form, text in zip(forms, texts, strict=True) if words in text.partition("</form>")[0]
        ]
        return self.send(form).path.split("/")[2]

    def open_budget(self, name: str, epsilon: str) -> None:
        """Open a budget on the page of the ledger."""
        page = self.send(self.get("/ledger").form("/ledger/open"), name=name, epsilon=epsilon)
        assert page.status == 200, page.text
        assert name in page.text

    def fill_in(self, draft: str, dataset: str, **fields: str) -> Page:
        """Go through all steps of a draft as they stand; the page before the release."""
        for step in ("data", "hidden", "choices", "plan", "budget"):
            form = self.get(f"/draft/{draft}/{step}").form(f"/draft/{draft}/{step}")
            names = {name for name, _ in form.fields}
            given = {name: value for name, value in fields.items() if name.replace("__", ".") in names}
            chosen = {"dataset": dataset} if step == "budget" else {}
            page = self.send(form, go="on", **given, **chosen)
            assert page.status == 200, (step, page.text)
        assert page.path == f"/draft/{draft}/release"
        return page

    def release(self, draft: str) -> str:
        """Press Release; the id of the release."""
        page = self.send(self.get(f"/draft/{draft}/release").form("/make"))
        assert page.path.startswith("/release/"), page.text
        return page.path.split("/")[2]

    def wait(self, release: str) -> Page:
        """The page of a release once it has ended."""
        self.studio.jobs.wait(release)
        page = self.get(f"/release/{release}/state")
        assert 'hx-trigger="load' not in page.text
        return page
