"""The API keeps to its own description, whatever is sent: schemathesis makes up the requests."""

from __future__ import annotations

import shutil
from typing import Any, Final

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, reject, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gossamer.web.openapi import document
from gossamer.web.route import Route
from gossamer.web.routes import API
from gossamer.web.schemas import KEY_SCHEMAS
from web.a_browser import TOKEN, Browser, served
from web.conftest import Garden

pytestmark = pytest.mark.slow

# A feed has no end; `test_web_events.py` reads it.
ROUTES: Final = [route for route in API if route.gives != "events"]
TRIES: Final = 25  # of each route and mode: about ten seconds in all
# Made-up tokens would be taken for guessing, and a made-up host is refused before the API.
STRANGE: Final = ("authorization", "host", "content-length", "transfer-encoding")
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
QUICK: Final = settings(
    max_examples=TRIES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


@pytest.fixture(scope="module")
def program(garden: Garden, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A program with the token, over a copy: it may clear it."""
    home = tmp_path_factory.mktemp("schema") / "garden"
    shutil.copytree(garden.path, home)
    return Browser(served(home), token=TOKEN)


def ask(program: Browser, case: Case[Any]) -> httpx.Response:
    """Send what was made up, as the client that our tests have."""
    words = case.as_transport_kwargs(base_url="http://127.0.0.1:8800")
    words["headers"] = {
        name: value
        for name, value in words["headers"].items()
        if name.lower() not in STRANGE and value.isascii() and value.isprintable()
    }
    words.pop("cookies")
    body = words.pop("data", None)
    return program.ask(words.pop("method"), words.pop("url"), content=body, **words)


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_answer_is_as_described_and_none_is_a_fault_of_ours(
    program: Browser, route: Route, mode: GenerationMode
) -> None:
    if mode is GenerationMode.NEGATIVE and not route.params:
        return  # nothing can be wrong with it
    schema = schemathesis.openapi.from_dict(document(API))
    operation = schema[route.path][route.method]

    @QUICK
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case: Case[Any]) -> None:
        try:
            answer = ask(program, case)
        except httpx.InvalidURL:  # longer than the client can send
            reject()
        case.validate_response(answer, checks=CHECKS)

    try_it()


# What changed between two versions needs a page that has two: test_web_explore.py asks for it.
READING: Final = [route for route in ROUTES if route.method == "GET" and route.name != "diff"]


@pytest.mark.parametrize("route", READING, ids=lambda route: route.name)
def test_real_answers_are_as_described(program: Browser, garden: Garden, route: Route) -> None:
    """Requests that are made up find little; these find what a person would look for."""
    values = {"q": "garden", "url": garden.url("/roses"), "seeds": garden.url("/"), "explain": "1"}
    names = {param.name for param in route.params}
    query = {name: value for name, value in values.items() if name in names}
    schema = schemathesis.openapi.from_dict(document(API))
    path = {"name": "garden"} if "{name}" in route.path else {}
    case = schema[route.path][route.method].Case(query=query, path_parameters=path)

    answer = ask(program, case)

    assert answer.status_code == 200
    case.validate_response(answer, checks=CHECKS)


def test_every_key_that_a_route_gives_is_described() -> None:
    given_by = {key for route in API for key in route.keys} - {"openapi", "info", "paths"}

    assert sorted(given_by - KEY_SCHEMAS.keys()) == []
