/* The passage of a page that answers a query best: as `passage_in_python` in search/passages.py,
 * which says what is meant. A term is a weight and its groups (`term_patterns.py`). */

#include "module.h"

#define MOST_FINDS 100 /* of one thing */
#define MOST_BETWEEN 9 /* characters between two words side by side */
#define AGAIN 0.1      /* of its weight, for a thing that was there already */
#define NEAR_BLANK 40  /* characters within which a cut is moved to a blank */

enum How { PLAIN, BEGINNING, ENDS, BESIDE, BESIDE_OPEN, HOWS };

typedef struct {
    Py_ssize_t start, end, which;
} Find;

typedef struct {
    Find *all;
    Py_ssize_t count, room;
} Finds;

typedef struct {
    PyObject *of;
    const void *data;
    Py_ssize_t length;
    int kind;
} Text;

static Text text_of(PyObject *of) {
    return (Text){of, PyUnicode_DATA(of), PyUnicode_GET_LENGTH(of), PyUnicode_KIND(of)};
}

static Py_UCS4 at_place(const Text *t, Py_ssize_t place) {
    return PyUnicode_READ(t->kind, t->data, place);
}

static Py_ssize_t smaller(Py_ssize_t a, Py_ssize_t b) { return a < b ? a : b; }
static Py_ssize_t larger(Py_ssize_t a, Py_ssize_t b) { return a > b ? a : b; }

static int is_letter(Py_UCS4 code) {
    if (code < 128)
        return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
               (code >= '0' && code <= '9') || code == '_';
    return Py_UNICODE_ISALNUM(code);
}

static int has_letter(const Text *t, Py_ssize_t place) {
    return place >= 0 && place < t->length && is_letter(at_place(t, place));
}

/* Where a word that stands at a place ends; -1 where it does not stand there. */
static Py_ssize_t behind(const Text *t, Py_ssize_t place, PyObject *word) {
    const Text w = text_of(word);
    if (w.length > t->length - place)
        return -1;
    for (Py_ssize_t i = 0; i < w.length; i++)
        if (at_place(t, place + i) != at_place(&w, i))
            return -1;
    return place + w.length;
}

/* -- groups: (beginning, is_bound, how, rest) */

/* A number that is small enough; what is none raises nothing. */
static int is_below(PyObject *number, long most) {
    int is_far;
    const long value = PyLong_Check(number) ? PyLong_AsLongAndOverflow(number, &is_far) : -1;
    return value >= 0 && value < most;
}

static int is_pair(PyObject *one) {
    return PyTuple_Check(one) && PyTuple_GET_SIZE(one) == 2 &&
           is_below(PyTuple_GET_ITEM(one, 0), MOST_BETWEEN) &&
           PyUnicode_Check(PyTuple_GET_ITEM(one, 1));
}

static int is_group(PyObject *one) {
    if (!PyTuple_Check(one) || PyTuple_GET_SIZE(one) != 4)
        return 0;
    PyObject *beginning = PyTuple_GET_ITEM(one, 0), *how = PyTuple_GET_ITEM(one, 2);
    PyObject *rest = PyTuple_GET_ITEM(one, 3);
    if (!PyUnicode_Check(beginning) || PyUnicode_GET_LENGTH(beginning) == 0 ||
        !PyBool_Check(PyTuple_GET_ITEM(one, 1)) || !is_below(how, HOWS) || !PyTuple_Check(rest))
        return 0;
    const long kind = PyLong_AsLong(how);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rest); i++) {
        PyObject *each = PyTuple_GET_ITEM(rest, i);
        if (kind == ENDS ? !PyUnicode_Check(each) : !is_pair(each))
            return 0;
    }
    return 1;
}

static int are_things(PyObject *things) {
    if (!PyTuple_Check(things))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(things); i++) {
        PyObject *thing = PyTuple_GET_ITEM(things, i);
        if (!PyTuple_Check(thing) || PyTuple_GET_SIZE(thing) != 2 ||
            !PyFloat_Check(PyTuple_GET_ITEM(thing, 0)) ||
            !PyTuple_Check(PyTuple_GET_ITEM(thing, 1)))
            return 0;
        PyObject *groups = PyTuple_GET_ITEM(thing, 1);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(groups); k++)
            if (!is_group(PyTuple_GET_ITEM(groups, k)))
                return 0;
    }
    return 1;
}

static Py_ssize_t behind_letters(const Text *t, Py_ssize_t place) {
    while (has_letter(t, place))
        place++;
    return place;
}

static Py_ssize_t behind_an_end(const Text *t, Py_ssize_t place, PyObject *ends) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ends); i++) {
        const Py_ssize_t end = behind(t, place, PyTuple_GET_ITEM(ends, i));
        if (end >= 0 && !has_letter(t, end))
            return end;
    }
    return -1;
}

/* Each word begins with a letter, so all that is none before it lies between. */
static Py_ssize_t behind_words(const Text *t, Py_ssize_t place, PyObject *words) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words) && place >= 0; i++) {
        PyObject *pair = PyTuple_GET_ITEM(words, i);
        const Py_ssize_t from = place;
        while (place < t->length && place - from < MOST_BETWEEN && !has_letter(t, place))
            place++;
        if (place - from < PyLong_AsLong(PyTuple_GET_ITEM(pair, 0)))
            return -1;
        place = behind(t, place, PyTuple_GET_ITEM(pair, 1));
    }
    return place;
}

/* Where what a group means ends, if its beginning ends at a place; -1 where it is not there. */
static Py_ssize_t behind_group(const Text *t, Py_ssize_t place, PyObject *group) {
    PyObject *rest = PyTuple_GET_ITEM(group, 3);
    Py_ssize_t end = -1;
    switch ((enum How)PyLong_AsLong(PyTuple_GET_ITEM(group, 2))) {
    case BEGINNING:
        return behind_letters(t, place);
    case ENDS:
        return behind_an_end(t, place, rest);
    case BESIDE:
        end = behind_words(t, place, rest);
        return end >= 0 && has_letter(t, end) ? -1 : end;
    case BESIDE_OPEN:
        return behind_words(t, place, rest);
    default:
        return place;
    }
}

static int note(Finds *finds, Find find) {
    if (finds->count == finds->room) {
        const Py_ssize_t room = finds->room ? 2 * finds->room : 64;
        Find *all = PyMem_Realloc(finds->all, (size_t)room * sizeof(Find));
        if (all == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        finds->all = all;
        finds->room = room;
    }
    finds->all[finds->count++] = find;
    return 0;
}

/* The places of a group, `left` of them at the most; how many there were, -1 on failure. */
static Py_ssize_t seek(const Text *t, PyObject *group, Py_ssize_t which, Py_ssize_t left,
                       Finds *finds) {
    PyObject *beginning = PyTuple_GET_ITEM(group, 0);
    const int is_bound = PyTuple_GET_ITEM(group, 1) == Py_True;
    const Py_ssize_t size = PyUnicode_GET_LENGTH(beginning);
    Py_ssize_t from = 0, seen = 0;
    while (seen < left) {
        const Py_ssize_t start = PyUnicode_Find(t->of, beginning, from, t->length, 1);
        if (start < 0)
            return start == -1 ? seen : -1;
        Py_ssize_t end = -1;
        if (!is_bound || !has_letter(t, start - 1))
            end = behind_group(t, start + size, group);
        if (end >= 0 && note(finds, (Find){start, end, which}) < 0)
            return -1;
        seen += end >= 0;
        /* What must begin a word cannot begin within the same run of letters. */
        from = end >= 0 ? end : is_bound ? larger(start + 1, behind_letters(t, start)) : start + 1;
    }
    return seen;
}

static int by_place(const void *one, const void *other) {
    const Find *a = one, *b = other;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->which > b->which) - (a->which < b->which);
}

/* All places in their order; where two overlap, the first, and of those the longest. */
static int find_all(const Text *folded, PyObject *things, Finds *finds) {
    for (Py_ssize_t which = 0; which < PyTuple_GET_SIZE(things); which++) {
        PyObject *groups = PyTuple_GET_ITEM(PyTuple_GET_ITEM(things, which), 1);
        Py_ssize_t left = MOST_FINDS;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(groups) && left > 0; k++) {
            const Py_ssize_t seen = seek(folded, PyTuple_GET_ITEM(groups, k), which, left, finds);
            if (seen < 0)
                return -1;
            left -= seen;
        }
    }
    if (finds->count > 1)
        qsort(finds->all, (size_t)finds->count, sizeof(Find), by_place);
    Py_ssize_t until = 0, kept = 0;
    for (Py_ssize_t i = 0; i < finds->count; i++)
        if (finds->all[i].start >= until) {
            until = finds->all[i].end;
            finds->all[kept++] = finds->all[i];
        }
    finds->count = kept;
    return 0;
}

/* -- the window and the passage around it */

typedef struct {
    Py_ssize_t start, end;
} Span;

static double worth_of(PyObject *things, Py_ssize_t which, Py_ssize_t times) {
    const double weight =
        PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(PyTuple_GET_ITEM(things, which), 0));
    return weight * (times ? AGAIN : 1.0);
}

/* `times` has a zero for each thing. */
static Span best_window(const Finds *finds, PyObject *things, Py_ssize_t width,
                        Py_ssize_t *times) {
    Span best = {0, 0};
    double best_worth = 0.0, worth = 0.0;
    const Find *first = finds->all;
    for (Py_ssize_t i = 0; i < finds->count; i++) {
        const Find *last = &finds->all[i];
        worth += worth_of(things, last->which, times[last->which]++);
        for (; last->end - first->start > width && first != last; first++)
            worth -= worth_of(things, first->which, --times[first->which]);
        if (worth > best_worth + 1e-9) {
            best = (Span){first->start, last->end};
            best_worth = worth;
        }
    }
    return best;
}

static int is_space(Py_UCS4 code) { return Py_UNICODE_ISSPACE(code); }

/* Where the first sentence begins that ends before in this span; -1 where none does. */
static Py_ssize_t sentence_start(const Text *t, Span within) {
    for (Py_ssize_t i = within.start; i < within.end; i++) {
        const Py_UCS4 code = at_place(t, i);
        if (code == '\n' || code == 0x3002 || code == 0xFF01 || code == 0xFF1F)
            return i + 1;
        if (code != '.' && code != '!' && code != '?')
            continue;
        Py_ssize_t next = i + 1;
        while (next < within.end && is_space(at_place(t, next)))
            next++;
        if (next > i + 1)
            return next;
    }
    return -1;
}

static Py_ssize_t word_start(const Text *t, Py_ssize_t place) {
    if (place <= 0)
        return 0;
    for (Py_ssize_t i = place; i < smaller(t->length, place + NEAR_BLANK); i++)
        if (at_place(t, i) == ' ')
            return i + 1;
    return place;
}

static Span passage_around(const Text *t, Span best, Py_ssize_t width) {
    const Py_ssize_t room = larger(0, width - (best.end - best.start));
    const Py_ssize_t earliest = larger(0, best.start - room);
    Py_ssize_t start = sentence_start(t, (Span){earliest, best.start});
    if (start < 0)
        start = smaller(best.start, word_start(t, best.start - room / 2));
    if (earliest == 0 && best.start <= room / 2)
        start = 0;
    const Py_ssize_t end = smaller(t->length, larger(best.end, start + width));
    if (end < t->length)
        for (Py_ssize_t i = end; i-- > larger(1, larger(best.end, end - NEAR_BLANK));)
            if (at_place(t, i) == ' ')
                return (Span){start, i};
    return (Span){start, end};
}

/* -- what is shown of it */

typedef struct {
    Py_UCS4 *codes;
    Py_ssize_t count;
} Line;

/* Spaces of all kinds become one blank, and none at the beginning. */
static void add(Line *line, const Text *t, Py_ssize_t from, Py_ssize_t to) {
    for (Py_ssize_t i = from; i < to; i++) {
        const Py_UCS4 code = at_place(t, i);
        if (!is_space(code))
            line->codes[line->count++] = code;
        else if (line->count && line->codes[line->count - 1] != ' ')
            line->codes[line->count++] = ' ';
    }
}

/* Fills the line, and returns where its words are; NULL on failure. */
static PyObject *marked(Line *line, const Text *t, Span span, const Finds *finds) {
    PyObject *marks = PyList_New(0);
    Py_ssize_t at = span.start;
    for (Py_ssize_t i = 0; marks != NULL && i < finds->count; i++) {
        const Find *find = &finds->all[i];
        if (find->start < span.start)
            continue;
        if (find->end > span.end)
            break;
        add(line, t, at, find->start);
        const Py_ssize_t start = line->count;
        add(line, t, find->start, find->end);
        at = find->end;
        PyObject *mark = Py_BuildValue("(nn)", start, line->count);
        if (mark == NULL || PyList_Append(marks, mark) < 0)
            Py_CLEAR(marks);
        Py_XDECREF(mark);
    }
    if (marks == NULL)
        return NULL;
    add(line, t, at, span.end);
    while (line->count && line->codes[line->count - 1] == ' ')
        line->count--;
    PyObject *answer = PyList_AsTuple(marks);
    Py_DECREF(marks);
    return answer;
}

static PyObject *shown(const Text *t, Span span, const Finds *finds) {
    const Py_ssize_t length = larger(0, span.end - span.start);
    Line line = {PyMem_New(Py_UCS4, (size_t)length + 1), 0};
    if (line.codes == NULL)
        return PyErr_NoMemory();
    PyObject *answer = NULL, *marks = marked(&line, t, span, finds);
    PyObject *text =
        marks ? PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, line.codes, line.count) : NULL;
    if (text != NULL)
        answer = PyTuple_Pack(2, text, marks);
    Py_XDECREF(text);
    Py_XDECREF(marks);
    PyMem_Free(line.codes);
    return answer;
}

/* `times` has a zero for each thing. */
static Py_ssize_t distinct(const Finds *finds, Py_ssize_t *times, Py_ssize_t things) {
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < finds->count; i++)
        count += times[finds->all[i].which]++ == 0;
    memset(times, 0, (size_t)things * sizeof(Py_ssize_t));
    return count;
}

typedef struct {
    PyObject *text, *folded, *things;
    Py_ssize_t wanted, width;
    int is_last;
} Asked;

static PyObject *answer_with(const Asked *asked, Finds *finds, Py_ssize_t *times) {
    const Text text = text_of(asked->text), folded = text_of(asked->folded);
    if (find_all(&folded, asked->things, finds) < 0)
        return NULL;
    const Py_ssize_t things = PyTuple_GET_SIZE(asked->things);
    if (!asked->is_last && distinct(finds, times, things) < asked->wanted)
        return Py_NewRef(Py_None);
    const Span best = best_window(finds, asked->things, asked->width, times);
    return shown(&text, passage_around(&text, best, asked->width), finds);
}

static PyObject *answer_to(const Asked *asked) {
    const size_t things = (size_t)PyTuple_GET_SIZE(asked->things);
    Py_ssize_t *times = PyMem_Calloc(things + 1, sizeof(Py_ssize_t));
    if (times == NULL)
        return PyErr_NoMemory();
    Finds finds = {NULL, 0, 0};
    PyObject *answer = answer_with(asked, &finds, times);
    PyMem_Free(finds.all);
    PyMem_Free(times);
    return answer;
}

static PyObject *passage(PyObject *module, PyObject *args) {
    (void)module;
    Asked asked;
    if (!PyArg_ParseTuple(args, "UUOnpn", &asked.text, &asked.folded, &asked.things, &asked.wanted,
                          &asked.is_last, &asked.width))
        return NULL;
    if (!are_things(asked.things)) {
        PyErr_SetString(PyExc_TypeError, "things are (weight, ((beginning, bound, how, rest), …))");
        return NULL;
    }
    if (PyUnicode_GET_LENGTH(asked.folded) > PyUnicode_GET_LENGTH(asked.text) ||
        asked.width < 0 || asked.width > PY_SSIZE_T_MAX / 4) {
        PyErr_SetString(PyExc_ValueError, "no text has that beginning, or no passage that width");
        return NULL;
    }
    return answer_to(&asked);
}

static PyMethodDef functions[] = {
    {"passage", passage, METH_VARARGS,
     "passage(text, folded, things, wanted, is_last, width): its text and marks; None where fewer "
     "of the things are there than wanted, and more of the text can be read."},
    {NULL, NULL, 0, NULL},
};

int add_passage(PyObject *module) { return PyModule_AddFunctions(module, functions); }
