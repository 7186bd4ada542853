/* Character references: &amp; &#65; &nbsp without its semicolon. The names come from Python. */

#ifndef GOSSAMER_SCAN_REFS_H
#define GOSSAMER_SCAN_REFS_H

#include "scan_text.h"

enum { REF_SLOTS = 8192, MOST_REF_NAME = 40 };

typedef struct {
    byte size, value_size;
    byte value[8];
    char name[MOST_REF_NAME];
} Ref;

static Ref *refs; /* by name with its semicolon, where it has one */

static unsigned ref_slot(const byte *name, size_t size) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ name[i]) * 16777619u;
    return (hash ^ hash >> 15) % REF_SLOTS;
}

static const Ref *find_ref(const byte *name, size_t size) {
    for (unsigned slot = ref_slot(name, size); refs[slot].size; slot = (slot + 1) % REF_SLOTS)
        if (refs[slot].size == size && !memcmp(refs[slot].name, name, size)) return &refs[slot];
    return NULL;
}

/* 0, or -1 where a name or value is too long to be one. */
static int keep_ref(const char *name, size_t size, const char *value, size_t value_size) {
    if (!size || size > MOST_REF_NAME || value_size > 8) return -1;
    unsigned slot = ref_slot((const byte *)name, size);
    while (refs[slot].size) slot = (slot + 1) % REF_SLOTS;
    refs[slot].size = (byte)size;
    refs[slot].value_size = (byte)value_size;
    memcpy(refs[slot].name, name, size);
    memcpy(refs[slot].value, value, value_size);
    return 0;
}

static int utf8(uint32_t c, byte *to) {
    if (c < 0x80) return to[0] = (byte)c, 1;
    if (c < 0x800) return to[0] = (byte)(0xc0 | c >> 6), to[1] = (byte)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return to[0] = (byte)(0xe0 | c >> 12), to[1] = (byte)(0x80 | (c >> 6 & 63)),
               to[2] = (byte)(0x80 | (c & 63)), 3;
    return to[0] = (byte)(0xf0 | c >> 18), to[1] = (byte)(0x80 | (c >> 12 & 63)),
           to[2] = (byte)(0x80 | (c >> 6 & 63)), to[3] = (byte)(0x80 | (c & 63)), 4;
}

/* What browsers make of numbers that name controls of windows-1252. */
static const uint16_t WINDOWS[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

static inline int is_alpha(byte c) { return (byte)((c | 32) - 'a') < 26; }
static inline int is_digit(byte c) { return (byte)(c - '0') < 10; }

static int hex_digit(byte c) {
    if (is_digit(c)) return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t number_ref(const byte *p, const byte *end, byte *value, int *value_size) {
    const byte *at = p + 2;
    uint32_t c = 0;
    int is_hex = at < end && (*at | 32) == 'x', digits = 0;
    for (at += is_hex; at < end; at++, digits++) {
        int digit = is_hex ? hex_digit(*at) : is_digit(*at) ? *at - '0' : -1;
        if (digit < 0) break;
        if (c <= 0x10ffff) c = c * (is_hex ? 16 : 10) + (uint32_t)digit;
    }
    if (!digits) return 0;
    if (at < end && *at == ';') at++;
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    if (c >= 0x80 && c < 0xa0) c = WINDOWS[c - 0x80];
    *value_size = utf8(c, value);
    return (size_t)(at - p);
}

/* The reference at `p`, which is an ampersand: how many bytes it takes, 0 where there is none. */
static size_t read_ref(const byte *p, const byte *end, int in_attribute, byte value[8],
                       int *value_size) {
    if (end - p < 3) return 0;
    if (p[1] == '#') return number_ref(p, end, value, value_size);
    const byte *name = p + 1;
    size_t size = 0, most = (size_t)(end - name);
    if (most > MOST_REF_NAME) most = MOST_REF_NAME;
    while (size < most && (is_alpha(name[size]) || is_digit(name[size]))) size++;
    const Ref *ref = NULL;
    if (size < most && name[size] == ';') {
        ref = find_ref(name, size + 1);
        if (ref) size++;
    }
    for (; !ref && size > 1; size--)
        if ((ref = find_ref(name, size))) break;
    if (!ref) return 0;
    if (in_attribute && name[size - 1] != ';' && name + size < end) {
        byte next = name[size];
        if (next == '=' || is_alpha(next) || is_digit(next)) return 0;
    }
    memcpy(value, ref->value, ref->value_size);
    *value_size = ref->value_size;
    return 1 + size;
}

#endif
