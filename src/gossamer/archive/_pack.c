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

#define API 1
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

/* A record with room for its digests, whose places are told; NULL with an error set. */
static PyObject *laid_out(PyObject *start, const Py_buffer *head, const Py_buffer *body,
                          char **payload_digest, char **block_digest, char **block) {
    PyObject *text = PyUnicode_AsASCIIString(start);
    if (text == NULL)
        return NULL;
    const Py_ssize_t length = head->len + (body == NULL ? 0 : body->len);
    char end[64];
    const int end_length =
        snprintf(end, sizeof end, "\r\nContent-Length: %lld\r\n\r\n", (long long)length);
    const size_t start_length = (size_t)PyBytes_GET_SIZE(text);
    const size_t payload_length = body == NULL ? 0 : sizeof OF_PAYLOAD - 1 + TEXT_CHARS + 2;
    const size_t size = start_length + payload_length + sizeof OF_BLOCK - 1 + TEXT_CHARS +
                        (size_t)end_length + (size_t)length + 4;
    PyObject *record = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (record != NULL) {
        char *to = put(PyBytes_AS_STRING(record), PyBytes_AS_STRING(text), start_length);
        if (body != NULL) {
            *payload_digest = put(to, OF_PAYLOAD, sizeof OF_PAYLOAD - 1);
            to = PUT(*payload_digest + TEXT_CHARS, "\r\n");
        }
        *block_digest = put(to, OF_BLOCK, sizeof OF_BLOCK - 1);
        *block = put(*block_digest + TEXT_CHARS, end, (size_t)end_length);
        to = put(*block, head->buf, (size_t)head->len);
        if (body != NULL)
            to = put(to, body->buf, (size_t)body->len);
        PUT(to, "\r\n\r\n");
    }
    Py_DECREF(text);
    return record;
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

/* The gzip member of a record, which is given away; NULL with an error set. */
static PyObject *compressed(PyObject *module, PyObject *record, PyObject *level) {
    const State *state = PyModule_GetState(module);
    PyObject *member =
        PyObject_CallFunctionObjArgs(state->compress, record, level, state->as_gzip, NULL);
    clear_wide_registers();
    Py_DECREF(record);
    return member;
}

static PyObject *member_of(PyObject *module, PyObject *arguments) {
    PyObject *start, *level;
    Py_buffer data;
    char *unused, *block_digest, *block;
    uint8_t digest[DIGEST_BYTES];
    if (!PyArg_ParseTuple(arguments, "Uy*O:member_of", &start, &data, &level))
        return NULL;
    PyObject *record = laid_out(start, &data, NULL, &unused, &block_digest, &block);
    if (record != NULL) {
        sha1((uint8_t *)block, (size_t)data.len, digest);
        write_digest(block_digest, digest);
    }
    PyBuffer_Release(&data);
    return record == NULL ? NULL : compressed(module, record, level);
}

static PyObject *response_of(PyObject *module, PyObject *arguments) {
    PyObject *start, *level;
    Py_buffer head, body;
    char *payload_digest, *block_digest, *block, text[TEXT_CHARS];
    uint8_t digest[DIGEST_BYTES], digest_of_body[DIGEST_BYTES];
    if (!PyArg_ParseTuple(arguments, "Uy*y*O:response_of", &start, &head, &body, &level))
        return NULL;
    PyObject *record = laid_out(start, &head, &body, &payload_digest, &block_digest, &block);
    if (record != NULL) {
        sha1_both((uint8_t *)block, (size_t)(head.len + body.len), (size_t)head.len, digest,
                  digest_of_body);
        write_digest(block_digest, digest);
        write_digest(text, digest_of_body);
        memcpy(payload_digest, text, TEXT_CHARS);
    }
    PyBuffer_Release(&head);
    PyBuffer_Release(&body);
    PyObject *member = record == NULL ? NULL : compressed(module, record, level);
    return member == NULL ? NULL : Py_BuildValue("(Ns#)", member, text, (Py_ssize_t)TEXT_CHARS);
}

static PyMethodDef functions[] = {
    {"digest_of", digest_of, METH_O, "See pack.py."},
    {"member_of", member_of, METH_VARARGS, "See pack.py."},
    {"response_of", response_of, METH_VARARGS, "See pack.py."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    State *state = PyModule_GetState(module);
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
