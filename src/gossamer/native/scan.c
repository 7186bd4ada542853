/* Pages read in C: links with their words and places, headings, facts of the head, and the text.
 *
 * `scan` takes a string, or bytes in UTF-8, and gives what `parse/reading.py` makes of a tree, or a
 * number: the reason why it declines the page, which then gets a tree. Time and memory are linear in
 * the size of the page.
 */

#include "module.h"
#include "scan_tokens.h"
#include "wide_registers.h"

enum { MOST_HEADINGS = 64, MOST_HEADING_CHARS = 300, MOST_META_CHARS = 1000 };

/* Elements beside anchors that are looked at, for each link that may be taken, and some more. */
enum { LISTED_PER_LINK = 4, LISTED_ANYWAY = 1000 };

/* What `set_up` was given. */
static PyTypeObject *link_type;
static PyObject *anchor_kind, *link_kind, *places[PLACES], *relation_of, *no_text;

typedef struct {
    PyObject *links, *others, *metas, *headings;
    PyObject *title, *language, *base, *canonical, *description, *generator;
    Py_ssize_t count, most_links; /* of `links` */
    Py_ssize_t listed;            /* elements that may be one of `others` or `metas` */
    size_t most_chars;            /* of the words of a link */
    Buffer offsets;               /* of each of `links` in the page, 4 bytes each */
    Buffer href;                  /* of the open `a` */
    PyObject *rel;                /* of the open `a`; NULL where it is no link */
    int place;
    Py_ssize_t number;
} Found;

/* ---- strings ---- */

static int is_ascii(const byte *p, size_t size) {
    uint64_t word, any = 0;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        memcpy(&word, p + at, 8);
        any |= word;
    }
    for (; at < size; at++) any |= p[at];
    return !(any & 0x8080808080808080u);
}

static PyObject *string(const byte *p, size_t size) {
    if (!size) return Py_NewRef(no_text);
    if (size == 1 || !is_ascii(p, size)) /* of texts of one character Python has its own */
        return PyUnicode_DecodeUTF8((const char *)p, (Py_ssize_t)size, "replace");
    PyObject *made = PyUnicode_New((Py_ssize_t)size, 127);
    if (made) memcpy(PyUnicode_1BYTE_DATA(made), p, size);
    return made;
}

/* The value of an attribute, or None. */
static PyObject *value_of(Scan *s, const Tag *t, const char *name) {
    int i = find_attribute(t, name);
    if (i < 0) return Py_NewRef(Py_None);
    const byte *value;
    size_t size, before = s->scratch.size;
    if (read_value(s, &t->attribute[i], &value, &size)) return NULL;
    PyObject *made = string(value, size);
    s->scratch.size = before;
    return made;
}

/* Words that fold as " ".join(text.split())[:most] folds them. */
static PyObject *folded(Scan *s, const byte *from, const byte *to, size_t most) {
    size_t before = s->scratch.size;
    Fold fold = {&s->scratch, most, 0, 0, 0};
    if (fold_more(&fold, from, to, to)) return PyErr_NoMemory();
    PyObject *made = string(s->scratch.at + before, s->scratch.size - before);
    s->scratch.size = before;
    return made;
}

/* The value of an attribute, folded; empty where there is none. */
static PyObject *folded_value(Scan *s, const Tag *t, const char *name, size_t most) {
    int i = find_attribute(t, name);
    if (i < 0) return Py_NewRef(no_text);
    const byte *value;
    size_t size, before = s->scratch.size;
    if (read_value(s, &t->attribute[i], &value, &size)) return NULL;
    if (s->scratch.size == before) return folded(s, value, value + size, most);
    /* It had references; what is folded comes to stand behind it, and could move it. */
    Buffer apart = {NULL, 0, 0};
    PyObject *made = NULL;
    if (add_bytes(&apart, value, size)) PyErr_NoMemory();
    else made = folded(s, apart.at, apart.at + size, most);
    PyMem_RawFree(apart.at);
    s->scratch.size = before;
    return made;
}

/* The words of an element that ends here, at the end of `scratch`: its text, with the words of
 * images in it. */
static int fold_words(Scan *s, const Open *o, size_t most) {
    size_t from = o->text_from;
    const Buffer *text = &s->text.out;
    const byte *limit = text->at + text->room;
    Fold fold = {&s->scratch, most, 0, 0, 0};
    for (size_t i = o->alts_from; i < s->alt_count; i++) {
        const Alt *alt = &s->alts[i];
        const byte *words = s->alt_bytes.at + alt->from;
        if (fold_more(&fold, text->at + from, text->at + alt->text_at, limit)) return -1;
        fold.owes_space = fold.has_word;
        if (alt->size && fold_more(&fold, words, words + alt->size, words + alt->size)) return -1;
        fold.owes_space = fold.has_word;
        from = alt->text_at;
    }
    if (text->size > from &&
        fold_more(&fold, text->at + from, text->at + text->size, limit))
        return -1;
    /* Headings in one another would all pass over the same white space. */
    s->blank += fold.blank;
    if (s->blank > 4 * (uint64_t)(s->end - s->begin)) return decline(s, NESTED_TITLE);
    return make_room(&s->scratch, 1); /* so that there is something to point to */
}

static PyObject *words_of(Scan *s, const Open *o, size_t most) {
    size_t before = s->scratch.size;
    if (fold_words(s, o, most)) return s->why ? NULL : PyErr_NoMemory();
    PyObject *made = string(s->scratch.at + before, s->scratch.size - before);
    s->scratch.size = before;
    return made;
}

/* ---- what the tree tells ---- */

static PyObject *link_of(PyObject *href, PyObject *kind, PyObject *words, PyObject *rel,
                         int place) {
    PyObject *link = link_type->tp_alloc(link_type, 5);
    if (!link) return NULL;
    PyTuple_SET_ITEM(link, 0, Py_NewRef(href));
    PyTuple_SET_ITEM(link, 1, Py_NewRef(kind));
    PyTuple_SET_ITEM(link, 2, Py_NewRef(words));
    PyTuple_SET_ITEM(link, 3, Py_NewRef(rel));
    PyTuple_SET_ITEM(link, 4, Py_NewRef(places[place]));
#if PY_VERSION_HEX >= 0x030E0000
    ((PyTupleObject *)link)->ob_hash = -1; /* not known yet; `tp_alloc` leaves 0, which is a hash */
#endif
    PyObject_GC_UnTrack(link); /* what it holds leads nowhere, so it is in no circle */
    return link;
}

/* The link of an `a`: a new reference. */
static PyObject *link_to(const byte *href, size_t href_size, const byte *words, size_t size,
                         PyObject *rel, int place) {
    PyObject *to = string(href, href_size), *said = to ? string(words, size) : NULL;
    PyObject *link = said ? link_of(to, anchor_kind, said, rel, place) : NULL;
    Py_XDECREF(to);
    Py_XDECREF(said);
    return link;
}

/* What the `rel` of a tag says, as `relations.py` reads it: a new reference. */
static PyObject *relation_in(Scan *s, const Tag *t) {
    PyObject *rel = value_of(s, t, "rel");
    if (!rel) return NULL;
    PyObject *read = PyObject_CallOneArg(relation_of, rel == Py_None ? no_text : rel);
    Py_DECREF(rel);
    if (read && (!PyTuple_Check(read) || PyTuple_GET_SIZE(read) != 3)) {
        PyErr_SetString(PyExc_TypeError, "a relation has words, and says what follows");
        Py_CLEAR(read);
    }
    return read;
}

/* The words of a `rel`: a new reference. */
static PyObject *relation_words(Scan *s, const Tag *t) {
    int i = find_attribute(t, "rel");
    if (i < 0 || !t->attribute[i].value_size) return Py_NewRef(no_text);
    PyObject *read = relation_in(s, t);
    PyObject *words = read ? Py_NewRef(PyTuple_GET_ITEM(read, 0)) : NULL;
    Py_XDECREF(read);
    return words;
}

/* A link, or None in the place of one, with the offset of its tag. */
static int add_link(Scan *s, const Tag *t, PyObject *link) {
    Found *f = s->found;
    uint32_t offset = (uint32_t)(t->at - s->begin);
    if (!link || PyList_Append(f->links, link)) return -1;
    return add_bytes(&f->offsets, (const byte *)&offset, sizeof offset);
}

static int found_anchor(Scan *s, const Tag *t, int place) {
    Found *f = s->found;
    Py_CLEAR(f->rel);
    int i = find_attribute(t, "href");
    if (i < 0) i = find_attribute(t, "xlink:href");
    if (i < 0 || f->count >= f->most_links) return 0;
    const byte *p;
    size_t size, before = s->scratch.size;
    if (read_value(s, &t->attribute[i], &p, &size)) return -1;
    while (size && *p <= ' ') p++, size--;
    while (size && p[size - 1] <= ' ') size--;
    const byte *hash = s->is_bare ? memchr(p, '#', size) : NULL;
    f->href.size = 0;
    if (add_bytes(&f->href, p, hash ? (size_t)(hash - p) : size)) return decline(s, NO_MEMORY);
    s->scratch.size = before;
    if (!(f->rel = relation_words(s, t))) return -1;
    f->count++;
    f->number = PyList_GET_SIZE(f->links);
    f->place = place;
    PyObject *link = s->is_bare ? link_to(f->href.at, f->href.size, NULL, 0, f->rel, place)
                                : Py_NewRef(Py_None);
    int failed = add_link(s, t, link);
    Py_XDECREF(link);
    return failed;
}

/* Words of images are kept while something is open that they are words of. */
static void drop_alts(Scan *s) {
    if (s->anchor >= 0 || s->headed) return;
    s->alt_count = s->alt_bytes.size = 0;
}

static int end_anchor(Scan *s, const Open *o) {
    Found *f = s->found;
    if (s->is_bare || !f->rel) return 0;
    size_t before = s->scratch.size;
    if (fold_words(s, o, f->most_chars)) return decline(s, NO_MEMORY);
    PyObject *link = link_to(f->href.at, f->href.size, s->scratch.at + before,
                             s->scratch.size - before, f->rel, f->place);
    s->scratch.size = before;
    Py_CLEAR(f->rel);
    drop_alts(s);
    return link ? PyList_SetItem(f->links, f->number, link) : -1;
}

static int16_t found_heading(Scan *s) {
    Found *f = s->found;
    Py_ssize_t number = PyList_GET_SIZE(f->headings);
    if (number >= MOST_HEADINGS) return -1;
    return PyList_Append(f->headings, no_text) ? -2 : (int16_t)number;
}

static int end_heading(Scan *s, const Open *o) {
    Found *f = s->found;
    PyObject *words = words_of(s, o, MOST_HEADING_CHARS);
    drop_alts(s);
    return words ? PyList_SetItem(f->headings, o->heading, words) : -1;
}

static int found_title(Scan *s, const byte *from, const byte *to) {
    Found *f = s->found;
    if (f->title) return 0;
    /* Its references are read as those of text are, so it is made as text, apart. */
    Text text = {{NULL, 0, 0}, OWES_NOTHING}, kept = s->text;
    int pres = s->pres;
    s->text = text;
    s->pres = 0;
    int failed = add_text(s, from, to);
    text = s->text;
    s->text = kept;
    s->pres = pres;
    if (!failed) f->title = folded(s, text.out.at, text.out.at + text.out.size, MOST_META_CHARS);
    PyMem_RawFree(text.out.at);
    return f->title ? 0 : -1;
}

static int add_other(Scan *s, const Tag *t, int place, const char *address, const char *words,
                     const char *or_words) {
    Found *f = s->found;
    if (find_attribute(t, address) < 0 || f->count >= f->most_links) return 0;
    PyObject *href = value_of(s, t, address), *rel = value_of(s, t, "rel");
    PyObject *said = value_of(s, t, words);
    if (or_words && said && (said == Py_None || !PyUnicode_GET_LENGTH(said))) {
        Py_DECREF(said);
        said = value_of(s, t, or_words);
    }
    PyObject *other = NULL;
    if (href && rel && said)
        other = Py_BuildValue("(nsOOOOn)", PyList_GET_SIZE(f->links), TAG_NAMES[t->tag], href, rel,
                              said, places[place], (Py_ssize_t)(t->at - s->begin));
    int failed = !other || PyList_Append(f->others, other);
    Py_XDECREF(other);
    Py_XDECREF(href);
    Py_XDECREF(rel);
    Py_XDECREF(said);
    return failed ? -1 : 0;
}

static int is_word(const Tag *t, int i, const char *word) {
    const byte *p = t->attribute[i].value;
    size_t size = t->attribute[i].value_size;
    while (size && is_space(*p)) p++, size--;
    while (size && is_space(p[size - 1])) size--;
    return same_word(p, size, word);
}

/* What the first `meta` of a kind says that says something. */
static int note_content(Scan *s, const Tag *t, PyObject **noted) {
    if (*noted && PyUnicode_GET_LENGTH(*noted)) return 0;
    PyObject *words = folded_value(s, t, "content", MOST_META_CHARS);
    if (!words) return -1;
    Py_XSETREF(*noted, words);
    return 0;
}

static int found_meta(Scan *s, const Tag *t) {
    Found *f = s->found;
    int name = find_attribute(t, "name"), header = find_attribute(t, "http-equiv");
    if (header >= 0 && is_word(t, header, "refresh")) return decline(s, REFRESHED);
    if (name >= 0 && is_word(t, name, "description") && note_content(s, t, &f->description))
        return -1;
    if (name >= 0 && is_word(t, name, "generator") && note_content(s, t, &f->generator))
        return -1;
    int is_wanted = (name >= 0 && (is_word(t, name, "robots") || is_word(t, name, "gossamer"))) ||
                    (header >= 0 && is_word(t, header, "content-language"));
    if (!is_wanted) return 0;
    PyObject *named = value_of(s, t, "name"), *headed = value_of(s, t, "http-equiv");
    PyObject *content = value_of(s, t, "content");
    PyObject *meta = named && headed && content ? PyTuple_Pack(3, named, headed, content) : NULL;
    int failed = !meta || PyList_Append(f->metas, meta);
    Py_XDECREF(meta);
    Py_XDECREF(named);
    Py_XDECREF(headed);
    Py_XDECREF(content);
    return failed ? -1 : 0;
}

static int note_canonical(Scan *s, const Tag *t) {
    Found *f = s->found;
    if (f->canonical && PyUnicode_GET_LENGTH(f->canonical)) return 0;
    PyObject *href = value_of(s, t, "href");
    PyObject *bare = href ? PyObject_CallMethod(href, "strip", NULL) : NULL;
    Py_XDECREF(href);
    if (!bare) return -1;
    Py_XSETREF(f->canonical, bare);
    return 0;
}

/* The link of a `link` whose relation has these words. */
static int follow_link(Scan *s, const Tag *t, int place, PyObject *rel) {
    Found *f = s->found;
    const byte *p;
    size_t size, before = s->scratch.size;
    if (read_value(s, &t->attribute[find_attribute(t, "href")], &p, &size)) return -1;
    while (size && *p <= ' ') p++, size--;
    while (size && p[size - 1] <= ' ') size--;
    PyObject *href = string(p, size);
    s->scratch.size = before;
    if (!href || !size) {
        Py_XDECREF(href);
        return href ? 0 : -1;
    }
    PyObject *words = folded_value(s, t, "title", f->most_chars);
    PyObject *link = words ? link_of(href, link_kind, words, rel, place) : NULL;
    int failed = add_link(s, t, link);
    Py_XDECREF(link);
    Py_XDECREF(words);
    Py_DECREF(href);
    return failed;
}

/* A `link` that nobody follows (stylesheet, icon) and that names no canonical address is none. */
static int found_link(Scan *s, const Tag *t, int place) {
    Found *f = s->found;
    if (find_attribute(t, "rel") < 0 || find_attribute(t, "href") < 0) return 0;
    PyObject *read = relation_in(s, t);
    if (!read) return -1;
    int is_followed = PyObject_IsTrue(PyTuple_GET_ITEM(read, 1));
    int is_canonical = PyObject_IsTrue(PyTuple_GET_ITEM(read, 2));
    int is_wanted = is_followed && f->count < f->most_links;
    int failed = is_followed < 0 || is_canonical < 0 || (is_canonical && note_canonical(s, t)) ||
                 (is_wanted && follow_link(s, t, place, PyTuple_GET_ITEM(read, 0)));
    Py_DECREF(read);
    return failed ? -1 : 0;
}

/* Whether so many were there that this one is passed over, as the tree's reader does it. */
static int is_beyond(Found *f) {
    return (f->listed++ - LISTED_ANYWAY) / LISTED_PER_LINK >= f->most_links;
}

static int found_other(Scan *s, const Tag *t, int place) {
    Found *f = s->found;
    if (t->tag != T_HTML && t->tag != T_BASE && is_beyond(f)) return 0;
    switch (t->tag) {
        case T_HTML:
            if (f->language) return 0;
            f->language = value_of(s, t, "lang");
            if (f->language && (f->language == Py_None || !PyUnicode_GET_LENGTH(f->language)))
                Py_SETREF(f->language, value_of(s, t, "xml:lang"));
            return f->language ? 0 : -1;
        case T_BASE:
            if (f->base || find_attribute(t, "href") < 0) return 0;
            f->base = value_of(s, t, "href");
            return f->base ? 0 : -1;
        case T_META: return found_meta(s, t);
        case T_LINK: return found_link(s, t, place);
        case T_AREA: return add_other(s, t, place, "href", "alt", NULL);
        default: return add_other(s, t, place, "src", "title", "name");
    }
}

/* ---- the module ---- */

/* A heading without words is none. */
static int drop_empty(PyObject *headings) {
    for (Py_ssize_t i = PyList_GET_SIZE(headings); i--;)
        if (!PyUnicode_GET_LENGTH(PyList_GET_ITEM(headings, i)) &&
            PyList_SetSlice(headings, i, i + 1, NULL))
            return -1;
    return 0;
}

static PyObject *or_nothing(PyObject *text) { return text ? text : no_text; }

static PyObject *answer(Scan *s, Found *f) {
    Buffer *text = &s->text.out;
    while (text->size && is_space(text->at[text->size - 1])) text->size--;
    PyObject *body = drop_empty(f->headings) ? NULL : string(text->at, text->size);
    if (!body) return NULL;
    return Py_BuildValue("(OOOOOOOOOONy#)", or_nothing(f->title), or_nothing(f->description),
                         or_nothing(f->canonical), or_nothing(f->generator),
                         f->language ? f->language : Py_None, f->base ? f->base : Py_None, f->metas,
                         f->others, f->links, f->headings, body,
                         f->offsets.at ? (const char *)f->offsets.at : "",
                         (Py_ssize_t)f->offsets.size);
}

static PyObject *scan(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    int is_bytes = count > 0 && PyBytes_Check(args[0]);
    if (count != 4 || !(is_bytes || PyUnicode_Check(args[0]))) {
        PyErr_SetString(PyExc_TypeError, "scan(page, is_bare, most_links, most_chars)");
        return NULL;
    }
    if (!link_type) {
        PyErr_SetString(PyExc_RuntimeError, "scan before set_up");
        return NULL;
    }
    Py_ssize_t size;
    const char *page;
    if (is_bytes) {
        page = PyBytes_AS_STRING(args[0]);
        size = PyBytes_GET_SIZE(args[0]);
        if (!is_utf8((const byte *)page, (const byte *)page + size)) return PyLong_FromLong(BROKEN);
    } else {
        page = PyUnicode_AsUTF8AndSize(args[0], &size);
    }
    int is_bare = PyObject_IsTrue(args[1]);
    Py_ssize_t most_links = PyLong_AsSsize_t(args[2]), most_chars = PyLong_AsSsize_t(args[3]);
    if (!page || PyErr_Occurred()) return NULL;
    if ((uint64_t)size >= UINT32_MAX) return PyLong_FromLong(NO_MEMORY);
    clear_wide_registers(); /* whoever compressed last */
    Found f = {0};
    Scan *s = PyMem_RawCalloc(1, sizeof *s);
    PyObject *given = NULL;
    f.links = PyList_New(0);
    f.others = PyList_New(0);
    f.metas = PyList_New(0);
    f.headings = PyList_New(0);
    f.most_links = most_links;
    f.most_chars = (size_t)(most_chars < 0 ? 0 : most_chars);
    if (!s || !f.links || !f.others || !f.metas || !f.headings) {
        PyErr_NoMemory();
    } else {
        s->begin = s->at = (const byte *)page;
        s->end = s->begin + size;
        s->is_bare = is_bare;
        s->found = &f;
        if (!scan_page(s)) given = answer(s, &f);
        else if (!PyErr_Occurred()) given = PyLong_FromLong(s->why ? s->why : NO_MEMORY);
    }
    if (s) {
        PyMem_RawFree(s->text.out.at);
        PyMem_RawFree(s->scratch.at);
        PyMem_RawFree(s->alt_bytes.at);
        PyMem_RawFree(s->alts);
        PyMem_RawFree(s);
    }
    PyMem_RawFree(f.offsets.at);
    PyMem_RawFree(f.href.at);
    Py_XDECREF(f.links);
    Py_XDECREF(f.others);
    Py_XDECREF(f.metas);
    Py_XDECREF(f.headings);
    Py_XDECREF(f.title);
    Py_XDECREF(f.language);
    Py_XDECREF(f.base);
    Py_XDECREF(f.canonical);
    Py_XDECREF(f.description);
    Py_XDECREF(f.generator);
    Py_XDECREF(f.rel);
    return given;
}

static int keep_refs(PyObject *given) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    Ref *before = refs;
    refs = PyMem_RawCalloc(REF_SLOTS, sizeof *refs);
    if (!refs) {
        refs = before;
        PyErr_NoMemory();
        return -1;
    }
    PyMem_RawFree(before);
    if (PyDict_GET_SIZE(given) > REF_SLOTS / 2) {
        PyErr_SetString(PyExc_ValueError, "too many references");
        return -1;
    }
    while (PyDict_Next(given, &at, &name, &value)) {
        Py_ssize_t name_size, value_size;
        const char *named = PyUnicode_AsUTF8AndSize(name, &name_size);
        const char *valued = named ? PyUnicode_AsUTF8AndSize(value, &value_size) : NULL;
        if (!valued) return -1;
        if (keep_ref(named, (size_t)name_size, valued, (size_t)value_size)) {
            PyErr_Format(PyExc_ValueError, "not a reference: %R", name);
            return -1;
        }
    }
    return 0;
}

static PyObject *set_up(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *link, *kinds, *given_places, *relations, *given_refs;
    if (!PyArg_ParseTuple(args, "OO!O!OO!", &link, &PyTuple_Type, &kinds, &PyTuple_Type,
                          &given_places, &relations, &PyDict_Type, &given_refs))
        return NULL;
    if (!PyType_Check(link) || !PyType_IsSubtype((PyTypeObject *)link, &PyTuple_Type) ||
        PyTuple_GET_SIZE(kinds) != 2 || PyTuple_GET_SIZE(given_places) != PLACES) {
        PyErr_SetString(PyExc_TypeError, "set_up(Link, two kinds, seven places, relation, references)");
        return NULL;
    }
    if (keep_refs(given_refs)) return NULL;
    Py_XSETREF(no_text, PyUnicode_FromString(""));
    Py_XSETREF(anchor_kind, Py_NewRef(PyTuple_GET_ITEM(kinds, 0)));
    Py_XSETREF(link_kind, Py_NewRef(PyTuple_GET_ITEM(kinds, 1)));
    Py_XSETREF(relation_of, Py_NewRef(relations));
    for (int i = 0; i < PLACES; i++)
        Py_XSETREF(places[i], Py_NewRef(PyTuple_GET_ITEM(given_places, i)));
    Py_INCREF(link);
    Py_XDECREF(link_type);
    link_type = (PyTypeObject *)link;
    fill_tags();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"scan", AS_FUNCTION(scan), METH_FASTCALL,
     "scan(page, is_bare, most_links, most_chars): what the page holds, or why it is declined."},
    {"set_up", set_up, METH_VARARGS,
     "set_up(Link, kinds, places, relation, references): to be called once, before `scan`."},
    {NULL, NULL, 0, NULL},
};

int add_scan(PyObject *module) { return PyModule_AddFunctions(module, functions); }
