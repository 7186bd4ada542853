/* Links and what they are known to mean: a dictionary by href, words, rel, kind and place.
 *
 * A link of a page is made for that page, so Python would have to hash each of its texts for one
 * look. Here href, words and rel are digested together, by words of 8 bytes and with secrets of the
 * process, so that no page can have links of one digest on purpose. It has 128 bits, and stands for
 * them as the key of a URL stands for the URL: they are not kept, and not compared, which would be
 * to wait for memory three times a link. Kind and place, of which there are few, are the edge's own.
 */

#ifndef GOSSAMER_KNOWN_LINKS_H
#define GOSSAMER_KNOWN_LINKS_H

#include "module.h"

enum { HREF, KIND, TEXT, REL, PLACE, LINK_ITEMS, EDGE_PLACE = 4, EDGE_KIND = 5, SMALLEST = 16 };

typedef struct {
    uint64_t one, other;
} Digest;

typedef struct {
    Digest digest;
    PyObject *edge; /* NULL where there is none; an empty tuple for what is no link */
} Entry;

/* Open addressing, at most two thirds full; nothing is taken out. */
typedef struct {
    PyObject_HEAD
    Entry *entries;
    size_t mask, used;
} Known;

static PyTypeObject *known_type;
static uint64_t secrets[6]; /* three for each half of a digest */

/* The halves of a product of 128 bits, folded: no bit of one number moves another by a known
 * distance. */
static inline uint64_t folded_product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), one = (a >> 32) * (b & UINT32_MAX);
    uint64_t other = (a & UINT32_MAX) * (b >> 32), high = (a >> 32) * (b >> 32);
    uint64_t middle = (low >> 32) + (one & UINT32_MAX) + other;
    return (middle << 32 | (low & UINT32_MAX)) ^ (high + (one >> 32) + (middle >> 32));
#endif
}

static inline uint64_t word_at(const char *at, size_t size) {
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

static inline Digest mixed_in(Digest digest, uint64_t first, uint64_t second) {
    return (Digest){folded_product(first ^ secrets[0], second ^ digest.one),
                    folded_product(first ^ secrets[3], second ^ digest.other)};
}

static Digest digested(Digest digest, PyObject *text) {
    const char *at = PyUnicode_DATA(text);
    size_t size = (size_t)PyUnicode_GET_LENGTH(text) * PyUnicode_KIND(text);
    uint64_t one = 0, other = 0, form = (uint64_t)PyUnicode_KIND(text) << 56 | size;
    digest = (Digest){folded_product(digest.one ^ secrets[1], form ^ secrets[2]),
                      folded_product(digest.other ^ secrets[4], form ^ secrets[5])};
    for (; size > 16; at += 16, size -= 16)
        digest = mixed_in(digest, word_at(at, 8), word_at(at + 8, 8));
    if (size >= 8) { /* the two may overlap */
        one = word_at(at, 8);
        other = word_at(at + size - 8, 8);
    } else if (size >= 4) {
        one = word_at(at, 4);
        other = word_at(at + size - 4, 4);
    } else if (size) {
        one = (uint64_t)(unsigned char)at[0] << 16 | (uint64_t)(unsigned char)at[size / 2] << 8 |
              (unsigned char)at[size - 1];
    }
    return mixed_in(digest, one, other);
}

static Digest digest_of(PyObject *link) {
    Digest digest = digested((Digest){0, 0}, PyTuple_GET_ITEM(link, HREF));
    digest = digested(digest, PyTuple_GET_ITEM(link, TEXT));
    PyObject *rel = PyTuple_GET_ITEM(link, REL);
    return PyUnicode_GET_LENGTH(rel) ? digested(digest, rel) : digest;
}

static inline int is_same(PyObject *one, PyObject *other) {
    return one == other ||
           (PyUnicode_GET_LENGTH(one) == PyUnicode_GET_LENGTH(other) &&
            PyUnicode_KIND(one) == PyUnicode_KIND(other) &&
            !memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other),
                    (size_t)PyUnicode_GET_LENGTH(one) * PyUnicode_KIND(one)));
}

/* Whether this is a tuple of five texts; if not, an exception is set. */
static int is_link(PyObject *link) {
    int is_one = PyTuple_Check(link) && PyTuple_GET_SIZE(link) == LINK_ITEMS;
    for (int i = 0; is_one && i < LINK_ITEMS; i++)
        is_one = PyUnicode_Check(PyTuple_GET_ITEM(link, i));
    if (!is_one) PyErr_SetString(PyExc_TypeError, "a link has href, kind, words, rel and place");
    return is_one;
}

/* Whether an edge, or what stands for none, is that of a link with its digest. */
static inline int is_of(PyObject *edge, PyObject *link) {
    return !PyTuple_GET_SIZE(edge) ||
           (is_same(PyTuple_GET_ITEM(link, KIND), PyTuple_GET_ITEM(edge, EDGE_KIND)) &&
            is_same(PyTuple_GET_ITEM(link, PLACE), PyTuple_GET_ITEM(edge, EDGE_PLACE)));
}

/* The entry of a link, or the free one where it belongs. */
static Entry *entry_of(Known *self, PyObject *link, Digest digest) {
    for (size_t at = digest.one & self->mask;; at = (at + 1) & self->mask) {
        Entry *entry = self->entries + at;
        if (!entry->edge) return entry;
        if (entry->digest.one == digest.one && entry->digest.other == digest.other &&
            is_of(entry->edge, link))
            return entry;
    }
}

static int grow(Known *self) {
    size_t size = self->mask + 1;
    Entry *entries = PyMem_Calloc(size * 2, sizeof(Entry));
    if (!entries) {
        PyErr_NoMemory();
        return -1;
    }
    size_t mask = size * 2 - 1;
    for (Entry *old = self->entries; old < self->entries + size; old++) {
        if (!old->edge) continue;
        size_t at = old->digest.one & mask;
        while (entries[at].edge) at = (at + 1) & mask;
        entries[at] = *old;
    }
    PyMem_Free(self->entries);
    self->entries = entries;
    self->mask = mask;
    return 0;
}

/* Remember what a link means that is not known yet: an edge of its kind and place, or nothing. */
static int remember(Known *self, PyObject *link, Digest digest, PyObject *edge) {
    if (self->used * 3 >= (self->mask + 1) * 2 && grow(self)) return -1;
    Entry *entry = entry_of(self, link, digest);
    if (entry->edge) return 0; /* learning it has met it again */
    *entry = (Entry){digest, Py_NewRef(edge)};
    self->used++;
    return 0;
}

static PyObject *new_known(PyTypeObject *type, PyObject *args, PyObject *named) {
    (void)args, (void)named;
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->mask = SMALLEST - 1;
    self->entries = PyMem_Calloc(SMALLEST, sizeof(Entry));
    if (!self->entries) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void free_known(PyObject *object) {
    Known *self = (Known *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (size_t at = 0; self->entries && at <= self->mask; at++) Py_XDECREF(self->entries[at].edge);
    PyMem_Free(self->entries);
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t size_of_known(PyObject *object) { return (Py_ssize_t)((Known *)object)->used; }

static PyType_Slot known_slots[] = {
    {Py_tp_doc, "Known(): links and what they mean; its length is how many."},
    {Py_tp_new, (void *)new_known},
    {Py_tp_dealloc, (void *)free_known},
    {Py_sq_length, (void *)size_of_known},
    {0, NULL},
};

static PyType_Spec known_specification = {
    .name = "gossamer.native._page.Known",
    .basicsize = sizeof(Known),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = known_slots,
};

/* Fill `secrets` from the system's source of random bytes: nobody outside of the process can know
 * them, whatever PYTHONHASHSEED is. */
static int make_secrets(void) {
    PyObject *os = PyImport_ImportModule("os");
    PyObject *bytes = os ? PyObject_CallMethod(os, "urandom", "n", (Py_ssize_t)sizeof secrets) : NULL;
    Py_XDECREF(os);
    if (!bytes) return -1;
    const int is_whole = PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == sizeof secrets;
    if (is_whole) memcpy(secrets, PyBytes_AS_STRING(bytes), sizeof secrets);
    else PyErr_SetString(PyExc_TypeError, "urandom returns bytes");
    Py_DECREF(bytes);
    return is_whole ? 0 : -1;
}

static int add_known(PyObject *module) {
    if (make_secrets()) return -1;
    if (!known_type) known_type = (PyTypeObject *)PyType_FromSpec(&known_specification);
    return known_type ? PyModule_AddObjectRef(module, "Known", (PyObject *)known_type) : -1;
}

#endif
