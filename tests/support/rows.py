"""Many rows in one test: `each_row` takes what `pytest.mark.parametrize` takes.

A test of its own costs 4 ms of CPU time beside what it does, a row of a test 2 µs. Every row runs,
also after one has failed, and the test fails with the error of each row that did. Rows share the
fixtures of their test, so this is for tests of pure functions.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence

import pytest

Test = Callable[..., None]
ParameterSet = type(pytest.param())


def each_row(names: str | Sequence[str], rows: Iterable[object]) -> Callable[[Test], Test]:
    """Call the test with each row in turn; `names` are the parameters that a row gives.

    The test skips if all rows do. A row that fails is named by its values.
    """
    parameters = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    named = [(row, _arguments(parameters, row)) for row in rows]
    assert named, "a test without rows tests nothing"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run_all(**fixtures: object) -> None:
            failed: list[Exception] = []
            skipped: list[BaseException] = []
            for row, arguments in named:
                try:
                    test(**fixtures, **arguments)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # raised below
                    failed.append(_named(error, row))
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(named)} rows failed", failed)
            if len(skipped) == len(named):
                raise skipped[0]

        signature = inspect.signature(test)
        kept = [given for name, given in signature.parameters.items() if name not in parameters]
        run_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run_all

    return decorate


def _arguments(parameters: Sequence[str], row: object) -> dict[str, object]:
    """The arguments that a row stands for; a row of one parameter is its value."""
    if isinstance(row, ParameterSet):
        assert not row.marks, "a row has no marks of its own"
        return dict(zip(parameters, row.values, strict=True))
    if len(parameters) == 1:
        return {parameters[0]: row}
    assert isinstance(row, tuple | list), row
    return dict(zip(parameters, row, strict=True))


def _named(error: BaseException, row: object) -> Exception:
    """The error with a note that says which row it belongs to."""
    text = repr(row)
    error.add_note(f"in the row {text if len(text) < 2000 else text[:2000] + '...'}")
    if isinstance(error, Exception):
        return error
    failed = AssertionError(str(error))
    failed.__notes__ = error.__notes__
    return failed.with_traceback(error.__traceback__)
