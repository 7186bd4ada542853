/* Texts of a capture: dates, ids, and the URL as the index sorts it. See warc.py and cdxj.py. */

#ifndef GOSSAMER_CAPTURE_TEXT_H
#define GOSSAMER_CAPTURE_TEXT_H

#include "module.h"

/* Bytes that somebody else holds. */
typedef struct {
    const char *at; /* NULL for none */
    size_t length;
} Span;

static char *put(char *to, const void *text, size_t length) {
    memcpy(to, text, length);
    return to + length;
}

/* Text that grows in room of a fixed size; what does not fit is left out, and noted. */
typedef struct {
    char *at;
    const char *end;
    int is_short;
} Text;

static void add(Text *text, const char *from, size_t length) {
    if ((size_t)(text->end - text->at) < length) {
        text->is_short = 1;
        return;
    }
    memcpy(text->at, from, length);
    text->at += length;
}
#define ADD(text, literal) add(text, literal, sizeof(literal) - 1)

static void add_span(Text *text, Span span) { add(text, span.at, span.length); }

static void add_lower(Text *text, const char *from, const char *end) {
    char *to = text->at;
    add(text, from, (size_t)(end - from));
    for (; to < text->at; to++)
        if (*to >= 'A' && *to <= 'Z')
            *to = (char)(*to + 32);
}

/* A number that is not negative, with zeros in front of it up to `digits`. */
static void add_number(Text *text, long long number, int digits) {
    char room[24], *at = room + sizeof room;
    for (; number > 0 || digits > 0; number /= 10, digits--)
        *--at = (char)('0' + number % 10);
    add(text, at, (size_t)(room + sizeof room - at));
}

/* 16 bytes as a UUID of version 4. */
static void add_uuid(Text *text, const uint8_t *bytes) {
    static const char digits[] = "0123456789abcdef";
    char uuid[36], *to = uuid;
    for (int n = 0; n < 16; n++) {
        if (n == 4 || n == 6 || n == 8 || n == 10)
            *to++ = '-';
        *to++ = digits[bytes[n] >> 4];
        *to++ = digits[bytes[n] & 15];
    }
    uuid[14] = '4';
    uuid[19] = 'a';
    add(text, uuid, sizeof uuid);
}

#define DIGEST_BYTES 20
#define DIGEST_CHARS 37 /* "sha1:" and 32 characters of base 32 */

static void write_digest(char *to, const uint8_t *digest) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    to = put(to, "sha1:", 5);
    for (int group = 0; group < 4; group++, digest += 5) {
        const uint64_t bits = (uint64_t)digest[0] << 32 | (uint64_t)digest[1] << 24 |
                              (uint64_t)digest[2] << 16 | (uint64_t)digest[3] << 8 | digest[4];
        for (int shift = 35; shift >= 0; shift -= 5)
            *to++ = letters[bits >> shift & 31];
    }
}

static void add_hex(Text *text, Span bytes) {
    static const char digits[] = "0123456789abcdef";
    for (size_t n = 0; n < bytes.length; n++) {
        const uint8_t byte = (uint8_t)bytes.at[n];
        const char two[] = {digits[byte >> 4], digits[byte & 15]};
        add(text, two, 2);
    }
}

/* -- dates: a second is that of many pages, so the last one is kept */

#define LAST_SECOND 253402300799LL /* of the year 9999 */

typedef struct {
    long long second; /* -1 for none yet */
    char date[19], stamp[14];
} Moment;

static int is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static void set_moment(Moment *moment, long long second) {
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (moment->second == second)
        return;
    moment->second = second;
    long long days = second / 86400;
    const int of_day = (int)(second % 86400);
    int year = 1970, month = 0;
    for (; days >= 365 + is_leap(year); year++)
        days -= 365 + is_leap(year);
    for (; days >= month_days[month] + (month == 1 && is_leap(year)); month++)
        days -= month_days[month] + (month == 1 && is_leap(year));
    const int parts[] = {year,          month + 1,        (int)days + 1,
                         of_day / 3600, of_day / 60 % 60, of_day % 60};
    Text date = {moment->date, moment->date + sizeof moment->date, 0};
    Text stamp = {moment->stamp, moment->stamp + sizeof moment->stamp, 0};
    for (int n = 0; n < 6; n++) {
        if (n > 0)
            add(&date, &"--T::"[n - 1], 1);
        add_number(&date, parts[n], n == 0 ? 4 : 2);
        add_number(&stamp, parts[n], n == 0 ? 4 : 2);
    }
}

/* -- SURT */

#define MOST_PARTS 32 /* of a query */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Where in a host the first `www`, digits and a dot stand; its end where they do not. */
static Span www_of(const char *host, const char *end) {
    for (const char *at = host; end - at >= 4; at++)
        if (memcmp(at, "www", 3) == 0) {
            const char *behind = at + 3;
            while (behind < end && is_digit(*behind))
                behind++;
            if (behind < end && *behind == '.')
                return (Span){at, (size_t)(behind + 1 - at)};
        }
    return (Span){end, 0};
}

/* The labels of a host from the last to the first. 0 where it is too long. */
static int add_reversed(Text *text, const char *host, const char *end) {
    char room[256], *at = room;
    const Span www = www_of(host, end);
    if (end - host > (long)sizeof room)
        return 0;
    at = put(at, host, (size_t)(www.at - host));
    at = put(at, www.at + www.length, (size_t)(end - www.at) - www.length);
    while (at > room && at[-1] == '.')
        at--;
    for (const char *last = at;;) {
        const char *label = last;
        while (label > room && label[-1] != '.')
            label--;
        add(text, label, (size_t)(last - label));
        if (label == room)
            return 1;
        ADD(text, ",");
        last = label - 1;
    }
}

static int is_before(Span one, Span other) {
    const size_t both = one.length < other.length ? one.length : other.length;
    const int order = memcmp(one.at, other.at, both);
    return order < 0 || (order == 0 && one.length < other.length);
}

/* The parts of a query, sorted. 0 where it has too many. */
static int add_query(Text *text, const char *query, const char *end) {
    char room[2049]; /* one more, for the place behind the last part */
    Span parts[MOST_PARTS];
    Text lower = {room, room + sizeof room - 1, 0};
    int count = 0;
    add_lower(&lower, query, end);
    if (lower.is_short)
        return 0;
    for (const char *at = room; at <= lower.at; count++) {
        const char *and = memchr(at, '&', (size_t)(lower.at - at));
        const Span part = {at, (size_t)((and == NULL ? lower.at : and) - at)};
        int place = count;
        if (count == MOST_PARTS)
            return 0;
        for (; place > 0 && is_before(part, parts[place - 1]); place--)
            parts[place] = parts[place - 1];
        parts[place] = part;
        at += part.length + 1;
    }
    for (int n = 0; n < count; n++) {
        add(text, n == 0 ? "?" : "&", 1);
        add_span(text, parts[n]);
    }
    return 1;
}

/* A URL as the index sorts it. 0 where it is not of the common kind: a host of small letters, a
 * path, a query of not too many parts, no user, no fragment, no port that could be a default. */
static int add_surt(Text *text, Span url) {
    const char *at = url.at, *end = at + url.length;
    if (url.length < 9 || memcmp(at, "http", 4) != 0)
        return 0;
    at += at[4] == 's' ? 5 : 4;
    if (memcmp(at, "://", 3) != 0 || memchr(at, '#', (size_t)(end - at)) != NULL)
        return 0;
    const char *host = at += 3;
    while (at < end && ((*at >= 'a' && *at <= 'z') || is_digit(*at) || *at == '.' || *at == '-'))
        at++;
    const char *port = at;
    if (port == host || !add_reversed(text, host, port))
        return 0;
    if (at < end && *at == ':') {
        for (at++; at < end && is_digit(*at);)
            at++;
        if (at - port != 5 || port[1] == '0') /* of four digits, and neither 80 nor 443 */
            return 0;
    }
    if (at == end || *at != '/')
        return 0;
    add(text, port, (size_t)(at - port));
    ADD(text, ")");
    const char *query = memchr(at, '?', (size_t)(end - at)), *path_end = query ? query : end;
    while (path_end > at + 1 && path_end[-1] == '/')
        path_end--;
    add_lower(text, at, path_end);
    return query == NULL || query + 1 == end || add_query(text, query + 1, end);
}

#endif
