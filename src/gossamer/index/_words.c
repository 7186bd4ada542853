/* The words of a text in normal form, in C: the twin of words.py, where every rule is explained.
 *
 * What a character of ASCII becomes stands in a table of 256 bytes; runs of others are looked up in
 * a mapping of Python's, which finds out what they become when they are first met, and whose bytes
 * go through the table, too. Three passes over a page and its strings are one here; where the text
 * is also to be packed, the pass that makes UTF-8 of it is the same one.
 *
 * isal's compressor leaves the upper halves of the processor's wide registers in use, and until they
 * are cleared, narrow instructions wait for them: the next page is parsed in 197 microseconds where
 * it takes 182. So it is called from here, and the registers cleared behind it.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define API 4
#define TABLE_BYTES 256
#define BLOCK 16 /* characters of ASCII that are looked at together */
#define RECENT 32
#define GAP '|'
#define SEPARATOR 0x1F
#define FEW_WORDS 400

#if defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

__attribute__((target("avx"))) static void zero_upper(void) { _mm256_zeroupper(); }

static void clear_wide_registers(void) {
    static int has_them = -1; /* asked once; a second thread would find the same */
    if (has_them < 0) {
        const unsigned int wanted = 1u << 27 | 1u << 28; /* XGETBV, AVX */
        unsigned int a, b, c = 0, d, kept = 0, unused;
        if (__get_cpuid(1, &a, &b, &c, &d) && (c & wanted) == wanted)
            __asm__("xgetbv" : "=a"(kept), "=d"(unused) : "c"(0));
        has_them = (kept & 6) == 6; /* the system keeps them when it changes processes */
    }
    if (has_them)
        zero_upper();
}
#else
static void clear_wide_registers(void) {}
#endif

/* What a run of one character became: a page has but a few of these, and has them again and again. */
typedef struct {
    Py_UCS4 code; /* 0 where nothing is kept: it is ASCII */
    PyObject *became;
} Recent;

typedef struct {
    unsigned char *bytes;
    size_t used, room;
    int is_usual; /* the table */
    Recent recent[RECENT];
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

/* What a run becomes; a new reference, NULL with an error set. */
static PyObject *ask(PyObject *runs, PyObject *text, Py_ssize_t start, Py_ssize_t end) {
    PyObject *run = PyUnicode_Substring(text, start, end);
    if (run == NULL)
        return NULL;
    PyObject *became = PyObject_GetItem(runs, run);
    Py_DECREF(run);
    if (became != NULL && !PyBytes_Check(became)) {
        PyErr_SetString(PyExc_TypeError, "a run becomes bytes");
        Py_CLEAR(became);
    }
    return became;
}

/* The same for a run of one character: looked up 35 times a page, asked for four. */
static PyObject *ask_for_one(Output *out, PyObject *runs, PyObject *text, Py_ssize_t at) {
    const Py_UCS4 code = PyUnicode_READ_CHAR(text, at);
    Recent *recent = &out->recent[code % RECENT];
    if (recent->code != code) {
        PyObject *became = ask(runs, text, at, at + 1);
        if (became == NULL)
            return NULL;
        Py_XDECREF(recent->became);
        recent->code = code;
        recent->became = became;
    }
    Py_INCREF(recent->became);
    return recent->became;
}

/* A run of characters outside ASCII. There is room for the rest of the text afterwards. */
static int put_run(Output *out, PyObject *runs, PyObject *text, Py_ssize_t start, Py_ssize_t end,
                   const unsigned char *table) {
    PyObject *became =
        end - start == 1 ? ask_for_one(out, runs, text, start) : ask(runs, text, start, end);
    if (became == NULL)
        return -1;
    const unsigned char *from = (const unsigned char *)PyBytes_AS_STRING(became);
    const size_t size = (size_t)PyBytes_GET_SIZE(became);
    const int is_put = make_room(out, size + (size_t)(PyUnicode_GET_LENGTH(text) - end));
    for (size_t at = 0; is_put == 0 && at < size; at++)
        out->bytes[out->used++] = table[from[at]];
    Py_DECREF(became);
    return is_put;
}

/* What ASCII becomes by the tables that there are: letters in lower case, digits, and spaces. They
 * differ in what a separator of units becomes. Made when the module is. */
static unsigned char usual[128];

static int is_usual(const unsigned char *table) {
    return memcmp(table, usual, SEPARATOR) == 0 && table[SEPARATOR] < 128 &&
           memcmp(table + SEPARATOR + 1, usual + SEPARATOR + 1, 127 - SEPARATOR) == 0;
}

static void make_usual(void) {
    for (int code = 0; code < 128; code++) {
        const int lower = code >= 'A' && code <= 'Z' ? code | 32 : code;
        const int is_kept = (lower >= 'a' && lower <= 'z') || (code >= '0' && code <= '9');
        usual[code] = (unsigned char)(is_kept ? lower : ' ');
    }
}

/* A block of ASCII by the table. By a usual one all of it is had at once. */
static inline void spell(unsigned char *to, const unsigned char *from, const unsigned char *table,
                         int by_usual) {
#ifdef __SSE2__
    if (by_usual) {
        const __m128i given = _mm_loadu_si128((const __m128i *)from);
        const __m128i lower = _mm_or_si128(given, _mm_set1_epi8(32));
        const __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)),
                                              _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
        const __m128i digits = _mm_and_si128(_mm_cmpgt_epi8(given, _mm_set1_epi8('0' - 1)),
                                             _mm_cmplt_epi8(given, _mm_set1_epi8('9' + 1)));
        const __m128i parts = _mm_cmpeq_epi8(given, _mm_set1_epi8(SEPARATOR));
        const __m128i kept = _mm_or_si128(letters, digits); /* a digit has that bit, too */
        const __m128i between = _mm_or_si128(
            _mm_and_si128(parts, _mm_set1_epi8((char)table[SEPARATOR])),
            _mm_andnot_si128(parts, _mm_set1_epi8(' ')));
        _mm_storeu_si128((__m128i *)to, _mm_or_si128(_mm_and_si128(kept, lower),
                                                     _mm_andnot_si128(kept, between)));
        return;
    }
#else
    (void)by_usual;
#endif
    for (int n = 0; n < BLOCK; n++)
        to[n] = table[from[n]];
}

/* A text that is all ASCII. */
static PyObject *plain(PyObject *text, const unsigned char *table) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    PyObject *answer = PyUnicode_New(length, 127);
    if (answer == NULL || length == 0)
        return answer;
    const Py_UCS1 *from = PyUnicode_1BYTE_DATA(text);
    Py_UCS1 *to = PyUnicode_1BYTE_DATA(answer);
    const int by_usual = is_usual(table);
    Py_ssize_t at = 0;
    for (; length - at >= BLOCK; at += BLOCK)
        spell(to + at, from + at, table, by_usual);
    for (; at < length; at++)
        to[at] = table[from[at]];
    return answer;
}

/* A character outside ASCII in UTF-8. Half of a surrogate pair is no character. */
static unsigned char *put_utf8(unsigned char *to, Py_UCS4 code) {
    if (code >= 0xD800 && code <= 0xDFFF)
        *to++ = '?';
    else if (code < 0x800) {
        *to++ = (unsigned char)(0xC0 | code >> 6);
        *to++ = (unsigned char)(0x80 | (code & 63));
    } else {
        if (code < 0x10000)
            *to++ = (unsigned char)(0xE0 | code >> 12);
        else {
            *to++ = (unsigned char)(0xF0 | code >> 18);
            *to++ = (unsigned char)(0x80 | (code >> 12 & 63));
        }
        *to++ = (unsigned char)(0x80 | (code >> 6 & 63));
        *to++ = (unsigned char)(0x80 | (code & 63));
    }
    return to;
}

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

#include "fold.h"

/* Characters of one width: blocks of ASCII, what is left of them, and then a run of others. `utf8`
 * is NULL where nobody wants it. */
#define PUT_ALL(TYPE, NARROW)                                                                      \
    do {                                                                                           \
        const TYPE *from = (const TYPE *)data;                                                     \
        while (at < length) {                                                                      \
            unsigned char block[BLOCK];                                                            \
            for (; length - at >= BLOCK && NARROW(block, from + at); at += BLOCK) {                \
                if (utf8 != NULL) {                                                                \
                    memcpy(utf8, block, BLOCK);                                                    \
                    utf8 += BLOCK;                                                                 \
                }                                                                                  \
                spell(out->bytes + out->used, block, table, out->is_usual);                        \
                out->used += BLOCK;                                                                \
            }                                                                                      \
            for (; at < length && from[at] < 128; at++) {                                          \
                if (utf8 != NULL)                                                                  \
                    *utf8++ = (unsigned char)from[at];                                             \
                out->bytes[out->used++] = table[from[at]];                                         \
            }                                                                                      \
            Py_ssize_t start = at;                                                                 \
            for (; at < length && from[at] >= 128; at++)                                           \
                if (utf8 != NULL)                                                                  \
                    utf8 = put_utf8(utf8, from[at]);                                               \
            if (at > start && put_run(out, runs, text, start, at, table) < 0)                      \
                return -1;                                                                         \
        }                                                                                          \
    } while (0)

/* The words of a text into `out`, and the text itself to `*end`, which is left behind its last byte;
 * unless `end` is NULL. */
static int put_all(Output *out, PyObject *text, PyObject *runs, const unsigned char *table,
                   unsigned char **end) {
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t at = 0, length = PyUnicode_GET_LENGTH(text);
    unsigned char *utf8 = end == NULL ? NULL : *end;
    if (make_room(out, (size_t)length + 64) < 0)
        return -1;
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        PUT_ALL(Py_UCS1, narrow_1);
        break;
    case PyUnicode_2BYTE_KIND:
        PUT_ALL(Py_UCS2, narrow_2);
        break;
    default:
        PUT_ALL(Py_UCS4, narrow_4);
    }
    if (end != NULL)
        *end = utf8;
    return 0;
}

/* The table, if a call was given what it wants; NULL with an error set. */
static const unsigned char *table_of(PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted) {
    if (count != wanted || !PyUnicode_Check(given[0]) || !PyBytes_Check(given[1]) ||
        PyBytes_GET_SIZE(given[1]) != TABLE_BYTES) {
        PyErr_SetString(PyExc_TypeError, "a text, a table of 256 bytes and a mapping of runs");
        return NULL;
    }
    const unsigned char *table = (const unsigned char *)PyBytes_AS_STRING(given[1]);
    if (PyUnicode_READY(given[0]) < 0)
        return NULL;
    for (int code = is_usual(table) ? 128 : 0; code < 128; code++)
        if (table[code] >= 128) { /* `plain` writes no others into a text of ASCII */
            PyErr_SetString(PyExc_ValueError, "ASCII becomes ASCII");
            return NULL;
        }
    return table;
}

/* The words of a text that is not all ASCII; `end` as `put_all` has it. */
static PyObject *words_of(PyObject *const *given, const unsigned char *table, unsigned char **end) {
    Output out;
    memset(&out, 0, sizeof out);
    out.is_usual = is_usual(table);
    PyObject *words = NULL;
    if (put_all(&out, given[0], given[2], table, end) == 0)
        words = PyUnicode_DecodeUTF8((const char *)out.bytes, (Py_ssize_t)out.used, "strict");
    PyMem_Free(out.bytes);
    for (int n = 0; n < RECENT; n++)
        Py_XDECREF(out.recent[n].became);
    return words;
}

static PyObject *spelled(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    const unsigned char *table = table_of(given, count, 3);
    if (table == NULL)
        return NULL;
    return PyUnicode_IS_ASCII(given[0]) ? plain(given[0], table) : words_of(given, table, NULL);
}

/* The words, and in `*bytes` the text in UTF-8: whoever calls lets go of both, also after a fault. */
static PyObject *words_and_utf8(PyObject *const *given, const unsigned char *table,
                                PyObject **bytes) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(given[0]);
    if (PyUnicode_IS_ASCII(given[0])) {
        *bytes = PyBytes_FromStringAndSize((const char *)PyUnicode_1BYTE_DATA(given[0]), length);
        return *bytes == NULL ? NULL : plain(given[0], table);
    }
    Py_ssize_t most = PyUnicode_KIND(given[0]) == PyUnicode_1BYTE_KIND   ? 2
                      : PyUnicode_KIND(given[0]) == PyUnicode_2BYTE_KIND ? 3
                                                                         : 4;
    if (length > PY_SSIZE_T_MAX / 8)
        return PyErr_NoMemory();
    *bytes = PyBytes_FromStringAndSize(NULL, most * length);
    if (*bytes == NULL)
        return NULL;
    unsigned char *start = (unsigned char *)PyBytes_AS_STRING(*bytes), *end = start;
    PyObject *words = words_of(given, table, &end);
    if (words != NULL && _PyBytes_Resize(bytes, end - start) < 0)
        Py_CLEAR(words);
    return words;
}

static PyObject *prepared(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    const unsigned char *table = table_of(given, count, 5);
    if (table == NULL)
        return NULL;
    PyObject *bytes = NULL, *packed = NULL, *words = words_and_utf8(given, table, &bytes);
    if (words != NULL) {
        packed = PyObject_CallFunctionObjArgs(given[3], bytes, given[4], NULL);
        clear_wide_registers();
    }
    Py_XDECREF(bytes);
    PyObject *answer = packed == NULL ? NULL : PyTuple_Pack(2, words, packed);
    Py_XDECREF(words);
    Py_XDECREF(packed);
    return answer;
}

typedef struct {
    const unsigned char *start;
    size_t size;
} Word;

/* The order of bytes in UTF-8 is that of characters. */
static int compared(const void *left, const void *right) {
    const Word *one = left, *other = right;
    const size_t both = one->size < other->size ? one->size : other->size;
    const int found = memcmp(one->start, other->start, both);
    return found != 0 ? found : (one->size > other->size) - (one->size < other->size);
}

/* The words between spaces, in order; how many they are, at most one for two bytes of the text. */
static size_t words_between(const unsigned char *text, size_t size, Word *words) {
    size_t count = 0, at = 0;
    while (at < size) {
        while (at < size && text[at] == ' ')
            at++;
        const size_t start = at;
        while (at < size && text[at] != ' ')
            at++;
        if (at > start)
            words[count++] = (Word){text + start, at - start};
    }
    qsort(words, count, sizeof(Word), compared);
    return count;
}

/* Words in order as one text, each once, with spaces between; without a GAP. */
static PyObject *joined(const Word *words, size_t count, size_t size) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size + 1);
    if (bytes == NULL)
        return NULL;
    char *start = PyBytes_AS_STRING(bytes), *to = start;
    for (size_t at = 0; at < count; at++) {
        const int is_again = at > 0 && compared(&words[at - 1], &words[at]) == 0;
        if (is_again || (words[at].size == 1 && words[at].start[0] == GAP))
            continue;
        if (to > start)
            *to++ = ' ';
        memcpy(to, words[at].start, words[at].size);
        to += words[at].size;
    }
    _PyBytes_Resize(&bytes, to - start);
    return bytes;
}

static PyObject *distinct(PyObject *module, PyObject *text) {
    (void)module;
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (utf8 == NULL)
        return NULL;
    Word few[FEW_WORDS], *words = few;
    if (size / 2 + 1 > FEW_WORDS) {
        words = PyMem_Malloc(((size_t)size / 2 + 1) * sizeof(Word));
        if (words == NULL)
            return PyErr_NoMemory();
    }
    const size_t count = words_between((const unsigned char *)utf8, (size_t)size, words);
    PyObject *answer = joined(words, count, (size_t)size);
    if (words != few)
        PyMem_Free(words);
    return answer;
}

static PyMethodDef functions[] = {
    {"distinct", distinct, METH_O,
     "The words of a text in normal form, as `words.distinct_in_python` has them."},
    {"spelled", (PyCFunction)(void (*)(void))spelled, METH_FASTCALL,
     "A text by a table and a mapping of runs, as `words.spelled_in_python` has it."},
    {"prepared", (PyCFunction)(void (*)(void))prepared, METH_FASTCALL,
     "The same, and what a function makes of the text in UTF-8 and of a last argument."},
    {"folded", (PyCFunction)(void (*)(void))folded, METH_FASTCALL,
     "A text by a table of characters; None where the table does not know one, or it is empty."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    make_usual();
    return PyModule_AddIntConstant(module, "API", API);
}

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
