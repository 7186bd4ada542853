/* The language of the common words of a text, as `spoken_in_python` and `said_in_python` in
 * parse/language/common_words.py, where the rule is explained.
 *
 * A sample is read once, and no object is made of a word: its characters are hashed as they come,
 * and most words end there, because no common word has that hash (`language_count.h`). The common
 * words are in a capsule (`language_known.h`) that the Python side makes once and passes to each call.
 */

#include "module.h"
#include "language_count.h"

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

static PyMethodDef functions[] = {
    {"known_of", known_of, METH_O,
     "What `spoken` is to know, of a dict: each common word, and a bit for each language."},
    {"spoken", AS_FUNCTION(spoken), METH_FASTCALL,
     "The number of the language that a sample speaks, as `spoken_in_python` has it, or -1."},
    {"said", said, METH_VARARGS, "What `said_in_python` says of a text."},
    {NULL, NULL, 0, NULL},
};

int add_language(PyObject *module) { return PyModule_AddFunctions(module, functions); }
