/* Which language the commonest words of a text speak, in C: the twin of `spoken_in_python` in
 * words.py, where the rule is explained, of `said_in_python` there, and of `prose_in_python` in
 * language.py.
 *
 * A sample is walked once, and no object is made of a word: its characters are hashed as they come,
 * and most words end there, for no common one has that hash. Where the processor sees sixteen bytes
 * at once, and characters are of one or two bytes, they are made narrow first, and words of up to
 * eight are looked up as one number. The common words lie in a capsule that the Python side makes
 * once and hands over with each call, so there is no state here.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define API 3
#define NAME "gossamer.parse._language.known"
#define LANGUAGES 64
#define LONGEST 16 /* characters of a common word; words.py has none above 7 */
#define MOST_WORDS 2000 /* words.py has 600 */
#define SHORT 8 /* characters of a word that is looked up as one number */
#define BLOCK 16
#define WIDE 0xFF /* stands for every character that is no smaller byte */
#define FEW_CHARS 4096

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
    size_t mask, count;
    Py_ssize_t longest;
    Slot *slots;
    Word *words;
    /* Of words of up to eight characters, each a byte, which is then a part of a key; 0 is none. */
    uint64_t *keys;
    uint16_t *numbers;
} Known;

typedef struct {
    Py_ssize_t hits;
    Py_ssize_t votes[LANGUAGES];
    uint32_t times[MOST_WORDS + 1]; /* that each word was met, by its number */
    uint16_t met[MOST_WORDS + 2], kinds; /* which they are, and how many */
} Votes;

static inline uint32_t hashed(uint32_t hash, Py_UCS4 letter) {
    return (hash ^ letter) * UINT32_C(16777619); /* FNV-1a, a character at a time */
}

static inline size_t place_of(const Known *known, uint32_t hash) {
    return (hash ^ hash >> 15) & known->mask;
}

static inline size_t place_of_key(const Known *known, uint64_t key) {
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40) & known->mask;
}

#define HASH_OF_NOTHING UINT32_C(2166136261)

static void free_known(Known *known) {
    PyMem_Free(known->slots);
    PyMem_Free(known->words);
    PyMem_Free(known->keys);
    PyMem_Free(known->numbers);
    PyMem_Free(known);
}

static void let_go(PyObject *capsule) {
    Known *known = PyCapsule_GetPointer(capsule, NAME);
    if (known != NULL)
        free_known(known);
}

/* The same word once more, where it is short and has none but narrow characters. */
static void enter_short(Known *known, const Word *word, size_t number) {
    unsigned char letters[SHORT] = {0};
    if (word->length == 0 || word->length > SHORT)
        return;
    for (Py_ssize_t at = 0; at < word->length; at++) {
        if (word->letters[at] == 0 || word->letters[at] >= WIDE)
            return;
        letters[at] = (unsigned char)word->letters[at];
    }
    uint64_t key;
    memcpy(&key, letters, SHORT);
    size_t place = place_of_key(known, key);
    while (known->keys[place] != 0)
        place = (place + 1) & known->mask;
    known->keys[place] = key;
    known->numbers[place] = (uint16_t)number;
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
    if (word->length > known->longest)
        known->longest = word->length;
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
    enter_short(known, word, number);
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

/* A word was met; 0 is none. */
static inline void meet(Votes *votes, uint16_t number) {
    votes->met[votes->kinds] = number;
    votes->kinds += votes->times[number]++ == 0;
}

/* What the words say that were met: a page has a few, and has them again and again. */
static void vote(Votes *votes, const Known *known) {
    for (unsigned n = 0; n < votes->kinds; n++) {
        if (votes->met[n] == 0)
            continue;
        const Py_ssize_t times = (Py_ssize_t)votes->times[votes->met[n]];
        uint64_t languages = known->words[votes->met[n] - 1].languages;
        votes->hits += times;
        for (int language = 0; languages != 0; language++, languages >>= 1)
            votes->votes[language] += times * (Py_ssize_t)(languages & 1);
    }
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
                    meet(votes, known->slots[place].number);                                       \
                    break;                                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Of a text the words from `start` on, so many characters. */
static void count_each(Votes *votes, const Known *known, PyObject *text, Py_ssize_t first,
                       Py_ssize_t length) {
    const int kind = PyUnicode_KIND(text);
    const void *data = (const char *)PyUnicode_DATA(text) + kind * first;
    switch (kind) {
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

#ifdef __SSE2__
#include <emmintrin.h>

/* A NUL is no letter of a short word: behind its end there are as many. */
static inline int has_no_nul(__m128i block) {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_setzero_si128())) == 0;
}

/* Whether a block of characters is ASCII without a NUL, and then the block. */
static inline int ascii_1(const Py_UCS1 *from, __m128i *block) {
    *block = _mm_loadu_si128((const __m128i *)from);
    return _mm_movemask_epi8(*block) == 0 && has_no_nul(*block);
}

static inline int ascii_2(const Py_UCS2 *from, __m128i *block) {
    const __m128i left = _mm_loadu_si128((const __m128i *)from);
    const __m128i right = _mm_loadu_si128((const __m128i *)(from + BLOCK / 2));
    const __m128i above = _mm_and_si128(_mm_or_si128(left, right), _mm_set1_epi16(~127));
    *block = _mm_packus_epi16(left, right);
    return _mm_movemask_epi8(_mm_cmpeq_epi8(above, _mm_setzero_si128())) == 0xFFFF &&
           has_no_nul(*block);
}

/* A block of ASCII with a space for all that separates words: 9 to 13, and 28 to 32. */
static inline __m128i spaced(__m128i block) {
    const __m128i four = _mm_set1_epi8(4);
    const __m128i lines = _mm_sub_epi8(block, _mm_set1_epi8(9));
    const __m128i others = _mm_sub_epi8(block, _mm_set1_epi8(28));
    const __m128i white = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(lines, four), lines),
                                       _mm_cmpeq_epi8(_mm_min_epu8(others, four), others));
    return _mm_or_si128(_mm_andnot_si128(white, block), _mm_and_si128(white, _mm_set1_epi8(' ')));
}

static inline unsigned char narrow(Py_UCS4 code) {
    return Py_UNICODE_ISSPACE(code) ? ' ' : (unsigned char)(code && code < WIDE ? code : WIDE);
}

/* Characters as bytes, a space for each that separates words, WIDE for a NUL and for each that is no
 * smaller byte; whether there is one. */
#define NARROW_ALL(TYPE, ASCII)                                                                    \
    do {                                                                                           \
        const TYPE *from = (const TYPE *)data;                                                     \
        while (at < length) {                                                                      \
            __m128i block;                                                                         \
            if (length - at >= BLOCK && ASCII(from + at, &block)) {                                \
                _mm_storeu_si128((__m128i *)(to + at), spaced(block));                             \
                at += BLOCK;                                                                       \
                continue;                                                                          \
            }                                                                                      \
            const Py_ssize_t stop = length - at < BLOCK ? length : at + BLOCK;                     \
            for (; at < stop; at++)                                                                \
                has_wide |= (to[at] = narrow(from[at])) == WIDE;                                   \
        }                                                                                          \
    } while (0)

static int narrow_all(unsigned char *to, int kind, const void *data, Py_ssize_t length) {
    Py_ssize_t at = 0;
    int has_wide = 0;
    if (kind == PyUnicode_1BYTE_KIND)
        NARROW_ALL(Py_UCS1, ascii_1);
    else
        NARROW_ALL(Py_UCS2, ascii_2);
    return has_wide;
}

/* Whether one of eight bytes is WIDE: it is the one that a 1 more makes a 0, of its opposite. */
static inline int is_wide(uint64_t key) {
    const uint64_t opposite = ~key, ones = UINT64_C(0x0101010101010101);
    return ((opposite - ones) & ~opposite & (ones << 7)) != 0;
}

/* The words of bytes that end with spaces, a block of them; `text` and `first` are where those that
 * are long or wide are looked for. */
static void count_narrow(Votes *votes, const Known *known, const unsigned char *bytes,
                         Py_ssize_t length, int has_wide, PyObject *text, Py_ssize_t first) {
    Py_ssize_t start = 0;
    for (Py_ssize_t at = 0; at <= length; at += BLOCK) {
        const __m128i block = _mm_loadu_si128((const __m128i *)(bytes + at));
        const __m128i spaces = _mm_cmpeq_epi8(block, _mm_set1_epi8(' '));
        for (unsigned ends = (unsigned)_mm_movemask_epi8(spaces); ends != 0; ends &= ends - 1) {
            const Py_ssize_t end = at + __builtin_ctz(ends), size = end - start;
            const unsigned char *word = bytes + start;
            start = end + 1;
            if (size == 0 || size > known->longest)
                continue;
            uint64_t key;
            memcpy(&key, word, SHORT); /* there is as much behind the last word, too */
            key &= ~UINT64_C(0) >> (size < SHORT ? 64 - 8 * size : 0);
            if (size > SHORT || (has_wide && is_wide(key))) {
                count_each(votes, known, text, first + (word - bytes), size);
                continue;
            }
            size_t place = place_of_key(known, key);
            while (known->keys[place] != key && known->keys[place] != 0)
                place = (place + 1) & known->mask;
            meet(votes, known->numbers[place]);
        }
    }
}

static void count_all(Votes *votes, const Known *known, PyObject *text, Py_ssize_t first,
                      Py_ssize_t length) {
    const int kind = PyUnicode_KIND(text);
    unsigned char few[FEW_CHARS + 2 * BLOCK];
    if (kind == PyUnicode_4BYTE_KIND || length > FEW_CHARS) { /* rare, both */
        count_each(votes, known, text, first, length);
        return;
    }
    const void *data = (const char *)PyUnicode_DATA(text) + kind * first;
    const int has_wide = narrow_all(few, kind, data, length);
    memset(few + length, ' ', 2 * BLOCK);
    count_narrow(votes, known, few, length, has_wide, text, first);
}
#else
#define count_all count_each
#endif

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

/* The same of a part of a text. */
static int speaker(const Known *known, PyObject *text, Py_ssize_t first, Py_ssize_t length,
                   double least_share, Py_ssize_t fewest_hits) {
    Votes votes;
    votes.hits = 0;
    votes.kinds = 0;
    memset(votes.votes, 0, sizeof votes.votes);
    memset(votes.times, 0, (known->count + 1) * sizeof *votes.times);
    count_all(&votes, known, text, first, length);
    vote(&votes, known);
    return clear_winner(&votes, least_share, fewest_hits);
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
    Py_ssize_t size = end - at;
    if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND) {
        for (const Py_UCS1 *from = PyUnicode_1BYTE_DATA(text); at < end; at++)
            size += from[at] >> 7;
    } else if (PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND) {
        for (const Py_UCS2 *from = PyUnicode_2BYTE_DATA(text); at < end; at++)
            size += (from[at] >= 0x80) + (from[at] >= 0x800) - 2 * ((from[at] & 0xF800) == 0xD800);
    } else {
        for (const Py_UCS4 *from = PyUnicode_4BYTE_DATA(text); at < end; at++)
            size += (from[at] >= 0x80) + (from[at] >= 0x800) + (from[at] >= 0x10000) -
                    2 * ((from[at] & ~(Py_UCS4)0x7FF) == 0xD800);
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
