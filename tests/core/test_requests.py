"""Requests are the one description of what can be asked: verbs, options and schemas agree with them."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from typing import Any, get_args, get_type_hints

import pytest

from veil.cli.options import flags_of
from veil.core.errors import InvalidArgument
from veil.core.kind import every_kind
from veil.core.request import NO_DEFAULT, Request

KINDS = every_kind()
ASKED = [
    (kind, verb, request)
    for kind in KINDS
    for verbs in (("read", "release"), ("plan",))
    for verb, request in zip(verbs, kind.requests(verbs[-1]), strict=False)
]
BY_NAME = [pytest.param(*one, id=f"{one[0].name}-{one[1]}") for one in ASKED]
# What every `release` has besides, and `read` may have.
BESIDES = {"read": {"progress"}, "release": {"ledger", "rng"}, "plan": set()}
# What `release` of a kind takes from `read`, for data that was not read yet.
FROM_READ = {"bits": {"missing"}}


@pytest.mark.parametrize(("kind", "verb", "request_type"), BY_NAME)
def test_the_verb_has_the_parameters_of_the_request(
    kind: Any, verb: str, request_type: type[Request]
) -> None:
    function = getattr(import_module(kind.module), verb)
    parameters = inspect.signature(function).parameters
    hints = get_type_hints(function)
    expected = {
        name: (field.default, hint)
        for name, (field, mark, hint) in request_type.options().items()
        if mark.in_python and name != "source"
    }
    besides = BESIDES[verb]
    for name in FROM_READ.get(kind.name, ()) if verb == "release" else ():
        field, _, hint = kind.requests("release")[0].options()[name]
        assert (parameters[name].default, hints[name]) == (field.default, hint)
        besides = besides | {name}
    first = next(iter(parameters)) if verb != "plan" else None
    found = {name: one for name, one in parameters.items() if name != first and name not in besides}
    assert list(found) == list(expected)
    for name, (default, hint) in expected.items():
        has = found[name].default
        assert (has is inspect.Parameter.empty) == (default is NO_DEFAULT), name
        assert default is NO_DEFAULT or has == default, name
        assert hints[name] == hint, name
        assert found[name].kind is inspect.Parameter.KEYWORD_ONLY, name


@pytest.mark.parametrize(("kind", "verb", "request_type"), BY_NAME)
def test_the_verb_explains_every_parameter(kind: Any, verb: str, request_type: type[Request]) -> None:
    function = getattr(import_module(kind.module), verb)
    text = inspect.getdoc(function) or ""
    for name in inspect.signature(function).parameters:
        assert f"{name}" in text, f"{kind.name}.{verb} says nothing of {name}"
    assert ">>>" in text


@pytest.mark.parametrize(("kind", "verb", "request_type"), BY_NAME)
def test_every_field_has_a_sentence_and_names_only_fields(
    kind: Any, verb: str, request_type: type[Request]
) -> None:
    known = {name for one, _, other in ASKED if one is kind for name in other.options()}
    for name, (_, mark, _) in request_type.options().items():
        assert mark.help.endswith("."), name
        for found in set(mark.help.split("{")[1:]):
            assert found.partition("}")[0].partition("=")[0] in known, name


@pytest.mark.parametrize(("kind", "verb", "request_type"), BY_NAME)
def test_limits_are_kept(kind: Any, verb: str, request_type: type[Request]) -> None:
    """A number below the least or above the most is refused before anything is read, with field and limit."""
    required = {"epsilon": 1.0, "source": "no such file"}
    for name, (_, mark, hint) in request_type.options().items():
        if mark.least is None:
            continue
        assert mark.most is None or mark.least <= mark.most
        whole = int in (hint, *get_args(hint))
        outside = [mark.least - 1, float("nan"), *([] if mark.most is None else [mark.most + 1])]
        for wrong in (*outside, *((mark.least + 0.5,) if whole else ())):
            given = {
                other: required.get(other, 3 if int in (kind_, *get_args(kind_)) else "x")
                for other, (one, _, kind_) in request_type.options().items()
                if one.default is NO_DEFAULT
            }
            with pytest.raises(InvalidArgument, match=f"^{name}: expected a (whole )?number") as refused:
                request_type(**(given | {name: wrong})).check()
            limits = [f"{mark.least:g}", *([] if mark.most is None else [f"{mark.most:g}"])]
            assert any(limit in refused.value.expected for limit in limits)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_flags_of_one_command_differ(kind: Any) -> None:
    if not kind.requests("release"):
        pytest.skip("not released from the command line")
    reads, releases = kind.requests("release")
    flags = flags_of((reads, releases))
    assert len(set(flags.values())) == len(flags)
    assert set(reads.options()).isdisjoint(releases.options())


@pytest.mark.parametrize(("kind", "verb", "request_type"), BY_NAME)
def test_schemas_are_json_and_leave_secrets_out(kind: Any, verb: str, request_type: type[Request]) -> None:
    schema = json.loads(json.dumps(request_type.schema()))
    secrets = {name for name, (_, mark, _) in request_type.options().items() if mark.secret}
    assert secrets.isdisjoint(schema["properties"])
    assert set(schema["properties"]) == set(request_type.options()) - secrets
    for name, content in schema["properties"].items():
        assert content["description"], name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_request_survives_a_plan_file(kind: Any) -> None:
    if not kind.requests("release"):
        pytest.skip("no releases")
    _, releases = kind.requests("release")
    asked = releases(epsilon=0.5)
    written = json.loads(json.dumps(asked.to_dict()))
    assert written == {"epsilon": 0.5}
    assert releases.from_dict(written) == asked
    with pytest.raises(InvalidArgument, match="epsilon: expected"):
        releases.from_dict({"epsilon": "much"})
    with pytest.raises(InvalidArgument, match="epsilom: expected some of epsilon"):
        releases.from_dict({"epsilom": 1.0})
    with pytest.raises(InvalidArgument, match="epsilon: expected a value"):
        releases.from_dict({})
