/* A capture in one step: the three records of an exchange and its line of the index, as
 * `capture_in_python` in archive/capture.py makes them.
 *
 * Texts are laid out here; digests are hashlib's and compression is isal's, as in Python. What is
 * not of the common kind (capture_records.h) is declined with None before anything is made.
 */

#include "module.h"
#include "capture_records.h"
#include "wide_registers.h"

enum { ROOM = 8192, IDS_BYTES = 48 }; /* bytes for each text that is made; what is longer is declined */

static PyObject *compress, *as_gzip, *sha1, *name_of_digest, *name_of_update, *security_names;
static PyObject *names[VALUES]; /* of the attributes in FIELDS */
static Moment last_moment;      /* of the last capture */

/* Where a capture is made. */
typedef struct {
    Value values[VALUES];
    Ids ids;
    Moment moment;
    char start[ROOM], block[ROOM], line_room[ROOM];
    Span type;
    Text line; /* of the index; it ends when the place of the response is known */
} Work;

static Text text_in(char *room) { return (Text){room, room + ROOM, 0}; }

static PyObject *bytes_in(const char *room, const Text *text) {
    return PyBytes_FromStringAndSize(room, text->at - room);
}

/* The text of the SHA-1 of one or two pieces, by hashlib; -1 with an error set. */
static int digest_of(PyObject *piece, PyObject *more, char *into) {
    PyObject *given[] = {piece, Py_False}; /* the second one is `usedforsecurity` */
    PyObject *hash = PyObject_Vectorcall(sha1, given, 1, security_names), *none = NULL;
    if (hash && more && !(none = PyObject_CallMethodOneArg(hash, name_of_update, more)))
        Py_CLEAR(hash);
    PyObject *made = hash ? PyObject_CallMethodNoArgs(hash, name_of_digest) : NULL;
    const int is_whole = made && PyBytes_Check(made) && PyBytes_GET_SIZE(made) == DIGEST_BYTES;
    if (is_whole)
        write_digest(into, (const uint8_t *)PyBytes_AS_STRING(made));
    else if (made)
        PyErr_SetString(PyExc_TypeError, "a digest has 20 bytes");
    Py_XDECREF(none);
    Py_XDECREF(made);
    Py_XDECREF(hash);
    return is_whole ? 0 : -1;
}

/* The gzip member of a record, of which this takes hold; NULL with an error set. */
static PyObject *compressed(PyObject *record, PyObject *level) {
    PyObject *member = PyObject_CallFunctionObjArgs(compress, record, level, as_gzip, NULL);
    clear_wide_registers();
    Py_DECREF(record);
    if (member && !PyBytes_Check(member)) {
        PyErr_SetString(PyExc_TypeError, "a compressed record is bytes");
        Py_CLEAR(member);
    }
    return member;
}

/* The member of a record that begins with the lines `start`, which have room for more; its block is
 * `head` and, where that is not NULL, `body`, whose digest is written to `payload`. NULL with an
 * error set, or without one where a text is too long. */
static PyObject *member_of(const char *room, Text *start, PyObject *head, PyObject *body,
                           char *payload, PyObject *level) {
    char block[DIGEST_CHARS];
    if (body && digest_of(body, NULL, payload) < 0)
        return NULL;
    if (digest_of(head, body, block) < 0)
        return NULL;
    const size_t head_bytes = (size_t)PyBytes_GET_SIZE(head);
    const size_t body_bytes = body ? (size_t)PyBytes_GET_SIZE(body) : 0;
    if (body) {
        ADD(start, "WARC-Payload-Digest: ");
        add(start, payload, DIGEST_CHARS);
        ADD(start, "\r\n");
    }
    ADD(start, "WARC-Block-Digest: ");
    add(start, block, DIGEST_CHARS);
    ADD(start, "\r\nContent-Length: ");
    add_number(start, (long long)(head_bytes + body_bytes), 1);
    ADD(start, "\r\n\r\n");
    if (start->is_short)
        return NULL;
    const size_t lines = (size_t)(start->at - room);
    PyObject *record =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(lines + head_bytes + body_bytes + 4));
    if (!record)
        return NULL;
    char *to = put(PyBytes_AS_STRING(record), room, lines);
    to = put(to, PyBytes_AS_STRING(head), head_bytes);
    if (body)
        to = put(to, PyBytes_AS_STRING(body), body_bytes);
    put(to, "\r\n\r\n", 4);
    return compressed(record, level);
}

static PyObject *request_member(Work *work, PyObject *level) {
    Text start = text_in(work->start);
    add_request_start(&start, work->values, &work->moment, &work->ids);
    return member_of(work->start, &start, work->values[REQUEST].held, NULL, NULL, level);
}

static PyObject *response_member(Work *work, char *digest, PyObject *level) {
    Text start = text_in(work->start);
    const Value *v = work->values;
    add_response_start(&start, v, &work->moment, &work->ids);
    return member_of(work->start, &start, v[HEAD].held, v[BODY].held, digest, level);
}

static PyObject *metadata_member(Work *work, size_t request_bytes, PyObject *level) {
    Text start = text_in(work->start), block = text_in(work->block);
    if (add_metadata(&block, work->values, request_bytes) < 0 || block.is_short)
        return NULL;
    PyObject *said = bytes_in(work->block, &block);
    if (!said)
        return NULL;
    add_metadata_start(&start, work->values, &work->moment, &work->ids);
    PyObject *member = member_of(work->start, &start, said, NULL, NULL, level);
    Py_DECREF(said);
    return member;
}

/* The first part of the index line; 0 where the URL is not of the common kind. */
static int begin_line(Work *work) {
    Text *line = &work->line;
    *line = text_in(work->line_room);
    if (!add_surt(line, work->values[URL].span))
        return 0;
    ADD(line, " ");
    add(line, work->moment.stamp, sizeof work->moment.stamp);
    ADD(line, " {\"url\": \"");
    add_span(line, work->values[URL].span);
    ADD(line, "\", \"mime\": \"");
    if (work->type.at == NULL)
        ADD(line, "unk");
    else
        add_lower(line, work->type.at, work->type.at + work->type.length);
    ADD(line, "\", \"status\": \"");
    add_number(line, work->values[STATUS].number, 1);
    return 1;
}

/* The rest of it; 0 where it is too long. */
static int end_line(Text *line, const char *digest, size_t length, long long offset, Span file) {
    ADD(line, "\", \"digest\": \"");
    add(line, digest, DIGEST_CHARS);
    ADD(line, "\", \"length\": \"");
    add_number(line, (long long)length, 1);
    ADD(line, "\", \"offset\": \"");
    add_number(line, offset, 1);
    ADD(line, "\", \"filename\": \"");
    add_span(line, file);
    ADD(line, "\"}");
    return !line->is_short;
}

/* The members in one, where the response lies in it, its digest, and the line. NULL as above. */
static PyObject *joined(Work *work, PyObject *const *members, const char *digest, long long start,
                        Span file) {
    const Py_ssize_t request = PyBytes_GET_SIZE(members[0]), response = PyBytes_GET_SIZE(members[1]);
    const Py_ssize_t metadata = PyBytes_GET_SIZE(members[2]), end = request + response;
    if (!end_line(&work->line, digest, (size_t)response, start + request, file))
        return NULL;
    PyObject *data = PyBytes_FromStringAndSize(NULL, end + metadata);
    if (!data)
        return NULL;
    char *to = PyBytes_AS_STRING(data);
    for (int n = 0; n < 3; n++)
        to = put(to, PyBytes_AS_STRING(members[n]), (size_t)PyBytes_GET_SIZE(members[n]));
    return Py_BuildValue("(Nnns#s#)", data, request, end, digest, (Py_ssize_t)DIGEST_CHARS,
                         work->line_room, (Py_ssize_t)(work->line.at - work->line_room));
}

static PyObject *capture(Work *work, PyObject *level, long long start, Span file) {
    PyObject *members[3] = {NULL, NULL, NULL}, *made = NULL;
    char digest[DIGEST_CHARS];
    if ((members[0] = request_member(work, level)) &&
        (members[1] = response_member(work, digest, level)) &&
        (members[2] = metadata_member(work, (size_t)PyBytes_GET_SIZE(members[0]), level)))
        made = joined(work, members, digest, start, file);
    for (int n = 0; n < 3; n++)
        Py_XDECREF(members[n]);
    return made;
}

/* Read the values of an exchange. 1; 0 where it is not of the common kind; -1 with an error set. */
static int begin_capture(Work *work, PyObject *lease, PyObject *answer) {
    const Value *v = work->values;
    const int is_read = read_values(work->values, names, lease, answer);
    if (is_read <= 0)
        return is_read;
    work->type = (Span){NULL, 0};
    if (v[CUT].span.length > 0 || v[STATUS].number == 0 || !are_same(v[LEASE_URL].span, v[URL].span) ||
        v[AT_US].number / 1000000 > LAST_SECOND || !is_usual_request(v[REQUEST].span) ||
        !is_usual_head(v[HEAD].span, v[BODY].span.length, &work->type))
        return 0;
    set_moment(&last_moment, v[AT_US].number / 1000000);
    work->moment = last_moment;
    return begin_line(work);
}

static PyObject *capture_of(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 5 || !PyBytes_Check(given[3]) || PyBytes_GET_SIZE(given[3]) != IDS_BYTES ||
        !PyTuple_Check(given[4]) || PyTuple_GET_SIZE(given[4]) != 2 ||
        !PyUnicode_Check(PyTuple_GET_ITEM(given[4], 0))) {
        PyErr_SetString(PyExc_TypeError,
                        "capture_of(lease, answer, level, 48 random bytes, (file name, its end))");
        return NULL;
    }
    PyObject *name = PyTuple_GET_ITEM(given[4], 0);
    const long long start = PyLong_AsLongLong(PyTuple_GET_ITEM(given[4], 1));
    if (PyErr_Occurred())
        return NULL;
    if (start < 0 || !PyUnicode_IS_ASCII(name))
        Py_RETURN_NONE;
    Py_ssize_t name_bytes;
    const char *text = PyUnicode_AsUTF8AndSize(name, &name_bytes);
    Work *work = text ? PyMem_Malloc(sizeof *work) : NULL;
    if (!work)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    const uint8_t *ids = (const uint8_t *)PyBytes_AS_STRING(given[3]);
    work->ids = (Ids){ids, ids + 16, ids + 32};
    PyObject *made = NULL;
    if (begin_capture(work, given[0], given[1]) > 0)
        made = capture(work, given[2], start, (Span){text, (size_t)name_bytes});
    drop_values(work->values);
    PyMem_Free(work);
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"capture_of", AS_FUNCTION(capture_of), METH_FASTCALL,
     "capture_of(lease, answer, level, ids, place): see archive/capture.py; None where it declines."},
    {NULL, NULL, 0, NULL},
};

/* An attribute of a module; NULL with an error set. */
static PyObject *imported(const char *module, const char *name) {
    PyObject *from = PyImport_ImportModule(module);
    PyObject *found = from ? PyObject_GetAttrString(from, name) : NULL;
    Py_XDECREF(from);
    return found;
}

int add_capture(PyObject *module) {
    last_moment.second = -1;
    Py_XSETREF(compress, imported("isal.igzip_lib", "compress"));
    Py_XSETREF(as_gzip, compress ? imported("isal.igzip_lib", "COMP_GZIP") : NULL);
    Py_XSETREF(sha1, as_gzip ? imported("hashlib", "sha1") : NULL);
    Py_XSETREF(name_of_digest, sha1 ? PyUnicode_InternFromString("digest") : NULL);
    Py_XSETREF(name_of_update, name_of_digest ? PyUnicode_InternFromString("update") : NULL);
    Py_XSETREF(security_names, name_of_update ? Py_BuildValue("(s)", "usedforsecurity") : NULL);
    for (int n = 0; security_names && n < VALUES; n++) {
        Py_XSETREF(names[n], PyUnicode_InternFromString(FIELDS[n].name));
        if (!names[n])
            return -1;
    }
    return security_names ? PyModule_AddFunctions(module, functions) : -1;
}
