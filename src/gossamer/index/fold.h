/* Each character of a text by a table, in C: the twin of `fold_in_python` in search/snippets.py.
 * A part of `_words.c`, whose blocks it takes. */

#ifndef GOSSAMER_FOLD_H
#define GOSSAMER_FOLD_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* What each character becomes, 0 where that is not known; what lies beyond is as the last. */
typedef struct {
    const uint32_t *becomes;
    uint32_t last;
} Folding;

static uint32_t folded_one(const Folding *f, Py_UCS4 code) {
    return f->becomes[code < f->last ? code : f->last];
}

/* What ASCII becomes, as bytes; false where that is not known, or no ASCII. */
static int ascii_of(const Folding *f, unsigned char *table) {
    for (uint32_t code = 0; code < 128; code++) {
        const uint32_t one = folded_one(f, code);
        if (one == 0 || one >= 128)
            return 0;
        table[code] = (unsigned char)one;
    }
    return 1;
}

/* The low bytes of all characters that it becomes, and the bits of all; 0 where one is not known.
 * Blocks of ASCII are had at once. */
#define LOW_BYTES(type, narrow) \
    for (Py_ssize_t i = 0; i < length;) { \
        const type *from = (const type *)data + i; \
        const Py_ssize_t some = length - i < BLOCK ? length - i : BLOCK; \
        if (has_ascii && some == BLOCK && narrow(low + i, from)) { \
            spell(low + i, low + i, table, by_usual); \
            bits |= 1; \
        } else \
            for (Py_ssize_t k = 0; k < some; k++) { \
                const uint32_t one = folded_one(f, from[k]); \
                if (one == 0) \
                    return 0; \
                bits |= one; \
                low[i + k] = (unsigned char)one; \
            } \
        i += some; \
    }

static uint32_t low_bytes(const Folding *f, PyObject *text, unsigned char *low) {
    const void *data = PyUnicode_DATA(text);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    unsigned char table[128];
    const int has_ascii = ascii_of(f, table), by_usual = has_ascii && is_usual(table);
    uint32_t bits = 0;
    if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND)
        LOW_BYTES(Py_UCS1, narrow_1)
    else if (PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND)
        LOW_BYTES(Py_UCS2, narrow_2)
    else
        LOW_BYTES(Py_UCS4, narrow_4)
    return bits;
}

/* The same into a text that holds wider characters. */
static void write_wide(const Folding *f, PyObject *text, PyObject *answer) {
    const int kind = PyUnicode_KIND(text), its_kind = PyUnicode_KIND(answer);
    const void *data = PyUnicode_DATA(text);
    void *to = PyUnicode_DATA(answer);
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); i++)
        PyUnicode_WRITE(its_kind, to, i, folded_one(f, PyUnicode_READ(kind, data, i)));
}

static PyObject *folded_all(const Folding *f, PyObject *text) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    unsigned char *low = PyMem_Malloc((size_t)length + 1);
    if (low == NULL)
        return PyErr_NoMemory();
    const uint32_t bits = low_bytes(f, text, low);
    const int is_known = bits != 0 && bits <= 0x10FFFF;
    PyObject *answer = is_known ? PyUnicode_New(length, bits) : Py_NewRef(Py_None);
    if (answer != NULL && is_known) {
        if (bits <= 0xFF)
            memcpy(PyUnicode_DATA(answer), low, (size_t)length);
        else
            write_wide(f, text, answer);
    }
    PyMem_Free(low);
    return answer;
}

static PyObject *folded(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    Py_buffer table;
    if (count != 2 || !PyUnicode_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "folded(text, table)");
        return NULL;
    }
    if (PyObject_GetBuffer(given[1], &table, PyBUF_SIMPLE) < 0)
        return NULL;
    const Py_ssize_t codes = table.len / (Py_ssize_t)sizeof(uint32_t);
    PyObject *answer = NULL;
    if (codes < 1 || codes > 0x110000 || (uintptr_t)table.buf % sizeof(uint32_t))
        PyErr_SetString(PyExc_ValueError, "a table has a number of 32 bits for each character");
    else {
        const Folding f = {table.buf, (uint32_t)(codes - 1)};
        answer = folded_all(&f, given[0]);
    }
    PyBuffer_Release(&table);
    return answer;
}

#endif
