/* An answer as libcurl brings it, and the headers in it: intake.py's and head.py's forms in C.
 *
 * libcurl calls ten times for a head and three times for a body, and each call goes through pycurl:
 * here a line of a head is one copy of its bytes, and Python is asked when the head is whole.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "head_lines.h"

#define API 2

/* libcurl gives up after any number but the length; after this one it brings the piece again. */
enum { STOP = -1, PAUSE = 0x10000001 };
enum { MAX_INTERIM = 20, SHORT_BYTES = 128 * 1024, FIRST_LINES = 1024, KEPT_LINES = 16 * 1024 };

static Span span_of(PyObject *bytes) {
    const Byte *at = (const Byte *)PyBytes_AS_STRING(bytes);
    return (Span){at, at + PyBytes_GET_SIZE(bytes)};
}

static int check_bytes(PyObject *given) {
    if (PyBytes_Check(given)) return 0;
    PyErr_SetString(PyExc_TypeError, "bytes are wanted");
    return -1;
}

/* -- Lines: the headers of one answer */

typedef struct {
    PyObject_HEAD
    PyObject *head;
} Lines;

static PyObject *lines_made(PyTypeObject *type, PyObject *given, PyObject *named) {
    (void)named;
    PyObject *head;
    if (!PyArg_ParseTuple(given, "S", &head)) return NULL;
    Lines *self = (Lines *)type->tp_alloc(type, 0);
    if (self) self->head = Py_NewRef(head);
    return (PyObject *)self;
}

static void lines_unmade(Lines *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->head);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *text_of(Span value) {
    return PyUnicode_DecodeLatin1((const char *)value.at, value.end - value.at, NULL);
}

/* Where to look for a name; 0 where no head can have it, -1 where it is no text. */
static int name_in(PyObject *given, Span *name) {
    if (!PyUnicode_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a name is a text");
        return -1;
    }
    if (PyUnicode_KIND(given) != PyUnicode_1BYTE_KIND) return 0;
    name->at = PyUnicode_1BYTE_DATA(given);
    name->end = name->at + PyUnicode_GET_LENGTH(given);
    return 1;
}

static PyObject *lines_first(Lines *self, PyObject *given) {
    Span name, value, rest = span_of(self->head);
    int has = name_in(given, &name);
    if (has < 0) return NULL;
    if (!has || !next_value(&rest, name, &value)) return PyUnicode_FromStringAndSize(NULL, 0);
    return text_of(value);
}

static PyObject *lines_all(Lines *self, PyObject *given) {
    Span name, value, rest = span_of(self->head);
    int has = name_in(given, &name);
    PyObject *found = has < 0 ? NULL : PyList_New(0);
    while (found && has && next_value(&rest, name, &value)) {
        PyObject *text = text_of(value);
        if (!text || PyList_Append(found, text)) Py_CLEAR(found);
        Py_XDECREF(text);
    }
    return found;
}

static PyObject *lines_length(Lines *self, PyObject *none) {
    (void)none;
    long long length = length_in(span_of(self->head));
    if (length < 0) Py_RETURN_NONE;
    return PyLong_FromLongLong(length);
}

static PyMethodDef lines_methods[] = {
    {"first", (PyCFunction)(void (*)(void))lines_first, METH_O,
     "first(name): the first value of a header, its name in lower case; or an empty text."},
    {"all", (PyCFunction)(void (*)(void))lines_all, METH_O, "all(name): every value of a header."},
    {"length", (PyCFunction)(void (*)(void))lines_length, METH_NOARGS,
     "length(): the Content-Length, or None."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lines_slots[] = {
    {Py_tp_doc, "Lines(head): the headers of one response, from its bytes."},
    {Py_tp_new, (void *)lines_made},
    {Py_tp_dealloc, (void *)lines_unmade},
    {Py_tp_methods, lines_methods},
    {0, NULL},
};

static PyType_Spec lines_specification = {
    .name = "gossamer.fetch._intake.Lines",
    .basicsize = sizeof(Lines),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = lines_slots,
};

/* -- Intake: one answer under way */

typedef struct {
    PyObject_HEAD
    PyObject *may_hold, *on_head, *on_start, *on_fault;
    Py_ssize_t max_header_bytes, header_bytes;
    Byte *lines; /* of the head that is coming */
    Py_ssize_t size, space;
    int interim, status;
    char is_whole, is_watched, is_cut;
    PyObject *head; /* never NULL */
    PyObject *passed; /* a Content-Type that is wanted, or NULL */
    Py_ssize_t max_body_bytes, body_bytes, granted; /* `granted` may be held, or is */
    PyObject *room;   /* as long as the head says that the body is; or NULL */
    PyObject *pieces; /* a list, in its place; or NULL */
} Intake;

static void forget_body(Intake *self) {
    self->body_bytes = self->granted = 0;
    Py_CLEAR(self->room);
    Py_CLEAR(self->pieces);
}

/* Room for a usual head stays; of thousands of handles each could hold that of a huge one. */
static void forget_lines(Intake *self) {
    self->size = 0;
    if (self->space <= KEPT_LINES) return;
    PyMem_Free(self->lines);
    self->lines = NULL;
    self->space = 0;
}

static void forget(Intake *self) {
    self->header_bytes = 0;
    self->interim = self->status = 0;
    self->is_whole = self->is_watched = self->is_cut = 0;
    forget_lines(self);
    forget_body(self);
}

static PyObject *intake_made(PyTypeObject *type, PyObject *given, PyObject *named) {
    (void)named;
    PyObject *may_hold, *on_head, *on_start, *on_fault;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(given, "nOOOO", &most, &may_hold, &on_head, &on_start, &on_fault))
        return NULL;
    PyObject *empty = PyBytes_FromStringAndSize(NULL, 0);
    Intake *self = empty ? (Intake *)type->tp_alloc(type, 0) : NULL;
    if (!self) {
        Py_XDECREF(empty);
        return NULL;
    }
    self->max_header_bytes = most;
    self->may_hold = Py_NewRef(may_hold);
    self->on_head = Py_NewRef(on_head);
    self->on_start = Py_NewRef(on_start);
    self->on_fault = Py_NewRef(on_fault);
    self->head = empty;
    return (PyObject *)self;
}

static int intake_visit(Intake *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->may_hold);
    Py_VISIT(self->on_head);
    Py_VISIT(self->on_start);
    Py_VISIT(self->on_fault);
    return 0;
}

/* Nobody is called any more, and whoever would be is None, not NULL. */
static int intake_clear(Intake *self) {
    Py_SETREF(self->may_hold, Py_NewRef(Py_None));
    Py_SETREF(self->on_head, Py_NewRef(Py_None));
    Py_SETREF(self->on_start, Py_NewRef(Py_None));
    Py_SETREF(self->on_fault, Py_NewRef(Py_None));
    return 0;
}

static void intake_unmade(Intake *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->may_hold);
    Py_XDECREF(self->on_head);
    Py_XDECREF(self->on_start);
    Py_XDECREF(self->on_fault);
    forget_body(self);
    Py_XDECREF(self->head);
    Py_XDECREF(self->passed);
    PyMem_Free(self->lines);
    type->tp_free(self);
    Py_DECREF(type);
}

static int set_head(Intake *self, const Byte *at, Py_ssize_t size) {
    PyObject *head = PyBytes_FromStringAndSize((const char *)at, size);
    if (!head) return -1;
    Py_SETREF(self->head, head);
    return 0;
}

static PyObject *intake_begin(Intake *self, PyObject *most) {
    Py_ssize_t max_body_bytes = PyLong_AsSsize_t(most);
    if ((max_body_bytes == -1 && PyErr_Occurred()) || set_head(self, NULL, 0)) return NULL;
    self->max_body_bytes = max_body_bytes;
    forget(self);
    Py_RETURN_NONE;
}

static PyObject *intake_end(Intake *self, PyObject *none) {
    (void)none;
    if (set_head(self, NULL, 0)) return NULL;
    forget_lines(self);
    forget_body(self);
    Py_RETURN_NONE;
}

static PyObject *fail(Intake *self, const char *form, Py_ssize_t number) {
    PyObject *sentence = PyUnicode_FromFormat(form, number);
    PyObject *none = sentence ? PyObject_CallOneArg(self->on_fault, sentence) : NULL;
    Py_XDECREF(sentence);
    if (!none) return NULL;
    Py_DECREF(none);
    return PyLong_FromLong(STOP);
}

static PyObject *intake_let_pass(Intake *self, PyObject *type) {
    Span text;
    int has = name_in(type, &text);
    if (has < 0) return NULL;
    Py_XSETREF(self->passed, has ? Py_NewRef(type) : NULL);
    Py_RETURN_NONE;
}

/* Whether the head is like one that was let pass. */
static int passes(Intake *self) {
    Span head = span_of(self->head), value, type = {NULL, NULL};
    if (self->status != 200 || !self->passed) return 0;
    Py_ssize_t chars = PyUnicode_GET_LENGTH(self->passed);
    first_value(head, "content-type", &type);
    if (type.end - type.at != chars) return 0;
    if (chars && memcmp(type.at, PyUnicode_1BYTE_DATA(self->passed), chars)) return 0;
    return !first_value(head, "set-cookie", &value) && length_in(head) <= self->max_body_bytes;
}

static PyObject *head_is_whole(Intake *self) {
    self->is_whole = 1;
    if (set_head(self, self->lines, self->size)) return NULL;
    self->status = status_in(span_of(self->head));
    if (passes(self)) Py_RETURN_NONE;
    if (self->status >= 200) return PyObject_CallNoArgs(self->on_head);
    if (++self->interim > MAX_INTERIM)
        return fail(self, "more than %zd interim answers", MAX_INTERIM);
    Py_RETURN_NONE;
}

static int append(Intake *self, Span line) {
    Py_ssize_t length = line.end - line.at;
    if (self->space - self->size <= length) { /* there is room where a line is empty, too */
        Py_ssize_t space = 2 * self->space + length + FIRST_LINES;
        Byte *more = PyMem_Realloc(self->lines, space);
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        self->lines = more;
        self->space = space;
    }
    memcpy(self->lines + self->size, line.at, length);
    self->size += length;
    return 0;
}

static PyObject *intake_header(Intake *self, PyObject *given) {
    if (check_bytes(given)) return NULL;
    Span line = span_of(given);
    Py_ssize_t length = line.end - line.at;
    self->header_bytes += length;
    if (self->header_bytes > self->max_header_bytes)
        return fail(self, "more than %zd bytes of headers", self->max_header_bytes);
    if (self->is_whole) {
        if (self->body_bytes || length < 5 || memcmp(line.at, "HTTP/", 5)) Py_RETURN_NONE;
        self->size = 0; /* that was no trailer, but the next answer */
        self->is_whole = self->is_watched = 0;
    }
    if (append(self, line)) return NULL;
    if (length == 2 ? !memcmp(line.at, "\r\n", 2) : length == 1 && *line.at == '\n')
        return head_is_whole(self);
    Py_RETURN_NONE;
}

/* Whether so many bytes more may be held: 1, 0, or -1 for an exception. For a short body it is
 * asked once, for there is one place for all of it. */
static int has_room(Intake *self, Py_ssize_t count) {
    Py_ssize_t needed = self->body_bytes + count;
    if (!self->granted) {
        long long length = length_in(span_of(self->head));
        if (length > needed && length <= SHORT_BYTES) needed = (Py_ssize_t)length;
    }
    if (needed <= self->granted) return 1;
    PyObject *number = PyLong_FromSsize_t(needed - self->granted);
    PyObject *answer = number ? PyObject_CallOneArg(self->may_hold, number) : NULL;
    int may = answer ? PyObject_IsTrue(answer) : -1;
    if (may > 0) self->granted = needed;
    Py_XDECREF(number);
    Py_XDECREF(answer);
    return may;
}

/* Whether the first piece is not wanted: 1, 0, or -1 for an exception. */
static int is_unwanted(Intake *self, PyObject *piece) {
    if (!self->is_watched || self->body_bytes || self->status < 200 || self->status >= 300)
        return 0;
    PyObject *answer = PyObject_CallOneArg(self->on_start, piece);
    int is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is;
}

/* What has come goes into a list, since it is not as long as the head says. */
static int leave_room(Intake *self) {
    PyObject *pieces = PyList_New(0);
    if (pieces && self->room) {
        const char *start = PyBytes_AS_STRING(self->room);
        PyObject *piece = PyBytes_FromStringAndSize(start, self->body_bytes);
        if (!piece || PyList_Append(pieces, piece)) Py_CLEAR(pieces);
        Py_XDECREF(piece);
    }
    if (!pieces) return -1;
    Py_CLEAR(self->room);
    Py_XSETREF(self->pieces, pieces);
    return 0;
}

/* Hold a piece: a copy where the body will be, if its end is known and not far; else itself. */
static int hold(Intake *self, PyObject *piece) {
    Py_ssize_t count = PyBytes_GET_SIZE(piece);
    if (!self->room && !self->pieces && count < self->granted) {
        self->room = PyBytes_FromStringAndSize(NULL, self->granted);
        if (!self->room) return -1;
    }
    if (self->room && count <= PyBytes_GET_SIZE(self->room) - self->body_bytes) {
        memcpy(PyBytes_AS_STRING(self->room) + self->body_bytes, PyBytes_AS_STRING(piece), count);
    } else {
        if (!self->pieces && leave_room(self)) return -1;
        if (PyList_Append(self->pieces, piece)) return -1;
    }
    self->body_bytes += count;
    return 0;
}

static PyObject *cut_off(Intake *self, PyObject *piece, Py_ssize_t count) {
    PyObject *start = PyBytes_FromStringAndSize(PyBytes_AS_STRING(piece), count);
    int failed = !start || hold(self, start);
    Py_XDECREF(start);
    if (failed) return NULL;
    self->is_cut = 1;
    return PyLong_FromLong(STOP);
}

static PyObject *intake_body(Intake *self, PyObject *piece) {
    if (check_bytes(piece)) return NULL;
    int unwanted = is_unwanted(self, piece);
    if (unwanted) return unwanted < 0 ? NULL : PyLong_FromLong(STOP);
    Py_ssize_t count = PyBytes_GET_SIZE(piece), left = self->max_body_bytes - self->body_bytes;
    int may = has_room(self, count);
    if (may <= 0) return may < 0 ? NULL : PyLong_FromLong(PAUSE);
    if (count > left) return cut_off(self, piece, left < 0 ? 0 : left);
    if (hold(self, piece)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *intake_taken(Intake *self, PyObject *none) {
    (void)none;
    if (self->room && PyBytes_GET_SIZE(self->room) == self->body_bytes) {
        PyObject *body = self->room;
        self->room = NULL;
        forget_body(self);
        return body;
    }
    PyObject *empty = PyBytes_FromStringAndSize(NULL, 0), *body = NULL;
    if (empty && (self->pieces || !leave_room(self)))
        body = PyObject_CallMethod(empty, "join", "O", self->pieces);
    Py_XDECREF(empty);
    if (body) forget_body(self);
    return body;
}

static PyMethodDef intake_methods[] = {
    {"begin", (PyCFunction)(void (*)(void))intake_begin, METH_O,
     "begin(max_body_bytes): the next answer will come."},
    {"let_pass", (PyCFunction)(void (*)(void))intake_let_pass, METH_O,
     "let_pass(content_type): on_head need not be called for a page of that very type."},
    {"header", (PyCFunction)(void (*)(void))intake_header, METH_O,
     "header(line): of the head, or a trailer."},
    {"body", (PyCFunction)(void (*)(void))intake_body, METH_O, "body(piece): the next of the body."},
    {"taken", (PyCFunction)(void (*)(void))intake_taken, METH_NOARGS,
     "taken(): all that came of the body; it is not held any longer."},
    {"end", (PyCFunction)(void (*)(void))intake_end, METH_NOARGS, "end(): hold nothing."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef intake_members[] = {
    {"head", T_OBJECT, offsetof(Intake, head), READONLY, NULL},
    {"status", T_INT, offsetof(Intake, status), READONLY, NULL},
    {"is_cut", T_BOOL, offsetof(Intake, is_cut), READONLY, NULL},
    {"is_watched", T_BOOL, offsetof(Intake, is_watched), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot intake_slots[] = {
    {Py_tp_doc, "Intake(max_header_bytes, may_hold, on_head, on_start, on_fault): one answer."},
    {Py_tp_new, (void *)intake_made},
    {Py_tp_dealloc, (void *)intake_unmade},
    {Py_tp_traverse, (void *)intake_visit},
    {Py_tp_clear, (void *)intake_clear},
    {Py_tp_members, intake_members},
    {Py_tp_methods, intake_methods},
    {0, NULL},
};

static PyType_Spec intake_specification = {
    .name = "gossamer.fetch._intake.Intake",
    .basicsize = sizeof(Intake),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = intake_slots,
};

static PyObject *status_of(PyObject *module, PyObject *head) {
    (void)module;
    return check_bytes(head) ? NULL : PyLong_FromLong(status_in(span_of(head)));
}

static PyMethodDef functions[] = {
    {"status_of", status_of, METH_O, "status_of(head): the status of a response, or 0."},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module, PyType_Spec *specification, const char *name) {
    PyObject *type = PyType_FromSpec(specification);
    int failed = !type || PyModule_AddObjectRef(module, name, type);
    Py_XDECREF(type);
    return failed;
}

static int fill(PyObject *module) {
    if (add_type(module, &lines_specification, "Lines")) return -1;
    if (add_type(module, &intake_specification, "Intake")) return -1;
    return PyModule_AddIntConstant(module, "API", API);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.fetch._intake",
    .m_doc = "Answers as libcurl brings them, in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__intake(void) { return PyModuleDef_Init(&definition); }
