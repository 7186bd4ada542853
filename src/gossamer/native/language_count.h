/* Which common words does a part of a text have, and who has most of them?
 *
 * Where the processor sees sixteen bytes at once, and characters are of one or two bytes, they are
 * made narrow first, and words of up to eight are looked up as one number.
 */

#ifndef GOSSAMER_LANGUAGE_COUNT_H
#define GOSSAMER_LANGUAGE_COUNT_H

#include "language_known.h"

#define BLOCK 16
#define FEW_CHARS 4096

typedef struct {
    Py_ssize_t hits;
    Py_ssize_t votes[LANGUAGES];
    uint32_t times[MOST_WORDS + 1]; /* that each word was met, by its number */
    uint16_t met[MOST_WORDS + 2], kinds; /* which they are, and how many */
} Votes;

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

#endif
