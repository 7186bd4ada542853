/* BLAKE2b (RFC 7693) with a key, as far as keys of URLs need it: `hashlib.blake2b(digest_size=8,
 * key=..., person=...)`. A state that has taken the key is copied for each text, as keys.py does. */

#ifndef GOSSAMER_BLAKE2B_H
#define GOSSAMER_BLAKE2B_H

#include <stdint.h>
#include <string.h>

enum { BLAKE_BLOCK = 128, BLAKE_KEY = 16, BLAKE_DIGEST = 8 };

/* What is left to take is held back in `block`, for the last block is taken in another way. */
typedef struct {
    uint64_t h[8], taken;
    unsigned char block[BLAKE_BLOCK];
    size_t held;
} Blake;

static const uint64_t blake_start[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

static const unsigned char blake_order[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

static inline uint64_t blake_word(const unsigned char *at) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--) word = word << 8 | at[i];
    return word;
}

static inline uint64_t blake_turned(uint64_t word, int by) { return word >> by | word << (64 - by); }

static inline void blake_mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x,
                             uint64_t y) {
    *a += *b + x;
    *d = blake_turned(*d ^ *a, 32);
    *c += *d;
    *b = blake_turned(*b ^ *c, 24);
    *a += *b + y;
    *d = blake_turned(*d ^ *a, 16);
    *c += *d;
    *b = blake_turned(*b ^ *c, 63);
}

static inline void blake_round(uint64_t *v, const uint64_t *m, const unsigned char *o) {
    blake_mix(v, v + 4, v + 8, v + 12, m[o[0]], m[o[1]]);
    blake_mix(v + 1, v + 5, v + 9, v + 13, m[o[2]], m[o[3]]);
    blake_mix(v + 2, v + 6, v + 10, v + 14, m[o[4]], m[o[5]]);
    blake_mix(v + 3, v + 7, v + 11, v + 15, m[o[6]], m[o[7]]);
    blake_mix(v, v + 5, v + 10, v + 15, m[o[8]], m[o[9]]);
    blake_mix(v + 1, v + 6, v + 11, v + 12, m[o[10]], m[o[11]]);
    blake_mix(v + 2, v + 7, v + 8, v + 13, m[o[12]], m[o[13]]);
    blake_mix(v + 3, v + 4, v + 9, v + 14, m[o[14]], m[o[15]]);
}

/* Take the block that is held. */
static void blake_take(Blake *s, int is_last) {
    uint64_t m[16], v[16];
    s->taken += s->held;
    for (int i = 0; i < 16; i++) m[i] = blake_word(s->block + 8 * i);
    for (int i = 0; i < 8; i++) v[i] = s->h[i], v[i + 8] = blake_start[i];
    v[12] ^= s->taken;
    if (is_last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++) blake_round(v, m, blake_order[round]);
    for (int i = 0; i < 8; i++) s->h[i] ^= v[i] ^ v[i + 8];
    s->held = 0;
}

static void blake_update(Blake *s, const unsigned char *text, size_t size) {
    while (size) {
        if (s->held == BLAKE_BLOCK) blake_take(s, 0);
        size_t part = BLAKE_BLOCK - s->held < size ? BLAKE_BLOCK - s->held : size;
        memcpy(s->block + s->held, text, part);
        s->held += part;
        text += part;
        size -= part;
    }
}

static void blake_end(Blake *s, unsigned char *digest) {
    memset(s->block + s->held, 0, BLAKE_BLOCK - s->held);
    blake_take(s, 1);
    for (int i = 0; i < BLAKE_DIGEST; i++) digest[i] = (unsigned char)(s->h[0] >> 8 * i);
}

/* `person` has up to eight characters. The key is taken, so what follows must not be empty. */
static void blake_begin(Blake *s, const unsigned char *key, const char *person) {
    unsigned char name[8] = {0};
    memcpy(name, person, strlen(person));
    memset(s, 0, sizeof *s);
    memcpy(s->h, blake_start, sizeof s->h);
    s->h[0] ^= UINT64_C(0x01010000) | BLAKE_KEY << 8 | BLAKE_DIGEST;
    s->h[6] ^= blake_word(name);
    memcpy(s->block, key, BLAKE_KEY);
    s->held = BLAKE_BLOCK;
    blake_take(s, 0);
}

#endif
