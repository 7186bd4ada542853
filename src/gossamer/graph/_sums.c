/* Ranks of a graph that is in memory: the twins of `paired_in_python` and `used_in_python` in
 * rank_pages.py, of `gathered_in_python` in rank_links.py and of `_Plain.pulled` in rank_vectors.py,
 * which do the same where this was not built.
 *
 * NumPy makes a dozen passes over all links to bring them in order, each with an array of its own; here
 * they are counted and put in their places, first by source, where a link named twice is seen, then by
 * target. And it adds 280 million links a second in two steps, where one step adds 1,900 million.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define API 2
#define MOST INT32_MAX

/* Links on their way: `count` pairs, and for each of `nodes` what is known of it. */
typedef struct {
    const int64_t *pairs; /* (source, target) as one number */
    Py_ssize_t count;
    int32_t nodes, linking;
    int32_t *places;  /* of each node */
    int32_t *starts;  /* nodes + 1: of each place, where its sources begin */
    int32_t *outs;    /* of each place: how many links; where they begin */
    int32_t *lasts;   /* of each place: the last source that links to it */
    int32_t *targets; /* of all links, by source */
    int32_t *sources; /* of all links, by target */
} Gathering;

static int32_t source_of(int64_t pair) { return (int32_t)(pair >> 32); }

static int32_t target_of(int64_t pair) { return (int32_t)(pair & INT64_C(0xFFFFFFFF)); }

/* The places: those that link come first. Whether all pairs are of nodes. */
static int find_places(Gathering *self) {
    const uint32_t nodes = (uint32_t)self->nodes;
    memset(self->places, 0, (size_t)nodes * sizeof(int32_t));
    for (Py_ssize_t at = 0; at < self->count; at++) {
        const int32_t source = source_of(self->pairs[at]), target = target_of(self->pairs[at]);
        if ((uint32_t)source >= nodes || (uint32_t)target >= nodes)
            return 0;
        self->places[source] |= source != target;
    }
    int32_t linking = 0, others = 0;
    for (uint32_t node = 0; node < nodes; node++)
        linking += self->places[node];
    self->linking = linking;
    for (int32_t node = 0, next = 0; node < self->nodes; node++)
        self->places[node] = self->places[node] ? next++ : linking + others++;
    return 1;
}

/* Targets in the order of their sources, those of one source as they came. `outs` is left with where
 * the targets of each source end. */
static void order_by_source(Gathering *self) {
    memset(self->outs, 0, ((size_t)self->nodes + 1) * sizeof(int32_t));
    for (Py_ssize_t at = 0; at < self->count; at++)
        if (source_of(self->pairs[at]) != target_of(self->pairs[at]))
            self->outs[self->places[source_of(self->pairs[at])] + 1]++;
    for (int32_t place = 0; place < self->nodes; place++)
        self->outs[place + 1] += self->outs[place];
    for (Py_ssize_t at = 0; at < self->count; at++) {
        const int32_t source = source_of(self->pairs[at]), target = target_of(self->pairs[at]);
        if (source != target)
            self->targets[self->outs[self->places[source]]++] = self->places[target];
    }
}

/* Each link once; `outs` becomes how many each source has, `starts` how many each target has, one
 * place further on. */
static void drop_repeated(Gathering *self) {
    memset(self->lasts, 0xFF, (size_t)self->nodes * sizeof(int32_t));
    memset(self->starts, 0, ((size_t)self->nodes + 1) * sizeof(int32_t));
    int32_t from = 0, to = 0;
    for (int32_t source = 0; source < self->linking; source++) {
        const int32_t end = self->outs[source], first = to;
        for (; from < end; from++) {
            const int32_t target = self->targets[from];
            if (self->lasts[target] == source)
                continue;
            self->lasts[target] = source;
            self->targets[to++] = target;
            self->starts[target + 1]++;
        }
        self->outs[source] = to - first;
    }
}

/* Sources in the order of their targets, and those of one target in theirs. */
static void order_by_target(Gathering *self) {
    for (int32_t place = 0; place < self->nodes; place++)
        self->starts[place + 1] += self->starts[place];
    int32_t *next = self->lasts; /* they are not wanted any more */
    memcpy(next, self->starts, (size_t)self->nodes * sizeof(int32_t));
    const int32_t *target = self->targets;
    for (int32_t source = 0; source < self->linking; source++)
        for (int32_t left = self->outs[source]; left > 0; left--)
            self->sources[next[*target++]++] = source;
}

static int gather(Gathering *self) {
    if (!find_places(self))
        return 0;
    order_by_source(self);
    drop_repeated(self);
    order_by_target(self);
    return 1;
}

static PyObject *bytes_of(const int32_t *numbers, Py_ssize_t count) {
    return PyBytes_FromStringAndSize((const char *)numbers, count * (Py_ssize_t)sizeof(int32_t));
}

static PyObject *answer_of(const Gathering *self) {
    return Py_BuildValue("NNNN", bytes_of(self->places, self->nodes),
                         bytes_of(self->starts, (Py_ssize_t)self->nodes + 1),
                         bytes_of(self->outs, self->linking),
                         bytes_of(self->sources, self->starts[self->nodes]));
}

static int is_bad(const Py_buffer *buffer, Py_ssize_t size) {
    return buffer->len % size != 0 || (uintptr_t)buffer->buf % (uintptr_t)size != 0;
}

static PyObject *gathered(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer pairs;
    Py_ssize_t nodes;
    if (!PyArg_ParseTuple(arguments, "y*n:gathered", &pairs, &nodes))
        return NULL;
    const Py_ssize_t count = pairs.len / (Py_ssize_t)sizeof(int64_t);
    PyObject *answer = NULL;
    int32_t *memory = NULL;
    if (is_bad(&pairs, sizeof(int64_t)) || count > MOST || nodes < 0 || nodes >= MOST)
        PyErr_SetString(PyExc_ValueError, "pairs are numbers of 64 bits, of nodes that there are");
    else if ((memory = PyMem_Malloc((size_t)(4 * nodes + 2 * count + 8) * sizeof(int32_t))) == NULL)
        PyErr_NoMemory();
    else {
        Gathering self = {.pairs = pairs.buf, .count = count, .nodes = (int32_t)nodes};
        int is_well;
        self.places = memory;
        self.lasts = self.places + nodes;
        self.starts = self.lasts + nodes;
        self.outs = self.starts + nodes + 1;
        self.targets = self.outs + nodes + 1;
        self.sources = self.targets + count;
        Py_BEGIN_ALLOW_THREADS
        is_well = gather(&self);
        Py_END_ALLOW_THREADS
        if (is_well)
            answer = answer_of(&self);
        else
            PyErr_SetString(PyExc_ValueError, "a pair of nodes that there are not");
    }
    PyMem_Free(memory);
    PyBuffer_Release(&pairs);
    return answer;
}

/* Which of `count` texts any row has that stands, as a byte each: `into` is zero. */
static int mark_used(const int32_t *codes, const char *stand, Py_ssize_t rows, char *into,
                     uint32_t count) {
    for (Py_ssize_t row = 0; row < rows; row++) {
        if ((uint32_t)codes[row] >= count)
            return 0;
        into[codes[row]] |= stand[row] != 0;
    }
    return 1;
}

static PyObject *used(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer codes, stand;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "y*y*n:used", &codes, &stand, &count))
        return NULL;
    PyObject *answer = NULL;
    if (is_bad(&codes, 4) || codes.len / 4 != stand.len || count < 0 || count > MOST)
        PyErr_SetString(PyExc_ValueError, "codes are numbers of 32 bits, and each stands or not");
    else if ((answer = PyBytes_FromStringAndSize(NULL, count)) != NULL) {
        memset(PyBytes_AS_STRING(answer), 0, (size_t)count);
        if (!mark_used(codes.buf, stand.buf, stand.len, PyBytes_AS_STRING(answer), (uint32_t)count)) {
            Py_CLEAR(answer);
            PyErr_SetString(PyExc_ValueError, "a code of no text");
        }
    }
    PyBuffer_Release(&codes);
    PyBuffer_Release(&stand);
    return answer;
}

/* What `paired` is given: for each row its two codes and whether it stands, for each code a number. */
typedef struct {
    Py_buffer sources, targets, stand, of_source, of_target;
} Coded;

static Py_ssize_t standing(const Coded *self) {
    const char *stand = self->stand.buf;
    Py_ssize_t count = 0;
    for (Py_ssize_t row = 0; row < self->stand.len; row++)
        count += stand[row] != 0;
    return count;
}

static int put_pairs(const Coded *self, int64_t *into) {
    const int32_t *sources = self->sources.buf, *targets = self->targets.buf;
    const int64_t *of_source = self->of_source.buf, *of_target = self->of_target.buf;
    const uint32_t most_source = (uint32_t)(self->of_source.len / 8);
    const uint32_t most_target = (uint32_t)(self->of_target.len / 8);
    const char *stand = self->stand.buf;
    for (Py_ssize_t row = 0; row < self->stand.len; row++) {
        if (!stand[row])
            continue;
        const uint32_t source = (uint32_t)sources[row], target = (uint32_t)targets[row];
        if (source >= most_source || target >= most_target)
            return 0;
        *into++ = (int64_t)((uint64_t)of_source[source] << 32 | (uint64_t)of_target[target]);
    }
    return 1;
}

static PyObject *paired(PyObject *module, PyObject *arguments) {
    (void)module;
    Coded self;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*:paired", &self.sources, &self.targets, &self.stand,
                          &self.of_source, &self.of_target))
        return NULL;
    PyObject *answer = NULL;
    if (is_bad(&self.sources, 4) || is_bad(&self.targets, 4) || is_bad(&self.of_source, 8) ||
        is_bad(&self.of_target, 8) || self.sources.len / 4 != self.stand.len ||
        self.targets.len / 4 != self.stand.len || self.of_source.len / 8 > MOST ||
        self.of_target.len / 8 > MOST)
        PyErr_SetString(PyExc_ValueError, "each row has two codes of 32 bits, and stands or not");
    else if ((answer = PyBytes_FromStringAndSize(NULL, 8 * standing(&self))) != NULL &&
             !put_pairs(&self, (int64_t *)(void *)PyBytes_AS_STRING(answer))) {
        Py_CLEAR(answer);
        PyErr_SetString(PyExc_ValueError, "a code of no text");
    }
    PyBuffer_Release(&self.sources);
    PyBuffer_Release(&self.targets);
    PyBuffer_Release(&self.stand);
    PyBuffer_Release(&self.of_source);
    PyBuffer_Release(&self.of_target);
    return answer;
}

/* Four sums, because each addition would wait for the one before. */
static int add_up(const int32_t *sources, Py_ssize_t links, const int32_t *starts,
                  const double *values, uint32_t places, double *sums, Py_ssize_t rows) {
    for (Py_ssize_t row = 0; row < rows; row++) {
        Py_ssize_t at = starts[row];
        const Py_ssize_t end = starts[row + 1];
        if (at < 0 || end > links)
            return 0;
        double parts[4] = {0, 0, 0, 0};
        for (; at + 4 <= end; at += 4) {
            const uint32_t one = (uint32_t)sources[at], two = (uint32_t)sources[at + 1];
            const uint32_t three = (uint32_t)sources[at + 2], four = (uint32_t)sources[at + 3];
            if ((one >= places) | (two >= places) | (three >= places) | (four >= places))
                return 0;
            parts[0] += values[one];
            parts[1] += values[two];
            parts[2] += values[three];
            parts[3] += values[four];
        }
        for (; at < end; at++) {
            if ((uint32_t)sources[at] >= places)
                return 0;
            parts[0] += values[sources[at]];
        }
        sums[row] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
    return 1;
}

static PyObject *pulled(PyObject *module, PyObject *arguments) {
    (void)module;
    Py_buffer sources, starts, values, sums;
    if (!PyArg_ParseTuple(arguments, "y*y*y*w*:pulled", &sources, &starts, &values, &sums))
        return NULL;
    int is_well = !is_bad(&sources, 4) && !is_bad(&starts, 4) && !is_bad(&values, 8) &&
                  !is_bad(&sums, 8) && starts.len / 4 > sums.len / 8 && values.len / 8 <= MOST;
    /* The interpreter waits this fifth of a millisecond: to let go of it in each of a hundred rounds
     * would be to wait as often for whoever took it, up to 5 ms. */
    if (is_well)
        is_well = add_up(sources.buf, sources.len / 4, starts.buf, values.buf,
                         (uint32_t)(values.len / 8), sums.buf, sums.len / 8);
    PyBuffer_Release(&sources);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&values);
    PyBuffer_Release(&sums);
    if (!is_well) {
        PyErr_SetString(PyExc_ValueError, "links of places that there are not");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"gathered", gathered, METH_VARARGS, "Links by target, as `gathered_in_python` has them."},
    {"paired", paired, METH_VARARGS, "Pairs of pages, as `paired_in_python` has them."},
    {"used", used, METH_VARARGS, "Which texts any row has, as `used_in_python` has them."},
    {"pulled", pulled, METH_VARARGS, "For each row the sum over its sources, into the last array."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "API", API); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.graph._sums",
    .m_doc = "Links by target, and sums over them.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__sums(void) { return PyModuleDef_Init(&definition); }
