"""No page harms a part in C, and the bench that says so would notice one that does."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from bench.fuzz_native import TARGETS, compile_apart, pages, sanitized
from bench.mutated import MOST_BYTES, MUTATIONS, mutate

from gossamer.native.extensions import EXTENSIONS, PAGE, look
from support.need import need_linux, need_program
from support.rows import each_row

ROOT = Path(__file__).parents[2]
SECONDS = 20 / len(EXTENSIONS)
A_NAME = PAGE

# An extension that calls itself `_page`, takes what it is given, and does something to a page.
A_MODULE = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *scan(PyObject *module, PyObject *given, PyObject *named) {
    PyObject *page = PyTuple_GET_ITEM(given, 0);
    Py_ssize_t length = PyBytes_Check(page) ? PyBytes_GET_SIZE(page) : 0;
    volatile const char *bytes =
        PyBytes_Check(page) ? PyBytes_AS_STRING(page) : PyUnicode_AsUTF8AndSize(page, &length);
    volatile int size = (int)length;
    (void)module; (void)named; (void)size;
    if (bytes == NULL)
        return NULL;
    %s
}
static PyMethodDef functions[] = {
    {"scan", (PyCFunction)(void (*)(void))scan, METH_VARARGS | METH_KEYWORDS, ""},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_page", "", 0, functions, NULL,
                                        NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__page(void) { return PyModule_Create(&definition); }
"""

WELL = "return PyLong_FromLong(bytes[size / 2]);"
LEAKY = "PyObject *made = PyList_New(3); Py_XINCREF(made); return made;"
FAULTS = {
    "reads behind the end": ("return PyLong_FromLong(bytes[size + 1]);", "heap-buffer-overflow"),
    "counts too far": ("size += 2147483647 - 1; size += 2; Py_RETURN_NONE;", "signed integer"),
    "trusts in memory": (
        "PyObject *made = PyList_New(size); Py_SET_SIZE(made, 0); return made;",
        "null pointer",
    ),
    "gives nothing and says nothing": ("return NULL;", "SystemError"),
    "raises what nobody expects": (
        'PyErr_SetString(PyExc_ValueError, "so"); return NULL;',
        "ValueError: so",
    ),
}


def fuzzed(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A second of mutated pages for an extension of this code."""
    need_linux("the sanitizers come first by LD_PRELOAD")
    need_program("gcc", "build-essential")
    source = folder / "_page.c"
    source.write_text(A_MODULE % code, encoding="utf-8")
    given = ["--child", str(compile_apart([source], folder)), "--only", A_NAME, "--seconds", "1"]
    command = [sys.executable, "-m", "bench.fuzz_native", *given, "--seed", "1"]
    return subprocess.run(
        command, env=sanitized(), cwd=ROOT, capture_output=True, text=True, check=False
    )


def growth(library: Path, name: str) -> float:
    """What a call holds when it is over, in bytes. Apart: a part in C may have but one state."""
    given = ["--child", str(library), "--only", name, "--growth"]
    command = [sys.executable, "-m", "bench.fuzz_native", *given]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return float(ended.stdout)


def test_every_extension_is_fuzzed() -> None:
    assert EXTENSIONS.keys() <= TARGETS.keys()


def test_the_same_seed_makes_the_same_pages() -> None:
    seeds = pages()[:50]
    first, again = ([mutate(random.Random(n), seeds) for n in range(99)] for _ in range(2))

    assert first == again
    assert len(set(first)) > 90
    assert max(map(len, first)) <= MOST_BYTES


@each_row("mutation", MUTATIONS)
@each_row("body", [b"", b"<", b"<p>all of it</p>"])
def test_every_mutation_takes_every_page(mutation: object, body: bytes) -> None:
    assert callable(mutation)
    for seed in range(20):
        assert isinstance(mutation(random.Random(seed), body, b""), bytes)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTENSIONS)
def test_no_mutated_page_does_harm(name: str) -> None:
    need_linux("the sanitizers come first by LD_PRELOAD")
    need_program("gcc", "build-essential")
    given = ["--only", name, "--seconds", str(SECONDS), "--seed", "1"]

    ended = subprocess.run(
        [sys.executable, "-m", "bench.fuzz_native", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_an_extension_without_fault_passes(tmp_path: Path) -> None:
    ended = fuzzed(WELL, tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 10


@pytest.mark.slow
@pytest.mark.parametrize(("code", "says"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(code: str, says: str, tmp_path: Path) -> None:
    ended = fuzzed(code, tmp_path)

    assert ended.returncode != 0
    assert says in ended.stderr
    assert (tmp_path / "body").exists()


@pytest.mark.parametrize("name", EXTENSIONS)
def test_nothing_is_held_when_a_call_is_over(name: str) -> None:
    """Also where memory ran out in the middle."""
    _, module = look(name)
    if module is None or module.__file__ is None:
        pytest.skip(f"{name} is not built; `make native` builds it")

    assert growth(Path(module.__file__), name) < 8  # bytes a call; an object has 16 at the least


@pytest.mark.slow
def test_what_a_call_forgets_to_let_go_is_noticed(tmp_path: Path) -> None:
    need_program("gcc", "build-essential")
    source = tmp_path / "_page.c"
    source.write_text(A_MODULE % LEAKY, encoding="utf-8")

    assert growth(compile_apart([source], tmp_path, ("-shared", "-fPIC")), A_NAME) > 50
