/* Reading a page: its markup, its language, and what its links mean. */

#include "module.h"

#define API 2

static int add_parts(PyObject *module) {
    return add_scan(module) || add_link_cache(module) || add_plain_links(module) ||
           add_language(module);
}

DEFINE_MODULE(_page, "Read a page and resolve its links.", add_parts)
