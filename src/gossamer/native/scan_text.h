/* Text as it grows: white space folded, a line for each block, words of a part of it. */

#ifndef GOSSAMER_SCAN_TEXT_H
#define GOSSAMER_SCAN_TEXT_H

#include <Python.h>

#include "scan_wide.h"

typedef struct {
    byte *at;
    size_t size, room;
} Buffer;

static int make_room(Buffer *b, size_t more) {
    if (b->room - b->size >= more) return 0;
    size_t room = b->room * 2 + more + 256;
    byte *at = PyMem_RawRealloc(b->at, room);
    if (!at) return -1;
    b->at = at;
    b->room = room;
    return 0;
}

static inline int add_bytes(Buffer *b, const byte *from, size_t size) {
    if (make_room(b, size)) return -1;
    if (size) memcpy(b->at + b->size, from, size);
    b->size += size;
    return 0;
}

/* The five characters that HTML calls white space. */
static inline int is_space(byte c) { return MEANS[c] & WHITE; }

/* What is owed before the next character: the strongest of what was asked for. */
enum { OWES_NOTHING, OWES_SPACE, OWES_TAB, OWES_LINE };

typedef struct {
    Buffer out;
    int owed;
} Text;

static inline void owe(Text *t, int what) {
    if (what > t->owed) t->owed = what;
}

static int pay(Text *t) {
    int owed = t->owed;
    t->owed = OWES_NOTHING;
    if (make_room(&t->out, 1)) return -1;
    if (!owed || !t->out.size) return 0;
    byte last = t->out.at[t->out.size - 1];
    if (last == '\n' || (last == '\t' && owed < OWES_LINE) || (last == ' ' && owed == OWES_SPACE))
        return 0;
    t->out.at[t->out.size++] = owed == OWES_LINE ? '\n' : owed == OWES_TAB ? '\t' : ' ';
    return 0;
}

/* Text of which white space is folded. What follows up to `limit` may be looked at, too. */
static int add_folded(Text *t, const byte *p, const byte *end, const byte *limit) {
    /* A separator takes the place of white space; one more may be owed from before. */
    if (make_room(&t->out, (size_t)(end - p) + 2 + BLOCK_BYTES)) return -1;
#ifdef HAS_BLOCKS
    while (p < end && limit - p >= BLOCK_BYTES) {
        const Block b = block_at(p);
        const unsigned size = end - p < BLOCK_BYTES ? (unsigned)(end - p) : BLOCK_BYTES;
        const unsigned white = where_white(b) & ((1u << size) - 1);
        if (white & 1) {
            owe(t, OWES_SPACE);
            p += __builtin_ctz(~white);
            continue;
        }
        if (t->owed && pay(t)) return -1;
        /* A space between two words stays as it is; all other white space ends what is copied. */
        const unsigned odd = white & (~where_is(b, ' ') | white >> 1 | 1u << (size - 1));
        const int copied = __builtin_ctz(odd | 1u << size);
        _mm_storeu_si128((Block *)(t->out.at + t->out.size), b);
        t->out.size += (size_t)copied;
        p += copied;
    }
#else
    (void)limit;
#endif
    while (p < end) {
        if (is_space(*p)) {
            owe(t, OWES_SPACE);
            p++;
            continue;
        }
        if (t->owed && pay(t)) return -1;
        byte *out = t->out.at + t->out.size;
        do *out++ = *p++;
        while (p < end && !is_space(*p));
        t->out.size = (size_t)(out - t->out.at);
    }
    return 0;
}

/* Text as it is written, with \n for each end of a line. */
static int add_written(Text *t, const byte *p, const byte *end) {
    if (p == end) return 0;
    if (pay(t) || make_room(&t->out, (size_t)(end - p))) return -1;
    for (; p < end; p++) {
        if (*p == '\r') {
            t->out.at[t->out.size++] = '\n';
            if (p + 1 < end && p[1] == '\n') p++;
        } else {
            t->out.at[t->out.size++] = *p;
        }
    }
    return 0;
}

/* How many bytes of white space, as Python's str.split() knows it, stand here; 0 for none. */
static int wide_space(const byte *p, const byte *end) {
    byte c = *p;
    if (c <= ' ') return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
    if (c < 0xc2) return 0;
    if (c == 0xc2) return end - p > 1 && (p[1] == 0x85 || p[1] == 0xa0) ? 2 : 0;
    if (end - p < 3) return 0;
    if (c == 0xe1) return p[1] == 0x9a && p[2] == 0x80 ? 3 : 0;
    if (c == 0xe2)
        return (p[1] == 0x80 && (p[2] <= 0x8a || p[2] == 0xa8 || p[2] == 0xa9 || p[2] == 0xaf)) ||
                       (p[1] == 0x81 && p[2] == 0x9f)
                   ? 3
                   : 0;
    if (c == 0xe3) return p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;
    return 0;
}

/* Words folded as " ".join(text.split()) folds them, up to a number of characters. What follows up
 * to `limit` may be looked at, too. */
typedef struct {
    Buffer *into;
    size_t left; /* characters that may still be added */
    int has_word, owes_space;
    size_t blank; /* bytes of white space that were passed */
} Fold;

static int fold_more(Fold *f, const byte *p, const byte *end, const byte *limit) {
    /* 1: the space that is owed; and a block may be written whole of which some bytes count. */
    if (make_room(f->into, (size_t)(end - p) + 1 + BLOCK_BYTES)) return -1;
#ifdef HAS_BLOCKS
    /* ASCII whose only white space is single spaces between words stays as it is. */
    while (p < end && limit - p >= BLOCK_BYTES && f->left >= BLOCK_BYTES && !f->owes_space) {
        const Block b = block_at(p);
        const unsigned size = end - p < BLOCK_BYTES ? (unsigned)(end - p) : BLOCK_BYTES;
        const unsigned low = where_low(b), high = where_high(b);
        const unsigned at_word = ~((low | high) >> 1 | 1u << (size - 1)); /* before a letter */
        const unsigned odd = high | (low & ~(where_is(b, ' ') & at_word));
        const int copied = low & 1 ? 0 : __builtin_ctz(odd | 1u << size);
        if (!copied) break;
        _mm_storeu_si128((Block *)(f->into->at + f->into->size), b);
        f->into->size += (size_t)copied;
        f->left -= (size_t)copied;
        f->has_word = 1;
        p += copied;
    }
#else
    (void)limit;
#endif
    while (p < end && f->left) {
        int space = wide_space(p, end);
        if (space) {
            f->owes_space = f->has_word;
            f->blank += (size_t)space;
            p += space;
            continue;
        }
        if (f->owes_space) {
            f->into->at[f->into->size++] = ' ';
            f->owes_space = 0;
            if (!--f->left) break;
        }
        f->into->at[f->into->size++] = *p++;
        while (p < end && (*p & 0xc0) == 0x80) f->into->at[f->into->size++] = *p++;
        f->has_word = 1;
        f->left--;
    }
    return 0;
}

#endif
