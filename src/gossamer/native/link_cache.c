/* The links of a page in canonical form: the loop of link_cache.py over them, in C.
 *
 * Looks up what is known and makes edges; to find out what a new link means is the linker's, as are
 * links that are no URL. */

#include "module.h"
#include "known_links.h"

enum { EDGE_ITEMS = 8, FOUND_ITEMS = 6, USUAL_CHARS = 250, MOST_CHARS = 4000, AHEAD = 32 };
enum { KEY_BYTES = 16, ANCHOR_HEAD = KEY_BYTES + 2, ANCHOR_CHARS = 500 }; /* index/anchor_pack.py */

#ifdef __GNUC__
#define ASK_FOR(address) __builtin_prefetch(address)
#else
#define ASK_FOR(address) ((void)(address))
#endif

static PyObject *zero, *no_text;

/* What the loop works with; all but `here`, `self` and `last` is borrowed. */
typedef struct {
    PyObject *links, *places, *plain, *learn, *faulty;
    Known *known, *here; /* `here`: those that mean something in this page alone */
    PyTypeObject *edge_type;
    int is_kept;
    PyObject **listed; /* edges of links so far: `known`, `here` and `new` hold them */
    Py_ssize_t count;
    PyObject *new;
    PyObject *self;             /* what the empty href means, once it is known */
    PyObject *last, *last_href; /* what another one means, that came just before */
    Py_ssize_t faults, learned;
} Work;

/* URL and key of an href without fragment that is in none of the places, or None. */
static PyObject *learned(Work *w, PyObject *href) {
    PyObject *given = NULL;
    if (w->plain != Py_None) {
        given = PyObject_CallOneArg(w->plain, href);
        if (!given) return NULL;
        if (given == Py_NotImplemented) Py_CLEAR(given);
    }
    if (!given) given = PyObject_CallOneArg(w->learn, href);
    if (given && given != Py_None && (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 2)) {
        PyErr_SetString(PyExc_TypeError, "learn gives a URL and its key, or None");
        Py_CLEAR(given);
    }
    return given;
}

static PyObject *resolved(Work *w, PyObject *href) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(w->places); i++) {
        PyObject *found = PyDict_GetItemWithError(PyTuple_GET_ITEM(w->places, i), href);
        if (!found && PyErr_Occurred()) return NULL;
        if (found) return Py_NewRef(found);
    }
    return learned(w, href);
}

/* How many characters of an href stand before its fragment. */
static Py_ssize_t before_fragment(PyObject *href) {
    Py_ssize_t size = PyUnicode_GET_LENGTH(href);
    if (PyUnicode_KIND(href) == PyUnicode_1BYTE_KIND) {
        const Py_UCS1 *start = PyUnicode_1BYTE_DATA(href), *mark = memchr(start, '#', size);
        return mark ? mark - start : size;
    }
    Py_ssize_t at = PyUnicode_FindChar(href, '#', 0, size, 1);
    return at < 0 ? size : at;
}

/* Whether an href begins with the last one that was resolved, which has this length. */
static int is_last(Work *w, PyObject *href, Py_ssize_t size) {
    PyObject *last = w->last_href;
    return last && PyUnicode_GET_LENGTH(last) == size &&
           PyUnicode_KIND(last) == PyUnicode_1BYTE_KIND &&
           PyUnicode_KIND(href) == PyUnicode_1BYTE_KIND &&
           !memcmp(PyUnicode_1BYTE_DATA(last), PyUnicode_1BYTE_DATA(href), size);
}

/* URL and key of what the first characters of an href mean, or None: a new reference. Links to
 * places within a page come one after the other. */
static PyObject *meaning(Work *w, PyObject *href, Py_ssize_t size) {
    if (!size && w->self) return Py_NewRef(w->self);
    if (is_last(w, href, size)) return Py_NewRef(w->last);
    PyObject *without = PyUnicode_Substring(href, 0, size);
    PyObject *found = without ? resolved(w, without) : NULL;
    if (found && !size) {
        w->self = Py_NewRef(found);
    } else if (found) {
        Py_XSETREF(w->last, Py_NewRef(found));
        Py_XSETREF(w->last_href, Py_NewRef(without));
    }
    Py_XDECREF(without);
    return found;
}

static PyObject *edge_of(Work *w, PyObject *link, PyObject *found) {
    PyObject *edge = w->edge_type->tp_alloc(w->edge_type, EDGE_ITEMS);
    if (!edge) return NULL;
    PyTuple_SET_ITEM(edge, 0, Py_NewRef(PyTuple_GET_ITEM(found, 0)));
    PyTuple_SET_ITEM(edge, 1, Py_NewRef(PyTuple_GET_ITEM(found, 1)));
    PyTuple_SET_ITEM(edge, 2, Py_NewRef(PyTuple_GET_ITEM(link, TEXT)));
    PyTuple_SET_ITEM(edge, 3, Py_NewRef(PyTuple_GET_ITEM(link, REL)));
    PyTuple_SET_ITEM(edge, 4, Py_NewRef(PyTuple_GET_ITEM(link, PLACE)));
    PyTuple_SET_ITEM(edge, 5, Py_NewRef(PyTuple_GET_ITEM(link, KIND)));
    PyTuple_SET_ITEM(edge, 6, Py_NewRef(zero));
    PyTuple_SET_ITEM(edge, 7, Py_NewRef(no_text));
#if PY_VERSION_HEX >= 0x030E0000
    ((PyTupleObject *)edge)->ob_hash = -1; /* not known yet; `tp_alloc` leaves 0, which is a hash */
#endif
    PyObject_GC_UnTrack(edge); /* strings and numbers: it is in no circle */
    return edge;
}

/* `size`: of the href without its fragment. */
static int keep(Work *w, PyObject *link, Digest digest, Py_ssize_t size, PyObject *made) {
    PyObject *href = PyTuple_GET_ITEM(link, HREF), *rel = PyTuple_GET_ITEM(link, REL);
    Py_ssize_t chars = PyUnicode_GET_LENGTH(href) + PyUnicode_GET_LENGTH(rel);
    chars += PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(link, TEXT));
    if (PyTuple_GET_SIZE(made)) chars += PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(made, 0));
    if (w->is_kept && size && PyUnicode_READ_CHAR(href, 0) != '?' && chars <= MOST_CHARS) {
        w->learned += 1 + chars / USUAL_CHARS;
        return remember(w->known, link, digest, made);
    }
    if (!w->here) w->here = (Known *)new_known(known_type, NULL, NULL);
    return w->here ? remember(w->here, link, digest, made) : -1;
}

static PyObject *fault_of(Work *w, Py_ssize_t number) {
    PyObject *made = PyObject_CallFunction(w->faulty, "n", number);
    if (made && !PyTuple_Check(made)) {
        PyErr_SetString(PyExc_TypeError, "faulty gives an edge, or nothing");
        Py_CLEAR(made);
    }
    return made;
}

static int add_new(Work *w, PyObject *link, Digest digest, Py_ssize_t number) {
    PyObject *href = PyTuple_GET_ITEM(link, HREF);
    Py_ssize_t size = before_fragment(href);
    PyObject *found = meaning(w, href, size), *made = NULL;
    int failed = -1;
    if (found) made = found == Py_None ? fault_of(w, number) : edge_of(w, link, found);
    if (made) {
        int is_one = PyTuple_GET_SIZE(made) > 0, is_fault = is_one && found == Py_None;
        w->faults += is_fault;
        failed = is_one && PyList_Append(w->new, made);
        if (is_one && !failed) w->listed[w->count++] = made;
        /* In another line it is another fault. */
        if (!failed && !is_fault) failed = keep(w, link, digest, size, made);
    }
    Py_XDECREF(made);
    Py_XDECREF(found);
    return failed ? -1 : 0;
}

/* Digest some links, and ask memory for what is known of them: that takes its time with each, and
 * none if all are asked for at once. */
static int look_ahead(Work *w, Py_ssize_t from, Py_ssize_t to, Digest *digests) {
    const Known *known = w->known;
    for (Py_ssize_t i = from; i < to; i++) {
        PyObject *link = PyTuple_GET_ITEM(w->links, i);
        if (!is_link(link)) return -1;
        digests[i - from] = digest_of(link);
        ASK_FOR(known->entries + (digests[i - from].one & known->mask));
    }
    for (Py_ssize_t i = from; i < to; i++) {
        const Entry *entry = known->entries + (digests[i - from].one & known->mask);
        if (entry->edge) ASK_FOR(entry->edge);
    }
    return 0;
}

static int run(Work *w) {
    Digest digests[AHEAD];
    Py_ssize_t count = PyTuple_GET_SIZE(w->links);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t end = i + AHEAD < count ? i + AHEAD : count;
        if (i % AHEAD == 0 && look_ahead(w, i, end, digests)) return -1;
        PyObject *link = PyTuple_GET_ITEM(w->links, i);
        Digest digest = digests[i % AHEAD];
        PyObject *edge = entry_of(w->known, link, digest)->edge;
        if (!edge && w->here) edge = entry_of(w->here, link, digest)->edge;
        if (!edge) {
            if (add_new(w, link, digest, i)) return -1;
        } else if (PyTuple_GET_SIZE(edge)) {
            w->listed[w->count++] = edge;
        }
    }
    return 0;
}

/* The edges of all links, in a list. */
static PyObject *all_edges(Work *w) {
    PyObject *list = PyList_New(w->count);
    for (Py_ssize_t i = 0; list && i < w->count; i++)
        PyList_SET_ITEM(list, i, Py_NewRef(w->listed[i]));
    return list;
}

static PyObject *edges(PyObject *module, PyObject *args) {
    (void)module;
    Work w = {0};
    if (!PyArg_ParseTuple(args, "O!O!O!OOOO!p", &PyTuple_Type, &w.links, known_type, &w.known,
                          &PyTuple_Type, &w.places, &w.plain, &w.learn, &w.faulty, &PyType_Type,
                          &w.edge_type, &w.is_kept))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(w.places); i++)
        if (!PyDict_Check(PyTuple_GET_ITEM(w.places, i))) {
            PyErr_SetString(PyExc_TypeError, "places are dictionaries");
            return NULL;
        }
    if (!PyType_IsSubtype(w.edge_type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "an edge is a tuple");
        return NULL;
    }
    w.listed = PyMem_New(PyObject *, PyTuple_GET_SIZE(w.links) + 1);
    w.new = w.listed ? PyList_New(0) : PyErr_NoMemory();
    PyObject *given = NULL, *all = w.new && !run(&w) ? all_edges(&w) : NULL;
    if (all) given = Py_BuildValue("(NOnn)", all, w.new, w.faults, w.learned);
    PyMem_Free(w.listed);
    Py_XDECREF(w.new);
    Py_XDECREF(w.here);
    Py_XDECREF(w.self);
    Py_XDECREF(w.last);
    Py_XDECREF(w.last_href);
    return given;
}

/* An edge of a list of them, if it is one; if not, an exception is set. */
static PyObject *edge_at(PyObject *list, Py_ssize_t at) {
    PyObject *edge = PyList_GET_ITEM(list, at);
    if (PyTuple_Check(edge) && PyTuple_GET_SIZE(edge) == EDGE_ITEMS &&
        PyBytes_Check(PyTuple_GET_ITEM(edge, 1)) && PyUnicode_Check(PyTuple_GET_ITEM(edge, 2)))
        return edge;
    PyErr_SetString(PyExc_TypeError, "an edge has a key and words");
    return NULL;
}

static PyObject *found_of(PyTypeObject *type, PyObject *edge, PyObject *depth, PyObject *via) {
    PyObject *found = type->tp_alloc(type, FOUND_ITEMS);
    if (!found) return NULL;
    PyTuple_SET_ITEM(found, 0, Py_NewRef(PyTuple_GET_ITEM(edge, 0)));
    PyTuple_SET_ITEM(found, 1, Py_NewRef(PyTuple_GET_ITEM(edge, 1)));
    PyTuple_SET_ITEM(found, 2, Py_NewRef(depth));
    PyTuple_SET_ITEM(found, 3, Py_NewRef(via));
    PyTuple_SET_ITEM(found, 4, Py_NewRef(zero));
    PyTuple_SET_ITEM(found, 5, Py_NewRef(Py_False));
#if PY_VERSION_HEX >= 0x030E0000
    ((PyTupleObject *)found)->ob_hash = -1;
#endif
    PyObject_GC_UnTrack(found);
    return found;
}

static PyObject *found(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *new, *told, *before, *depth, *via, *last = NULL;
    PyTypeObject *type;
    if (!PyArg_ParseTuple(args, "O!O!O!O!SO!", &PyList_Type, &new, &PyDict_Type, &told,
                          &PyDict_Type, &before, &PyLong_Type, &depth, &via, &PyType_Type, &type))
        return NULL;
    if (!PyType_IsSubtype(type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "what was found is a tuple");
        return NULL;
    }
    PyObject *given = PyList_New(0);
    for (Py_ssize_t i = 0; given && i < PyList_GET_SIZE(new); i++) {
        PyObject *edge = edge_at(new, i), *key = edge ? PyTuple_GET_ITEM(edge, 1) : NULL;
        if (key && (key == last || !PyBytes_GET_SIZE(key))) continue;
        int is_known = key ? PyDict_Contains(told, key) : -1;
        if (!is_known) is_known = PyDict_Contains(before, key);
        if (!is_known) {
            PyObject *one = found_of(type, edge, depth, via);
            if (!one || PyList_Append(given, one) || PyDict_SetItem(told, key, depth))
                is_known = -1;
            Py_XDECREF(one);
        }
        if (is_known < 0) Py_CLEAR(given);
        last = key;
    }
    return given;
}

/* The most bytes that the words of an edge take: those that are not ASCII are cut before. */
static size_t most_bytes(PyObject *text) {
    size_t chars = (size_t)PyUnicode_GET_LENGTH(text);
    if (chars > ANCHOR_CHARS) chars = ANCHOR_CHARS;
    return PyUnicode_IS_ASCII(text) ? chars : 4 * chars;
}

/* Words in UTF-8, cut to what an anchor has; their end, or NULL with an error set. */
static char *write_words(char *at, PyObject *text) {
    size_t chars = (size_t)PyUnicode_GET_LENGTH(text);
    if (PyUnicode_IS_ASCII(text)) {
        if (chars > ANCHOR_CHARS) chars = ANCHOR_CHARS;
        memcpy(at, PyUnicode_1BYTE_DATA(text), chars);
        return at + chars;
    }
    PyObject *cut = PyUnicode_Substring(text, 0, ANCHOR_CHARS);
    PyObject *bytes = cut ? PyUnicode_AsEncodedString(cut, "utf-8", "replace") : NULL;
    Py_XDECREF(cut);
    if (!bytes) return NULL;
    memcpy(at, PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
    at += PyBytes_GET_SIZE(bytes);
    Py_DECREF(bytes);
    return at;
}

/* Key, length and words of an edge, as index/anchor_pack.py has them; nothing for what leads to the
 * page itself, has no words, or is no URL and so has no key. NULL with an error set. */
static char *write_anchor(char *at, PyObject *edge, PyObject *own) {
    PyObject *key = PyTuple_GET_ITEM(edge, 1), *text = PyTuple_GET_ITEM(edge, 2);
    if (PyBytes_GET_SIZE(key) != KEY_BYTES || !PyUnicode_GET_LENGTH(text)) return at;
    if (PyBytes_GET_SIZE(own) == KEY_BYTES &&
        !memcmp(PyBytes_AS_STRING(key), PyBytes_AS_STRING(own), KEY_BYTES))
        return at;
    char *words = at + ANCHOR_HEAD, *end = write_words(words, text);
    if (!end) return NULL;
    memcpy(at, PyBytes_AS_STRING(key), KEY_BYTES);
    at[KEY_BYTES] = (char)((end - words) >> 8);
    at[KEY_BYTES + 1] = (char)(end - words);
    return end;
}

static PyObject *anchors(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *new, *own, *packed = NULL;
    if (!PyArg_ParseTuple(args, "O!S", &PyList_Type, &new, &own)) return NULL;
    size_t most = 1; /* not nothing: then NULL might be no fault */
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(new); i++) {
        PyObject *edge = edge_at(new, i);
        if (!edge) return NULL;
        most += ANCHOR_HEAD + most_bytes(PyTuple_GET_ITEM(edge, 2));
    }
    char *start = PyMem_Malloc(most), *at = start;
    if (!start) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; at && i < PyList_GET_SIZE(new); i++)
        at = write_anchor(at, PyList_GET_ITEM(new, i), own);
    if (at) packed = PyBytes_FromStringAndSize(start, at - start);
    PyMem_Free(start);
    return packed;
}

static PyMethodDef functions[] = {
    {"edges", edges, METH_VARARGS,
     "edges(links, known, places, plain or None, learn, faulty, Edge, is_kept): all edges, those that are new,\n"
     " how many are faulty, and by how much `known` has grown."},
    {"found", found, METH_VARARGS,
     "found(edges, told, before, depth, via, Found): those of keys not told of, told of now."},
    {"anchors", anchors, METH_VARARGS,
     "anchors(edges, key): keys and words of links to other pages, packed."},
    {NULL, NULL, 0, NULL},
};

int add_link_cache(PyObject *module) {
    if (!zero) zero = PyLong_FromLong(0);
    if (!no_text) no_text = PyUnicode_FromString("");
    if (!zero || !no_text || add_known(module)) return -1;
    return PyModule_AddFunctions(module, functions);
}
