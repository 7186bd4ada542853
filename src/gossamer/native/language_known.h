/* The common words, each with the languages that have it: two tables, by hash and as a number. */

#ifndef GOSSAMER_LANGUAGE_KNOWN_H
#define GOSSAMER_LANGUAGE_KNOWN_H

#include "module.h"

#define NAME "gossamer.native._page.known_words"
#define LANGUAGES 64
#define LONGEST 16 /* characters of a common word; words.py has none above 7 */
#define MOST_WORDS 2000 /* words.py has 600 */
#define SHORT 8 /* characters of a word that is looked up as one number */
#define WIDE 0xFF /* stands for every character that is no smaller byte */

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

#endif
