/* Sixteen bytes of a page at once, where the processor can: every x86-64.
 *
 * A tag is some fifteen bytes in four pieces, and a loop that looks at each byte of a piece is
 * mostly wrong about where it ends: what a page costs is wrong guesses of the processor. Here the
 * end of a piece is a number that is computed. Nobody looks at bytes behind the `end` that is given;
 * near it, and on other processors, the loops over single bytes do the same.
 */

#ifndef GOSSAMER_SCAN_WIDE_H
#define GOSSAMER_SCAN_WIDE_H

#include "scan_tags.h"

enum { BLOCK_BYTES = 16, BLOCKS_BEFORE_CALL = 4 };

#if defined(__SSE2__) && defined(__x86_64__)
#define HAS_BLOCKS
#include <emmintrin.h>

typedef __m128i Block;

static inline Block block_at(const byte *p) { return _mm_loadu_si128((const Block *)p); }

/* Each of these gives a bit for each byte that is so, the first byte's the lowest. */
static inline unsigned bits(Block found) { return (unsigned)_mm_movemask_epi8(found); }

static inline unsigned where_is(Block b, char c) { return bits(_mm_cmpeq_epi8(b, _mm_set1_epi8(c))); }

static inline unsigned where_low(Block b) { /* a space, or a control: white space is among them */
    return bits(_mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(' ')), b));
}

/* The five characters that HTML calls white space. */
static inline unsigned where_white(Block b) {
    const Block from_tab = _mm_sub_epi8(b, _mm_set1_epi8('\t')), four = _mm_set1_epi8('\r' - '\t');
    const Block lines = _mm_cmpeq_epi8(_mm_min_epu8(from_tab, four), from_tab);
    const Block other = _mm_cmpeq_epi8(b, _mm_set1_epi8('\v'));
    const Block space = _mm_cmpeq_epi8(b, _mm_set1_epi8(' '));
    return bits(_mm_or_si128(_mm_andnot_si128(other, lines), space));
}

static inline unsigned where_high(Block b) { return bits(b); }

/* What ends the name of an attribute, or a control that does not. */
static inline unsigned where_name_ends(Block b) {
    const Block low = _mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(' ')), b);
    const Block slash = _mm_cmpeq_epi8(b, _mm_set1_epi8('/'));
    const Block equals = _mm_cmpeq_epi8(b, _mm_set1_epi8('='));
    const Block end = _mm_cmpeq_epi8(b, _mm_set1_epi8('>'));
    return bits(_mm_or_si128(_mm_or_si128(low, slash), _mm_or_si128(equals, end)));
}

/* The first `size` bytes in lower case, as a name. */
static inline Name name_in(Block b, size_t size) {
    static const byte kept[2 * BLOCK_BYTES] = {255, 255, 255, 255, 255, 255, 255, 255,
                                               255, 255, 255, 255, 255, 255, 255, 255};
    const Block upper = _mm_and_si128(_mm_cmpgt_epi8(b, _mm_set1_epi8('A' - 1)),
                                      _mm_cmplt_epi8(b, _mm_set1_epi8('Z' + 1)));
    b = _mm_or_si128(b, _mm_and_si128(upper, _mm_set1_epi8('a' - 'A')));
    b = _mm_and_si128(b, block_at(kept + BLOCK_BYTES - size));
    return (Name){(uint64_t)_mm_cvtsi128_si64(b),
                  (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(b, b))};
}
#endif

/* Past the ASCII from `p` on, as far as it comes in whole blocks. */
static inline const byte *past_ascii(const byte *p, const byte *end) {
#ifdef HAS_BLOCKS
    for (; end - p >= 64; p += 64) {
        const Block left = _mm_or_si128(block_at(p), block_at(p + 16));
        const Block right = _mm_or_si128(block_at(p + 32), block_at(p + 48));
        if (where_high(_mm_or_si128(left, right))) break;
    }
#else
    uint64_t words[4];
    for (; end - p >= 32; p += 32) {
        memcpy(words, p, 32);
        if ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) break;
    }
#endif
    return p;
}

/* The first byte from `p` that is `c`; NULL where none is. What follows up to `limit` may be looked
 * at, too. */
static inline const byte *find_byte(const byte *p, const byte *end, const byte *limit, char c) {
#ifdef HAS_BLOCKS
    for (int n = 0; n < BLOCKS_BEFORE_CALL && limit - p >= BLOCK_BYTES; n++) {
        const unsigned found = where_is(block_at(p), c);
        if (found) {
            p += __builtin_ctz(found);
            return p < end ? p : NULL;
        }
        if (end - p <= BLOCK_BYTES) return NULL;
        p += BLOCK_BYTES;
    }
#else
    (void)limit;
#endif
    return memchr(p, c, (size_t)(end - p));
}

/* The first byte from `p` that ends the name of a tag; `end` where none does. */
static inline const byte *end_of_name(const byte *p, const byte *end, Name *name) {
    const byte *from = p;
#ifdef HAS_BLOCKS
    if (end - p >= BLOCK_BYTES) {
        const Block b = block_at(p);
        const unsigned stop = where_low(b) | where_is(b, '/') | where_is(b, '>');
        const size_t size = stop ? (size_t)__builtin_ctz(stop) : 0;
        if (MEANS[p[size]] & ENDS_NAME) {
            *name = name_in(b, size);
            return p + size;
        }
    }
#endif
    while (p < end && !(MEANS[*p] & ENDS_NAME)) p++;
    *name = name_of(from, (size_t)(p - from));
    return p;
}

/* The first byte from `p` that ends the name of an attribute; `end` where none does. */
static inline const byte *end_of_attribute(const byte *p, const byte *end) {
#ifdef HAS_BLOCKS
    if (end - p >= BLOCK_BYTES) {
        const unsigned stop = where_name_ends(block_at(p));
        if (stop) p += __builtin_ctz(stop);
    }
#endif
    while (p < end && !(MEANS[*p] & ENDS_ATTRIBUTE)) p++;
    return p;
}

#endif
