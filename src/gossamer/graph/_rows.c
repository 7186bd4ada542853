/* The links of many pages by columns: the twin of `code` in part_table.py, and of `joined_in_python` in
 * columns.py, which do the same where this was not built.
 *
 * An edge is told by its address, and looked at when it first comes. Of each field there is one
 * dictionary; before it is asked, the value of the edge before is compared, by its address too: kind
 * and place seldom change from link to link.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define API 2
#define FIELDS 7
#define EDGE_LENGTH 8

/* Of an edge: target, text, rel, place, kind, line, fault. Its key is no column. */
static const int field_at[FIELDS] = {0, 2, 3, 4, 5, 6, 7};

/* Which number has which edge: open addressing, at most half full. */
typedef struct {
    PyObject **edges;
    int32_t *numbers;
    size_t mask;
} Seen;

typedef struct {
    PyObject *numbers; /* a dict: value -> number */
    PyObject *values;  /* a list */
    PyObject *last;    /* borrowed: the edges hold it */
    int32_t last_number;
    int32_t *codes; /* of each edge, by its number */
} Column;

static size_t place_of(const Seen *seen, PyObject *edge) {
    /* Objects lie 16 bytes apart; Fibonacci hashing spreads what is left. */
    uint64_t spread = ((uint64_t)(uintptr_t)edge >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(spread >> 20) & seen->mask;
    while (seen->edges[at] != NULL && seen->edges[at] != edge)
        at = (at + 1) & seen->mask;
    return at;
}

static int is_edge(PyObject *edge) {
    if (PyTuple_Check(edge) && PyTuple_GET_SIZE(edge) == EDGE_LENGTH)
        return 1;
    PyErr_SetString(PyExc_TypeError, "an edge is a tuple of eight");
    return 0;
}

/* The number of a value, a new one if it is new; -1 when that failed. */
static int32_t number_of(Column *column, PyObject *value) {
    if (value == column->last)
        return column->last_number;
    PyObject *known = PyDict_GetItemWithError(column->numbers, value);
    int32_t number;
    if (known != NULL) {
        number = (int32_t)PyLong_AsLong(known);
    } else {
        if (PyErr_Occurred())
            return -1;
        number = (int32_t)PyList_GET_SIZE(column->values);
        PyObject *boxed = PyLong_FromLong(number);
        if (boxed == NULL)
            return -1;
        int failed = PyDict_SetItem(column->numbers, value, boxed) < 0 ||
                     PyList_Append(column->values, value) < 0;
        Py_DECREF(boxed);
        if (failed)
            return -1;
    }
    column->last = value;
    column->last_number = number;
    return number;
}

static int look_at(Column *columns, PyObject *edge, int32_t number) {
    for (int field = 0; field < FIELDS; field++) {
        int32_t found = number_of(&columns[field], PyTuple_GET_ITEM(edge, field_at[field]));
        if (found < 0)
            return -1;
        columns[field].codes[number] = found;
    }
    return 0;
}

/* The number of each row's edge; what the edges hold is put into the columns. How many there are. */
static int32_t fill_columns(PyObject *edges, Seen *seen, int32_t *forms, Column *columns) {
    int32_t count = 0;
    /* Equality of values may run code of theirs, so the list is looked at anew for each. */
    for (Py_ssize_t row = 0; row < PyList_GET_SIZE(edges); row++) {
        PyObject *edge = PyList_GET_ITEM(edges, row);
        size_t at = place_of(seen, edge);
        if (seen->edges[at] == NULL) {
            if (!is_edge(edge) || look_at(columns, edge, count) < 0)
                return -1;
            seen->edges[at] = edge;
            seen->numbers[at] = count++;
        }
        forms[row] = seen->numbers[at];
    }
    return count;
}

static PyObject *column_of(const Column *column, const int32_t *forms, Py_ssize_t rows) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, rows * (Py_ssize_t)sizeof(int32_t));
    if (bytes == NULL)
        return NULL;
    int32_t *codes = (int32_t *)PyBytes_AS_STRING(bytes);
    for (Py_ssize_t row = 0; row < rows; row++)
        codes[row] = column->codes[forms[row]];
    return Py_BuildValue("NO", bytes, column->values);
}

static PyObject *all_columns(const Column *columns, const int32_t *forms, Py_ssize_t rows) {
    PyObject *answer = PyList_New(FIELDS);
    for (int field = 0; answer != NULL && field < FIELDS; field++) {
        PyObject *one = column_of(&columns[field], forms, rows);
        if (one == NULL)
            Py_CLEAR(answer);
        else
            PyList_SET_ITEM(answer, field, one);
    }
    return answer;
}

static int begin(Column *columns, size_t rows) {
    for (int field = 0; field < FIELDS; field++) {
        columns[field].numbers = PyDict_New();
        columns[field].values = PyList_New(0);
        columns[field].codes = PyMem_Calloc(rows, sizeof(int32_t));
        if (columns[field].numbers == NULL || columns[field].values == NULL)
            return -1;
        if (columns[field].codes == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static void end(Column *columns) {
    for (int field = 0; field < FIELDS; field++) {
        Py_XDECREF(columns[field].numbers);
        Py_XDECREF(columns[field].values);
        PyMem_Free(columns[field].codes);
    }
}

static PyObject *code(PyObject *module, PyObject *given) {
    (void)module;
    if (!PyList_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "edges come in a list");
        return NULL;
    }
    PyObject *edges = PyList_GetSlice(given, 0, PY_SSIZE_T_MAX); /* nobody else changes this one */
    if (edges == NULL)
        return NULL;
    Py_ssize_t rows = PyList_GET_SIZE(edges);
    size_t size = 16;
    while (size < 2 * (size_t)rows)
        size *= 2;
    Column columns[FIELDS] = {{0}};
    Seen seen = {PyMem_Calloc(size, sizeof(PyObject *)), PyMem_Malloc(size * sizeof(int32_t)),
                 size - 1};
    int32_t *forms = PyMem_Malloc(size * sizeof(int32_t));
    PyObject *answer = NULL;
    if (rows > INT32_MAX / 2 || seen.edges == NULL || seen.numbers == NULL || forms == NULL)
        PyErr_NoMemory();
    else if (begin(columns, (size_t)rows + 1) == 0 &&
             fill_columns(edges, &seen, forms, columns) >= 0)
        answer = all_columns(columns, forms, rows);
    end(columns);
    PyMem_Free(seen.edges);
    PyMem_Free(seen.numbers);
    PyMem_Free(forms);
    Py_DECREF(edges);
    return answer;
}

/* How long a text is in UTF-8; half of a surrogate pair becomes a question mark. */
static Py_ssize_t size_of(PyObject *text) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_IS_ASCII(text))
        return length;
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = length;
    for (Py_ssize_t at = 0; at < length; at++) {
        const Py_UCS4 code = PyUnicode_READ(kind, data, at);
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        size += (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
    }
    return size;
}

static unsigned char *put_text(unsigned char *to, PyObject *text) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    if (PyUnicode_IS_ASCII(text)) {
        memcpy(to, data, (size_t)length);
        return to + length;
    }
    for (Py_ssize_t at = 0; at < length; at++) {
        const Py_UCS4 code = PyUnicode_READ(kind, data, at);
        if (code < 0x80)
            *to++ = (unsigned char)code;
        else if (code >= 0xD800 && code <= 0xDFFF)
            *to++ = '?';
        else {
            if (code < 0x800)
                *to++ = (unsigned char)(0xC0 | code >> 6);
            else {
                if (code < 0x10000)
                    *to++ = (unsigned char)(0xE0 | code >> 12);
                else {
                    *to++ = (unsigned char)(0xF0 | code >> 18);
                    *to++ = (unsigned char)(0x80 | (code >> 12 & 63));
                }
                *to++ = (unsigned char)(0x80 | (code >> 6 & 63));
            }
            *to++ = (unsigned char)(0x80 | (code & 63));
        }
    }
    return to;
}

/* Where each text ends, into an array of one more, which begins with 0; or 0 with an error set. */
static int find_ends(PyObject *texts, int32_t *ends) {
    Py_ssize_t end = 0;
    *ends++ = 0;
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(texts); at++) {
        PyObject *text = PyTuple_GET_ITEM(texts, at);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "texts");
            return 0;
        }
        if (PyUnicode_READY(text) < 0)
            return 0;
        end += size_of(text);
        if (end > INT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "2 GB of texts in a column");
            return 0;
        }
        *ends++ = (int32_t)end;
    }
    return 1;
}

static PyObject *joined(PyObject *module, PyObject *given) {
    (void)module;
    PyObject *texts = PySequence_Tuple(given), *ends = NULL, *data = NULL;
    if (texts == NULL)
        return NULL;
    const Py_ssize_t count = PyTuple_GET_SIZE(texts);
    ends = PyBytes_FromStringAndSize(NULL, (count + 1) * (Py_ssize_t)sizeof(int32_t));
    if (ends != NULL && find_ends(texts, (int32_t *)PyBytes_AS_STRING(ends)))
        data = PyBytes_FromStringAndSize(NULL, ((int32_t *)PyBytes_AS_STRING(ends))[count]);
    if (data != NULL) {
        unsigned char *to = (unsigned char *)PyBytes_AS_STRING(data);
        for (Py_ssize_t at = 0; at < count; at++)
            to = put_text(to, PyTuple_GET_ITEM(texts, at));
    }
    Py_DECREF(texts);
    PyObject *answer = data == NULL ? NULL : PyTuple_Pack(2, ends, data);
    Py_XDECREF(ends);
    Py_XDECREF(data);
    return answer;
}

static PyMethodDef functions[] = {
    {"joined", joined, METH_O, "Texts one after another, as `columns.joined_in_python` has them."},
    {"code", code, METH_O, "The columns of some edges, as `part_table.code` has them."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "API", API); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.graph._rows",
    .m_doc = "The links of many pages by columns.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__rows(void) { return PyModuleDef_Init(&definition); }
