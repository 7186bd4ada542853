/* The headers of an answer, found by name in its bytes: what `LinesInPython` of head.py does.
 *
 * Names are compared without case and values stripped as Python's `str` does it for Latin-1.
 */

#ifndef GOSSAMER_HEAD_LINES_H
#define GOSSAMER_HEAD_LINES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef unsigned char Byte;

typedef struct {
    const Byte *at, *end;
} Span;

static int is_space(Byte c) {
    return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f) || c == 0x85 ||
           c == 0xa0;
}

static int lower(Byte c) {
    return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ? c + 0x20 : c;
}

static Span stripped(Span text) {
    while (text.at < text.end && is_space(*text.at)) text.at++;
    while (text.at < text.end && is_space(text.end[-1])) text.end--;
    return text;
}

static int begins_with(Span text, Span name) {
    if (text.end - text.at < name.end - name.at) return 0;
    while (name.at < name.end && lower(*text.at) == *name.at) text.at++, name.at++;
    return name.at == name.end;
}

/* The next line of that name, and its value in `value`; `rest` goes on behind the name. */
static int next_value(Span *rest, Span name, Span *value) {
    while (rest->at < rest->end) {
        const Byte *line = memchr(rest->at, '\n', rest->end - rest->at);
        if (!line) break;
        rest->at = line + 1;
        if (!begins_with(*rest, name)) continue;
        rest->at += name.end - name.at;
        const Byte *end = memchr(rest->at, '\n', rest->end - rest->at);
        if (!end) end = rest->end;
        const Byte *colon = rest->at;
        while (colon < end && is_space(*colon)) colon++;
        if (colon == end || *colon != ':') continue;
        *value = stripped((Span){colon + 1, end});
        return 1;
    }
    return 0;
}

static int first_value(Span head, const char *name, Span *value) {
    return next_value(&head, (Span){(const Byte *)name, (const Byte *)name + strlen(name)}, value);
}

enum { MOST_DIGITS = 18 };

/* The Content-Length: -1 where there is none that makes sense, 10**18 for any that is longer. */
static long long length_in(Span head) {
    Span digits;
    if (!first_value(head, "content-length", &digits) || digits.at == digits.end) return -1;
    long long length = 0;
    int count = 0;
    for (; digits.at < digits.end; digits.at++) {
        if (*digits.at < '0' || *digits.at > '9') return -1;
        if (count || *digits.at != '0') count++;
        if (count <= MOST_DIGITS) length = length * 10 + (*digits.at - '0');
    }
    return count > MOST_DIGITS ? 1000000000000000000LL : length;
}

static const Byte *past(Span text, int is_wanted(Byte)) {
    while (text.at < text.end && is_wanted(*text.at)) text.at++;
    return text.at;
}

static int is_digit(Byte c) { return c >= '0' && c <= '9'; }
static int is_version(Byte c) { return is_digit(c) || c == '.'; }
static int is_blank(Byte c) { return c == ' ' || c == '\t'; }

/* The status: three digits behind a version and blanks; 0 where the first line has none. */
static int status_in(Span head) {
    if (head.end - head.at < 5 || memcmp(head.at, "HTTP/", 5)) return 0;
    const Byte *version = head.at + 5;
    const Byte *blank = past((Span){version, head.end}, is_version);
    const Byte *code = past((Span){blank, head.end}, is_blank);
    if (blank == version || code == blank || head.end - code < 3) return 0;
    if (!is_digit(code[0]) || !is_digit(code[1]) || !is_digit(code[2])) return 0;
    return (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
}

#endif
