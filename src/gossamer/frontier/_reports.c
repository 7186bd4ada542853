/* Rows of the state and lines of the log that every page brings, in C: the twin of rows.py, and of
 * the lines of collection/crawl_log.py.
 *
 * A page settles a row, and brings a capture, two refusals and a queued URL: in Python that is some
 * 60 steps, each of which makes values only for msgpack or a line to hold them. What is not as it
 * nearly always is (a row with a past, text that JSON escapes, a page with a word for robots) is
 * declined: the answer is None, and the twin does it. API is the number of the contract with the
 * Python side (base/native.py holds the number that it wants): raise both together when arguments or
 * answers change.
 */

#include "lines.h"

#define API 1

enum { FOUND_ITEMS = 6, REFUSAL_ITEMS = 5, DEPTH_BYTES = 2, HEAD_BYTES = 3 };
enum { URL, KEY, DEPTH, VIA, REDIRECTS }; /* of a `Found` */

/* What is read of a report, of its lease and of where it is stored. */
#define NAMES(X) \
    X(lease) X(outcome) X(reason) X(detail) X(at_us) X(status) X(type) X(size_bytes) X(digest) \
    X(title) X(language) X(modified_at) X(robots) X(redirect) X(out_links) X(is_cut) X(took_s) \
    X(stored) X(file) X(response) X(end) X(url) X(depth) X(tries) X(via) X(host) X(address) \
    X(purpose)

#define AS_MEMBER(name) PyObject *name;
typedef struct {
    NAMES(AS_MEMBER)
    PyObject *no_text, *zero;
} State;

static Said attribute(PyObject *owner, PyObject *name, PyObject **value) {
    *value = PyObject_GetAttr(owner, name);
    return *value == NULL ? FAILED : DONE;
}

static void drop_all(PyObject **values, int count) {
    for (int i = 0; i < count; i++)
        Py_XDECREF(values[i]);
}

/* The values of some attributes, new references; NULL are those that were not reached. */
static Said attributes(PyObject *owner, PyObject *const *names, PyObject **values, int count) {
    memset(values, 0, sizeof(*values) * (size_t)count);
    for (int i = 0; i < count; i++)
        if (attribute(owner, names[i], &values[i]) != DONE)
            return FAILED;
    return DONE;
}

/* None where it was declined; `made` is given up then. */
static PyObject *answer(Said said, PyObject *made) {
    if (said == DONE)
        return made;
    Py_XDECREF(made);
    return said == DECLINED ? Py_NewRef(Py_None) : NULL;
}

static PyObject *bytes_in(const Buffer *b) {
    return PyBytes_FromStringAndSize(b->start, (Py_ssize_t)b->used);
}

/* Standing and depth, as every row of a URL begins. */
static Said put_standing(Buffer *b, long standing, PyObject *depth) {
    int overflow;
    if (!PyLong_CheckExact(depth))
        return DECLINED;
    long long number = PyLong_AsLongLongAndOverflow(depth, &overflow);
    if (number == -1 && PyErr_Occurred())
        return FAILED;
    if (overflow || number < 0)
        return DECLINED;
    return put_head(b, (int)standing, (uint64_t)(number > 0xffff ? 0xffff : number), DEPTH_BYTES);
}

static Said put_all(Buffer *b, PyObject *const *values, Py_ssize_t count) {
    Said said = DONE;
    for (Py_ssize_t i = 0; i < count && said == DONE; i++)
        said = put(b, values[i]);
    return said;
}

/* -- a URL that was found */

static int is_found(PyObject *found) {
    return PyTuple_Check(found) && PyTuple_GET_SIZE(found) == FOUND_ITEMS;
}

static Said put_queued(Buffer *b, PyObject *found, PyObject *place, PyObject *first_us) {
    PyObject *values[] = {PyTuple_GET_ITEM(found, URL), place, PyTuple_GET_ITEM(found, VIA), first_us};
    Said said = put_standing(b, 0, PyTuple_GET_ITEM(found, DEPTH));
    if (said == DONE)
        said = put_list(b, 4);
    return said == DONE ? put_all(b, values, 4) : said;
}

static Said put_entry(const State *state, Buffer *b, PyObject *found) {
    PyObject *values[] = {
        PyTuple_GET_ITEM(found, KEY),       PyTuple_GET_ITEM(found, URL),
        PyTuple_GET_ITEM(found, DEPTH),     state->zero,
        PyTuple_GET_ITEM(found, REDIRECTS), PyTuple_GET_ITEM(found, VIA),
    };
    Py_ssize_t count = without_empty(values, 6);
    if (count < 1)
        return count < 0 ? FAILED : DECLINED;
    Said said = put_list(b, (size_t)count);
    return said == DONE ? put_all(b, values, count) : said;
}

PyDoc_STRVAR(queued_doc, "queued(found, place, first_us): the row of a URL just admitted and its "
                         "entry in the queue, or None");

static PyObject *queued(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    if (count != 3 || !is_found(given[0])) {
        PyErr_SetString(PyExc_TypeError, "queued(found, place, first_us)");
        return NULL;
    }
    Buffer row, entry;
    PyObject *made = NULL;
    begin(&row);
    begin(&entry);
    Said said = put_queued(&row, given[0], given[1], given[2]);
    if (said == DONE)
        said = put_entry(PyModule_GetState(module), &entry, given[0]);
    if (said == DONE)
        made = Py_BuildValue("(NN)", bytes_in(&row), bytes_in(&entry));
    end(&row);
    end(&entry);
    return answer(said, made);
}

PyDoc_STRVAR(refused_doc, "refused(found, standing, reason, detail, at_us): the row of a URL that "
                          "is refused when it is found, or None");

static PyObject *refused(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    if (count != 5 || !is_found(given[0])) {
        PyErr_SetString(PyExc_TypeError, "refused(found, standing, reason, detail, at_us)");
        return NULL;
    }
    const State *state = PyModule_GetState(module);
    PyObject *found = given[0], *via = PyTuple_GET_ITEM(found, VIA), *made = NULL;
    PyObject *after[] = {
        via, given[4], PyTuple_GET_ITEM(found, REDIRECTS), state->zero, given[2], given[3],
        state->zero, given[4],
    };
    long standing = PyLong_AsLong(given[1]);
    if (standing == -1 && PyErr_Occurred())
        return NULL;
    Buffer row;
    begin(&row);
    Said said = standing < 0 || standing > 0xff
                    ? DECLINED
                    : put_standing(&row, standing, PyTuple_GET_ITEM(found, DEPTH));
    if (said == DONE)
        said = put_list(&row, 10);
    if (said == DONE)
        said = put(&row, PyTuple_GET_ITEM(found, URL));
    if (said == DONE)
        said = put_binary(&row, "", 0);
    if (said == DONE)
        said = put_all(&row, after, 8);
    if (said == DONE)
        made = bytes_in(&row);
    end(&row);
    return answer(said, made);
}

/* -- a URL whose lease has ended */

/* What `queued` made of a URL. */
typedef struct {
    Span url, place, via;
    uint64_t first_us;
} Queued;

static int is_ascii(Span text) {
    for (size_t i = 0; i < text.size; i++)
        if (text.start[i] & 0x80)
            return 0;
    return 1;
}

/* 0 where the row is another; where it has no place it waits for its time, which is another, too. */
static int read_queued(PyObject *row, Queued *queued) {
    const unsigned char *start = (const unsigned char *)PyBytes_AS_STRING(row);
    Reader r = {start + HEAD_BYTES + 1, start + PyBytes_GET_SIZE(row)};
    if (PyBytes_GET_SIZE(row) <= HEAD_BYTES || start[0] != 0 || start[HEAD_BYTES] != 0x94)
        return 0;
    return read_sized(&r, 0xd9, &queued->url) && read_sized(&r, 0xc4, &queued->place) &&
           read_sized(&r, 0xc4, &queued->via) && read_count(&r, &queued->first_us) &&
           r.at == r.stop && queued->place.size && is_ascii(queued->url);
}

/* The number of a standing (rows.py), or -1. */
static int standing_of(PyObject *outcome) {
    if (!PyUnicode_Check(outcome))
        return -1;
    if (PyUnicode_CompareWithASCIIString(outcome, "fetched") == 0)
        return 1;
    if (PyUnicode_CompareWithASCIIString(outcome, "failed") == 0)
        return 2;
    return PyUnicode_CompareWithASCIIString(outcome, "refused") == 0 ? 3 : -1;
}

/* Of a report, in the order of `settled_row`: TRIES is of its lease. */
enum { TRIES, REASON, DETAIL, NO_TIME, AT_US, STATUS, TYPE, SIZE, DIGEST, TITLE, LANGUAGE, MODIFIED,
       ROBOTS, REDIRECT, OUT_LINKS, IS_CUT, TOOK_S, VALUES };

static Said values_of(const State *s, PyObject *report, PyObject **values) {
    PyObject *names[VALUES - AT_US] = {
        s->at_us,    s->status,      s->type,   s->size_bytes, s->digest,    s->title,
        s->language, s->modified_at, s->robots, s->redirect,   s->out_links, s->is_cut,
        s->took_s,
    };
    PyObject *lease;
    memset(values, 0, sizeof(*values) * VALUES);
    values[NO_TIME] = Py_NewRef(s->zero);
    if (attribute(report, s->lease, &lease) != DONE)
        return FAILED;
    Said said = attribute(lease, s->tries, &values[TRIES]);
    Py_DECREF(lease);
    if (said != DONE || attribute(report, s->reason, &values[REASON]) != DONE ||
        attribute(report, s->detail, &values[DETAIL]) != DONE ||
        attributes(report, names, values + AT_US, VALUES - AT_US) != DONE)
        return FAILED;
    if (values[REASON] == Py_None)
        Py_SETREF(values[REASON], Py_NewRef(s->no_text));
    int has_robots = PyObject_IsTrue(values[ROBOTS]);
    if (has_robots)
        return has_robots < 0 ? FAILED : DECLINED;
    Py_SETREF(values[ROBOTS], Py_NewRef(s->no_text));
    return DONE;
}

static Said put_settled(Buffer *b, PyObject *row, const Queued *queued, int standing,
                        PyObject *const *values) {
    Py_ssize_t count = without_empty(values, VALUES);
    if (count < 1)
        return count < 0 ? FAILED : DECLINED;
    char head[HEAD_BYTES];
    memcpy(head, PyBytes_AS_STRING(row), HEAD_BYTES);
    head[0] = (char)standing;
    if (put_bytes(b, head, HEAD_BYTES) != DONE || put_list(b, 5 + (size_t)count) != DONE ||
        put_text(b, queued->url.start, queued->url.size) != DONE ||
        put_binary(b, "", 0) != DONE ||
        put_binary(b, queued->via.start, queued->via.size) != DONE ||
        put_count(b, queued->first_us) != DONE || put_count(b, 0) != DONE)
        return FAILED; /* of sizes that were read none is too large */
    return put_all(b, values, count);
}

/* The row of a capture, of the same values. */
static Said put_capture(const State *s, Buffer *b, PyObject *report, PyObject *const *values) {
    PyObject *stored, *names[] = {s->file, s->response, s->end}, *span[3];
    if (attribute(report, s->stored, &stored) != DONE)
        return FAILED;
    Said said = attributes(stored, names, span, 3);
    Py_DECREF(stored);
    if (said == DONE) {
        PyObject *length = PyNumber_Subtract(span[2], span[1]);
        if (length == NULL)
            said = FAILED;
        else
            Py_SETREF(span[2], length);
    }
    if (said == DONE) {
        PyObject *all[] = {span[0],      span[1],        span[2],     values[STATUS],
                           values[TYPE], values[DIGEST], values[SIZE]};
        Py_ssize_t count = without_empty(all, 7);
        said = count < 0 ? FAILED : count == 0 ? DECLINED : put_list(b, (size_t)count);
        if (said == DONE)
            said = put_all(b, all, count);
    }
    drop_all(span, 3);
    return said;
}

PyDoc_STRVAR(settled_doc,
             "settled(row, report): of a row as `queued` made it the place, the row that it becomes "
             "and the row of the capture, which is empty where nothing was fetched; or None");

static PyObject *settled(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !PyBytes_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "settled(row, report)");
        return NULL;
    }
    const State *state = PyModule_GetState(module);
    PyObject *outcome, *values[VALUES], *made = NULL;
    Queued found;
    if (!read_queued(given[0], &found))
        return Py_NewRef(Py_None);
    if (attribute(given[1], state->outcome, &outcome) != DONE)
        return NULL;
    int standing = standing_of(outcome);
    Py_DECREF(outcome);
    if (standing < 0)
        return Py_NewRef(Py_None);
    Buffer row, capture;
    begin(&row);
    begin(&capture);
    Said said = values_of(state, given[1], values);
    if (said == DONE)
        said = put_settled(&row, given[0], &found, standing, values);
    if (said == DONE && standing == 1)
        said = put_capture(state, &capture, given[1], values);
    if (said == DONE)
        made = Py_BuildValue("(y#NN)", found.place.start, (Py_ssize_t)found.place.size,
                             bytes_in(&row), bytes_in(&capture));
    drop_all(values, VALUES);
    end(&row);
    end(&capture);
    return answer(said, made);
}

/* -- lines of the log */

#define COLUMN(name) ", \"" name "\": "
#define TEXT(b, name, value) write_text(b, COLUMN(name) "\"", sizeof(COLUMN(name)), value)
#define COUNT(b, name, value) write_count(b, COLUMN(name), sizeof(COLUMN(name)) - 1, value)

/* How every line begins. */
static Said write_start(Buffer *b, PyObject *at_us, PyObject *url) {
    int overflow;
    if (!PyLong_CheckExact(at_us))
        return DECLINED;
    long long moment = PyLong_AsLongLongAndOverflow(at_us, &overflow);
    if (moment == -1 && PyErr_Occurred())
        return FAILED;
    Said said = overflow ? DECLINED : WRITE(b, "{\"at\": \"");
    if (said == DONE)
        said = write_moment(b, moment);
    if (said == DONE)
        said = WRITE(b, "\", \"url\": \"");
    if (said == DONE)
        said = write_plain(b, url);
    return said == DONE ? WRITE(b, "\"") : said;
}

static Said write_lease(const State *s, Buffer *b, PyObject *lease) {
    PyObject *names[] = {s->depth, s->tries, s->via, s->host, s->address, s->purpose}, *values[6];
    Said said = attributes(lease, names, values, 6);
    if (said == DONE)
        said = COUNT(b, "depth", values[0]);
    if (said == DONE)
        said = COUNT(b, "tries", values[1]);
    if (said == DONE)
        said = TEXT(b, "via", values[2]);
    if (said == DONE)
        said = TEXT(b, "host", values[3]);
    if (said == DONE)
        said = TEXT(b, "address", values[4]);
    if (said == DONE && !PyUnicode_Check(values[5]))
        said = DECLINED;
    if (said == DONE && PyUnicode_CompareWithASCIIString(values[5], "page") != 0)
        said = TEXT(b, "purpose", values[5]);
    drop_all(values, 6);
    return said;
}

static Said write_report(const State *s, Buffer *b, PyObject *report, PyObject *lease) {
    PyObject *url, *values[8], *names[] = {s->at_us,  s->outcome, s->reason,     s->detail,
                                           s->status, s->type,    s->size_bytes, s->took_s};
    if (attribute(lease, s->url, &url) != DONE)
        return FAILED;
    Said said = attributes(report, names, values, 8);
    if (said == DONE)
        said = write_start(b, values[0], url);
    if (said == DONE)
        said = TEXT(b, "outcome", values[1]);
    if (said == DONE)
        said = TEXT(b, "reason", values[2]);
    if (said == DONE)
        said = TEXT(b, "detail", values[3]);
    if (said == DONE)
        said = COUNT(b, "status", values[4]);
    if (said == DONE)
        said = TEXT(b, "type", values[5]);
    if (said == DONE)
        said = COUNT(b, "bytes", values[6]);
    if (said == DONE)
        said = write_took(b, values[7]);
    if (said == DONE)
        said = write_lease(s, b, lease);
    Py_DECREF(url);
    drop_all(values, 8);
    return said == DONE ? WRITE(b, "}\n") : said;
}

PyDoc_STRVAR(report_doc, "report_line(report): its line in the log, or None");

static PyObject *report_line(PyObject *module, PyObject *report) {
    const State *state = PyModule_GetState(module);
    PyObject *lease, *made = NULL;
    if (attribute(report, state->lease, &lease) != DONE)
        return NULL;
    Buffer line;
    begin(&line);
    Said said = write_report(state, &line, report, lease);
    if (said == DONE)
        made = line_in(&line);
    Py_DECREF(lease);
    end(&line);
    return answer(said, made);
}

static Said write_refusal(Buffer *b, PyObject *refusal) {
    if (!PyTuple_Check(refusal) || PyTuple_GET_SIZE(refusal) != REFUSAL_ITEMS)
        return DECLINED;
    Said said = write_start(b, PyTuple_GET_ITEM(refusal, 4), PyTuple_GET_ITEM(refusal, 0));
    if (said == DONE)
        said = WRITE(b, ", \"outcome\": \"refused\"");
    if (said == DONE)
        said = TEXT(b, "reason", PyTuple_GET_ITEM(refusal, 1));
    if (said == DONE)
        said = TEXT(b, "detail", PyTuple_GET_ITEM(refusal, 2));
    if (said == DONE)
        said = COUNT(b, "depth", PyTuple_GET_ITEM(refusal, 3));
    return said == DONE ? WRITE(b, "}\n") : said;
}

PyDoc_STRVAR(refusal_doc, "refusal_lines(refusals): the lines of a list of refusals, or None");

static PyObject *refusal_lines(PyObject *module, PyObject *refusals) {
    (void)module;
    if (!PyList_Check(refusals)) {
        PyErr_SetString(PyExc_TypeError, "refusals are a list");
        return NULL;
    }
    PyObject *made = NULL;
    Said said = DONE;
    Buffer lines;
    begin(&lines);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(refusals) && said == DONE; i++)
        said = write_refusal(&lines, PyList_GET_ITEM(refusals, i));
    if (said == DONE)
        made = line_in(&lines);
    end(&lines);
    return answer(said, made);
}

/* -- the module */

#define INTERN(name) \
    if ((state->name = PyUnicode_InternFromString(#name)) == NULL) \
        return -1;

static int fill(PyObject *module) {
    State *state = PyModule_GetState(module);
    NAMES(INTERN)
    state->no_text = PyUnicode_FromString("");
    state->zero = PyLong_FromLong(0);
    if (state->no_text == NULL || state->zero == NULL)
        return -1;
    return PyModule_AddIntConstant(module, "API", API);
}

#define CLEAR(name) Py_CLEAR(state->name);

static void forget(void *module) {
    State *state = PyModule_GetState(module);
    if (state == NULL) /* it was never filled */
        return;
    NAMES(CLEAR)
    Py_CLEAR(state->no_text);
    Py_CLEAR(state->zero);
}

static PyMethodDef functions[] = {
    {"queued", (PyCFunction)(void (*)(void))queued, METH_FASTCALL, queued_doc},
    {"refused", (PyCFunction)(void (*)(void))refused, METH_FASTCALL, refused_doc},
    {"settled", (PyCFunction)(void (*)(void))settled, METH_FASTCALL, settled_doc},
    {"report_line", report_line, METH_O, report_doc},
    {"refusal_lines", refusal_lines, METH_O, refusal_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.frontier._reports",
    .m_doc = "Rows and lines that a page brings.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = slots,
    .m_free = forget,
};

PyMODINIT_FUNC PyInit__reports(void) { return PyModuleDef_Init(&definition); }
