/* Pages read in C. The twin in Python does the same where this was not built.
 *
 * API is the number of the contract with the Python side (base/native.py holds the number that it
 * wants): raise both together when a function's arguments or answers change.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define API 1

static PyObject *version(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromLong(API);
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "The number of the contract, which is also in API."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) { return PyModule_AddIntConstant(module, "API", API); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gossamer.parse._scan",
    .m_doc = "Pages read in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__scan(void) { return PyModuleDef_Init(&definition); }
