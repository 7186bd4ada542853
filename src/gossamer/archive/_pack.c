/* Records and their digests in C: the twin of pack.py, where every name is explained, and with
 * pack_capture.h that of capture.py.
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

#include "pack_capture.h"

#define API 4

typedef struct {
    PyObject *compress, *as_gzip; /* isal's function, and its name for the form */
    PyObject *names[VALUES];      /* of the attributes in FIELDS */
    Moment moment;                /* of the last capture */
} State;

/* Others isal refuses. */
static int is_small_level(long level) { return level >= 0 && level <= 3; }

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
    PyObject *record = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)plan->size);
    if (record == NULL)
        return NULL;
    clear_wide_registers(); /* whoever used them last */
    write_record(plan, PyBytes_AS_STRING(record), digest);
    PyObject *member =
        PyObject_CallFunctionObjArgs(state->compress, record, level, state->as_gzip, NULL);
    clear_wide_registers();
    Py_DECREF(record);
    if (member != NULL && !PyBytes_Check(member)) {
        PyErr_SetString(PyExc_TypeError, "what is compressed is bytes");
        Py_CLEAR(member);
    }
    return member;
}

static Span span_of(const Py_buffer *buffer) {
    return (Span){buffer->len == 0 ? "" : buffer->buf, (size_t)buffer->len};
}

/* -1 with an error set where `given` is no ASCII. */
static int start_of(PyObject *given, Span *start) {
    Py_ssize_t length;
    if (!PyUnicode_IS_ASCII(given)) {
        Py_XDECREF(PyUnicode_AsASCIIString(given)); /* it sets the error */
        return -1;
    }
    start->at = PyUnicode_AsUTF8AndSize(given, &length);
    start->length = (size_t)length;
    return start->at == NULL ? -1 : 0;
}

static PyObject *member_of(PyObject *module, PyObject *arguments) {
    PyObject *given, *level, *member = NULL;
    Py_buffer block;
    Span start, none = {NULL, 0};
    Plan plan;
    if (!PyArg_ParseTuple(arguments, "Uy*O:member_of", &given, &block, &level))
        return NULL;
    const long how_much = PyLong_AsLong(level);
    if (!(how_much == -1 && PyErr_Occurred()) && start_of(given, &start) == 0) {
        size_t length = 0;
        uint8_t record[SMALL + 1], room[SMALL_ROOM];
        make_plan(&plan, start, span_of(&block), none);
        if (plan.size <= SMALL && is_small_level(how_much)) {
            write_record(&plan, (char *)record, NULL);
            length = small_member(record, plan.size, room);
        }
        member = length > 0 ? PyBytes_FromStringAndSize((char *)room, (Py_ssize_t)length)
                            : member_by_isal(module, &plan, level, NULL);
    }
    PyBuffer_Release(&block);
    return member;
}

static PyObject *response_of(PyObject *module, PyObject *arguments) {
    PyObject *given, *level, *member = NULL;
    Py_buffer head, body;
    char digest[TEXT_CHARS];
    Span start;
    Plan plan;
    if (!PyArg_ParseTuple(arguments, "Uy*y*O:response_of", &given, &head, &body, &level))
        return NULL;
    if (start_of(given, &start) == 0) {
        make_plan(&plan, start, span_of(&head), span_of(&body));
        member = member_by_isal(module, &plan, level, digest);
    }
    PyBuffer_Release(&head);
    PyBuffer_Release(&body);
    return member == NULL ? NULL : Py_BuildValue("(Ns#)", member, digest, (Py_ssize_t)TEXT_CHARS);
}

static PyObject *is_usual(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer head;
    Py_ssize_t body_bytes;
    Span type = {NULL, 0};
    if (!PyArg_ParseTuple(arguments, "y*n:is_usual", &head, &body_bytes))
        return NULL;
    const int is_so = body_bytes >= 0 && is_usual_head(span_of(&head), (size_t)body_bytes, &type);
    PyBuffer_Release(&head);
    return PyBool_FromLong(is_so);
}

/* The members in one, where the response lies in it, its digest, and the line. */
static PyObject *joined(Work *work, PyObject *response, const char *digest, long long start,
                        Span file) {
    const size_t length = (size_t)PyBytes_GET_SIZE(response), request = work->request_length;
    if (!end_line(&work->line, digest, length, start + (long long)request, file))
        Py_RETURN_NONE;
    PyObject *data =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(request + length + work->metadata_length));
    if (data == NULL)
        return NULL;
    char *to = put(PyBytes_AS_STRING(data), work->members, request);
    to = put(to, PyBytes_AS_STRING(response), length);
    put(to, work->members + request, work->metadata_length);
    return Py_BuildValue("(Nnns#s#)", data, (Py_ssize_t)request, (Py_ssize_t)(request + length),
                         digest, (Py_ssize_t)TEXT_CHARS, work->line_room,
                         (Py_ssize_t)(work->line.at - work->line_room));
}

static PyObject *capture_of(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    State *state = PyModule_GetState(module);
    if (count != 5 || !PyBytes_Check(given[3]) || PyBytes_GET_SIZE(given[3]) != 48 ||
        !PyTuple_Check(given[4]) || PyTuple_GET_SIZE(given[4]) != 2 ||
        !PyUnicode_Check(PyTuple_GET_ITEM(given[4], 0))) {
        PyErr_SetString(PyExc_TypeError,
                        "capture_of(lease, answer, level, 48 random bytes, (file name, its end))");
        return NULL;
    }
    PyObject *name = PyTuple_GET_ITEM(given[4], 0);
    const long how_much = PyLong_AsLong(given[2]);
    const long long start = PyLong_AsLongLong(PyTuple_GET_ITEM(given[4], 1));
    if (PyErr_Occurred())
        return NULL;
    Span file;
    if (!is_small_level(how_much) || start < 0 || !PyUnicode_IS_ASCII(name))
        Py_RETURN_NONE;
    Work *work = start_of(name, &file) < 0 ? NULL : PyMem_Malloc(sizeof *work);
    if (work == NULL)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    const uint8_t *ids = (uint8_t *)PyBytes_AS_STRING(given[3]);
    work->ids = (Ids){ids, ids + 16, ids + 32};
    const int is_begun = begin_capture(work, state->names, given[0], given[1], &state->moment);
    PyObject *made = NULL;
    if (is_begun > 0) {
        Plan plan;
        char digest[TEXT_CHARS];
        const Span lines = {work->start, work->start_length};
        make_plan(&plan, lines, work->values[HEAD].span, work->values[BODY].span);
        PyObject *response = member_by_isal(module, &plan, given[2], digest);
        if (response != NULL)
            made = joined(work, response, digest, start, file);
        Py_XDECREF(response);
    } else if (is_begun == 0) {
        made = Py_NewRef(Py_None);
    }
    drop_values(work->values);
    PyMem_Free(work);
    return made;
}

static PyMethodDef functions[] = {
    {"is_usual", is_usual, METH_VARARGS, "See head.py."},
    {"digest_of", digest_of, METH_O, "See pack.py."},
    {"member_of", member_of, METH_VARARGS, "See pack.py."},
    {"response_of", response_of, METH_VARARGS, "See pack.py."},
    {"capture_of", (PyCFunction)(void (*)(void))capture_of, METH_FASTCALL, "See capture.py."},
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
    state->moment.second = -1;
    for (int n = 0; n < VALUES; n++)
        if ((state->names[n] = PyUnicode_InternFromString(FIELDS[n].name)) == NULL)
            return -1;
    if (PyModule_AddIntConstant(module, "IS_QUICK", is_quick()) < 0)
        return -1;
    return PyModule_AddIntConstant(module, "API", API);
}

static int visit_state(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT(state->compress);
    Py_VISIT(state->as_gzip);
    for (int n = 0; n < VALUES; n++)
        Py_VISIT(state->names[n]);
    return 0;
}

static int clear_state(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->compress);
    Py_CLEAR(state->as_gzip);
    for (int n = 0; n < VALUES; n++)
        Py_CLEAR(state->names[n]);
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
