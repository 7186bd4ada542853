/* The links of a page in canonical form: the loop of forms.py over them, in C.
 *
 * Looks up what is known and makes edges; to find out what a new link means is the linker's, as are
 * links that are no URL. API is the number of the contract with the Python side (base/native.py
 * holds the number that it wants): raise both together when arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define API 3

enum { LINK_ITEMS = 5, EDGE_ITEMS = 8, USUAL_CHARS = 250 };

static PyObject *zero, *no_text;

/* What the loop works with; all but `here` is borrowed. */
typedef struct {
    PyObject *links, *known, *places, *plain, *learn, *faulty;
    PyTypeObject *edge_type;
    int is_kept;
    PyObject *edges, *new, *here, *self; /* `self`: what the empty href means, once it is known */
    Py_ssize_t faults, learned;
} Work;

/* The part of an href before its fragment: a new reference. */
static PyObject *without_fragment(PyObject *href) {
    Py_ssize_t size = PyUnicode_GET_LENGTH(href);
    Py_ssize_t at = PyUnicode_FindChar(href, '#', 0, size, 1);
    if (at == -2) return NULL;
    return at < 0 ? Py_NewRef(href) : PyUnicode_Substring(href, 0, at);
}

/* URL and key of an href, or None: a new reference. */
static PyObject *resolved(Work *w, PyObject *href) {
    int is_empty = !PyUnicode_GET_LENGTH(href);
    if (is_empty && w->self) return Py_NewRef(w->self);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(w->places); i++) {
        PyObject *found = PyDict_GetItemWithError(PyTuple_GET_ITEM(w->places, i), href);
        if (!found && PyErr_Occurred()) return NULL;
        if (found) return Py_NewRef(found);
    }
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
    if (given && is_empty) w->self = Py_NewRef(given);
    return given;
}

static PyObject *edge_of(Work *w, PyObject *link, PyObject *found) {
    PyObject *edge = w->edge_type->tp_alloc(w->edge_type, EDGE_ITEMS);
    if (!edge) return NULL;
    PyTuple_SET_ITEM(edge, 0, Py_NewRef(PyTuple_GET_ITEM(found, 0)));
    PyTuple_SET_ITEM(edge, 1, Py_NewRef(PyTuple_GET_ITEM(found, 1)));
    PyTuple_SET_ITEM(edge, 2, Py_NewRef(PyTuple_GET_ITEM(link, 2)));
    PyTuple_SET_ITEM(edge, 3, Py_NewRef(PyTuple_GET_ITEM(link, 3)));
    PyTuple_SET_ITEM(edge, 4, Py_NewRef(PyTuple_GET_ITEM(link, 4)));
    PyTuple_SET_ITEM(edge, 5, Py_NewRef(PyTuple_GET_ITEM(link, 1)));
    PyTuple_SET_ITEM(edge, 6, Py_NewRef(zero));
    PyTuple_SET_ITEM(edge, 7, Py_NewRef(no_text));
#if PY_VERSION_HEX >= 0x030E0000
    ((PyTupleObject *)edge)->ob_hash = -1; /* not known yet; `tp_alloc` leaves 0, which is a hash */
#endif
    PyObject_GC_UnTrack(edge); /* strings and numbers: it is in no circle */
    return edge;
}

static int keep(Work *w, PyObject *link, PyObject *href, PyObject *made) {
    Py_ssize_t size = PyUnicode_GET_LENGTH(href);
    Py_UCS4 first = size ? PyUnicode_READ_CHAR(href, 0) : 0;
    if (w->is_kept && size && first != '?' && first != '#') {
        w->learned += 1 + size / USUAL_CHARS;
        return PyDict_SetItem(w->known, link, made);
    }
    if (!w->here && !(w->here = PyDict_New())) return -1;
    return PyDict_SetItem(w->here, link, made);
}

static int add_new(Work *w, PyObject *link, Py_ssize_t number) {
    PyObject *href = without_fragment(PyTuple_GET_ITEM(link, 0));
    PyObject *found = href ? resolved(w, href) : NULL, *made = NULL;
    int failed = -1;
    if (found == Py_None) {
        made = PyObject_CallFunction(w->faulty, "n", number);
        if (made && !PyTuple_Check(made)) {
            PyErr_SetString(PyExc_TypeError, "faulty gives an edge, or nothing");
            Py_CLEAR(made);
        }
    } else if (found) {
        made = edge_of(w, link, found);
    }
    if (made) {
        int is_link = PyTuple_GET_SIZE(made) > 0, is_fault = is_link && found == Py_None;
        w->faults += is_fault;
        failed = is_link && (PyList_Append(w->edges, made) || PyList_Append(w->new, made));
        /* In another line it is another fault. */
        if (!failed && !is_fault) failed = keep(w, link, href, made);
    }
    Py_XDECREF(made);
    Py_XDECREF(found);
    Py_XDECREF(href);
    return failed ? -1 : 0;
}

static int run(Work *w) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(w->links); i++) {
        PyObject *link = PyTuple_GET_ITEM(w->links, i);
        if (!PyTuple_Check(link) || PyTuple_GET_SIZE(link) != LINK_ITEMS ||
            !PyUnicode_Check(PyTuple_GET_ITEM(link, 0))) {
            PyErr_SetString(PyExc_TypeError, "a link has an href, kind, words, rel and place");
            return -1;
        }
        PyObject *edge = PyDict_GetItemWithError(w->known, link);
        if (!edge && w->here && !PyErr_Occurred()) edge = PyDict_GetItemWithError(w->here, link);
        if (!edge) {
            if (PyErr_Occurred() || add_new(w, link, i)) return -1;
        } else if (PyTuple_Check(edge) && PyTuple_GET_SIZE(edge)) {
            if (PyList_Append(w->edges, edge)) return -1;
        }
    }
    return 0;
}

static PyObject *edges(PyObject *module, PyObject *args) {
    (void)module;
    Work w = {0};
    if (!PyArg_ParseTuple(args, "O!O!O!OOOO!p", &PyTuple_Type, &w.links, &PyDict_Type, &w.known,
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
    w.edges = PyList_New(0);
    w.new = PyList_New(0);
    PyObject *given = NULL;
    if (w.edges && w.new && !run(&w))
        given = Py_BuildValue("(OOnn)", w.edges, w.new, w.faults, w.learned);
    Py_XDECREF(w.edges);
    Py_XDECREF(w.new);
    Py_XDECREF(w.here);
    Py_XDECREF(w.self);
    return given;
}

static PyMethodDef functions[] = {
    {"edges", edges, METH_VARARGS,
     "edges(links, known, places, plain or None, learn, faulty, Edge, is_kept): all edges, those that are new,\n"
     " how many are faulty, and by how much `known` has grown."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    if (!zero) zero = PyLong_FromLong(0);
    if (!no_text) no_text = PyUnicode_FromString("");
    return !zero || !no_text ? -1 : PyModule_AddIntConstant(module, "API", API);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.crawl._forms",
    .m_doc = "Links in canonical form, in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__forms(void) { return PyModuleDef_Init(&definition); }
