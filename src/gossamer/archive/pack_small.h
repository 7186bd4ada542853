/* Small records: deflate (RFC 1951) with one code for all, as a gzip member (RFC 1952). */

#ifndef GOSSAMER_PACK_SMALL_H
#define GOSSAMER_PACK_SMALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__) /* words begin with the byte that counts least */

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
static uint32_t checks[4][256]; /* CRC-32 of a byte that 0 to 3 others follow */

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
        checks[0][byte] = check;
    }
    for (int more = 1; more < 4; more++)
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t before = checks[more - 1][byte];
            checks[more][byte] = before >> 8 ^ checks[0][before & 255];
        }
}

static uint32_t check_of(const uint8_t *data, size_t length) {
    uint32_t check = 0xffffffffu, word;
    for (; length >= 4; length -= 4, data += 4) {
        memcpy(&word, data, 4);
        word ^= check;
        check = checks[3][word & 255] ^ checks[2][word >> 8 & 255] ^ checks[1][word >> 16 & 255] ^
                checks[0][word >> 24];
    }
    for (; length; length--)
        check = check >> 8 ^ checks[0][(check ^ *data++) & 255];
    return ~check;
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

/* The member of a record of at most SMALL bytes, in room for twice as many; its length, or 0 where
 * the record has a byte without a code. */
static size_t small_member(const uint8_t *data, size_t length, uint8_t *room) {
    uint16_t last[SLOTS] = {0}; /* one more than the place; 0 for none */
    Out out = {room + sizeof GZIP_HEAD + sizeof BLOCK_HEAD, 0, 0};
    memcpy(room, GZIP_HEAD, sizeof GZIP_HEAD);
    memcpy(room + sizeof GZIP_HEAD, BLOCK_HEAD, sizeof BLOCK_HEAD);
    size_t at = 0;
    while (at < length) {
        size_t same = 0, before = 0;
        if (at + 4 <= length) {
            const uint32_t word = four(data + at), slot = slot_of(word);
            if (last[slot]) {
                before = last[slot] - 1u;
                if (four(data + before) == word)
                    for (same = 4; same < 258 && at + same < length; same++)
                        if (data[before + same] != data[at + same])
                            break;
            }
            last[slot] = (uint16_t)(at + 1);
        }
        if (same == 0) {
            const Code code = literals[data[at]];
            if (code.count == 0)
                return 0;
            add_bits(&out, code.bits, code.count);
            write_bits(&out);
            at++;
            continue;
        }
        const size_t beyond = at - before - 1;
        const int symbol = distance_symbols[beyond], more = symbol < 4 ? 0 : symbol / 2 - 1;
        add_bits(&out, lengths[same].bits, lengths[same].count);
        add_bits(&out, distances[symbol].bits, distances[symbol].count);
        add_bits(&out, beyond & ((1u << more) - 1), (unsigned int)more);
        write_bits(&out);
        for (const size_t end = at + same; ++at < end;)
            if (at + 4 <= length)
                last[slot_of(four(data + at))] = (uint16_t)(at + 1);
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
