/* Lines of the log in C: the twin of what collection/crawl_log.py makes of reports and refusals.
 *
 * Lines are put together of ASCII that needs no escape; whatever has another character is declined.
 */

#ifndef GOSSAMER_LINES_H
#define GOSSAMER_LINES_H

#include "packed.h"

#define WRITE(buffer, words) put_bytes(buffer, words, sizeof(words) - 1)

static const int64_t LAST_US = 253402300799999999; /* the year 9999 ends */

static Said write_number(Buffer *b, uint64_t number) {
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return put_bytes(b, at, (size_t)(digits + sizeof digits - at));
}

static void write_digits(char *at, int count, int64_t number) {
    while (count--) {
        at[count] = (char)('0' + number % 10);
        number /= 10;
    }
}

/* `2026-01-31T12:00:00Z`. Days become a date by counting years from March on, so that the day that
 * only some years have is the last of its year. */
static Said write_moment(Buffer *b, int64_t wall_us) {
    if (wall_us < 0 || wall_us > LAST_US)
        return DECLINED;
    int64_t second = wall_us / 1000000, days = second / 86400 + 719468; /* since 0000-03-01 */
    int64_t era = days / 146097, of_era = days % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), part = (5 * of_year + 2) / 153;
    int64_t month = part < 10 ? part + 3 : part - 9;
    char text[] = "0000-00-00T00:00:00Z";
    write_digits(text, 4, year + era * 400 + (month <= 2));
    write_digits(text + 5, 2, month);
    write_digits(text + 8, 2, of_year - (153 * part + 2) / 5 + 1);
    write_digits(text + 11, 2, second % 86400 / 3600);
    write_digits(text + 14, 2, second % 3600 / 60);
    write_digits(text + 17, 2, second % 60);
    return put_bytes(b, text, sizeof text - 1);
}

/* A text as it is; declined where JSON would write it otherwise. */
static Said write_plain(Buffer *b, PyObject *value) {
    if (!PyUnicode_Check(value) || !PyUnicode_IS_ASCII(value))
        return DECLINED;
    const unsigned char *text = PyUnicode_1BYTE_DATA(value);
    size_t size = (size_t)PyUnicode_GET_LENGTH(value);
    for (size_t i = 0; i < size; i++)
        if (text[i] < ' ' || text[i] == '"' || text[i] == '\\')
            return DECLINED;
    return put_bytes(b, text, size);
}

/* A column, its comma and name before it, where it is not empty. */
static Said write_text(Buffer *b, const char *before, size_t size, PyObject *value) {
    if (!PyUnicode_Check(value))
        return value == Py_None ? DONE : DECLINED;
    if (PyUnicode_GET_LENGTH(value) == 0)
        return DONE;
    Said said = put_bytes(b, before, size);
    if (said == DONE)
        said = write_plain(b, value);
    return said == DONE ? WRITE(b, "\"") : said;
}

/* A number that is not negative; 0 is left out. */
static Said write_count(Buffer *b, const char *before, size_t size, PyObject *value) {
    if (!PyLong_CheckExact(value))
        return DECLINED;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (number == -1 && PyErr_Occurred())
        return FAILED;
    if (overflow || number < 0)
        return DECLINED;
    if (number == 0)
        return DONE;
    Said said = put_bytes(b, before, size);
    return said == DONE ? write_number(b, (uint64_t)number) : said;
}

/* Seconds with four places, without the zeros at their end; none where all are zero. */
static Said write_took(Buffer *b, PyObject *value) {
    if (!PyFloat_CheckExact(value))
        return DECLINED;
    double took_s = PyFloat_AS_DOUBLE(value);
    if (!(took_s >= 0 && took_s < 1e9)) /* beyond that Python writes it otherwise */
        return DECLINED;
    char *text = PyOS_double_to_string(took_s, 'f', 4, 0, NULL);
    if (text == NULL)
        return FAILED;
    size_t size = strlen(text);
    Said said = DONE;
    if (strcmp(text, "0.0000") != 0 && took_s != 0) { /* there is a zero with a sign */
        while (text[size - 1] == '0' && text[size - 2] != '.')
            size--;
        said = WRITE(b, ", \"took_s\": ");
        if (said == DONE)
            said = put_bytes(b, text, size);
    }
    PyMem_Free(text);
    return said;
}

static PyObject *line_in(const Buffer *b) {
    PyObject *line = PyUnicode_New((Py_ssize_t)b->used, 127);
    if (line != NULL)
        memcpy(PyUnicode_1BYTE_DATA(line), b->start, b->used);
    return line;
}

#endif
