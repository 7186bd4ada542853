/* Records and their digests in C: the twin of pack.py, where every name is explained.
 *
 * SHA-1 is a chain: each step waits for the one before it, and the processor's instructions for it
 * (SHA extensions, on x86 since 2017) wait for half of their time. The block of a response and its
 * payload end at the same byte and begin at different ones, so they are two chains over nearly the
 * same bytes. Here they take turns, block by block, and each works while the other waits: a page of
 * 37 KB takes 39 microseconds for both, where OpenSSL takes 29 for each.
 *
 * isal's compressor leaves the upper halves of the processor's wide registers in use, and until they
 * are cleared every narrow instruction, SHA-1's first of all, waits for them: 60 microseconds where
 * it takes 39. So records are also compressed from here, and the registers cleared behind it.
 *
 * Of the three records of a page two are small, and for those isal spends nearly all of its time on
 * making a Huffman code: 6 microseconds each. They are all alike, so here they have one code for ever
 * (bench/small_codes.py made it) and take 2, for 2 % more bytes.
 *
 * Without those instructions OpenSSL's own code is quicker than anything plain: IS_QUICK is 0 then,
 * and pack.py uses none of this.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define API 2
#define DIGEST_BYTES 20
#define TEXT_CHARS 37 /* "sha1:" and 32 characters of base 32 */

typedef struct {
    PyObject *compress, *as_gzip; /* isal's function, and its name for the form */
} State;

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
    const unsigned int wanted = 1u << 19 | 1u << 27 | 1u << 28; /* SSE4.1, XGETBV, AVX */
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

/* -- small records: deflate (RFC 1951) with one code for all, as a gzip member (RFC 1952) */

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

/* `sha1:` and 20 bytes as 32 characters of five bits each. */
static void write_digest(char *to, const uint8_t *digest) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    memcpy(to, "sha1:", 5);
    to += 5;
    for (int group = 0; group < 4; group++, digest += 5) {
        const uint64_t bits = (uint64_t)digest[0] << 32 | (uint64_t)digest[1] << 24 |
                              (uint64_t)digest[2] << 16 | (uint64_t)digest[3] << 8 | digest[4];
        for (int shift = 35; shift >= 0; shift -= 5)
            *to++ = letters[bits >> shift & 31];
    }
}

static char *put(char *to, const void *text, size_t length) {
    memcpy(to, text, length);
    return to + length;
}
#define PUT(to, literal) put(to, literal, sizeof(literal) - 1)

static const char OF_PAYLOAD[] = "WARC-Payload-Digest: ";
static const char OF_BLOCK[] = "WARC-Block-Digest: ";

/* What a record will hold, and how many bytes. */
typedef struct {
    const char *start;
    Py_ssize_t start_length, length, size; /* `length`: of the block */
    const Py_buffer *head, *body;          /* no body: the head is the block */
    char end[64];
} Plan;

/* -1 with an error set where `start` is no ASCII. */
static int make_plan(Plan *plan, PyObject *start, const Py_buffer *head, const Py_buffer *body) {
    if (!PyUnicode_IS_ASCII(start)) {
        Py_XDECREF(PyUnicode_AsASCIIString(start)); /* it sets the error */
        return -1;
    }
    plan->start = PyUnicode_AsUTF8AndSize(start, &plan->start_length);
    if (plan->start == NULL)
        return -1;
    plan->head = head;
    plan->body = body;
    plan->length = head->len + (body == NULL ? 0 : body->len);
    const int end_length = snprintf(plan->end, sizeof plan->end, "\r\nContent-Length: %lld\r\n\r\n",
                                    (long long)plan->length);
    plan->size = plan->start_length + (Py_ssize_t)(sizeof OF_BLOCK - 1) + TEXT_CHARS + end_length +
                 plan->length + 4;
    if (body != NULL)
        plan->size += (Py_ssize_t)(sizeof OF_PAYLOAD - 1) + TEXT_CHARS + 2;
    return 0;
}

/* Write a record; `digest` becomes the text of its body's, where it has one. */
static void write_record(const Plan *plan, char *to, char *digest) {
    uint8_t of_block[DIGEST_BYTES], of_body[DIGEST_BYTES];
    char *payload_digest = NULL;
    to = put(to, plan->start, (size_t)plan->start_length);
    if (plan->body != NULL) {
        payload_digest = PUT(to, OF_PAYLOAD);
        to = PUT(payload_digest + TEXT_CHARS, "\r\n");
    }
    char *block_digest = PUT(to, OF_BLOCK);
    char *block = put(block_digest + TEXT_CHARS, plan->end, strlen(plan->end));
    to = put(block, plan->head->buf, (size_t)plan->head->len);
    if (plan->body == NULL) {
        sha1((uint8_t *)block, (size_t)plan->length, of_block);
    } else {
        to = put(to, plan->body->buf, (size_t)plan->body->len);
        sha1_both((uint8_t *)block, (size_t)plan->length, (size_t)plan->head->len, of_block, of_body);
        write_digest(digest, of_body);
        put(payload_digest, digest, TEXT_CHARS);
    }
    write_digest(block_digest, of_block);
    PUT(to, "\r\n\r\n");
}

static PyObject *digest_of(PyObject *module, PyObject *given) {
    (void)module;
    Py_buffer data;
    uint8_t digest[DIGEST_BYTES];
    char text[TEXT_CHARS];
    if (PyObject_GetBuffer(given, &data, PyBUF_SIMPLE) < 0)
        return NULL;
    sha1(data.buf, (size_t)data.len, digest);
    PyBuffer_Release(&data);
    write_digest(text, digest);
    return PyUnicode_FromStringAndSize(text, TEXT_CHARS);
}

/* The gzip member of a record by isal; NULL with an error set. */
static PyObject *member_by_isal(PyObject *module, const Plan *plan, PyObject *level, char *digest) {
    const State *state = PyModule_GetState(module);
    PyObject *record = PyBytes_FromStringAndSize(NULL, plan->size);
    if (record == NULL)
        return NULL;
    write_record(plan, PyBytes_AS_STRING(record), digest);
    PyObject *member =
        PyObject_CallFunctionObjArgs(state->compress, record, level, state->as_gzip, NULL);
    clear_wide_registers();
    Py_DECREF(record);
    return member;
}

static PyObject *member_of(PyObject *module, PyObject *arguments) {
    PyObject *start, *level, *member = NULL;
    Py_buffer block;
    Plan plan;
    if (!PyArg_ParseTuple(arguments, "Uy*O:member_of", &start, &block, &level))
        return NULL;
    const long how_much = PyLong_AsLong(level);
    if (!(how_much == -1 && PyErr_Occurred()) && make_plan(&plan, start, &block, NULL) == 0) {
        size_t length = 0;
        uint8_t record[SMALL + 1], room[2 * SMALL + 128];
        if (plan.size <= SMALL && how_much >= 0 && how_much <= 3) { /* others isal refuses */
            write_record(&plan, (char *)record, NULL);
            length = small_member(record, (size_t)plan.size, room);
        }
        member = length > 0 ? PyBytes_FromStringAndSize((char *)room, (Py_ssize_t)length)
                            : member_by_isal(module, &plan, level, NULL);
    }
    PyBuffer_Release(&block);
    return member;
}

static PyObject *response_of(PyObject *module, PyObject *arguments) {
    PyObject *start, *level, *member = NULL;
    Py_buffer head, body;
    char digest[TEXT_CHARS];
    Plan plan;
    if (!PyArg_ParseTuple(arguments, "Uy*y*O:response_of", &start, &head, &body, &level))
        return NULL;
    if (make_plan(&plan, start, &head, &body) == 0)
        member = member_by_isal(module, &plan, level, digest);
    PyBuffer_Release(&head);
    PyBuffer_Release(&body);
    return member == NULL ? NULL : Py_BuildValue("(Ns#)", member, digest, (Py_ssize_t)TEXT_CHARS);
}

/* Whether a line begins with these lower-case letters and hyphens, in any case. */
static int begins(const char *line, const char *end, const char *name) {
    for (; *name; name++, line++)
        if (line == end || (*line | (*name == '-' ? 0 : 32)) != *name)
            return 0;
    return 1;
}

static PyObject *is_usual(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer head;
    Py_ssize_t body_bytes;
    char wanted[48];
    if (!PyArg_ParseTuple(arguments, "y*n:is_usual", &head, &body_bytes))
        return NULL;
    const char *at = head.buf, *end = at + head.len;
    const size_t wanted_length =
        (size_t)snprintf(wanted, sizeof wanted, ": %lld\r\n", (long long)body_bytes);
    int is_so = head.len > 10 && memcmp(at, "HTTP/1.", 7) == 0 && memcmp(end - 4, "\r\n\r\n", 4) == 0;
    while (is_so) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1; /* there is one at the end */
        if (end - at == 2)
            break; /* the empty line */
        if (*at <= ' ' || *at > '~' || begins(at, end, "transfer-encoding"))
            is_so = 0;
        else if (begins(at, end, "content-length"))
            is_so = (size_t)(end - at) > 14 + wanted_length &&
                    memcmp(at + 14, wanted, wanted_length) == 0;
    }
    PyBuffer_Release(&head);
    return PyBool_FromLong(is_so);
}

static PyMethodDef functions[] = {
    {"is_usual", is_usual, METH_VARARGS, "See head.py."},
    {"digest_of", digest_of, METH_O, "See pack.py."},
    {"member_of", member_of, METH_VARARGS, "See pack.py."},
    {"response_of", response_of, METH_VARARGS, "See pack.py."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    State *state = PyModule_GetState(module);
    prepare_small();
    PyObject *isal = PyImport_ImportModule("isal.igzip_lib");
    if (isal == NULL)
        return -1;
    state->compress = PyObject_GetAttrString(isal, "compress");
    state->as_gzip = PyObject_GetAttrString(isal, "COMP_GZIP");
    Py_DECREF(isal);
    if (state->compress == NULL || state->as_gzip == NULL)
        return -1;
    if (PyModule_AddIntConstant(module, "IS_QUICK", is_quick()) < 0)
        return -1;
    return PyModule_AddIntConstant(module, "API", API);
}

static int visit_state(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT(state->compress);
    Py_VISIT(state->as_gzip);
    return 0;
}

static int clear_state(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->compress);
    Py_CLEAR(state->as_gzip);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.archive._pack",
    .m_doc = "Records and their digests in C.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = visit_state,
    .m_clear = clear_state,
};

PyMODINIT_FUNC PyInit__pack(void) { return PyModuleDef_Init(&definition); }
