/* What the extensions share: the definition of a module, and what every source file includes.
 *
 * An extension is one file that names its parts (`_page.c`) and a source file for each part, which
 * adds its functions and types to the module. Parts keep objects in static variables, so that an
 * extension works in the main interpreter of a process alone. In any other one importing it fails,
 * and the Python form runs there.
 *
 * API is the number of an extension's contract with the Python side (extensions.py holds the number
 * that it expects). Raise both together when arguments or results of a function change.
 */

#ifndef GOSSAMER_MODULE_H
#define GOSSAMER_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The parts: each returns 0, or -1 with an error set. */
int add_scan(PyObject *module);
int add_link_cache(PyObject *module);
int add_plain_links(PyObject *module);
int add_language(PyObject *module);
int add_capture(PyObject *module);
int add_passage(PyObject *module);
int add_fold(PyObject *module);

#if PY_VERSION_HEX >= 0x030C0000
#define ONE_INTERPRETER {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#else
#define ONE_INTERPRETER
#endif

/* A function of METH_FASTCALL or the like, as the table of functions holds it. */
#define AS_FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static inline int begin_module(PyObject *module, long api) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) { /* before 3.12 it has no slot */
        PyErr_SetString(PyExc_ImportError, "extensions of gossamer need the main interpreter");
        return -1;
    }
    return PyModule_AddIntConstant(module, "API", api);
}

/* An extension of this name, whose parts `add_parts` adds. */
#define DEFINE_MODULE(NAME, DOC, ADD_PARTS)                                                        \
    static int fill(PyObject *module) {                                                            \
        return begin_module(module, API) || ADD_PARTS(module) ? -1 : 0;                            \
    }                                                                                              \
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill}, ONE_INTERPRETER{0, NULL}};     \
    static struct PyModuleDef definition = {                                                       \
        .m_base = PyModuleDef_HEAD_INIT,                                                           \
        .m_name = "gossamer.native." #NAME,                                                        \
        .m_doc = DOC,                                                                              \
        .m_slots = slots,                                                                          \
    };                                                                                             \
    PyMODINIT_FUNC PyInit_##NAME(void) { return PyModuleDef_Init(&definition); }

#endif
