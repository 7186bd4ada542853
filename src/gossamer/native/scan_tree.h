/* What stands in what? The open elements of a page, as the HTML standard nests them.
 *
 * Kept are only those on which the nesting of others hangs: the standard's special elements, an open
 * `a`, and while one is open the inline elements in it. All other inline elements can neither close
 * nor move what is kept, so they are passed over.
 *
 * Where the standard would move or copy elements (text between the rows of a table, an `a` that
 * a block's end cuts in two) this declines: the page is then read by a whole parser. What is not
 * declined must nest exactly as that nests it.
 */

#ifndef GOSSAMER_SCAN_TREE_H
#define GOSSAMER_SCAN_TREE_H

#include "scan_refs.h"

enum { MOST_OPEN = 500, MOST_ATTRIBUTES = 64 };

/* Why a page is declined. */
enum {
    READ,
    NO_MEMORY,
    DEEP,         /* more than MOST_OPEN elements in one another */
    NUL,          /* a NUL byte */
    WIDE,         /* more than MOST_ATTRIBUTES on one element */
    CUT_ANCHOR,   /* an `a` that is cut in two, or that stands in another */
    FOSTERED,     /* what a table does not hold */
    RARE_TAG,     /* template, frameset, object, math... */
    IN_PICTURE,   /* HTML inside SVG */
    IN_SELECT,    /* more than options in a select */
    SECOND,       /* another `html` or `body`, with attributes */
    NESTED_TITLE, /* a heading in a heading, or much blank text in many of them */
    ESCAPED,      /* a script that hides a script in a comment */
    REFRESHED,    /* a refresh, of which the first counts */
    BROKEN,       /* bytes that are no UTF-8 */
    OLD_TABLE,    /* a table in a paragraph, in a page that may be in quirks mode */
    WHITE_REF     /* white space as a reference: it begins no body, and a newline no `pre` */
};

enum { BEFORE_HEAD, IN_HEAD, IN_HEAD_NOSCRIPT, AFTER_HEAD, IN_BODY };

/* In the order in which Python hands over their names. */
enum { PLACE_HEAD, PLACE_HEADER, PLACE_NAV, PLACE_MAIN, PLACE_ASIDE, PLACE_FOOTER, PLACE_BODY,
       PLACES };

typedef struct {
    Name name;
    byte tag, place;
    int16_t heading;  /* its number; -1 */
    /* Of what is open: the last one before this with its tag, the last up to this that is a
     * boundary, and the last up to this out of which no item is closed; -1. So no tag makes us walk
     * over all that is open. */
    int16_t same, boundary, fence;
    size_t text_from; /* where its words begin */
    size_t alts_from; /* the first of the images in it */
} Open;

typedef struct {
    const byte *name, *value;
    size_t name_size, value_size;
} Attribute;

typedef struct {
    Name name;
    int tag;
    int is_closed; /* <br/> */
    const byte *at;
    int attributes, role; /* `role`: the index of that attribute; -1 */
    Attribute attribute[MOST_ATTRIBUTES];
} Tag;

/* The words of an image, and before which byte of the text it stands. */
typedef struct {
    size_t text_at, from, size;
} Alt;

typedef struct Scan {
    const byte *begin, *at, *end;
    int why;
    int mode;
    int is_bare;
    int has_html, has_form, is_quirky, pres;
    int inlines; /* inline elements begun and not ended, as far as they end by their own tags */
    int inlines_at_form;
    int ruby; /* how much was open where the last one began; -1 */
    int has_begun_pre; /* a `pre` has just begun */
    int open;
    int anchor; /* index of the open `a`; -1 */
    Open stack[MOST_OPEN];
    int16_t latest[TAG_COUNT]; /* index of the last open one of each tag; -1 */
    int headed;                /* how many headings are open that are wanted */
    uint64_t blank;            /* bytes of white space that were passed for words */
    Text text;
    Buffer scratch, alt_bytes;
    Alt *alts;
    size_t alt_count, alt_room;
    void *found; /* of the module: what was found */
} Scan;

/* The module's: something was found. Each gives 0 or -1. */
static int found_anchor(Scan *s, const Tag *t, int place);
static int end_anchor(Scan *s, const Open *o);
static int found_other(Scan *s, const Tag *t, int place);
static int found_title(Scan *s, const byte *from, const byte *to);
static int16_t found_heading(Scan *s);
static int end_heading(Scan *s, const Open *o);

static int decline(Scan *s, int why) {
    if (!s->why) s->why = why;
    return -1;
}

static inline int top(const Scan *s) { return s->open ? s->stack[s->open - 1].tag : T_BODY; }

/* A bare reading knows no places. */
static inline int place_now(const Scan *s) {
    if (s->is_bare) return PLACE_BODY;
    return s->open ? s->stack[s->open - 1].place : s->mode < IN_BODY ? PLACE_HEAD : PLACE_BODY;
}

static inline void owe_for(Scan *s, int tag) {
    int flags = FLAGS_OF[tag];
    if (flags & BREAK) owe(&s->text, OWES_LINE);
    else if (flags & CELL) owe(&s->text, OWES_TAB);
    else if (flags & GAP) owe(&s->text, OWES_SPACE);
}

static inline int find_attribute(const Tag *t, const char *name) {
    size_t size = strlen(name);
    for (int i = 0; i < t->attributes; i++) {
        const Attribute *a = &t->attribute[i];
        if (a->name_size != size) continue;
        size_t n = 0;
        while (n < size && lower(a->name[n]) == (byte)name[n]) n++;
        if (n == size) return i;
    }
    return -1;
}

/* The value of an attribute with its references read, in `scratch` from where it stood before. */
static int read_value(Scan *s, const Attribute *a, const byte **value, size_t *size) {
    const byte *p = a->value, *end = p + a->value_size;
    if (!memchr(p, '&', a->value_size) && !memchr(p, '\r', a->value_size)) {
        *value = p;
        *size = a->value_size;
        return 0;
    }
    Buffer *b = &s->scratch;
    if (make_room(b, 2 * a->value_size + 8)) return decline(s, NO_MEMORY);
    size_t from = b->size;
    while (p < end) {
        byte given[8];
        int given_size = 0;
        size_t taken = *p == '&' ? read_ref(p, end, 1, given, &given_size) : 0;
        if (taken) {
            if (add_bytes(b, given, (size_t)given_size)) return decline(s, NO_MEMORY);
            p += taken;
        } else if (*p == '\r') {
            if (add_bytes(b, (const byte *)"\n", 1)) return decline(s, NO_MEMORY);
            p += p + 1 < end && p[1] == '\n' ? 2 : 1;
        } else {
            if (add_bytes(b, p++, 1)) return decline(s, NO_MEMORY);
        }
    }
    *value = b->at + from;
    *size = b->size - from;
    return 0;
}

static int same_word(const byte *p, size_t size, const char *word) {
    if (strlen(word) != size) return 0;
    for (size_t i = 0; i < size; i++)
        if (lower(p[i]) != (byte)word[i]) return 0;
    return 1;
}

/* The place that a tag's role names, whose first known word counts; -1, or -2 without memory. */
static int place_of_role(Scan *s, const Tag *t) {
    static const struct {
        const char *word;
        int place;
    } roles[] = {{"banner", PLACE_HEADER},
                 {"navigation", PLACE_NAV},
                 {"main", PLACE_MAIN},
                 {"complementary", PLACE_ASIDE},
                 {"contentinfo", PLACE_FOOTER}};
    const byte *p;
    size_t size, before = s->scratch.size;
    if (read_value(s, &t->attribute[t->role], &p, &size)) return -2;
    s->scratch.size = before; /* what is there stays until something else is read */
    const byte *end = p + size;
    while (p < end) {
        int space = wide_space(p, end);
        if (space) {
            p += space;
            continue;
        }
        const byte *from = p;
        while (p < end && !wide_space(p, end)) p++;
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
            if (same_word(from, (size_t)(p - from), roles[i].word)) return roles[i].place;
    }
    return -1;
}

/* Where that stands which an element holds. A landmark's tag says it, or a role. */
static int place_in(Scan *s, const Tag *t) {
    if (s->is_bare) return PLACE_BODY;
    switch (t->tag) {
        case T_HEADER: return PLACE_HEADER;
        case T_NAV: return PLACE_NAV;
        case T_MAIN: return PLACE_MAIN;
        case T_ASIDE: return PLACE_ASIDE;
        case T_FOOTER: return PLACE_FOOTER;
        default: break;
    }
    int place = t->role < 0 ? -1 : place_of_role(s, t);
    return place < -1 ? -1 : place < 0 ? place_now(s) : place;
}

static void forget_latest(Scan *s) {
    for (int tag = 0; tag < TAG_COUNT; tag++) s->latest[tag] = -1;
}

static inline int is_fence(int tag) {
    return FLAGS_OF[tag] & (SPECIAL | BOUNDARY) && tag != T_ADDRESS && tag != T_DIV && tag != T_P;
}

/* The element at `index` has come, after those below it. */
static void link_in(Scan *s, int index) {
    Open *o = &s->stack[index];
    o->same = s->latest[o->tag];
    o->boundary = (int16_t)(FLAGS_OF[o->tag] & BOUNDARY ? index : index ? o[-1].boundary : -1);
    o->fence = (int16_t)(is_fence(o->tag) ? index : index ? o[-1].fence : -1);
    s->latest[o->tag] = (int16_t)index;
}

/* Take one out from among those that are open. It is in an `a`, and no heading. */
static void take_out(Scan *s, int index) {
    memmove(&s->stack[index], &s->stack[index + 1], (size_t)(s->open - index - 1) * sizeof(Open));
    s->open--;
    forget_latest(s);
    for (int i = 0; i < s->open; i++) link_in(s, i);
}

static inline int boundary_now(const Scan *s) {
    return s->open ? s->stack[s->open - 1].boundary : -1;
}

static int push(Scan *s, const Tag *t) {
    if (s->open == MOST_OPEN) return decline(s, DEEP);
    int place = place_in(s, t);
    if (place < 0) return -1;
    owe_for(s, t->tag);
    Open *o = &s->stack[s->open++];
    o->name = t->name;
    o->tag = (byte)t->tag;
    o->place = (byte)place;
    o->text_from = s->text.out.size;
    o->alts_from = s->alt_count;
    o->heading = !s->is_bare && FLAGS_OF[t->tag] & HEADING ? found_heading(s) : -1;
    link_in(s, s->open - 1);
    if (o->heading < -1) return -1;
    s->headed += o->heading >= 0;
    if (t->tag == T_PRE || t->tag == T_LISTING) s->pres++;
    return 0;
}

/* An element that is there without a tag: the `tr` around a cell. */
static int push_implied(Scan *s, int tag) {
    Tag t;
    t.tag = tag;
    t.name = name_of((const byte *)TAG_NAMES[tag], strlen(TAG_NAMES[tag]));
    t.attributes = 0;
    t.role = -1;
    return push(s, &t);
}

/* Close the elements from `index` on. */
static int pop_to(Scan *s, int index) {
    if (s->anchor > index) return decline(s, CUT_ANCHOR);
    while (s->open > index) {
        Open *o = &s->stack[--s->open];
        s->latest[o->tag] = o->same;
        s->headed -= o->heading >= 0;
        if (s->anchor == s->open) {
            s->anchor = -1;
            if (end_anchor(s, o)) return -1;
        }
        if (o->heading >= 0 && end_heading(s, o)) return -1;
        if (o->tag == T_PRE || o->tag == T_LISTING) s->pres--;
        owe_for(s, o->tag);
    }
    return 0;
}

enum { ANY_SCOPE, BUTTON_SCOPE, LIST_SCOPE };

/* The index of an open element that may be closed from here; -1. */
static int in_scope(const Scan *s, int tag, int scope) {
    int i = s->latest[tag];
    if (boundary_now(s) > i) return -1;
    if (scope == BUTTON_SCOPE && s->latest[T_BUTTON] > i) return -1;
    if (scope == LIST_SCOPE && (s->latest[T_OL] > i || s->latest[T_UL] > i)) return -1;
    return i;
}

static int in_table_scope(const Scan *s, int tag) {
    return s->latest[T_TABLE] > s->latest[tag] ? -1 : s->latest[tag];
}

static int close_p(Scan *s) {
    int i = in_scope(s, T_P, BUTTON_SCOPE);
    return i < 0 ? 0 : pop_to(s, i);
}

static inline int is_in_table(const Scan *s) {
    int tag = top(s);
    return tag == T_TABLE || tag == T_TR || tag == T_TBODY || tag == T_THEAD || tag == T_TFOOT;
}

static inline int is_in_select(const Scan *s) {
    int tag = top(s);
    return tag == T_SELECT || tag == T_OPTION || tag == T_OPTGROUP;
}

/* ---- raw text: what a script, a style or a title holds up to its end tag ---- */

static const byte *find_end_tag(const byte *p, const byte *end, const char *name, size_t size) {
    while ((p = memchr(p, '<', (size_t)(end - p)))) {
        if ((size_t)(end - p) < size + 3) return end; /* </, the name, and what ends it */
        if (p[1] == '/' && same_word(p + 2, size, name)) {
            byte after = p[2 + size];
            if (is_space(after) || after == '/' || after == '>') return p;
        }
        p++;
    }
    return end;
}

static const byte *find_word(const byte *p, const byte *end, const char *word) {
    size_t size = strlen(word);
    while ((p = memchr(p, word[0], (size_t)(end - p)))) {
        if ((size_t)(end - p) < size) return NULL;
        if (same_word(p, size, word)) return p;
        p++;
    }
    return NULL;
}

/* Go to the end tag of an element that holds no tags. `from` and `to` are its text. */
static int pass_raw(Scan *s, int tag, const byte **from, const byte **to) {
    const char *name = TAG_NAMES[tag];
    *from = s->at;
    s->at = *to = find_end_tag(s->at, s->end, name, strlen(name));
    if (tag == T_SCRIPT) {
        const byte *hidden = find_word(*from, *to, "<!--");
        if (hidden && find_word(hidden, *to, "<script")) return decline(s, ESCAPED);
    }
    return 0;
}

/* The first newline in a `pre` or `textarea` is none. */
static const byte *past_newline(const byte *p, const byte *end) {
    if (p < end && *p == '\r') return p + (p + 1 < end && p[1] == '\n' ? 2 : 1);
    return p < end && *p == '\n' ? p + 1 : p;
}

/* Text with its references read, folded into `text`. */
static int add_text(Scan *s, const byte *p, const byte *end) {
    Text *t = &s->text;
    while (p < end) {
        const byte *ref = find_byte(p, end, s->end, '&');
        const byte *stop = ref ? ref : end;
        if (s->pres ? add_written(t, p, stop) : add_folded(t, p, stop, s->end))
            return decline(s, NO_MEMORY);
        if (!ref) return 0;
        byte value[8];
        int size = 1;
        size_t taken = read_ref(ref, end, 0, value, &size);
        if (!taken) value[0] = '&', taken = 1;
        if (s->pres && (pay(t) || add_bytes(&t->out, value, (size_t)size)))
            return decline(s, NO_MEMORY);
        if (!s->pres && add_folded(t, value, value + size, value + size)) return decline(s, NO_MEMORY);
        p = ref + taken;
    }
    return 0;
}

/* ---- start tags ---- */

static int start_in_head(Scan *s, const Tag *t) {
    const byte *from, *to;
    switch (t->tag) {
        case T_TEMPLATE: return decline(s, RARE_TAG);
        case T_TITLE: return pass_raw(s, T_TITLE, &from, &to) || found_title(s, from, to) ? -1 : 0;
        case T_SCRIPT:
        case T_STYLE:
        case T_NOFRAMES: return pass_raw(s, t->tag, &from, &to);
        case T_BASE:
        case T_LINK:
        case T_META: return found_other(s, t, place_now(s));
        default: return 0;
    }
}

static int end_tag(Scan *s, const Tag *t);
static int start_tag(Scan *s, const Tag *t);

/* The end of the open `a`, if there is one; a block that is open in it would be cut in two. */
static int end_anchor_tag(Scan *s) {
    if (s->anchor < 0) return 0;
    for (int i = s->anchor + 1; i < s->open; i++)
        if (FLAGS_OF[s->stack[i].tag] & (SPECIAL | BOUNDARY)) return decline(s, CUT_ANCHOR);
    return pop_to(s, s->anchor);
}

static int start_anchor(Scan *s, const Tag *t) {
    if (end_anchor_tag(s)) return -1; /* one that is open ends where the next begins */
    int place = place_now(s);
    if (push(s, t)) return -1;
    s->anchor = s->open - 1;
    return found_anchor(s, t, place);
}

/* `li`, and `dd` and `dt`, which end one another. */
static int start_item(Scan *s, const Tag *t) {
    int fence = s->open ? s->stack[s->open - 1].fence : -1;
    int tag = fence < 0 ? T_NONE : s->stack[fence].tag;
    int is_same = t->tag == T_LI ? tag == T_LI : tag == T_DD || tag == T_DT;
    if (is_same && pop_to(s, fence)) return -1;
    return close_p(s) || push(s, t) ? -1 : 0;
}

/* An image in an `a` or a heading gives them words. One without words does not part those around
 * it; a value that is not empty is not empty either when its references are read. */
static int note_alt(Scan *s, const Tag *t) {
    int i = s->is_bare ? -1 : find_attribute(t, "alt");
    if (i < 0 || !t->attribute[i].value_size || (s->anchor < 0 && !s->headed)) return 0;
    if (s->alt_count == s->alt_room) {
        size_t room = s->alt_room * 2 + 16;
        Alt *alts = PyMem_RawRealloc(s->alts, room * sizeof *alts);
        if (!alts) return decline(s, NO_MEMORY);
        s->alts = alts;
        s->alt_room = room;
    }
    const byte *value;
    size_t size, before = s->scratch.size;
    if (read_value(s, &t->attribute[i], &value, &size)) return -1;
    Alt *alt = &s->alts[s->alt_count++];
    alt->text_at = s->text.out.size;
    alt->from = s->alt_bytes.size;
    alt->size = size;
    if (add_bytes(&s->alt_bytes, value, size)) return decline(s, NO_MEMORY);
    s->scratch.size = before;
    return 0;
}

static int start_in_body(Scan *s, const Tag *t) {
    const byte *from, *to;
    int flags = FLAGS_OF[t->tag], i;
    if (flags & CLOSES_P) {
        if (close_p(s) || push(s, t)) return -1;
        s->has_begun_pre = t->tag == T_PRE || t->tag == T_LISTING;
        return 0;
    }
    if (flags & HEADED) return start_in_head(s, t);
    if (flags & HEADING) {
        if (close_p(s)) return -1;
        if (FLAGS_OF[top(s)] & HEADING) return decline(s, NESTED_TITLE);
        return push(s, t);
    }
    if (flags & TABLED) {
        /* Parts of a table end the cell or the caption in which they stand, and mean nothing else. */
        i = boundary_now(s);
        if (i < 0 || s->stack[i].tag == T_SVG || s->stack[i].tag == T_TABLE) return 0;
        return pop_to(s, i) ? -1 : start_tag(s, t);
    }
    switch (t->tag) {
        case T_NONE:
        case T_SPAN:
        case T_SUB:
        case T_SUP:
        case T_VAR:
        case T_RUBY:
        case T_DESC:
        case T_FOREIGNOBJECT: break; /* inline */
        case T_A: return start_anchor(s, t);
        case T_LI:
        case T_DD:
        case T_DT: return start_item(s, t);
        case T_FORM:
            if (s->has_form) return 0;
            s->has_form = 1;
            s->inlines_at_form = s->inlines;
            if (s->inlines > 0 && in_scope(s, T_P, BUTTON_SCOPE) >= 0) return decline(s, RARE_TAG);
            return close_p(s) || push(s, t) ? -1 : 0;
        case T_BUTTON:
            i = in_scope(s, T_BUTTON, ANY_SCOPE);
            return (i >= 0 && pop_to(s, i)) || push(s, t) ? -1 : 0;
        case T_TABLE:
            if (in_scope(s, T_P, BUTTON_SCOPE) >= 0) {
                if (s->is_quirky) return decline(s, OLD_TABLE);
                if (close_p(s)) return -1;
            }
            return push(s, t);
        case T_BR: owe(&s->text, OWES_LINE); return 0;
        case T_HR:
            if (close_p(s)) return -1;
            owe(&s->text, OWES_LINE);
            return 0;
        case T_IMG: return note_alt(s, t);
        case T_AREA: return found_other(s, t, place_now(s));
        case T_INPUT:
        case T_KEYGEN: owe(&s->text, OWES_SPACE); return 0;
        case T_PARAM:
        case T_SOURCE:
        case T_TRACK:
        case T_WBR:
        case T_HEAD:
        case T_FRAME: return 0;
        case T_IFRAME:
            if (pass_raw(s, T_IFRAME, &from, &to)) return -1;
            return found_other(s, t, place_now(s));
        case T_NOEMBED: return pass_raw(s, T_NOEMBED, &from, &to);
        case T_TEXTAREA:
            if (pass_raw(s, T_TEXTAREA, &from, &to)) return -1;
            from = past_newline(from, to);
            owe(&s->text, OWES_SPACE);
            if (!s->is_bare && add_text(s, from, to)) return -1;
            owe(&s->text, OWES_SPACE);
            return 0;
        case T_LEGEND: return decline(s, RARE_TAG); /* inline, and a line of its own */
        case T_NOSCRIPT:
        case T_SELECT:
            /* In a picture the names of HTML mean nothing; there none of this is reached. */
            return push(s, t);
        case T_SVG:
            if (t->is_closed) return 0;
            return push(s, t);
        case T_HTML:
        case T_BODY: /* what the first one did not say, a second one says */
            if (t->attributes) return decline(s, SECOND);
            return 0;
        case T_RB:
        case T_RP:
        case T_RT:
        case T_RTC: /* they end what is open in the ruby around them */
            if (s->ruby >= 0 && s->open > s->ruby && FLAGS_OF[top(s)] & SPECIAL)
                return decline(s, RARE_TAG);
            break;
        case T_NOBR: /* one in another ends that, and the `a` in it */
            if (s->anchor >= 0) return decline(s, CUT_ANCHOR);
            break;
        default:
            if (!(flags & FORMAT)) return decline(s, RARE_TAG);
    }
    s->inlines++;
    if (t->tag == T_RUBY) s->ruby = s->open;
    if (!s->is_bare && t->role >= 0 && place_of_role(s, t) >= 0)
        return decline(s, RARE_TAG); /* an inline landmark */
    return s->anchor >= 0 ? push(s, t) : 0;
}

/* Past the end of a paragraph that holds nothing but line breaks; NULL where it holds more. Editors
 * of wikis leave them between the rows of tables, where they have no effect on the text. */
static const byte *past_empty_p(const Scan *s) {
    static const char *const passed[] = {"<br>", "<br/>", "<br />"};
    const byte *p = s->at, *end = s->end;
    for (;;) {
        while (p < end && is_space(*p)) p++;
        if (end - p < 4) return NULL;
        if (same_word(p, 4, "</p>")) return p + 4;
        size_t i = 0, size = 0;
        for (; i < sizeof passed / sizeof *passed; i++) {
            size = strlen(passed[i]);
            if ((size_t)(end - p) >= size && same_word(p, size, passed[i])) break;
        }
        if (i == sizeof passed / sizeof *passed) return NULL;
        p += size;
    }
}

static int start_in_table(Scan *s, const Tag *t) {
    const byte *past;
    int i, at = top(s);
    switch (t->tag) {
        case T_TABLE: /* ends the one before it */
            i = in_table_scope(s, T_TABLE);
            return pop_to(s, i) ? -1 : start_tag(s, t);
        case T_P:
            past = s->pres || t->attributes ? NULL : past_empty_p(s);
            if (!past) return decline(s, FOSTERED);
            s->at = past;
            return 0;
        case T_CAPTION:
            if (at != T_TABLE) return decline(s, FOSTERED);
            return push(s, t);
        case T_COL:
        case T_COLGROUP: return at == T_TABLE ? 0 : decline(s, FOSTERED);
        case T_TBODY:
        case T_THEAD:
        case T_TFOOT:
            for (i = s->open - 1; s->stack[i].tag != T_TABLE; i--) continue;
            return pop_to(s, i + 1) || push(s, t) ? -1 : 0;
        case T_TR:
            if (at == T_TR && pop_to(s, s->open - 1)) return -1;
            if (at == T_TABLE && push_implied(s, T_TBODY)) return -1;
            return push(s, t);
        case T_TD:
        case T_TH:
            if (at == T_TABLE && push_implied(s, T_TBODY)) return -1;
            if (at != T_TR && push_implied(s, T_TR)) return -1;
            return push(s, t);
        case T_SCRIPT:
        case T_STYLE: return start_in_head(s, t);
        case T_INPUT: {
            i = find_attribute(t, "type");
            const Attribute *a = i < 0 ? NULL : &t->attribute[i];
            if (!a || !same_word(a->value, a->value_size, "hidden")) return decline(s, FOSTERED);
            return 0;
        }
        case T_FORM:
            if (at != T_TABLE) return decline(s, FOSTERED);
            if (s->has_form) return 0;
            s->has_form = 1; /* it is closed where it opens, and still the form of what follows */
            owe(&s->text, OWES_LINE);
            return 0;
        default: return decline(s, FOSTERED);
    }
}

static int start_in_select(Scan *s, const Tag *t) {
    const byte *from, *to;
    int at = top(s);
    switch (t->tag) {
        case T_OPTION:
            if (at == T_OPTION && pop_to(s, s->open - 1)) return -1;
            return push(s, t);
        case T_OPTGROUP:
            if (at == T_OPTION && pop_to(s, s->open - 1)) return -1;
            if (top(s) == T_OPTGROUP && pop_to(s, s->open - 1)) return -1;
            return push(s, t);
        case T_SCRIPT: return pass_raw(s, T_SCRIPT, &from, &to);
        default: return decline(s, IN_SELECT);
    }
}

/* In a picture text is text and tags are its own, but for those with which HTML goes on. */
static int start_in_svg(Scan *s, const Tag *t) {
    const byte *next;
    switch (t->tag) {
        case T_NONE: return 0;
        case T_STYLE:
        case T_TITLE:
            if (t->is_closed) return 0;
            next = memchr(s->at, '<', (size_t)(s->end - s->at));
            if (!next || find_end_tag(next, s->end, TAG_NAMES[t->tag], 5) != next)
                return decline(s, IN_PICTURE);
            if (t->tag == T_TITLE && !s->is_bare && add_text(s, s->at, next)) return -1;
            s->at = next;
            return 0;
        default: return decline(s, IN_PICTURE);
    }
}

static int start_before_body(Scan *s, const Tag *t) {
    if (s->mode == IN_HEAD_NOSCRIPT) {
        switch (t->tag) {
            case T_LINK:
            case T_META:
            case T_STYLE:
            case T_NOFRAMES:
            case T_BASEFONT:
            case T_BGSOUND: return start_in_head(s, t);
            case T_HEAD:
            case T_NOSCRIPT: return 0;
            default: break;
        }
    }
    if (t->tag == T_HTML) {
        if (s->has_html && t->attributes) return decline(s, SECOND);
        s->has_html = 1;
        int place = place_in(s, t);
        if (place != place_now(s)) return place < 0 ? -1 : decline(s, RARE_TAG);
        return found_other(s, t, place);
    }
    if (s->mode == IN_HEAD_NOSCRIPT) s->mode = IN_HEAD;
    if (t->tag == T_HEAD) {
        if (s->mode == BEFORE_HEAD) s->mode = IN_HEAD;
        return 0;
    }
    if (FLAGS_OF[t->tag] & HEADED) {
        if (s->mode == BEFORE_HEAD) s->mode = IN_HEAD;
        return start_in_head(s, t);
    }
    if (t->tag == T_NOSCRIPT && s->mode != AFTER_HEAD) {
        s->mode = IN_HEAD_NOSCRIPT;
        return 0;
    }
    s->mode = IN_BODY;
    if (t->tag == T_BODY) {
        int place = place_in(s, t);
        return place < 0 ? -1 : place != PLACE_BODY ? decline(s, RARE_TAG) : 0;
    }
    return start_tag(s, t);
}

static int start_tag(Scan *s, const Tag *t) {
    if (s->mode != IN_BODY) return start_before_body(s, t);
    if (top(s) == T_SVG) return start_in_svg(s, t);
    if (is_in_select(s)) return start_in_select(s, t);
    if (is_in_table(s)) return start_in_table(s, t);
    return start_in_body(s, t);
}

/* ---- end tags ---- */

/* The end of an inline element. It matters only in an `a`, which it may cut in two. */
static int end_inline(Scan *s, const Tag *t) {
    s->inlines--;
    if (s->anchor < 0) return 0;
    /* Where none is open in the `a`, its end reaches no further than a boundary. */
    if (t->tag && s->latest[t->tag] <= s->anchor && boundary_now(s) > s->anchor) return 0;
    int is_blocked = 0;
    for (int i = s->open - 1; i > s->anchor; i--) {
        if (same_name(s->stack[i].name, t->name)) {
            if (!is_blocked) return pop_to(s, i);
            if (!(FLAGS_OF[t->tag] & FORMAT)) return 0;
            /* A formatting element around a block ends, and the block goes on. */
            take_out(s, i);
            return 0;
        }
        if (FLAGS_OF[s->stack[i].tag] & BOUNDARY) return 0;
        if (FLAGS_OF[s->stack[i].tag] & SPECIAL) {
            if (!(FLAGS_OF[t->tag] & FORMAT)) return 0;
            is_blocked = 1;
        }
    }
    return decline(s, CUT_ANCHOR);
}

static int end_in_table(Scan *s, const Tag *t) {
    int i;
    switch (t->tag) {
        case T_TABLE:
        case T_TBODY:
        case T_THEAD:
        case T_TFOOT:
        case T_TR:
            i = in_table_scope(s, t->tag);
            return i < 0 ? 0 : pop_to(s, i);
        case T_FORM:
            s->has_form = 0;
            return 0;
        case T_P:
        case T_BR: return decline(s, FOSTERED);
        default: return 0;
    }
}

static int end_in_select(Scan *s, const Tag *t) {
    switch (t->tag) {
        case T_OPTION: return top(s) == T_OPTION ? pop_to(s, s->open - 1) : 0;
        case T_OPTGROUP:
            if (top(s) == T_OPTION && s->open > 1 && s->stack[s->open - 2].tag == T_OPTGROUP)
                return pop_to(s, s->open - 2);
            return top(s) == T_OPTGROUP ? pop_to(s, s->open - 1) : 0;
        case T_SELECT: {
            int i = s->open - 1;
            while (s->stack[i].tag != T_SELECT) i--;
            return pop_to(s, i);
        }
        case T_SCRIPT: return 0;
        default: return decline(s, IN_SELECT);
    }
}

static int end_form(Scan *s) {
    int i = s->has_form ? in_scope(s, T_FORM, ANY_SCOPE) : -1;
    s->has_form = 0;
    if (i < 0) return 0;
    while (s->open - 1 > i && FLAGS_OF[top(s)] & IMPLIED)
        if (pop_to(s, s->open - 1)) return -1;
    /* Otherwise it ends, and what is open in it goes on. */
    if (i < s->open - 1 || s->inlines != s->inlines_at_form) return decline(s, RARE_TAG);
    return pop_to(s, i);
}

static int end_in_body(Scan *s, const Tag *t) {
    int i, h, flags = FLAGS_OF[t->tag];
    if (t->tag == T_P) {
        i = in_scope(s, T_P, BUTTON_SCOPE);
        owe(&s->text, OWES_LINE); /* a stray one makes an empty paragraph */
        return i < 0 ? 0 : pop_to(s, i);
    }
    if (flags & HEADING) {
        for (i = -1, h = T_H1; h <= T_H6; h++)
            if (s->latest[h] > i) i = s->latest[h];
        return i < 0 || boundary_now(s) > i ? 0 : pop_to(s, i);
    }
    if (flags & CLOSES_P || t->tag == T_BUTTON || t->tag == T_DD || t->tag == T_DT) {
        i = in_scope(s, t->tag, ANY_SCOPE);
        return i < 0 ? 0 : pop_to(s, i);
    }
    switch (t->tag) {
        case T_A: return end_anchor_tag(s);
        case T_LI:
            i = in_scope(s, T_LI, LIST_SCOPE);
            return i < 0 ? 0 : pop_to(s, i);
        case T_FORM: return end_form(s);
        case T_BR: owe(&s->text, OWES_LINE); return 0;
        case T_TD:
        case T_TH:
        case T_CAPTION:
            i = in_table_scope(s, t->tag);
            return i < 0 ? 0 : pop_to(s, i);
        case T_TABLE:
        case T_TBODY:
        case T_THEAD:
        case T_TFOOT:
        case T_TR:
            /* They end the cell first in which they stand; a caption only ends with its table. */
            i = in_table_scope(s, t->tag);
            if (i < 0) return 0;
            if (t->tag != T_TABLE && in_table_scope(s, T_CAPTION) >= 0) return 0;
            return pop_to(s, i);
        case T_NOSCRIPT:
            if (s->anchor >= 0 && s->anchor == s->open - 1) return decline(s, CUT_ANCHOR);
            for (i = s->open - 1; i > s->anchor; i--) {
                if (s->stack[i].tag == T_NOSCRIPT) return pop_to(s, i);
                if (FLAGS_OF[s->stack[i].tag] & (SPECIAL | BOUNDARY)) return 0;
            }
            return s->anchor >= 0 ? decline(s, CUT_ANCHOR) : 0;
        case T_BODY:
        case T_HTML:
        case T_HEAD:
        case T_COL:
        case T_COLGROUP:
        case T_SELECT:
        case T_OPTION:
        case T_OPTGROUP: return 0;
        case T_LEGEND:
            return 0; /* none is open */
        case T_TEMPLATE:
        case T_DIALOG:
        case T_OBJECT:
        case T_APPLET:
        case T_MARQUEE: return 0; /* none of them is open */
        case T_SCRIPT:
        case T_STYLE:
        case T_TITLE:
        case T_TEXTAREA:
        case T_IFRAME:
        case T_NOEMBED:
        case T_NOFRAMES: return 0; /* of what was passed over whole */
        default: return end_inline(s, t);
    }
}

static int end_in_svg(Scan *s, const Tag *t) {
    if (t->tag == T_SVG) return pop_to(s, s->open - 1);
    if (t->tag == T_NONE || t->tag == T_STYLE || t->tag == T_TITLE) return 0;
    return decline(s, IN_PICTURE);
}

static int end_tag(Scan *s, const Tag *t) {
    if (s->mode == IN_BODY) {
        if (top(s) == T_SVG) return end_in_svg(s, t);
        if (is_in_select(s)) return end_in_select(s, t);
        if (is_in_table(s)) return end_in_table(s, t);
        return end_in_body(s, t);
    }
    if (s->mode == IN_HEAD_NOSCRIPT) {
        if (t->tag == T_NOSCRIPT) s->mode = IN_HEAD;
        if (t->tag != T_BR) return 0;
    }
    if (t->tag == T_HEAD && s->mode != AFTER_HEAD) s->mode = AFTER_HEAD;
    if (t->tag != T_BODY && t->tag != T_HTML && t->tag != T_BR) return 0;
    s->mode = IN_BODY;
    return end_tag(s, t);
}

/* ---- text between tags ---- */

/* Whether a text begins with white space that is written as a reference. */
static int is_white_ref(const byte *p, const byte *end) {
    byte value[8];
    int size = 0;
    return *p == '&' && read_ref(p, end, 0, value, &size) && size == 1 && is_space(value[0]);
}

static int some_text(Scan *s, const byte *p, const byte *end) {
    if (s->has_begun_pre && is_white_ref(p, end)) return decline(s, WHITE_REF);
    if (s->has_begun_pre) p = past_newline(p, end);
    s->has_begun_pre = 0;
    if (s->mode != IN_BODY || is_in_table(s)) {
        const byte *ink = p;
        while (ink < end && is_space(*ink)) ink++;
        if (ink < end && s->mode == IN_BODY) return decline(s, FOSTERED);
        if (ink < end && is_white_ref(ink, end)) return decline(s, WHITE_REF);
        if (ink < end) s->mode = IN_BODY;
        if (!s->pres) p = ink;
    }
    return s->is_bare ? 0 : add_text(s, p, end);
}

#endif
