/* Edges of rows, gathered page by page and coded as they come: the twin of `gathered.py`.
 *
 * An edge is told by its address, which stays its own because it is held here, and looked at when it
 * first comes: that is when it was just made, and lies near. Of each field there is one dictionary;
 * before it is asked, the value of the edge before is compared, by its address too: kind and place
 * seldom change from link to link. The dictionaries are our own: eight bytes a place, and no object
 * for a number, are half of the memory that a lookup in one of Python's has to wait for.
 *
 * A number is its own hash to Python, and a page chooses the lines in which its faults stand: what is
 * looked up is mixed with a number that nobody outside this process knows, or all could be neighbours.
 */

#ifndef GOSSAMER_ROWS_GATHERED_H
#define GOSSAMER_ROWS_GATHERED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define FIELDS 7
#define EDGE_LENGTH 8
#define AHEAD 8 /* rows whose slots memory is asked for before they are wanted */
#define MOST (INT32_MAX / 2)

#ifdef __GNUC__
#define ASK_FOR(address) __builtin_prefetch(address)
#else
#define ASK_FOR(address) ((void)(address))
#endif

/* Of an edge: target, text, rel, place, kind, line, fault. Its key is no column. */
static const int field_at[FIELDS] = {0, 2, 3, 4, 5, 6, 7};

typedef struct {
    PyObject *edge; /* NULL where there is none */
    int32_t number, chars; /* of its target */
} Slot;

typedef struct {
    uint32_t hash;
    int32_t number; /* one more than it is; 0 where there is none */
} Place;

typedef struct {
    Place *places; /* which value has which number: as `slots` below */
    size_t mask;
    PyObject *values; /* a list */
    PyObject *last;   /* borrowed: the edges hold it */
    int32_t last_number;
    int32_t *codes; /* of each edge, by its number */
} Column;

typedef struct {
    PyObject_HEAD
    Slot *slots; /* which number has which edge: open addressing, at most half full */
    size_t mask;
    int32_t *forms; /* of each row the number of its edge */
    size_t rows, rows_room;
    int32_t edges, edges_room; /* how many, and how many `codes` have room for */
    Column columns[FIELDS];
    int is_busy; /* equality of values may run code of theirs, and that could call */
    uint64_t secret;
} Gathered;

static size_t first_place(const Gathered *self, PyObject *edge) {
    /* Objects lie 16 bytes apart; Fibonacci hashing spreads what is left. */
    uint64_t spread = ((uint64_t)(uintptr_t)edge >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(spread >> 20) & self->mask;
}

/* The slot of an edge, or the free one where it belongs. */
static Slot *slot_of(const Gathered *self, PyObject *edge) {
    size_t at = first_place(self, edge);
    while (self->slots[at].edge != NULL && self->slots[at].edge != edge)
        at = (at + 1) & self->mask;
    return &self->slots[at];
}

static int widen(Gathered *self) {
    const size_t size = self->mask + 1;
    Slot *old = self->slots, *slots = PyMem_Calloc(size * 2, sizeof(Slot));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->slots = slots;
    self->mask = size * 2 - 1;
    for (size_t at = 0; at < size; at++)
        if (old[at].edge != NULL)
            *slot_of(self, old[at].edge) = old[at];
    PyMem_Free(old);
    return 0;
}

/* Room for more numbers, or -1 with an error set and all as it was. */
static int extend(int32_t **numbers, size_t room) {
    int32_t *more = room > MOST ? NULL : PyMem_Realloc(*numbers, room * sizeof(int32_t));
    if (more == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *numbers = more;
    return 0;
}

static int is_edge(PyObject *edge) {
    if (PyTuple_Check(edge) && PyTuple_GET_SIZE(edge) == EDGE_LENGTH &&
        PyUnicode_Check(PyTuple_GET_ITEM(edge, 0)))
        return 1;
    PyErr_SetString(PyExc_TypeError, "an edge is a tuple of eight, the first of them a text");
    return 0;
}

static int widen_column(Column *column) {
    const size_t size = column->mask + 1, mask = size * 2 - 1;
    Place *places = PyMem_Calloc(size * 2, sizeof(Place));
    if (places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t old = 0; old < size; old++) {
        size_t at = column->places[old].hash & mask;
        if (column->places[old].number == 0)
            continue;
        while (places[at].number != 0)
            at = (at + 1) & mask;
        places[at] = column->places[old];
    }
    PyMem_Free(column->places);
    column->places = places;
    column->mask = mask;
    return 0;
}

static int are_same(PyObject *one, PyObject *other) {
    if (one == other)
        return 1;
    if (!PyUnicode_CheckExact(one) || !PyUnicode_CheckExact(other))
        return PyObject_RichCompareBool(one, other, Py_EQ);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(one);
    return length == PyUnicode_GET_LENGTH(other) && PyUnicode_KIND(one) == PyUnicode_KIND(other) &&
           !memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other), (size_t)length * PyUnicode_KIND(one));
}

/* Where a value of this hash is or belongs; -1 with an error set. */
static Py_ssize_t place_of(const Column *column, PyObject *value, uint32_t hash) {
    size_t at = hash & column->mask;
    for (int32_t number; (number = column->places[at].number) != 0; at = (at + 1) & column->mask) {
        if (column->places[at].hash != hash)
            continue;
        const int is_it = are_same(PyList_GET_ITEM(column->values, number - 1), value);
        if (is_it)
            return is_it < 0 ? -1 : (Py_ssize_t)at;
    }
    return (Py_ssize_t)at;
}

static uint32_t mixed(Py_hash_t hash, uint64_t secret) {
    uint64_t mix = (uint64_t)hash ^ secret;
    for (int round = 0; round < 2; round++)
        mix = (mix ^ mix >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(mix >> 32);
}

/* The number of a value, a new one if it is new; -1 when that failed. */
static int32_t number_of(Column *column, PyObject *value, uint64_t secret) {
    if (value == column->last)
        return column->last_number;
    const Py_hash_t whole = PyObject_Hash(value);
    if (whole == -1)
        return -1;
    const uint32_t hash = mixed(whole, secret);
    const Py_ssize_t count = PyList_GET_SIZE(column->values);
    if (2 * ((size_t)count + 1) > column->mask && widen_column(column) < 0)
        return -1;
    const Py_ssize_t at = place_of(column, value, hash);
    if (at < 0)
        return -1;
    if (column->places[at].number == 0) {
        if (PyList_Append(column->values, value) < 0)
            return -1;
        column->places[at] = (Place){hash, (int32_t)count + 1};
    }
    column->last = value;
    column->last_number = column->places[at].number - 1;
    return column->last_number;
}

static int code_fields(Gathered *self, PyObject *edge) {
    for (int field = 0; field < FIELDS; field++) {
        PyObject *value = PyTuple_GET_ITEM(edge, field_at[field]);
        int32_t found = number_of(&self->columns[field], value, self->secret);
        if (found < 0) {
            for (int one = 0; one < FIELDS; one++)
                self->columns[one].last = NULL; /* this edge will not be held */
            return -1;
        }
        self->columns[field].codes[self->edges] = found;
    }
    return 0;
}

/* Put a new edge into its slot, which is found anew if the table grows; NULL with an error set. */
static Slot *learn(Gathered *self, PyObject *edge) {
    if (!is_edge(edge))
        return NULL;
    if (self->edges == self->edges_room) {
        const int32_t room = self->edges_room * 2 + 64;
        for (int field = 0; field < FIELDS; field++)
            if (extend(&self->columns[field].codes, (size_t)room) < 0)
                return NULL;
        self->edges_room = room;
    }
    if (2 * ((size_t)self->edges + 1) > self->mask && widen(self) < 0)
        return NULL;
    if (code_fields(self, edge) < 0)
        return NULL;
    const Py_ssize_t chars = PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(edge, 0));
    Slot *slot = slot_of(self, edge);
    *slot = (Slot){Py_NewRef(edge), self->edges++, chars > MOST ? MOST : (int32_t)chars};
    return slot;
}

/* The rows of some edges, a list or tuple; how many characters their targets have, or -1. */
static long long add_rows(Gathered *self, PyObject *edges) {
    long long chars = 0;
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(edges); at++) {
        if (at + AHEAD < PySequence_Fast_GET_SIZE(edges))
            ASK_FOR(self->slots + first_place(self, PySequence_Fast_GET_ITEM(edges, at + AHEAD)));
        PyObject *edge = Py_NewRef(PySequence_Fast_GET_ITEM(edges, at));
        Slot *slot = slot_of(self, edge);
        if (slot->edge == NULL)
            slot = learn(self, edge);
        Py_DECREF(edge);
        if (slot == NULL)
            return -1;
        if (self->rows == self->rows_room) {
            const size_t room = self->rows_room + self->rows_room / 2 + 1024;
            if (extend(&self->forms, room) < 0)
                return -1;
            self->rows_room = room;
        }
        self->forms[self->rows++] = slot->number;
        chars += slot->chars;
    }
    return chars;
}

static PyObject *add(PyObject *me, PyObject *given) {
    Gathered *self = (Gathered *)me;
    if (self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "edges are just being added");
        return NULL;
    }
    PyObject *edges = PySequence_Fast(given, "edges come in a sequence");
    if (edges == NULL)
        return NULL;
    const size_t before = self->rows;
    self->is_busy = 1;
    const long long chars = add_rows(self, edges);
    self->is_busy = 0;
    Py_DECREF(edges);
    if (chars >= 0)
        return PyLong_FromLongLong(chars);
    self->rows = before; /* all of them, or none */
    return NULL;
}

static PyObject *column_of(const Gathered *self, const Column *column) {
    PyObject *bytes =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->rows * (Py_ssize_t)sizeof(int32_t));
    if (bytes == NULL)
        return NULL;
    int32_t *codes = (int32_t *)PyBytes_AS_STRING(bytes);
    for (size_t row = 0; row < self->rows; row++)
        codes[row] = column->codes[self->forms[row]];
    return Py_BuildValue("NN", bytes, PyList_GetSlice(column->values, 0, PY_SSIZE_T_MAX));
}

static PyObject *columns(PyObject *me, PyObject *nothing) {
    (void)nothing;
    const Gathered *self = (Gathered *)me;
    PyObject *answer = PyList_New(FIELDS);
    for (int field = 0; answer != NULL && field < FIELDS; field++) {
        PyObject *one = column_of(self, &self->columns[field]);
        if (one == NULL)
            Py_CLEAR(answer);
        else
            PyList_SET_ITEM(answer, field, one);
    }
    return answer;
}

static Py_ssize_t rows_of(PyObject *me) { return (Py_ssize_t)((Gathered *)me)->rows; }

static PyObject *begin(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    if (!PyArg_ParseTuple(arguments, ":Gathered") || names != NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Gathered has no names");
    PyObject *text = PyUnicode_FromString("gossamer.graph._rows");
    const Py_hash_t secret = text == NULL ? -1 : PyObject_Hash(text); /* of a key that Python keeps */
    Py_XDECREF(text);
    Gathered *self = secret == -1 ? NULL : (Gathered *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->secret = (uint64_t)secret;
    int failed = 0;
    for (int field = 0; field < FIELDS; field++) {
        self->columns[field].mask = 15;
        self->columns[field].places = PyMem_Calloc(16, sizeof(Place));
        self->columns[field].values = PyList_New(0);
        failed |= self->columns[field].places == NULL || self->columns[field].values == NULL;
    }
    self->mask = 63;
    self->slots = PyMem_Calloc(self->mask + 1, sizeof(Slot));
    if (self->slots != NULL && !failed)
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

static void end(PyObject *me) {
    Gathered *self = (Gathered *)me;
    PyTypeObject *type = Py_TYPE(me);
    for (size_t at = 0; self->slots != NULL && at <= self->mask; at++)
        Py_XDECREF(self->slots[at].edge);
    for (int field = 0; field < FIELDS; field++) {
        PyMem_Free(self->columns[field].places);
        Py_XDECREF(self->columns[field].values);
        PyMem_Free(self->columns[field].codes);
    }
    PyMem_Free(self->slots);
    PyMem_Free(self->forms);
    type->tp_free(me);
    Py_DECREF(type);
}

static PyMethodDef gathered_methods[] = {
    {"add", add, METH_O, "Add a row for each edge; how many characters their targets have."},
    {"columns", columns, METH_NOARGS, "The columns of all rows."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot gathered_slots[] = {
    {Py_tp_doc, (void *)"Edges of rows, as `GatheredInPython` has them."},
    {Py_tp_new, (void *)begin},
    {Py_tp_dealloc, (void *)end},
    {Py_tp_methods, gathered_methods},
    {Py_sq_length, (void *)rows_of},
    {0, NULL},
};

static PyType_Spec gathered_spec = {
    .name = "gossamer.graph._rows.Gathered",
    .basicsize = sizeof(Gathered),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = gathered_slots,
};

#endif
