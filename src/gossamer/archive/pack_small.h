/* Small records: deflate (RFC 1951) with one code for all, as a gzip member (RFC 1952). */

#ifndef GOSSAMER_PACK_SMALL_H
#define GOSSAMER_PACK_SMALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__) /* words begin with the byte that counts least */
#include <immintrin.h>

#define SMALL 8192 /* bytes of a record, and how far back DISTANCE_BITS reach */
#define SLOTS 1024 /* of the table that remembers where four bytes stood last */
#define END_OF_BLOCK 256

/* Bits of each symbol's code, 0 where it has none. What bench/small_codes.py prints. */
static const char LITERAL_BITS[] =
    "000000000060060000000000000000005999999999998566556666666759998997877899879989999979689899899999"
    "957554667698676568665699879999900000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000996787999899999999999999999999";
static const char DISTANCE_BITS[] = "96999948494333343469999998";
static const uint8_t BLOCK_HEAD[] = {
    0xed, 0x59, 0x67, 0x7b, 0xd3, 0x30, 0x10, 0xfe, 0xee, 0xe7, 0xf1, 0x7f, 0x10, 0x7b,
    0x55, 0xb6, 0xe4, 0x1d, 0x01, 0x85, 0x34, 0x29, 0x34, 0x50, 0x56, 0x70, 0x29, 0x94,
    0xa9, 0x48, 0x67, 0xc7, 0xd4, 0xb1, 0x5c, 0x5b, 0x86, 0x86, 0xf5, 0xdb, 0xc1, 0x69,
    0x80, 0xb2, 0xf7, 0x06, 0x33, 0xae, 0xc7, 0xbd, 0xe3, 0xde, 0x33, 0xb3}; /* 432 bits, all used */
static const uint8_t GZIP_HEAD[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255};

typedef struct {
    uint16_t bits, count;
} Code;

static Code literals[286], lengths[259], distances[26]; /* lengths: with what follows their code */
static uint8_t distance_symbols[SMALL];
static uint32_t checks[256]; /* CRC-32 of a byte */

static void make_codes(const char *bits, Code *codes, int count) {
    unsigned int code = 0;
    for (int length = 1; length <= 15; length++, code <<= 1)
        for (int symbol = 0; symbol < count; symbol++)
            if (bits[symbol] - '0' == length) {
                unsigned int turned = 0;
                for (int bit = 0; bit < length; bit++)
                    turned |= (code >> bit & 1) << (length - 1 - bit);
                codes[symbol].bits = (uint16_t)turned;
                codes[symbol].count = (uint16_t)length;
                code++;
            }
}

/* More bits than a symbol tells follow it: none for the first few, then one, two, three, ... */
static int more_bits(int beyond, int few) {
    int bits = 0;
    while (beyond >> bits >= 2 * few)
        bits++;
    return bits;
}

static void prepare_small(void) {
    make_codes(LITERAL_BITS, literals, 286);
    make_codes(DISTANCE_BITS, distances, 26);
    for (int length = 3; length <= 258; length++) {
        const int beyond = length - 3, more = length == 258 ? 0 : more_bits(beyond, 4);
        const int symbol = length == 258 ? 285 : 257 + 4 * more + (beyond >> more);
        const Code code = literals[symbol];
        const int rest = length == 258 ? 0 : beyond & ((1 << more) - 1);
        lengths[length].bits = (uint16_t)(code.bits | rest << code.count);
        lengths[length].count = (uint16_t)(code.count + more);
    }
    for (int beyond = 0; beyond < SMALL; beyond++) {
        const int more = more_bits(beyond, 2);
        distance_symbols[beyond] = (uint8_t)(2 * more + (beyond >> more));
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t check = byte;
        for (int bit = 0; bit < 8; bit++)
            check = check >> 1 ^ (check & 1 ? 0xedb88320u : 0);
        checks[byte] = check;
    }
}

static uint32_t check_by_byte(uint32_t check, const uint8_t *data, size_t length) {
    for (; length; length--)
        check = check >> 8 ^ checks[(check ^ *data++) & 255];
    return check;
}

/* CRC-32. A remainder of 128 bits goes over the data, 16 bytes at a time: multiplied by what x^160
 * and x^96 leave, its halves count as if they stood 16 bytes later. The rest is by table. */
__attribute__((target("pclmul,sse2"))) static uint32_t check_of(const uint8_t *data, size_t length) {
    const __m128i moved = _mm_set_epi64x(0xccaa009e, 0x1751997d0);
    uint8_t rest[16];
    if (length < 32)
        return ~check_by_byte(0xffffffffu, data, length);
    __m128i sum = _mm_xor_si128(_mm_loadu_si128((const __m128i *)data), _mm_cvtsi32_si128(-1));
    for (data += 16, length -= 16; length >= 16; data += 16, length -= 16)
        sum = _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(sum, moved, 0x00),
                                          _mm_clmulepi64_si128(sum, moved, 0x11)),
                            _mm_loadu_si128((const __m128i *)data));
    _mm_storeu_si128((__m128i *)rest, sum);
    return ~check_by_byte(check_by_byte(0, rest, 16), data, length);
}

typedef struct {
    uint8_t *to;
    uint64_t bits;
    unsigned int count; /* of `bits` that are not written yet; at most 7 between two steps */
} Out;

static inline void add_bits(Out *out, uint64_t bits, unsigned int count) {
    out->bits |= bits << out->count;
    out->count += count;
}

static inline void write_bits(Out *out) {
    memcpy(out->to, &out->bits, 8);
    out->to += out->count / 8;
    out->bits >>= out->count & ~7u;
    out->count &= 7;
}

static inline uint32_t four(const uint8_t *at) {
    uint32_t word;
    memcpy(&word, at, 4);
    return word;
}

static inline uint32_t slot_of(uint32_t word) { return word * 2654435761u >> 22; }

static inline uint64_t eight(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* How many bytes are the same here and before, of which four are known to be. */
static inline size_t same_of(const uint8_t *at, const uint8_t *before, const uint8_t *end) {
    const size_t left = (size_t)(end - at), most = left < 258 ? left : 258;
    size_t same = 4;
    for (; same + 8 <= most; same += 8) {
        const uint64_t other = eight(at + same) ^ eight(before + same);
        if (other)
            return same + (size_t)__builtin_ctzll(other) / 8;
    }
    while (same < most && at[same] == before[same])
        same++;
    return same;
}

static inline void add_same(Out *out, size_t same, size_t beyond) {
    const int symbol = distance_symbols[beyond], more = symbol < 4 ? 0 : symbol / 2 - 1;
    add_bits(out, lengths[same].bits, lengths[same].count);
    add_bits(out, distances[symbol].bits, distances[symbol].count);
    add_bits(out, beyond & ((1u << more) - 1), (unsigned int)more);
    write_bits(out);
}

/* The member of a record of at most SMALL bytes, in room for twice as many; its length, or 0 where
 * the record has a byte without a code. Of what is the same as before, only the second byte and the
 * last are remembered: with all of them the members are as large. */
static size_t small_member(const uint8_t *data, size_t length, uint8_t *room) {
    uint16_t last[SLOTS] = {0}; /* one more than the place; 0 for none */
    Out out = {room + sizeof GZIP_HEAD + sizeof BLOCK_HEAD, 0, 0};
    memcpy(room, GZIP_HEAD, sizeof GZIP_HEAD);
    memcpy(room + sizeof GZIP_HEAD, BLOCK_HEAD, sizeof BLOCK_HEAD);
    const uint8_t *end = data + length;
    size_t at = 0;
    while (at < length) {
        if (at + 4 <= length) {
            const uint32_t word = four(data + at), slot = slot_of(word);
            const size_t before = last[slot];
            last[slot] = (uint16_t)(at + 1);
            if (before && four(data + before - 1) == word) {
                const size_t same = same_of(data + at, data + before - 1, end);
                add_same(&out, same, at - before);
                if (at + 5 <= length)
                    last[slot_of(four(data + at + 1))] = (uint16_t)(at + 2);
                at += same;
                if (at + 3 <= length)
                    last[slot_of(four(data + at - 1))] = (uint16_t)at;
                continue;
            }
        }
        const Code code = literals[data[at++]];
        if (code.count == 0)
            return 0;
        add_bits(&out, code.bits, code.count);
        write_bits(&out);
    }
    add_bits(&out, literals[END_OF_BLOCK].bits, literals[END_OF_BLOCK].count);
    out.count = (out.count + 7) & ~7u;
    write_bits(&out);
    const uint32_t tail[2] = {check_of(data, length), (uint32_t)length};
    memcpy(out.to, tail, sizeof tail);
    return (size_t)(out.to - room) + sizeof tail;
}

#else /* another processor: none of this is called */
#define SMALL 0
static void prepare_small(void) {}
static size_t small_member(const uint8_t *data, size_t length, uint8_t *room) {
    (void)data, (void)length, (void)room;
    return 0;
}
#endif

#endif
