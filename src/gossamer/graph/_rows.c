/* The links of many pages by columns: the twin of gathered.py (rows_gathered.h), and of
 * `joined_in_python` in columns.py, which do the same where this was not built.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "rows_gathered.h"

#define API 3

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
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &gathered_spec, NULL);
    int failed = type == NULL || PyModule_AddObjectRef(module, "Gathered", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : PyModule_AddIntConstant(module, "API", API);
}

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
