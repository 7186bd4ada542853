/* msgpack in C: the values that rows hold, as bytes in a buffer that grows.
 *
 * Writes what the Packer of msgpack writes, the shortest form of each value, and reads back the few
 * forms that a queued row has.
 */

#ifndef GOSSAMER_PACKED_H
#define GOSSAMER_PACKED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* What a step says: it was done, what it met is left to the twin, or an exception is set. */
typedef enum { DONE = 0, DECLINED = 1, FAILED = -1 } Said;

enum { HERE = 1024 }; /* bytes of a buffer that need no memory of their own: nearly all rows */

typedef struct {
    char *start;
    size_t used, room;
    char here[HERE];
} Buffer;

static void begin(Buffer *b) {
    b->start = b->here;
    b->used = 0;
    b->room = HERE;
}

static void end(Buffer *b) {
    if (b->start != b->here)
        PyMem_Free(b->start);
}

/* Room for `more` bytes, which the caller writes; NULL with MemoryError set. */
static char *room_for(Buffer *b, size_t more) {
    if (more > b->room - b->used) {
        if (more > (size_t)PY_SSIZE_T_MAX / 4 || b->room > (size_t)PY_SSIZE_T_MAX / 4)
            return (char *)PyErr_NoMemory();
        size_t room = (b->used + more) * 2;
        char *start = b->start == b->here ? PyMem_Malloc(room) : PyMem_Realloc(b->start, room);
        if (start == NULL)
            return (char *)PyErr_NoMemory();
        if (b->start == b->here)
            memcpy(start, b->here, b->used);
        b->start = start;
        b->room = room;
    }
    char *at = b->start + b->used;
    b->used += more;
    return at;
}

static Said put_bytes(Buffer *b, const void *data, size_t size) {
    char *at = room_for(b, size);
    if (at == NULL)
        return FAILED;
    memcpy(at, data, size);
    return DONE;
}

/* A first byte, and a number in so many bytes, the highest first. */
static Said put_head(Buffer *b, int first, uint64_t number, int bytes) {
    char *at = room_for(b, 1 + (size_t)bytes);
    if (at == NULL)
        return FAILED;
    *at++ = (char)first;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        *at++ = (char)(number >> shift);
    return DONE;
}

static Said put_count(Buffer *b, uint64_t number) {
    if (number < 0x80)
        return put_head(b, (int)number, 0, 0);
    if (number <= 0xff)
        return put_head(b, 0xcc, number, 1);
    if (number <= 0xffff)
        return put_head(b, 0xcd, number, 2);
    return number <= 0xffffffff ? put_head(b, 0xce, number, 4) : put_head(b, 0xcf, number, 8);
}

static Said put_text(Buffer *b, const char *text, size_t size) {
    Said said;
    if (size < 32)
        said = put_head(b, 0xa0 | (int)size, 0, 0);
    else if (size <= 0xff)
        said = put_head(b, 0xd9, size, 1);
    else if (size <= 0xffff)
        said = put_head(b, 0xda, size, 2);
    else
        said = size <= 0xffffffff ? put_head(b, 0xdb, size, 4) : DECLINED;
    return said == DONE ? put_bytes(b, text, size) : said;
}

static Said put_binary(Buffer *b, const char *data, size_t size) {
    Said said;
    if (size <= 0xff)
        said = put_head(b, 0xc4, size, 1);
    else if (size <= 0xffff)
        said = put_head(b, 0xc5, size, 2);
    else
        said = size <= 0xffffffff ? put_head(b, 0xc6, size, 4) : DECLINED;
    return said == DONE ? put_bytes(b, data, size) : said;
}

static Said put_list(Buffer *b, size_t items) {
    return items < 16 ? put_head(b, 0x90 | (int)items, 0, 0) : put_head(b, 0xdc, items, 2);
}

static Said put_double(Buffer *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_head(b, 0xcb, bits, 8);
}

/* Text, bytes, a number that is not negative, a float or a truth; all else is declined. */
static Said put(Buffer *b, PyObject *value) {
    if (PyUnicode_Check(value)) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(value, &size);
        return text == NULL ? FAILED : put_text(b, text, (size_t)size);
    }
    if (PyBool_Check(value))
        return put_head(b, value == Py_True ? 0xc3 : 0xc2, 0, 0);
    if (PyLong_CheckExact(value)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (number == -1 && PyErr_Occurred())
            return FAILED;
        return overflow || number < 0 ? DECLINED : put_count(b, (uint64_t)number);
    }
    if (PyFloat_CheckExact(value))
        return put_double(b, PyFloat_AS_DOUBLE(value));
    if (PyBytes_CheckExact(value))
        return put_binary(b, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
    return DECLINED;
}

/* How many values are left without those at the end that are empty; -1 with an exception set. */
static Py_ssize_t without_empty(PyObject *const *values, Py_ssize_t count) {
    while (count > 0) {
        int is_true = PyObject_IsTrue(values[count - 1]);
        if (is_true)
            return is_true < 0 ? -1 : count;
        count--;
    }
    return 0;
}

/* -- reading */

typedef struct {
    const unsigned char *at, *stop;
} Reader;

typedef struct {
    const char *start;
    size_t size;
} Span;

static int read_number(Reader *r, int bytes, uint64_t *number) {
    if (r->stop - r->at < bytes)
        return 0;
    *number = 0;
    while (bytes--)
        *number = *number << 8 | *r->at++;
    return 1;
}

static int read_span(Reader *r, uint64_t size, Span *span) {
    if ((uint64_t)(r->stop - r->at) < size)
        return 0;
    *span = (Span){(const char *)r->at, (size_t)size};
    r->at += size;
    return 1;
}

/* A text or bytes of less than 64 KB; 0 where it is something else. `wide`: the first byte of the
 * form whose size has one byte; the next one has two. */
static int read_sized(Reader *r, int wide, Span *span) {
    uint64_t size;
    if (r->at == r->stop)
        return 0;
    int first = *r->at++;
    if (wide == 0xd9 && (first & 0xe0) == 0xa0)
        size = first & 0x1f;
    else if (first != wide && first != wide + 1)
        return 0;
    else if (!read_number(r, first - wide + 1, &size))
        return 0;
    return read_span(r, size, span);
}

static int read_count(Reader *r, uint64_t *number) {
    if (r->at == r->stop)
        return 0;
    int first = *r->at++;
    if (first < 0x80) {
        *number = (uint64_t)first;
        return 1;
    }
    return first >= 0xcc && first <= 0xcf && read_number(r, 1 << (first - 0xcc), number);
}

#endif
