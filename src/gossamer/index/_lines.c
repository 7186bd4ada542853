/* Lines of anchors in memory: the twin of `LinesInPython` in anchor_lines.py, which does the same where
 * this was not built.
 *
 * Lines stand one after the other as they do in the file, and are told apart by a table of their
 * hashes; those of a page are a chain, which begins at the last of them. A line takes 20 bytes beside
 * its own, where dictionaries of Python take 350. No object of Python is kept.
 *
 * Pages choose the words, so what is hashed is mixed with a number that nobody outside this process
 * knows: else somebody could make all lines fall on one place.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "../base/product.h"

#define API 2
#define KEY_BYTES 16
#define HOST_BYTES 8
#define HEAD_BYTES (KEY_BYTES + HOST_BYTES + 2)
#define LINK_BYTES (KEY_BYTES + 2) /* before its words (anchor_pack.py) */
#define MAX_BYTES (UINT32_MAX / 2)
#define NONE UINT32_MAX

typedef struct {
    uint32_t start;  /* where it begins */
    uint32_t before; /* the line of the same page that came before it, or NONE */
    uint32_t hash;
} Line;

/* Which line is where: open addressing, at most half full. */
typedef struct {
    uint32_t *places; /* numbers of lines, or NONE */
    size_t mask;
    size_t used;
} Table;

typedef struct {
    PyObject_HEAD
    unsigned char *bytes;
    size_t used, room;
    size_t taken; /* bytes that `take` has given away */
    Line *lines;
    size_t count, lines_room;
    Table by_line, by_page;
    uint64_t secret;
} Lines;

typedef struct {
    const unsigned char *key, *host, *text;
    size_t size; /* of the text */
} Anchor;

static uint64_t mixed(uint64_t hash, uint64_t word, uint64_t secret) {
    return folded_product(hash ^ secret, word ^ (secret >> 32 | secret << 32));
}

static uint64_t hash_of_key(const Lines *self, const unsigned char *key) {
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    return mixed(mixed(self->secret, words[0], UINT64_C(0x9E3779B97F4A7C15)), words[1],
                 self->secret);
}

static uint64_t hash_of(const Lines *self, const Anchor *anchor) {
    uint64_t word, hash = hash_of_key(self, anchor->key);
    memcpy(&word, anchor->host, sizeof word);
    hash = mixed(hash, word, self->secret);
    const unsigned char *at = anchor->text;
    size_t rest = anchor->size;
    for (; rest >= 8; rest -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = mixed(hash, word, self->secret);
    }
    word = (uint64_t)rest << 56;
    memcpy(&word, at, rest);
    hash = mixed(hash, word, self->secret);
    return hash ^ hash >> 32;
}

static size_t text_size(const unsigned char *line) {
    return (size_t)line[HEAD_BYTES - 2] << 8 | line[HEAD_BYTES - 1];
}

static int is_line(const unsigned char *line, const Anchor *anchor) {
    return memcmp(line, anchor->key, KEY_BYTES) == 0 &&
           memcmp(line + KEY_BYTES, anchor->host, HOST_BYTES) == 0 &&
           text_size(line) == anchor->size &&
           memcmp(line + HEAD_BYTES, anchor->text, anchor->size) == 0;
}

/* The place of a line in its table, or where it would be put. */
static size_t place_of_line(const Lines *self, const Anchor *anchor, uint32_t hash) {
    size_t at = hash & self->by_line.mask;
    uint32_t number;
    while ((number = self->by_line.places[at]) != NONE) {
        const Line *line = &self->lines[number];
        if (line->hash == hash && is_line(self->bytes + line->start, anchor))
            break;
        at = (at + 1) & self->by_line.mask;
    }
    return at;
}

/* The same for a page, of which the last line stands there. */
static size_t place_of_page(const Lines *self, const unsigned char *key) {
    uint64_t hash = hash_of_key(self, key);
    size_t at = (size_t)(hash >> 20) & self->by_page.mask;
    uint32_t number;
    while ((number = self->by_page.places[at]) != NONE &&
           memcmp(self->bytes + self->lines[number].start, key, KEY_BYTES) != 0)
        at = (at + 1) & self->by_page.mask;
    return at;
}

static int begin_table(Table *table, size_t size) {
    uint32_t *places = PyMem_Malloc(size * sizeof(uint32_t));
    if (places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(places, 0xFF, size * sizeof(uint32_t));
    table->places = places;
    table->mask = size - 1;
    return 0;
}

/* Room for one more in either table. */
static int widen(Lines *self) {
    if (2 * (self->by_line.used + 1) > self->by_line.mask) {
        Table old = self->by_line;
        if (begin_table(&self->by_line, 2 * (old.mask + 1)) < 0)
            return -1;
        for (uint32_t number = 0; number < self->count; number++) {
            size_t at = self->lines[number].hash & self->by_line.mask;
            while (self->by_line.places[at] != NONE)
                at = (at + 1) & self->by_line.mask;
            self->by_line.places[at] = number;
        }
        PyMem_Free(old.places);
    }
    if (2 * (self->by_page.used + 1) > self->by_page.mask) {
        Table old = self->by_page;
        if (begin_table(&self->by_page, 2 * (old.mask + 1)) < 0)
            return -1;
        for (size_t at = 0; at <= old.mask; at++)
            if (old.places[at] != NONE) {
                const Line *line = &self->lines[old.places[at]];
                self->by_page.places[place_of_page(self, self->bytes + line->start)] =
                    old.places[at];
            }
        PyMem_Free(old.places);
    }
    return 0;
}

/* Memory with room for so many things of a size, or NULL with an error set. */
static void *grown(void *old, size_t *room, size_t wanted, size_t size) {
    size_t more = wanted + wanted / 2 + 64;
    void *memory = PyMem_Realloc(old, more * size);
    if (memory == NULL)
        return PyErr_NoMemory();
    *room = more;
    return memory;
}

static int make_room(Lines *self, size_t more) {
    if (self->used + more > MAX_BYTES) {
        PyErr_NoMemory();
        return -1;
    }
    if (self->used + more > self->room) {
        void *memory = grown(self->bytes, &self->room, self->used + more, 1);
        if (memory == NULL)
            return -1;
        self->bytes = memory;
    }
    if (self->count == self->lines_room) {
        void *memory = grown(self->lines, &self->lines_room, self->count, sizeof(Line));
        if (memory == NULL)
            return -1;
        self->lines = memory;
    }
    return widen(self);
}

/* 1 when the line is put, 0 when it was there, -1 with an error set. */
static int put(Lines *self, const Lines *before, const Anchor *anchor) {
    uint32_t hash = (uint32_t)hash_of(self, anchor);
    if (self->by_line.places[place_of_line(self, anchor, hash)] != NONE)
        return 0;
    if (before != NULL) {
        uint32_t other = (uint32_t)hash_of(before, anchor);
        if (before->by_line.places[place_of_line(before, anchor, other)] != NONE)
            return 0;
    }
    if (make_room(self, HEAD_BYTES + anchor->size) < 0)
        return -1;
    size_t in_lines = place_of_line(self, anchor, hash), in_pages = place_of_page(self, anchor->key);
    unsigned char *to = self->bytes + self->used;
    memcpy(to, anchor->key, KEY_BYTES);
    memcpy(to + KEY_BYTES, anchor->host, HOST_BYTES);
    to[HEAD_BYTES - 2] = (unsigned char)(anchor->size >> 8);
    to[HEAD_BYTES - 1] = (unsigned char)anchor->size;
    memcpy(to + HEAD_BYTES, anchor->text, anchor->size);
    uint32_t number = (uint32_t)self->count++, last = self->by_page.places[in_pages];
    self->lines[number] = (Line){(uint32_t)self->used, last, hash};
    self->used += HEAD_BYTES + anchor->size;
    self->by_line.places[in_lines] = number;
    self->by_line.used++;
    self->by_page.places[in_pages] = number;
    self->by_page.used += last == NONE;
    return 1;
}

/* The link that begins at `at`, of a page; the byte after it, or NULL with an error set. */
static const unsigned char *read_link(const unsigned char *at, const unsigned char *stop,
                                      Anchor *anchor) {
    size_t size = stop - at < LINK_BYTES ? 0 : (size_t)at[KEY_BYTES] << 8 | at[KEY_BYTES + 1];
    if (stop - at < LINK_BYTES || (size_t)(stop - at) - LINK_BYTES < size) {
        PyErr_SetString(PyExc_ValueError, "half a link");
        return NULL;
    }
    anchor->key = at;
    anchor->text = at + LINK_BYTES;
    anchor->size = size;
    return anchor->text + size;
}

/* One link; its target is added to `targets` where the line is new. */
static int note_one(Lines *self, const Lines *before, const Anchor *anchor, PyObject *targets) {
    if (memcmp(anchor->key, anchor->host, KEY_BYTES) == 0) /* a link of the page to itself */
        return 0;
    int is_new = put(self, before, anchor);
    if (is_new <= 0)
        return is_new;
    PyObject *target = PyBytes_FromStringAndSize((const char *)anchor->key, KEY_BYTES);
    int failed = target == NULL || PyList_Append(targets, target) < 0;
    Py_XDECREF(target);
    return failed ? -1 : 0;
}

static PyObject *note(PyObject *me, PyObject *const *given, Py_ssize_t count) {
    Lines *self = (Lines *)me;
    if (count != 3 || !PyBytes_Check(given[0]) || !PyBytes_Check(given[1]) ||
        PyBytes_GET_SIZE(given[1]) != KEY_BYTES ||
        (given[2] != Py_None && Py_TYPE(given[2]) != Py_TYPE(me))) {
        PyErr_SetString(PyExc_TypeError, "links, the key of their page, and lines or None");
        return NULL;
    }
    const Lines *before = given[2] == Py_None ? NULL : (const Lines *)given[2];
    const unsigned char *at = (const unsigned char *)PyBytes_AS_STRING(given[0]);
    const unsigned char *stop = at + PyBytes_GET_SIZE(given[0]);
    Anchor anchor = {NULL, (const unsigned char *)PyBytes_AS_STRING(given[1]), NULL, 0};
    PyObject *targets = PyList_New(0), *answer = NULL;
    size_t start = self->used;
    int failed = targets == NULL;
    while (!failed && at < stop) {
        at = read_link(at, stop, &anchor);
        failed = at == NULL || note_one(self, before, &anchor, targets) < 0;
    }
    if (!failed)
        answer = Py_BuildValue("y#O", self->bytes == NULL ? "" : (const char *)self->bytes + start,
                               (Py_ssize_t)(self->used - start), targets);
    Py_XDECREF(targets);
    return answer;
}

/* The last line of a page, or NONE; -1 with an error set where this is no key. */
static int64_t last_of(const Lines *self, PyObject *key) {
    if (!PyBytes_Check(key) || PyBytes_GET_SIZE(key) != KEY_BYTES) {
        PyErr_SetString(PyExc_TypeError, "a key has 16 bytes");
        return -1;
    }
    const unsigned char *bytes = (const unsigned char *)PyBytes_AS_STRING(key);
    return self->by_page.places[place_of_page(self, bytes)];
}

static int count_one(PyObject *counts, const unsigned char *line) {
    PyObject *text = PyUnicode_DecodeUTF8((const char *)line + HEAD_BYTES,
                                          (Py_ssize_t)text_size(line), "replace");
    if (text == NULL)
        return -1;
    PyObject *known = PyDict_GetItemWithError(counts, text), *sum = NULL;
    long hosts = known == NULL ? 0 : PyLong_AsLong(known);
    if (!PyErr_Occurred())
        sum = PyLong_FromLong(hosts + 1);
    int failed = sum == NULL || PyDict_SetItem(counts, text, sum) < 0;
    Py_XDECREF(sum);
    Py_DECREF(text);
    return failed ? -1 : 0;
}

static PyObject *count(PyObject *me, PyObject *const *given, Py_ssize_t number) {
    Lines *self = (Lines *)me;
    if (number != 2 || !PyDict_Check(given[1])) {
        PyErr_SetString(PyExc_TypeError, "a key, and a dictionary");
        return NULL;
    }
    int64_t at = last_of(self, given[0]);
    if (at < 0)
        return NULL;
    for (; at != NONE; at = self->lines[at].before)
        if (count_one(given[1], self->bytes + self->lines[at].start) < 0)
            return NULL;
    Py_RETURN_NONE;
}

static PyObject *find(PyObject *me, PyObject *key) {
    Lines *self = (Lines *)me;
    int64_t at = last_of(self, key);
    PyObject *found = at < 0 ? NULL : PyList_New(0);
    for (; found != NULL && at != NONE; at = self->lines[at].before) {
        const unsigned char *bytes = self->bytes + self->lines[at].start;
        PyObject *line = PyBytes_FromStringAndSize(
            (const char *)bytes, (Py_ssize_t)(HEAD_BYTES + text_size(bytes)));
        if (line == NULL || PyList_Append(found, line) < 0)
            Py_CLEAR(found);
        Py_XDECREF(line);
    }
    return found;
}

static PyObject *take(PyObject *me, PyObject *nothing) {
    (void)nothing;
    Lines *self = (Lines *)me;
    size_t size = self->used - self->taken;
    const char *from = size ? (const char *)self->bytes + self->taken : "";
    PyObject *bytes = PyBytes_FromStringAndSize(from, (Py_ssize_t)size);
    if (bytes != NULL)
        self->taken = self->used;
    return bytes;
}

static PyObject *size_bytes(PyObject *me, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(((Lines *)me)->used);
}

static Py_ssize_t length(PyObject *me) { return (Py_ssize_t)((Lines *)me)->count; }

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    if (!PyArg_ParseTuple(arguments, ":Lines") || names != NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Lines has no names");
    PyObject *text = PyUnicode_FromString(__FILE__);
    Py_hash_t secret = text == NULL ? -1 : PyObject_Hash(text); /* mixed with what Python keeps */
    Py_XDECREF(text);
    if (secret == -1)
        return NULL;
    Lines *self = (Lines *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->secret = (uint64_t)secret * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)secret >> 32;
    if (begin_table(&self->by_line, 64) < 0 || begin_table(&self->by_page, 64) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void drop(PyObject *me) {
    Lines *self = (Lines *)me;
    PyTypeObject *type = Py_TYPE(me);
    PyMem_Free(self->bytes);
    PyMem_Free(self->lines);
    PyMem_Free(self->by_line.places);
    PyMem_Free(self->by_page.places);
    type->tp_free(me);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"note", (PyCFunction)(void (*)(void))note, METH_FASTCALL,
     "Add the links of a page; the lines that are new, and their targets."},
    {"count", (PyCFunction)(void (*)(void))count, METH_FASTCALL,
     "Add the anchors of a page to a dictionary of them, each with its number of hosts."},
    {"find", find, METH_O, "The lines of a page."},
    {"take", take, METH_NOARGS, "All lines that were not taken before."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"size_bytes", size_bytes, NULL, "Of all lines.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_doc, (void *)"Lines of anchors, each once, as `LinesInPython` has them."},
    {Py_tp_new, (void *)make},
    {Py_tp_dealloc, (void *)drop},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, (void *)length},
    {0, NULL},
};

static PyType_Spec type_spec = {
    .name = "gossamer.index._lines.Lines",
    .basicsize = sizeof(Lines),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = type_slots,
};

static int fill(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &type_spec, NULL);
    int failed = type == NULL || PyModule_AddObjectRef(module, "Lines", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : PyModule_AddIntConstant(module, "API", API);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.index._lines",
    .m_doc = "Lines of anchors in memory.",
    .m_size = 0,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__lines(void) { return PyModuleDef_Init(&definition); }
