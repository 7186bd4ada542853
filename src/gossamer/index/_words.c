/* The words of a text in normal form, in C: the twin of words.py, where every rule is explained.
 *
 * What a character of ASCII becomes stands in a table of 256 bytes; runs of others are looked up in
 * a mapping of Python's, which finds out what they become when they are first met, and whose bytes
 * go through the table, too. Three passes over a page and its strings are one here.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#define API 1
#define TABLE_BYTES 256

typedef struct {
    unsigned char *bytes;
    size_t used, room;
} Output;

static int make_room(Output *out, size_t more) {
    if (more <= out->room - out->used)
        return 0;
    size_t room = out->room + out->room / 2 + more;
    unsigned char *bytes = PyMem_Realloc(out->bytes, room);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    out->bytes = bytes;
    out->room = room;
    return 0;
}

/* What a run of characters outside ASCII becomes. There is room for `left` bytes afterwards. */
static int put_run(Output *out, PyObject *runs, PyObject *run, const unsigned char *table,
                   size_t left) {
    if (run == NULL)
        return -1;
    PyObject *became = PyObject_GetItem(runs, run);
    Py_DECREF(run);
    if (became == NULL)
        return -1;
    int is_put = -1;
    if (!PyBytes_Check(became))
        PyErr_SetString(PyExc_TypeError, "a run becomes bytes");
    else {
        const unsigned char *from = (const unsigned char *)PyBytes_AS_STRING(became);
        size_t size = (size_t)PyBytes_GET_SIZE(became);
        is_put = make_room(out, size + left);
        for (size_t at = 0; is_put == 0 && at < size; at++)
            out->bytes[out->used++] = table[from[at]];
    }
    Py_DECREF(became);
    return is_put;
}

/* A text that is all ASCII, as most are. */
static PyObject *plain(PyObject *text, const unsigned char *table) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    PyObject *answer = PyUnicode_New(length, 127);
    if (answer == NULL || length == 0)
        return answer;
    const Py_UCS1 *from = PyUnicode_1BYTE_DATA(text);
    Py_UCS1 *to = PyUnicode_1BYTE_DATA(answer);
    for (Py_ssize_t at = 0; at < length; at++)
        to[at] = table[from[at]];
    return answer;
}

/* Characters of one width. Runs are short, and the rest is a step of the table for each. */
#define PUT_ALL(TYPE)                                                                              \
    do {                                                                                           \
        const TYPE *from = (const TYPE *)data;                                                     \
        while (at < length) {                                                                      \
            while (at < length && from[at] < 128)                                                  \
                out->bytes[out->used++] = table[from[at++]];                                       \
            Py_ssize_t start = at;                                                                 \
            while (at < length && from[at] >= 128)                                                 \
                at++;                                                                              \
            if (at > start && put_run(out, runs, PyUnicode_Substring(text, start, at), table,      \
                                      (size_t)(length - at)) < 0)                                  \
                return -1;                                                                         \
        }                                                                                          \
    } while (0)

static int put_all(Output *out, PyObject *text, PyObject *runs, const unsigned char *table) {
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t at = 0, length = PyUnicode_GET_LENGTH(text);
    if (make_room(out, (size_t)length + 64) < 0)
        return -1;
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        PUT_ALL(Py_UCS1);
        break;
    case PyUnicode_2BYTE_KIND:
        PUT_ALL(Py_UCS2);
        break;
    default:
        PUT_ALL(Py_UCS4);
    }
    return 0;
}

static PyObject *spelled(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 3 || !PyUnicode_Check(given[0]) || !PyBytes_Check(given[1]) ||
        PyBytes_GET_SIZE(given[1]) != TABLE_BYTES) {
        PyErr_SetString(PyExc_TypeError, "a text, a table of 256 bytes and a mapping of runs");
        return NULL;
    }
    const unsigned char *table = (const unsigned char *)PyBytes_AS_STRING(given[1]);
    if (PyUnicode_READY(given[0]) < 0)
        return NULL;
    for (int code = 0; code < 128; code++) /* `plain` writes no others into a text of ASCII */
        if (table[code] >= 128) {
            PyErr_SetString(PyExc_ValueError, "ASCII becomes ASCII");
            return NULL;
        }
    if (PyUnicode_IS_ASCII(given[0]))
        return plain(given[0], table);
    Output out = {NULL, 0, 0};
    PyObject *answer = NULL;
    if (put_all(&out, given[0], given[2], table) == 0)
        answer = PyUnicode_DecodeUTF8((const char *)out.bytes, (Py_ssize_t)out.used, "strict");
    PyMem_Free(out.bytes);
    return answer;
}

static PyMethodDef functions[] = {
    {"spelled", (PyCFunction)(void (*)(void))spelled, METH_FASTCALL,
     "A text by a table and a mapping of runs, as `words.spelled_in_python` has it."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "API", API); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.index._words",
    .m_doc = "Words in normal form.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__words(void) { return PyModuleDef_Init(&definition); }
