"""Tests that ask for `form` run twice: with the scanner in C, and with trees alone."""

import pytest

from gossamer.native.extensions import VARIABLE, load


@pytest.fixture(params=["scanned", "trees"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    form: str = request.param
    if form == "trees":
        monkeypatch.setenv(VARIABLE, "0")
    elif load("gossamer.native._page") is None:
        pytest.skip("the scanner is not built: `make native`")
    return form
