/* Which language the commonest words of a text speak, in C: the twin of `spoken_in_python` in
 * words.py, where the rule is explained, and of `prose_in_python` in language.py.
 *
 * A sample is walked once, and no object is made of a word: its characters are hashed as they come,
 * and most words end there, for no common one has that hash. The common words lie in a capsule that
 * the Python side makes once and hands over with each call, so there is no state here.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define API 2
#define NAME "gossamer.parse._language.known"
#define LANGUAGES 64
#define LONGEST 16 /* characters of a common word; words.py has none above 7 */
#define MOST_WORDS 60000

/* Open addressing, at most half full: 16 KB for 600 words, which stay in the nearest cache. */
typedef struct {
    uint32_t hash;
    uint16_t number; /* of the word, from 1; 0 is none */
} Slot;

typedef struct {
    uint64_t languages; /* a bit for each that has it */
    Py_ssize_t length;
    Py_UCS4 letters[LONGEST];
} Word;

typedef struct {
    size_t mask;
    Slot *slots;
    Word *words;
} Known;

typedef struct {
    Py_ssize_t hits;
    Py_ssize_t votes[LANGUAGES];
} Votes;

static inline uint32_t hashed(uint32_t hash, Py_UCS4 letter) {
    return (hash ^ letter) * UINT32_C(16777619); /* FNV-1a, a character at a time */
}

static inline size_t place_of(const Known *known, uint32_t hash) {
    return (hash ^ hash >> 15) & known->mask;
}

#define HASH_OF_NOTHING UINT32_C(2166136261)

static void let_go(PyObject *capsule) {
    Known *known = PyCapsule_GetPointer(capsule, NAME);
    if (known != NULL) {
        PyMem_Free(known->slots);
        PyMem_Free(known->words);
        PyMem_Free(known);
    }
}

/* A word and its languages into their place. */
static int enter(Known *known, PyObject *text, PyObject *languages, size_t number) {
    Word *word = &known->words[number - 1];
    if (!PyUnicode_Check(text) || PyUnicode_READY(text) < 0 || PyUnicode_GET_LENGTH(text) > LONGEST) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a common word is a text of at most 16 characters");
        return -1;
    }
    word->languages = PyLong_AsUnsignedLongLong(languages);
    if (PyErr_Occurred())
        return -1;
    word->length = PyUnicode_GET_LENGTH(text);
    uint32_t hash = HASH_OF_NOTHING;
    for (Py_ssize_t at = 0; at < word->length; at++) {
        word->letters[at] = PyUnicode_READ_CHAR(text, at);
        hash = hashed(hash, word->letters[at]);
    }
    size_t place = place_of(known, hash);
    while (known->slots[place].number != 0)
        place = (place + 1) & known->mask;
    known->slots[place].hash = hash;
    known->slots[place].number = (uint16_t)number;
    return 0;
}

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
    PyObject *capsule = NULL;
    if (known->slots == NULL || known->words == NULL)
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
    if (capsule == NULL) {
        PyMem_Free(known->slots);
        PyMem_Free(known->words);
        PyMem_Free(known);
    }
    return capsule;
}

static void vote(Votes *votes, uint64_t languages) {
    votes->hits++;
    for (int language = 0; languages != 0; language++, languages >>= 1)
        votes->votes[language] += (Py_ssize_t)(languages & 1);
}

/* The words of characters of one width. `start` is where the word begins that `at` is in. */
#define COUNT_ALL(TYPE)                                                                            \
    do {                                                                                           \
        const TYPE *from = (const TYPE *)data;                                                     \
        Py_ssize_t at = 0;                                                                         \
        while (at < length) {                                                                      \
            if (Py_UNICODE_ISSPACE(from[at])) {                                                    \
                at++;                                                                              \
                continue;                                                                          \
            }                                                                                      \
            Py_ssize_t start = at;                                                                 \
            uint32_t hash = HASH_OF_NOTHING;                                                       \
            for (; at < length && !Py_UNICODE_ISSPACE(from[at]); at++)                             \
                hash = hashed(hash, from[at]);                                                     \
            size_t place = place_of(known, hash);                                                  \
            for (; known->slots[place].number != 0; place = (place + 1) & known->mask) {           \
                if (known->slots[place].hash != hash)                                              \
                    continue;                                                                      \
                const Word *word = &known->words[known->slots[place].number - 1];                  \
                Py_ssize_t same = 0;                                                               \
                if (word->length != at - start)                                                    \
                    continue;                                                                      \
                while (same < word->length && word->letters[same] == from[start + same])           \
                    same++;                                                                        \
                if (same == word->length) {                                                        \
                    vote(votes, word->languages);                                                  \
                    break;                                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void count_all(Votes *votes, const Known *known, PyObject *sample) {
    const void *data = PyUnicode_DATA(sample);
    Py_ssize_t length = PyUnicode_GET_LENGTH(sample);
    switch (PyUnicode_KIND(sample)) {
    case PyUnicode_1BYTE_KIND:
        COUNT_ALL(Py_UCS1);
        break;
    case PyUnicode_2BYTE_KIND:
        COUNT_ALL(Py_UCS2);
        break;
    default:
        COUNT_ALL(Py_UCS4);
    }
}

/* The number of the language that has enough votes, and more than any other; -1 where none has. */
static int clear_winner(const Votes *votes, double least_share, Py_ssize_t fewest_hits) {
    int first = 0;
    for (int language = 1; language < LANGUAGES; language++)
        if (votes->votes[language] > votes->votes[first])
            first = language;
    Py_ssize_t own = votes->votes[first];
    if (own == 0 || own < fewest_hits || (double)own < least_share * (double)votes->hits)
        return -1;
    for (int language = first + 1; language < LANGUAGES; language++)
        if (votes->votes[language] == own)
            return -1;
    return first;
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
    Votes votes;
    memset(&votes, 0, sizeof votes);
    count_all(&votes, known, given[0]);
    return PyLong_FromLong(clear_winner(&votes, least_share, fewest_hits));
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
