/* Links of pages, a generation of them, and what most new links need: the plain ones of urls/linker.py.
 *
 * A plain link is joined, named by its key and remembered, as `_learn` of linker.py does it. All
 * others are declined with NotImplemented, and so is every link once the generation is full. The
 * dictionaries are Python's, and it reads and fills them as well.
 */

#include "module.h"
#include <structmember.h>

#include "blake2b.h"

enum { MAX_CHARS = 200, MAX_LABEL = 63, KEY_BYTES = 2 * BLAKE_DIGEST, LAST_CHARS = 64 };
enum { IN_PATH = 1, IN_QUERY = 2, IN_HOST = 4, LETTER = 8 };

static unsigned char kinds[256]; /* what a character may stand in */

typedef unsigned char Char;

typedef struct {
    PyObject_HEAD
    PyObject *absolute, *by_place, *joined;
    Py_ssize_t size, limit;
    int keeps_query;
    Blake host, rest; /* both have taken the salt */
    Char last_host[LAST_CHARS], last_half[BLAKE_DIGEST]; /* most links lead to one host */
    Py_ssize_t last_chars;
    /* Of the page that was entered last: where it is, and what this generation and the one before
     * know there. All are NULL before the first; `before` is NULL where there is nothing. */
    PyObject *directory;
    Py_ssize_t origin_chars;
    PyObject *in_directory, *in_origin;
    PyObject *before_in_directory, *before_in_origin, *before_absolute, *before_joined;
} Generation;

/* The half of a key that all of a host have. */
static void half_of(Generation *self, const Char *host, Py_ssize_t chars, Char *half) {
    if (chars != self->last_chars || memcmp(host, self->last_host, chars)) {
        Blake state = self->host;
        blake_update(&state, host, chars);
        blake_end(&state, half);
        if (chars > LAST_CHARS) return;
        self->last_chars = chars;
        memcpy(self->last_host, host, chars);
        memcpy(self->last_half, half, BLAKE_DIGEST);
    }
    memcpy(half, self->last_half, BLAKE_DIGEST);
}

/* The key of a URL in canonical form: of its host, then of all the rest. */
static PyObject *key_of(Generation *self, const Char *url, Py_ssize_t size) {
    Py_ssize_t start = size > 4 && url[4] == 's' ? 8 : 7;
    const Char *slash = size > 8 ? memchr(url + 8, '/', size - 8) : NULL;
    Py_ssize_t end = slash ? slash - url : 0, colon = end;
    while (--colon >= start && url[colon] != ':') continue;
    if (colon >= start && url[end - 1] != ']') end = colon; /* an IPv6 address has colons itself */
    if (end <= start) {
        PyErr_SetString(PyExc_ValueError, "a canonical URL has a host, and a slash behind it");
        return NULL;
    }
    Blake rest = self->rest;
    Char key[KEY_BYTES];
    half_of(self, url + start, end - start, key);
    blake_update(&rest, url, start);
    blake_update(&rest, url + end, size - end);
    blake_end(&rest, key + BLAKE_DIGEST);
    return PyBytes_FromStringAndSize((const char *)key, KEY_BYTES);
}

/* URL and key of a URL in canonical form, which is ASCII: a new reference. */
static PyObject *keyed(Generation *self, PyObject *url) {
    PyObject *key = key_of(self, PyUnicode_1BYTE_DATA(url), PyUnicode_GET_LENGTH(url));
    PyObject *made = key ? PyTuple_Pack(2, url, key) : NULL;
    Py_XDECREF(key);
    if (made) PyObject_GC_UnTrack(made); /* a text and bytes: it is in no circle */
    return made;
}

/* Where segments end of which none begins with a dot, is empty, or has a coded one. */
static const Char *after_path(const Char *at, const Char *end) {
    int is_first = 1;
    for (; at < end; at++) {
        if (*at == '/') {
            if (is_first) break;
            is_first = 1;
            continue;
        }
        if (!(kinds[*at] & IN_PATH) || (is_first && *at == '.')) break;
        if (*at == '%' && end - at > 2 && at[1] == '2' && (at[2] == 'e' || at[2] == 'E')) break;
        is_first = 0;
    }
    return at;
}

/* The slash behind a host that is a plain name in lower case; NULL if there is none. */
static const Char *after_host(const Char *at, const Char *end) {
    for (int labels = 1;; labels++, at++) {
        const Char *start = at;
        int all = LETTER;
        for (; at < end && kinds[*at] & IN_HOST; at++) all &= kinds[*at];
        Py_ssize_t size = at - start;
        if (at == end || size < 1 || size > MAX_LABEL || *start == '-' || at[-1] == '-') return NULL;
        if (size > 4 && !memcmp(start, "xn--", 4)) return NULL;
        if (*at == '/') return labels > 1 && size > 1 && all ? at : NULL;
        if (*at != '.') return NULL;
    }
}

/* Whether a link is its own canonical form: `https://example.org/x/y?z=1` of plain characters. */
static int is_plain_absolute(Generation *self, const Char *at, const Char *end) {
    Py_ssize_t scheme = end - at > 8 && at[4] == 's' ? 8 : 7;
    if (end - at <= scheme || memcmp(at, scheme == 8 ? "https://" : "http://", scheme)) return 0;
    if (!(at = after_host(at + scheme, end))) return 0;
    at = after_path(at + 1, end);
    if (at == end) return 1;
    if (*at != '?' || ++at == end || !self->keeps_query) return 0;
    while (at < end && kinds[*at] & IN_QUERY) at++;
    return at == end;
}

/* How many characters of the directory are the one so many steps up; the topmost is above itself. */
static Py_ssize_t above(Generation *self, Py_ssize_t steps) {
    const Char *directory = PyUnicode_1BYTE_DATA(self->directory);
    Py_ssize_t size = PyUnicode_GET_LENGTH(self->directory);
    while (steps--) {
        Py_ssize_t parent = size - 1;
        while (parent > 0 && directory[parent - 1] != '/') parent--;
        if (parent <= self->origin_chars) break;
        size = parent;
    }
    return size;
}

/* URL and key of a link that is plain from `rest` on, below so much of the directory. */
static PyObject *joined(Generation *self, Py_ssize_t place, const Char *rest, Py_ssize_t size) {
    PyObject *url = PyUnicode_New(place + size, 127);
    if (!url) return NULL;
    memcpy(PyUnicode_1BYTE_DATA(url), PyUnicode_1BYTE_DATA(self->directory), place);
    memcpy(PyUnicode_1BYTE_DATA(url) + place, rest, size);
    PyObject *found = PyDict_GetItemWithError(self->joined, url);
    if (found || PyErr_Occurred()) {
        Py_XINCREF(found);
    } else {
        if (self->before_joined) found = PyDict_GetItemWithError(self->before_joined, url);
        if (found)
            Py_INCREF(found);
        else if (!PyErr_Occurred())
            found = keyed(self, url);
        if (found && PyDict_SetItem(self->joined, url, found)) Py_CLEAR(found);
        self->size += found != NULL;
    }
    Py_DECREF(url);
    return found;
}

static PyObject *resolved(Generation *self, PyObject *href, const Char *rest, Py_ssize_t steps) {
    if (!rest) return keyed(self, href);
    Py_ssize_t place = steps < 0 ? self->origin_chars + 1 : above(self, steps);
    const Char *start = PyUnicode_1BYTE_DATA(href);
    return joined(self, place, rest, PyUnicode_GET_LENGTH(href) - (rest - start));
}

/* Remember what a plain link means that is in none of the dictionaries of this generation. */
static PyObject *taught(Generation *self, PyObject *href, const Char *rest, Py_ssize_t steps) {
    PyObject *known, *before, *found = NULL;
    if (!rest)
        known = self->absolute, before = self->before_absolute;
    else if (steps < 0)
        known = self->in_origin, before = self->before_in_origin;
    else
        known = self->in_directory, before = self->before_in_directory;
    if (before && (found = PyDict_GetItemWithError(before, href)))
        Py_INCREF(found);
    else if (!PyErr_Occurred())
        found = resolved(self, href, rest, steps);
    if (found && PyDict_SetItem(known, href, found)) Py_CLEAR(found);
    self->size += found != NULL;
    return found;
}

static void leave(Generation *self) {
    Py_CLEAR(self->directory);
    Py_CLEAR(self->in_directory);
    Py_CLEAR(self->in_origin);
    Py_CLEAR(self->before_in_directory);
    Py_CLEAR(self->before_in_origin);
    Py_CLEAR(self->before_absolute);
    Py_CLEAR(self->before_joined);
}

static PyObject *learn(PyObject *object, PyObject *href) {
    Generation *self = (Generation *)object;
    if (self->in_origin && self->size < self->limit && PyUnicode_CheckExact(href) &&
        PyUnicode_KIND(href) == PyUnicode_1BYTE_KIND && PyUnicode_GET_LENGTH(href) <= MAX_CHARS) {
        const Char *start = PyUnicode_1BYTE_DATA(href), *rest = start;
        const Char *end = start + PyUnicode_GET_LENGTH(href);
        if (self->directory && start < end) {
            if (*rest == '/')
                rest++;
            else
                while (end - rest > 2 && !memcmp(rest, "../", 3)) rest += 3;
            if (after_path(rest, end) == end)
                return taught(self, href, rest, *start == '/' ? -1 : (rest - start) / 3);
        }
        if (is_plain_absolute(self, start, end)) return taught(self, href, NULL, 0);
    }
    if (self->size >= self->limit) leave(self); /* it is the old one from now on */
    return Py_NewRef(Py_NotImplemented);
}

static PyObject *reference(PyObject *given) { return given == Py_None ? NULL : Py_NewRef(given); }

static PyObject *enter(PyObject *object, PyObject *const *given, Py_ssize_t count) {
    Generation *self = (Generation *)object;
    if (count != 8) {
        PyErr_SetString(PyExc_TypeError, "enter takes two texts and six dictionaries");
        return NULL;
    }
    for (int i = 2; i < 8; i++)
        if (!PyDict_Check(given[i]) && (i < 4 || given[i] != Py_None)) {
            PyErr_SetString(PyExc_TypeError, "what is known at a place is a dictionary");
            return NULL;
        }
    if (!PyUnicode_Check(given[0]) || !PyUnicode_Check(given[1])) {
        PyErr_SetString(PyExc_TypeError, "directory and origin are texts");
        return NULL;
    }
    leave(self);
    /* Below another kind of directory, or none, nothing can be joined here. */
    Py_ssize_t chars = PyUnicode_GET_LENGTH(given[0]), origin = PyUnicode_GET_LENGTH(given[1]);
    if (PyUnicode_KIND(given[0]) == PyUnicode_1BYTE_KIND && origin >= 8 && chars > origin &&
        PyUnicode_MAX_CHAR_VALUE(given[0]) < 128 &&
        PyUnicode_1BYTE_DATA(given[0])[origin] == '/')
        self->directory = Py_NewRef(given[0]);
    self->origin_chars = origin;
    self->in_directory = Py_NewRef(given[2]);
    self->in_origin = Py_NewRef(given[3]);
    self->before_in_directory = reference(given[4]);
    self->before_in_origin = reference(given[5]);
    self->before_absolute = reference(given[6]);
    self->before_joined = reference(given[7]);
    Py_RETURN_NONE;
}

static PyObject *key(PyObject *object, PyObject *url) {
    if (!PyUnicode_Check(url) || PyUnicode_KIND(url) != PyUnicode_1BYTE_KIND ||
        PyUnicode_MAX_CHAR_VALUE(url) > 127) {
        PyErr_SetString(PyExc_ValueError, "a canonical URL is ASCII");
        return NULL;
    }
    return key_of((Generation *)object, PyUnicode_1BYTE_DATA(url), PyUnicode_GET_LENGTH(url));
}

static PyObject *made(PyTypeObject *type, PyObject *args, PyObject *named) {
    const char *salt;
    Py_ssize_t size, limit;
    int keeps_query;
    if (named && PyDict_GET_SIZE(named)) {
        PyErr_SetString(PyExc_TypeError, "a generation takes no names");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "y#np", &salt, &size, &limit, &keeps_query)) return NULL;
    if (size != BLAKE_KEY) {
        PyErr_SetString(PyExc_ValueError, "a salt has 16 bytes");
        return NULL;
    }
    Generation *self = (Generation *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->limit = limit;
    self->keeps_query = keeps_query;
    blake_begin(&self->host, (const Char *)salt, "host");
    blake_begin(&self->rest, (const Char *)salt, "rest");
    self->absolute = PyDict_New();
    self->by_place = PyDict_New();
    self->joined = PyDict_New();
    if (!self->absolute || !self->by_place || !self->joined) Py_CLEAR(self);
    return (PyObject *)self;
}

static void unmade(PyObject *object) {
    Generation *self = (Generation *)object;
    PyTypeObject *type = Py_TYPE(object);
    leave(self);
    Py_XDECREF(self->absolute);
    Py_XDECREF(self->by_place);
    Py_XDECREF(self->joined);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"absolute", T_OBJECT, offsetof(Generation, absolute), READONLY, NULL},
    {"by_place", T_OBJECT, offsetof(Generation, by_place), READONLY, NULL},
    {"joined", T_OBJECT, offsetof(Generation, joined), READONLY, NULL},
    {"size", T_PYSSIZET, offsetof(Generation, size), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef methods[] = {
    {"enter", AS_FUNCTION(enter), METH_FASTCALL,
     "enter(directory, origin, in_directory, in_origin, and what is known from before, or None:\n"
     " in_directory, in_origin, absolute, joined): learn links of a page there from now on."},
    {"learn", learn, METH_O, "learn(href): URL and key, now known; NotImplemented if not plain."},
    {"key", key, METH_O, "key(url): the key of a canonical URL, as keys.py has it."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_doc, "Generation(salt, limit, keeps_query): links resolved at about the same time."},
    {Py_tp_new, (void *)made},
    {Py_tp_dealloc, (void *)unmade},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec specification = {
    .name = "gossamer.native._page.Generation",
    .basicsize = sizeof(Generation),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = type_slots,
};

int add_plain_links(PyObject *module) {
    for (int c = 0; c < 128; c++) {
        int is_lower = c >= 'a' && c <= 'z', is_digit = c >= '0' && c <= '9';
        int is_word = is_lower || is_digit || (c >= 'A' && c <= 'Z') || c == '_';
        int is_path = is_word || (c && strchr("~!$&'()*+,=@.%-", c));
        int is_query = is_word || (c && strchr("~!$&()*+,=@./?:%-", c));
        kinds[c] = (Char)((is_path ? IN_PATH : 0) | (is_query ? IN_QUERY : 0) |
                          (is_lower || is_digit || c == '-' ? IN_HOST : 0) |
                          (is_lower ? LETTER : 0));
    }
    PyObject *type = PyType_FromSpec(&specification);
    int failed = !type || PyModule_AddObjectRef(module, "Generation", type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
