/* Which language the commonest words of a text speak, in C: the twin of `spoken_in_python` in
 * words.py, where the rule is explained, of `said_in_python` there, and of `prose_in_python` in
 * language.py.
 *
 * A sample is walked once, and no object is made of a word: its characters are hashed as they come,
 * and most words end there, for no common one has that hash (`language_count.h`). The common words lie
 * in a capsule (`language_known.h`) that the Python side makes once and hands over with each call, so
 * there is no state here.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "language_count.h"

#define API 3

static PyObject *known_of(PyObject *module, PyObject *given) {
    (void)module;
    if (!PyDict_Check(given) || PyDict_GET_SIZE(given) > MOST_WORDS) {
        PyErr_SetString(PyExc_TypeError, "a dict of words and the bits of their languages");
        return NULL;
    }
    size_t count = (size_t)PyDict_GET_SIZE(given), room = 16;
    while (room < 2 * count)
        room *= 2;
    Known *known = PyMem_Calloc(1, sizeof(Known));
    if (known == NULL)
        return PyErr_NoMemory();
    known->mask = room - 1;
    known->slots = PyMem_Calloc(room, sizeof(Slot));
    known->words = PyMem_Calloc(count + 1, sizeof(Word));
    known->count = count;
    known->keys = PyMem_Calloc(room, sizeof(uint64_t));
    known->numbers = PyMem_Calloc(room, sizeof(uint16_t));
    PyObject *capsule = NULL;
    if (known->slots == NULL || known->words == NULL || known->keys == NULL ||
        known->numbers == NULL)
        PyErr_NoMemory();
    else {
        PyObject *word, *languages;
        Py_ssize_t at = 0;
        size_t number = 0;
        int is_well = 1;
        while (is_well && PyDict_Next(given, &at, &word, &languages))
            is_well = enter(known, word, languages, ++number) == 0;
        if (is_well)
            capsule = PyCapsule_New(known, NAME, let_go);
    }
    if (capsule == NULL)
        free_known(known);
    return capsule;
}

static PyObject *spoken(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 4 || !PyUnicode_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "a sample, what is known, a share and a number of hits");
        return NULL;
    }
    const Known *known = PyCapsule_GetPointer(given[1], NAME);
    if (known == NULL || PyUnicode_READY(given[0]) < 0)
        return NULL;
    double least_share = PyFloat_AsDouble(given[2]);
    Py_ssize_t fewest_hits = PyLong_AsSsize_t(given[3]);
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromLong(
        speaker(known, given[0], 0, PyUnicode_GET_LENGTH(given[0]), least_share, fewest_hits));
}

/* How many bytes some characters of a text have in UTF-8; half of a surrogate pair is a `?`. */
static Py_ssize_t utf8_size(PyObject *text, Py_ssize_t at, Py_ssize_t end) {
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = end - at;
    for (; !PyUnicode_IS_ASCII(text) && at < end; at++) {
        const Py_UCS4 code = PyUnicode_READ(kind, data, at);
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        size += (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
    }
    return size;
}

static PyObject *said(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *text, *capsule;
    Py_ssize_t number, fewest_hits, few, usual, many, most_bytes, least_chars;
    double least_share;
    if (!PyArg_ParseTuple(arguments, "UOndn(nnn)(nn):said", &text, &capsule, &number, &least_share,
                          &fewest_hits, &few, &usual, &many, &most_bytes, &least_chars) ||
        PyUnicode_READY(text) < 0)
        return NULL;
    const Known *known = PyCapsule_GetPointer(capsule, NAME);
    if (known == NULL)
        return NULL;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text), sizes[] = {usual, few, usual, many};
    for (int n = 0; n < 4; n++) {
        const Py_ssize_t size = sizes[n] < 0 ? 0 : sizes[n] < length ? sizes[n] : length;
        const Py_ssize_t start = (length - size) / 2;
        if (n == 0) {
            if (utf8_size(text, start, start + size) * least_chars >= size * most_bytes)
                Py_RETURN_NONE;
            continue;
        }
        if (speaker(known, text, start, size, least_share, fewest_hits) == number)
            Py_RETURN_TRUE;
    }
    Py_RETURN_FALSE;
}

static int has_others_than_ascii(PyObject *text, Py_ssize_t at, Py_ssize_t end) {
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    while (at < end && PyUnicode_READ(kind, data, at) < 128)
        at++;
    return at < end;
}

/* Lines of the first `most` characters that have more than `enough`, or more than `enough_of_others`
 * that are not all ASCII. Of shorter ones, which most are, no object is made. */
static PyObject *prose(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *text;
    Py_ssize_t most, enough, enough_of_others, at = 0;
    if (!PyArg_ParseTuple(arguments, "Unnn:prose", &text, &most, &enough, &enough_of_others) ||
        PyUnicode_READY(text) < 0)
        return NULL;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text), stop = most < length ? most : length;
    PyObject *lines = PyList_New(0);
    while (lines != NULL && at <= stop) {
        Py_ssize_t end = PyUnicode_FindChar(text, '\n', at, stop, 1);
        if (end < 0) /* -1: none is there; -2 only for what is no text */
            end = stop;
        const Py_ssize_t size = end - at;
        if (size > enough || (size > enough_of_others && has_others_than_ascii(text, at, end))) {
            PyObject *line = PyUnicode_Substring(text, at, end);
            if (line == NULL || PyList_Append(lines, line) < 0)
                Py_CLEAR(lines);
            Py_XDECREF(line);
        }
        at = end + 1;
    }
    return lines;
}

static PyMethodDef functions[] = {
    {"known_of", known_of, METH_O,
     "What `spoken` is to know, of a dict: each common word, and a bit for each language."},
    {"spoken", (PyCFunction)(void (*)(void))spoken, METH_FASTCALL,
     "The number of the language that a sample speaks, as `words.spoken_in_python` has it, or -1."},
    {"said", said, METH_VARARGS, "What `words.said_in_python` says of a text."},
    {"prose", prose, METH_VARARGS, "Long lines, as `language.prose_in_python` has them."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "API", API); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.parse._language",
    .m_doc = "The languages of common words.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__language(void) { return PyModuleDef_Init(&definition); }
