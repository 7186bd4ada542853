/* SHA-1 by the processor's own instructions; see _pack.c for why. */

#ifndef GOSSAMER_PACK_SHA1_H
#define GOSSAMER_PACK_SHA1_H

#include <stdint.h>
#include <string.h>

#define DIGEST_BYTES 20

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#include <cpuid.h>
#define WITH_SHA __attribute__((target("sha,sse4.1")))

typedef struct {
    __m128i abcd, e;
} Chain;

/* Asked of the processor itself: `__builtin_cpu_supports` needs a part of the compiler's library
 * that some (zig's) do not give to shared libraries. */
static int is_quick(void) {
    /* PCLMUL (for pack_small.h), SSE4.1, XGETBV, AVX */
    const unsigned int wanted = 1u << 1 | 1u << 19 | 1u << 27 | 1u << 28;
    unsigned int a, b = 0, c = 0, d, kept, unused;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & wanted) != wanted)
        return 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(unused) : "c"(0));
    if ((kept & 6) != 6) /* the system keeps wide registers when it changes processes */
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29) != 0;
}

__attribute__((target("avx"))) static void clear_wide_registers(void) { _mm256_zeroupper(); }

/* SHA-1 reads words of four bytes, the first of which counts most. */
#define TURNED _mm_set_epi64x(0x0001020304050607LL, 0x08090a0b0c0d0e0fLL)
#define LOAD(n) _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)at + n), TURNED)
/* Four of the 80 steps: e is of these, f becomes that of the next. */
#define STEPS(e, f, words, kind)                                                                   \
    e = _mm_sha1nexte_epu32(e, words);                                                             \
    f = s;                                                                                         \
    s = _mm_sha1rnds4_epu32(s, e, kind)
/* The same with words that are made from the last sixteen. */
#define MORE(a, b, c, d, e, f, kind)                                                               \
    a = _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(a, b), c), d);                         \
    STEPS(e, f, a, kind)

WITH_SHA static inline __attribute__((always_inline)) void take_one(Chain *state,
                                                                    const uint8_t *at) {
    __m128i s = state->abcd, e = state->e, f = s;
    __m128i k = LOAD(0), l = LOAD(1), m = LOAD(2), n = LOAD(3);
    e = _mm_add_epi32(e, k);
    s = _mm_sha1rnds4_epu32(s, e, 0);
    STEPS(f, e, l, 0);
    STEPS(e, f, m, 0);
    STEPS(f, e, n, 0);
    MORE(k, l, m, n, e, f, 0);
    MORE(l, m, n, k, f, e, 1);
    MORE(m, n, k, l, e, f, 1);
    MORE(n, k, l, m, f, e, 1);
    MORE(k, l, m, n, e, f, 1);
    MORE(l, m, n, k, f, e, 1);
    MORE(m, n, k, l, e, f, 2);
    MORE(n, k, l, m, f, e, 2);
    MORE(k, l, m, n, e, f, 2);
    MORE(l, m, n, k, f, e, 2);
    MORE(m, n, k, l, e, f, 2);
    MORE(n, k, l, m, f, e, 3);
    MORE(k, l, m, n, e, f, 3);
    MORE(l, m, n, k, f, e, 3);
    MORE(m, n, k, l, e, f, 3);
    MORE(n, k, l, m, f, e, 3);
    state->e = _mm_sha1nexte_epu32(e, state->e);
    state->abcd = _mm_add_epi32(s, state->abcd);
}

WITH_SHA static void take(Chain *given, const uint8_t *at, size_t blocks) {
    Chain state = *given;
    for (; blocks; blocks--, at += 64)
        take_one(&state, at);
    *given = state;
}

WITH_SHA static void take_two(Chain *given, const uint8_t *at, Chain *other, const uint8_t *there,
                              size_t blocks) {
    Chain state = *given, second = *other;
    for (; blocks; blocks--, at += 64, there += 64) {
        take_one(&state, at);
        take_one(&second, there);
    }
    *given = state;
    *other = second;
}

WITH_SHA static void begin(Chain *state) {
    state->abcd = _mm_set_epi32(0x67452301, (int)0xefcdab89, (int)0x98badcfe, 0x10325476);
    state->e = _mm_set_epi32((int)0xc3d2e1f0, 0, 0, 0);
}

/* The last bytes, fewer than a block, the mark behind them, and how many bits there were. */
WITH_SHA static void finish(Chain *state, const uint8_t *rest, size_t length, uint8_t *digest) {
    uint8_t last[128] = {0};
    const size_t left = length % 64, used = left < 56 ? 64 : 128;
    const uint64_t bits = (uint64_t)length * 8;
    memcpy(last, rest, left);
    last[left] = 0x80;
    for (int n = 0; n < 8; n++)
        last[used - 1 - n] = (uint8_t)(bits >> (8 * n));
    take(state, last, used / 64);
    _mm_storeu_si128((__m128i *)last, _mm_shuffle_epi8(state->abcd, TURNED));
    memcpy(digest, last, 16);
    const uint32_t e = (uint32_t)_mm_extract_epi32(state->e, 3);
    for (int n = 0; n < 4; n++)
        digest[16 + n] = (uint8_t)(e >> (24 - 8 * n));
}

static void sha1(const uint8_t *data, size_t length, uint8_t *digest) {
    Chain state;
    begin(&state);
    take(&state, data, length / 64);
    finish(&state, data + length / 64 * 64, length, digest);
}

/* Of some bytes, and of all but the first `skipped` of them. */
static void sha1_both(const uint8_t *data, size_t length, size_t skipped, uint8_t *digest,
                      uint8_t *digest_of_rest) {
    Chain state, other;
    const size_t blocks = length / 64, shared = (length - skipped) / 64;
    begin(&state);
    begin(&other);
    take_two(&state, data, &other, data + skipped, shared);
    take(&state, data + 64 * shared, blocks - shared);
    finish(&state, data + 64 * blocks, length, digest);
    finish(&other, data + skipped + 64 * shared, length - skipped, digest_of_rest);
}

#else /* another processor: none of this is called */
static int is_quick(void) { return 0; }
static void clear_wide_registers(void) {}
static void sha1(const uint8_t *data, size_t length, uint8_t *digest) {
    (void)data, (void)length;
    memset(digest, 0, DIGEST_BYTES);
}
static void sha1_both(const uint8_t *data, size_t length, size_t skipped, uint8_t *digest,
                      uint8_t *digest_of_rest) {
    (void)skipped;
    sha1(data, length, digest);
    sha1(data, length, digest_of_rest);
}
#endif

#endif
