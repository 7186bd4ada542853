/* Each character of a text by a table: as `fold_in_python` in search/snippets.py, which says what is
 * meant. Blocks of ASCII are narrowed and looked up together. */

#include "module.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK 16 /* characters */

/* A block of characters as bytes, if all of them are ASCII. */
#define NARROW_EACH(TYPE)                                                                          \
    TYPE any = 0;                                                                                  \
    for (int n = 0; n < BLOCK; n++)                                                                \
        any |= from[n];                                                                            \
    for (int n = 0; any < 128 && n < BLOCK; n++)                                                   \
        to[n] = (unsigned char)from[n];                                                            \
    return any < 128

static inline int narrow_1(unsigned char *to, const Py_UCS1 *from) {
    uint64_t halves[2];
    memcpy(halves, from, BLOCK);
    memcpy(to, from, BLOCK);
    return ((halves[0] | halves[1]) & UINT64_C(0x8080808080808080)) == 0;
}

static inline int narrow_2(unsigned char *to, const Py_UCS2 *from) {
#ifdef __SSE2__
    const __m128i left = _mm_loadu_si128((const __m128i *)from);
    const __m128i right = _mm_loadu_si128((const __m128i *)(from + BLOCK / 2));
    const __m128i above = _mm_and_si128(_mm_or_si128(left, right), _mm_set1_epi16(~127));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(above, _mm_setzero_si128())) != 0xFFFF)
        return 0;
    _mm_storeu_si128((__m128i *)to, _mm_packus_epi16(left, right));
    return 1;
#else
    NARROW_EACH(Py_UCS2);
#endif
}

static inline int narrow_4(unsigned char *to, const Py_UCS4 *from) { NARROW_EACH(Py_UCS4); }

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
            for (int k = 0; k < BLOCK; k++) \
                low[i + k] = table[low[i + k]]; \
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
    const int has_ascii = ascii_of(f, table);
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

static PyMethodDef functions[] = {
    {"folded", AS_FUNCTION(folded), METH_FASTCALL,
     "folded(text, table): a text by a table of characters; None where the table does not know one, "
     "or the text is empty."},
    {NULL, NULL, 0, NULL},
};

int add_fold(PyObject *module) { return PyModule_AddFunctions(module, functions); }
