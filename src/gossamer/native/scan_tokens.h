/* Bytes to tags and text, as the HTML standard cuts them. */

#ifndef GOSSAMER_SCAN_TOKENS_H
#define GOSSAMER_SCAN_TOKENS_H

#include "scan_tree.h"

/* Read a tag whose name begins at `p`. NULL where the page ends in it: then it is none. */
static const byte *read_tag(Scan *s, const byte *p, Tag *t) {
    const byte *end = s->end;
    t->attributes = 0;
    t->is_closed = 0;
    t->role = -1;
    p = end_of_name(p, end, &t->name);
    t->tag = tag_of(t->name);
    for (;;) {
        while (p < end && (is_space(*p) || *p == '/')) p++;
        if (p >= end) return NULL;
        if (*p == '>') {
            t->is_closed = p[-1] == '/';
            return p + 1;
        }
        if (t->attributes == MOST_ATTRIBUTES) {
            decline(s, WIDE);
            return NULL;
        }
        Attribute *a = &t->attribute[t->attributes++];
        a->name = p; /* an equals sign here is a part of the name */
        p = end_of_attribute(p + 1, end);
        a->name_size = (size_t)(p - a->name);
        if (a->name_size == 4 && t->role < 0 && same_word(a->name, 4, "role"))
            t->role = t->attributes - 1;
        a->value = p;
        a->value_size = 0;
        while (p < end && is_space(*p)) p++;
        if (p >= end) return NULL;
        if (*p != '=') continue;
        p++;
        while (p < end && is_space(*p)) p++;
        if (p >= end) return NULL;
        if (*p == '"' || *p == '\'') {
            const byte *close = find_byte(p + 1, end, end, (char)*p);
            if (!close) return NULL;
            a->value = p + 1;
            a->value_size = (size_t)(close - p - 1);
            p = close + 1;
            if (p < end && *p == '>') return p + 1;
            continue;
        }
        a->value = p;
        while (p < end && !(MEANS[*p] & ENDS_VALUE)) p++;
        a->value_size = (size_t)(p - a->value);
        if (p < end && *p == '>') return p + 1; /* a slash before it belongs to the value */
    }
}

/* Whether bytes are UTF-8 throughout. */
static int is_utf8(const byte *p, const byte *end) {
    while (p < end) {
        p = past_ascii(p, end); /* most of a page */
        while (p < end && *p < 0x80) p++;
        if (p == end) return 1;
        byte c = *p++;
        int more = c >= 0xc2 && c < 0xe0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 0;
        if (!more || end - p < more) return 0;
        if ((c == 0xe0 && p[0] < 0xa0) || (c == 0xed && p[0] > 0x9f) || (c == 0xf0 && p[0] < 0x90) ||
            (c == 0xf4 && p[0] > 0x8f))
            return 0;
        for (; more; more--, p++)
            if ((*p & 0xc0) != 0x80) return 0;
    }
    return 1;
}

/* Past a comment whose text begins at `p`. */
static const byte *pass_comment(const byte *p, const byte *end) {
    if (p < end && *p == '>') return p + 1;
    if (end - p > 1 && p[0] == '-' && p[1] == '>') return p + 2;
    while (p < end && (p = memchr(p, '-', (size_t)(end - p)))) {
        if (end - p > 2 && p[1] == '-') {
            if (p[2] == '>') return p + 3;
            if (end - p > 3 && p[2] == '!' && p[3] == '>') return p + 4;
        }
        p++;
    }
    return end;
}

static const byte *pass_bogus(const byte *p, const byte *end) {
    p = p < end ? memchr(p, '>', (size_t)(end - p)) : NULL;
    return p ? p + 1 : end;
}

/* Whether a page with this doctype surely has no quirks. */
static int is_strict(const byte *p, const byte *end) {
    while (p < end && is_space(*p)) p++;
    if (end - p < 4 || !same_word(p, 4, "html")) return 0;
    p += 4;
    while (p < end && is_space(*p)) p++;
    if (p == end) return 1;
    if (find_word(p, end, "about:legacy-compat") || find_word(p, end, "-//w3c//dtd xhtml 1."))
        return 1;
    return find_word(p, end, "-//w3c//dtd html 4.01") && find_word(p, end, "http://");
}

static int markup(Scan *s, const byte *p, int is_first) {
    const byte *end = s->end;
    if (end - p > 3 && p[2] == '-' && p[3] == '-') {
        s->at = pass_comment(p + 4, end);
        return 0;
    }
    s->at = pass_bogus(p + 1, end);
    if (end - p > 9 && same_word(p + 2, 7, "doctype") && is_first)
        s->is_quirky = !is_strict(p + 9, s->at - (s->at < end || end[-1] == '>'));
    else if (end - p > 8 && !memcmp(p + 2, "[CDATA[", 7) && top(s) == T_SVG)
        return decline(s, IN_PICTURE);
    return 0;
}

static inline int end_of(const Scan *s, const byte *p, int more) { return s->end - p <= more; }

/* Where the page ends, all that is open ends. */
static int pop_all(Scan *s) {
    while (s->open)
        if (pop_to(s, s->open - 1)) return -1;
    return 0;
}

/* Read the whole page. 0, or -1 with the reason in `why`. */
static int scan_page(Scan *s) {
    Tag t;
    int is_first = 1; /* nothing but comments and white space came before */
    s->is_quirky = 1;
    forget_latest(s);
    s->anchor = s->ruby = -1;
    if (memchr(s->begin, 0, (size_t)(s->end - s->begin))) return decline(s, NUL);
    while (s->at < s->end) {
        const byte *p = find_byte(s->at, s->end, s->end, '<');
        if (!p) p = s->end;
        if (p > s->at) {
            const byte *from = s->at;
            s->at = p;
            if (some_text(s, from, p)) return -1;
        }
        if (end_of(s, p, 1)) {
            if (p < s->end && some_text(s, p, s->end)) return -1;
            break;
        }
        byte c = p[1];
        if (is_alpha(c) || (c == '/' && !end_of(s, p, 2) && is_alpha(p[2]))) {
            int is_end = c == '/';
            const byte *after = read_tag(s, p + 1 + is_end, &t);
            if (!after) break;
            t.at = p;
            s->at = after;
            s->has_begun_pre = 0;
            is_first = 0;
            if (is_end ? end_tag(s, &t) : start_tag(s, &t)) return -1;
            continue;
        }
        if (c == '!') {
            if (markup(s, p, is_first)) return -1;
            s->has_begun_pre = 0;
            continue;
        }
        if (c == '?' || (c == '/' && !end_of(s, p, 2))) {
            s->at = c == '/' && p[2] == '>' ? p + 3 : pass_bogus(p + 2, s->end);
            if (c == '?' || p[2] != '>') s->has_begun_pre = 0;
            continue;
        }
        s->at = p + 1;
        if (some_text(s, p, p + 1)) return -1;
    }
    if (s->why) return -1;
    return pop_all(s);
}

#endif
