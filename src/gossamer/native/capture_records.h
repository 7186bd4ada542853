/* The values of an exchange, and the lines that its records and its index line are made of.
 *
 * Written for the common case: an answer that is whole, from a URL in plain ASCII, with a head that
 * is stored as it came. Any other value is found out before anything is made, and declined.
 */

#ifndef GOSSAMER_CAPTURE_RECORDS_H
#define GOSSAMER_CAPTURE_RECORDS_H

#include "capture_text.h"

/* What is read of a lease and its answer, each as what it has to be. */
enum { LEASE_NUMBER, LEASE_URL, KEY, HOST, LEASE_ADDRESS, PURPOSE, DEPTH, TRIES, REDIRECTS, VIA,
       TRUSTED, MAX_BODY, SOURCE, /* of the answer from here on: */ URL, STATUS, HEAD, BODY,
       REQUEST, ADDRESS, PROTOCOL, AT_US, TOOK_S, CUT, VALUES };

typedef enum {
    NUMBER,  /* not negative */
    SECONDS, /* a float */
    YES_NO,
    BYTES,
    WORD, /* ASCII that needs no escape, as a value of a header, of our lines and of JSON */
    WORDS /* the same with spaces and quotation marks: a value of our lines alone */
} Kind;

static const struct {
    const char *name;
    Kind kind;
} FIELDS[VALUES] = {
    {"number", NUMBER},      {"url", WORD},        {"key", BYTES},       {"host", WORDS},
    {"address", WORD},       {"purpose", WORDS},   {"depth", NUMBER},    {"tries", NUMBER},
    {"redirects", NUMBER},   {"via", WORDS},       {"is_trusted", YES_NO},
    {"max_body_bytes", NUMBER}, {"source", WORDS}, {"url", WORD},        {"status", NUMBER},
    {"head", BYTES},         {"body", BYTES},      {"request", BYTES},   {"address", WORD},
    {"protocol", WORD},      {"at_us", NUMBER},    {"took_s", SECONDS},  {"cut", WORDS},
};

typedef struct {
    PyObject *held; /* what `span` points into */
    Span span;
    long long number;
} Value;

/* 1 and the value; 0 where it is not of its kind; -1 with an error set. */
static int read_value(Value *value, Kind kind) {
    PyObject *given = value->held;
    if (kind == YES_NO) {
        const int is_so = PyObject_IsTrue(given);
        value->number = is_so;
        return is_so < 0 ? -1 : 1;
    }
    if (kind == SECONDS)
        return PyFloat_CheckExact(given);
    if (kind == NUMBER) {
        int is_too_large = 0;
        if (!PyLong_CheckExact(given))
            return 0;
        value->number = PyLong_AsLongLongAndOverflow(given, &is_too_large);
        return value->number >= 0 && !is_too_large;
    }
    Py_ssize_t length;
    if (kind == BYTES) {
        if (!PyBytes_CheckExact(given))
            return 0;
        value->span = (Span){PyBytes_AS_STRING(given), (size_t)PyBytes_GET_SIZE(given)};
        return 1;
    }
    if (!PyUnicode_Check(given) || !PyUnicode_IS_ASCII(given))
        return 0;
    const char *text = PyUnicode_AsUTF8AndSize(given, &length);
    if (text == NULL)
        return -1;
    for (Py_ssize_t n = 0; n < length; n++)
        if (text[n] < ' ' || text[n] > '~' || text[n] == '\\' ||
            (kind == WORD && (text[n] == ' ' || text[n] == '"')))
            return 0;
    value->span = (Span){text, (size_t)length};
    return 1;
}

static void drop_values(Value *values) {
    for (int n = 0; n < VALUES; n++)
        Py_CLEAR(values[n].held);
}

/* As `read_value`; `values` are to be dropped in any case. */
static int read_values(Value *values, PyObject *const *names, PyObject *lease, PyObject *answer) {
    memset(values, 0, VALUES * sizeof *values);
    for (int n = 0; n < VALUES; n++) {
        values[n].held = PyObject_GetAttr(n < URL ? lease : answer, names[n]);
        const int is_read = values[n].held == NULL ? -1 : read_value(&values[n], FIELDS[n].kind);
        if (is_read <= 0)
            return is_read;
    }
    return 1;
}

static int are_same(Span one, Span other) {
    return one.length == other.length && memcmp(one.at, other.at, one.length) == 0;
}

/* Whether a line begins with these lower-case letters and hyphens, in any case. */
static int begins(const char *line, const char *end, const char *name) {
    for (; *name; name++, line++)
        if (line == end || (*line | (*name == '-' ? 0 : 32)) != *name)
            return 0;
    return 1;
}

static const char *behind_type(const char *at, const char *end) {
    while (at < end && ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || is_digit(*at) ||
                        *at == '_' || *at == '.' || *at == '+' || *at == '-'))
        at++;
    return at;
}

static const char *behind_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* The type that a line `Content-Type` names, from behind its name on. */
static Span type_in(const char *at, const char *end) {
    const Span none = {NULL, 0};
    at = behind_space(at, end);
    if (at == end || *at != ':')
        return none;
    const char *type = behind_space(at + 1, end), *slash = behind_type(type, end);
    if (slash == type || slash == end || *slash != '/')
        return none;
    const char *behind = behind_type(slash + 1, end);
    return behind == slash + 1 ? none : (Span){type, (size_t)(behind - type)};
}

/* Whether a head needs no change in front of so many bytes; `type` becomes the first it names. */
static int is_usual_head(Span head, size_t body_bytes, Span *type) {
    char wanted[48];
    const char *at = head.at, *end = at + head.length;
    const size_t wanted_length = (size_t)snprintf(wanted, sizeof wanted, ": %zu\r\n", body_bytes);
    if (head.length <= 10 || memcmp(at, "HTTP/1.", 7) != 0 || memcmp(end - 4, "\r\n\r\n", 4) != 0)
        return 0;
    for (;;) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1; /* there is one at the end */
        if (end - at == 2)
            return 1; /* the empty line */
        if (*at <= ' ' || *at > '~' || begins(at, end, "transfer-encoding"))
            return 0;
        if (!begins(at, end, "content-"))
            continue;
        if (begins(at + 8, end, "length")) {
            if ((size_t)(end - at) <= 14 + wanted_length || memcmp(at + 14, wanted, wanted_length) != 0)
                return 0;
        } else if (type->at == NULL && begins(at + 8, end, "type")) {
            *type = type_in(at + 12, end);
        }
    }
}

/* Whether a request's first line ends as all do that this program sends. */
static int is_usual_request(Span request) {
    const char *end = request.length ? memchr(request.at, '\n', request.length) : NULL;
    return end != NULL && end - request.at >= 10 && memcmp(end - 10, " HTTP/1.1\r", 10) == 0;
}

/* -- the lines of the records */

typedef struct {
    const uint8_t *request, *response, *metadata; /* 16 random bytes each */
} Ids;

static void add_start(Text *text, const Value *v, const Moment *moment, const uint8_t *id) {
    ADD(text, "\r\nWARC-Record-ID: <urn:uuid:");
    add_uuid(text, id);
    ADD(text, ">\r\nWARC-Date: ");
    add(text, moment->date, sizeof moment->date);
    ADD(text, ".");
    add_number(text, v[AT_US].number % 1000000, 6);
    ADD(text, "Z\r\nWARC-Target-URI: ");
    add_span(text, v[URL].span);
    ADD(text, "\r\n");
}

static void add_beside(Text *text, const Ids *ids) {
    ADD(text, "WARC-Concurrent-To: <urn:uuid:");
    add_uuid(text, ids->response);
    ADD(text, ">\r\n");
}

static void add_request_start(Text *text, const Value *v, const Moment *moment, const Ids *ids) {
    ADD(text, "WARC/1.1\r\nWARC-Type: request");
    add_start(text, v, moment, ids->request);
    add_beside(text, ids);
    ADD(text, "Content-Type: application/http; msgtype=request\r\n");
}

static void add_response_start(Text *text, const Value *v, const Moment *moment, const Ids *ids) {
    ADD(text, "WARC/1.1\r\nWARC-Type: response");
    add_start(text, v, moment, ids->response);
    ADD(text, "Content-Type: application/http; msgtype=response\r\n");
    if (v[ADDRESS].span.length > 0) {
        ADD(text, "WARC-IP-Address: ");
        add_span(text, v[ADDRESS].span);
        ADD(text, "\r\n");
    }
    if (v[PROTOCOL].span.length > 0) {
        ADD(text, "WARC-Protocol: ");
        add_span(text, v[PROTOCOL].span);
        ADD(text, "\r\n");
    }
}

static void add_metadata_start(Text *text, const Value *v, const Moment *moment, const Ids *ids) {
    ADD(text, "WARC/1.1\r\nWARC-Type: metadata");
    add_start(text, v, moment, ids->metadata);
    add_beside(text, ids);
    ADD(text, "Content-Type: application/warc-fields\r\n");
}

#define NUMBER_LINE(text, name, value)                                                             \
    (ADD(text, name ": "), add_number(text, (long long)(value), 1), ADD(text, "\r\n"))
#define SPAN_LINE(text, name, span) (ADD(text, name ": "), add_span(text, span), ADD(text, "\r\n"))

/* -1 with an error set. */
static int add_metadata(Text *text, const Value *v, size_t request_length) {
    const Span page = {"page", 4};
    char *took = PyOS_double_to_string(PyFloat_AS_DOUBLE(v[TOOK_S].held) * 1000, 'f', 3, 0, NULL);
    if (took == NULL)
        return -1;
    ADD(text, "outcome: fetched\r\nfetchTimeMs: ");
    add(text, took, strlen(took));
    PyMem_Free(took);
    ADD(text, "\r\n");
    NUMBER_LINE(text, "status", v[STATUS].number);
    NUMBER_LINE(text, "lease", v[LEASE_NUMBER].number);
    ADD(text, "key: ");
    add_hex(text, v[KEY].span);
    ADD(text, "\r\n");
    SPAN_LINE(text, "host", v[HOST].span);
    NUMBER_LINE(text, "depth", v[DEPTH].number);
    NUMBER_LINE(text, "maxBodyBytes", v[MAX_BODY].number);
    if (v[VIA].span.length > 0)
        SPAN_LINE(text, "via", v[VIA].span);
    if (!are_same(v[PURPOSE].span, page))
        SPAN_LINE(text, "purpose", v[PURPOSE].span);
    if (v[TRIES].number > 0)
        NUMBER_LINE(text, "tries", v[TRIES].number);
    if (v[REDIRECTS].number > 0)
        NUMBER_LINE(text, "redirects", v[REDIRECTS].number);
    if (v[TRUSTED].number)
        ADD(text, "trusted: 1\r\n");
    if (v[SOURCE].span.length > 0)
        SPAN_LINE(text, "source", v[SOURCE].span);
    SPAN_LINE(text, "protocol", v[PROTOCOL].span);
    SPAN_LINE(text, "address", v[ADDRESS].span);
    if (!are_same(v[LEASE_ADDRESS].span, v[ADDRESS].span))
        SPAN_LINE(text, "leaseAddress", v[LEASE_ADDRESS].span);
    NUMBER_LINE(text, "headBytes", v[HEAD].span.length);
    NUMBER_LINE(text, "requestLength", request_length);
    return 0;
}

#endif
