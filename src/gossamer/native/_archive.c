/* Archiving an answer: the records of an exchange. */

#include "module.h"

#define API 1

DEFINE_MODULE(_archive, "Make the WARC records of an exchange.", add_capture)
