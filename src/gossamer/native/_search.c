/* Showing a result: the passage of a page that answers a query. */

#include "module.h"

#define API 1

static int add_parts(PyObject *module) { return add_passage(module) || add_fold(module); }

DEFINE_MODULE(_search, "Find the passage of a page that answers a query.", add_parts)
