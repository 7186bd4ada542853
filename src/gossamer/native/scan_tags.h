/* The tags that mean something to a reader of pages, and what each of them means.
 *
 * A name of up to 16 bytes is two words in lower case, so that names are compared as numbers. Tags
 * that are not here (span, em, custom ones) are inline and have no say in how others nest.
 */

#ifndef GOSSAMER_SCAN_TAGS_H
#define GOSSAMER_SCAN_TAGS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char byte;

/* What a byte means between the angle brackets of a tag. */
enum { WHITE = 1, ENDS_NAME = 2, ENDS_ATTRIBUTE = 4, ENDS_VALUE = 8 };
#define WHITE_BYTE (WHITE | ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE)
static const byte MEANS[256] = {
    [' '] = WHITE_BYTE,  ['\n'] = WHITE_BYTE, ['\t'] = WHITE_BYTE,
    ['\r'] = WHITE_BYTE, ['\f'] = WHITE_BYTE, ['/'] = ENDS_NAME | ENDS_ATTRIBUTE,
    ['='] = ENDS_ATTRIBUTE, ['>'] = ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE};

enum {
    SPECIAL = 1,   /* may not be closed by the end of an inline element: the standard's word */
    BREAK = 2,     /* a line ends before and after it */
    CELL = 4,      /* a tab stands before and after it */
    GAP = 8,       /* a space stands before and after it */
    CLOSES_P = 16, /* begins a block of its own: ends an open paragraph, and is pushed */
    IMPLIED = 32,  /* its end may be left out */
    BOUNDARY = 64, /* what is outside cannot be closed from inside */
    HEADING = 128,
    FORMAT = 256, /* a formatting element: b, i, a... */
    HEADED = 512, /* belongs in a head, wherever it stands */
    TABLED = 1024 /* a part of a table */
};

#define BLOCK (SPECIAL | BREAK | CLOSES_P)

#define TAGS(T)                                                                                    \
    T(NONE, "", 0)                                                                                 \
    T(A, "a", FORMAT) T(ADDRESS, "address", BLOCK) T(APPLET, "applet", SPECIAL)                    \
    T(AREA, "area", 0) T(ARTICLE, "article", BLOCK) T(ASIDE, "aside", BLOCK) T(B, "b", FORMAT)     \
    T(BASE, "base", HEADED) T(BASEFONT, "basefont", HEADED) T(BGSOUND, "bgsound", HEADED)          \
    T(BIG, "big", FORMAT) T(BLOCKQUOTE, "blockquote", BLOCK) T(BODY, "body", SPECIAL)              \
    T(BR, "br", 0) T(BUTTON, "button", SPECIAL | GAP) T(CAPTION, "caption",                        \
    SPECIAL | BREAK | BOUNDARY | TABLED) T(CENTER, "center", BLOCK) T(CODE, "code", FORMAT)        \
    T(COL, "col", TABLED) T(COLGROUP, "colgroup", TABLED)                                          \
    T(DD, "dd", SPECIAL | BREAK | IMPLIED) T(DESC, "desc", 0) T(DETAILS, "details", BLOCK)         \
    T(DIALOG, "dialog", 0) T(DIR, "dir", BLOCK) T(DIV, "div", BLOCK) T(DL, "dl", BLOCK)            \
    T(DT, "dt", SPECIAL | BREAK | IMPLIED) T(EM, "em", FORMAT) T(EMBED, "embed", 0)                \
    T(FIELDSET, "fieldset", BLOCK) T(FIGCAPTION, "figcaption", BLOCK) T(FIGURE, "figure", BLOCK)   \
    T(FONT, "font", FORMAT) T(FOOTER, "footer", BLOCK)                                             \
    T(FOREIGNOBJECT, "foreignobject", 0) T(FORM, "form", SPECIAL | BREAK) T(FRAME, "frame", 0)     \
    T(FRAMESET, "frameset", 0) T(H1, "h1", SPECIAL | BREAK | HEADING)                              \
    T(H2, "h2", SPECIAL | BREAK | HEADING) T(H3, "h3", SPECIAL | BREAK | HEADING)                  \
    T(H4, "h4", SPECIAL | BREAK | HEADING) T(H5, "h5", SPECIAL | BREAK | HEADING)                  \
    T(H6, "h6", SPECIAL | BREAK | HEADING) T(HEAD, "head", 0) T(HEADER, "header", BLOCK)           \
    T(HGROUP, "hgroup", BLOCK) T(HR, "hr", BREAK) T(HTML, "html", 0) T(I, "i", FORMAT)             \
    T(IFRAME, "iframe", 0) T(IMAGE, "image", 0) T(IMG, "img", 0) T(INPUT, "input", GAP)            \
    T(KEYGEN, "keygen", GAP) T(LEGEND, "legend", BREAK)                                            \
    T(LI, "li", SPECIAL | BREAK | IMPLIED) T(LINK, "link", HEADED)                                 \
    T(LISTING, "listing", BLOCK) T(MAIN, "main", BLOCK) T(MARQUEE, "marquee", SPECIAL)             \
    T(MATH, "math", 0) T(MENU, "menu", BLOCK) T(META, "meta", HEADED) T(NAV, "nav", BLOCK)         \
    T(NOBR, "nobr", FORMAT) T(NOEMBED, "noembed", 0) T(NOFRAMES, "noframes", HEADED)               \
    T(NOSCRIPT, "noscript", SPECIAL) T(OBJECT, "object", SPECIAL) T(OL, "ol", BLOCK)               \
    T(OPTGROUP, "optgroup", BREAK | IMPLIED) T(OPTION, "option", BREAK | IMPLIED)                  \
    T(P, "p", BLOCK | IMPLIED) T(PARAM, "param", 0) T(PLAINTEXT, "plaintext", 0)                   \
    T(PRE, "pre", BLOCK) T(RB, "rb", IMPLIED) T(RP, "rp", IMPLIED) T(RT, "rt", IMPLIED)            \
    T(RTC, "rtc", IMPLIED) T(S, "s", FORMAT) T(SCRIPT, "script", HEADED)                           \
    T(SEARCH, "search", BLOCK) T(SECTION, "section", BLOCK) T(SELECT, "select", SPECIAL | GAP)     \
    T(SMALL, "small", FORMAT) T(SOURCE, "source", 0) T(STRIKE, "strike", FORMAT)                   \
    T(STRONG, "strong", FORMAT) T(STYLE, "style", HEADED) T(SUMMARY, "summary", BLOCK)             \
    T(SVG, "svg", BOUNDARY) T(TABLE, "table", SPECIAL | BREAK | BOUNDARY)                          \
    T(TBODY, "tbody", SPECIAL | BREAK | TABLED) T(TD, "td", SPECIAL | CELL | BOUNDARY | TABLED)    \
    T(TEMPLATE, "template", HEADED) T(TEXTAREA, "textarea", GAP)                                   \
    T(TFOOT, "tfoot", SPECIAL | BREAK | TABLED) T(TH, "th", SPECIAL | CELL | BOUNDARY | TABLED)    \
    T(THEAD, "thead", SPECIAL | BREAK | TABLED) T(TITLE, "title", HEADED)                          \
    T(TR, "tr", SPECIAL | BREAK | TABLED) T(TRACK, "track", 0) T(TT, "tt", FORMAT)                 \
    T(U, "u", FORMAT) T(UL, "ul", BLOCK) T(WBR, "wbr", 0) T(XMP, "xmp", 0)                         \
    /* of pictures, where these end the picture and go on with the page */                         \
    T(SPAN, "span", 0) T(SUB, "sub", 0) T(SUP, "sup", 0) T(VAR, "var", 0) T(RUBY, "ruby", 0)

#define AS_ENUM(id, name, flags) T_##id,
#define AS_NAME(id, name, flags) name,
#define AS_FLAGS(id, name, flags) flags,
enum { TAGS(AS_ENUM) TAG_COUNT };
static const char *const TAG_NAMES[] = {TAGS(AS_NAME)};
static const uint16_t FLAGS_OF[] = {TAGS(AS_FLAGS)};

typedef struct {
    uint64_t low, high;
} Name;

enum { TAG_SLOTS = 1024 };
static Name slot_names[TAG_SLOTS];
static byte slot_tags[TAG_SLOTS];

static inline byte lower(byte c) { return (byte)(c - 'A') < 26 ? c | 32 : c; }

/* Longer names are told apart by a hash: none of them means anything to us. */
static Name name_of(const byte *p, size_t size) {
    Name name = {0, 0};
    if (size > 16) {
        uint64_t hash = 1469598103934665603u;
        for (size_t i = 0; i < size; i++) hash = (hash ^ lower(p[i])) * 1099511628211u;
        name.low = hash;
        name.high = ~(uint64_t)0;
        return name;
    }
    for (size_t i = 0; i < size && i < 8; i++) name.low |= (uint64_t)lower(p[i]) << (8 * i);
    for (size_t i = 8; i < size; i++) name.high |= (uint64_t)lower(p[i]) << (8 * (i - 8));
    return name;
}

static inline int same_name(Name a, Name b) { return a.low == b.low && a.high == b.high; }

/* A number, found by trying, with which no two of the tags above want the same slot. */
static inline unsigned slot_of(Name name) {
    return (unsigned)(((name.low ^ name.high * 31) * 0x4E06C6536CF60539u) >> 54);
}

static void fill_tags(void) {
    memset(slot_tags, 0, sizeof slot_tags);
    for (int tag = 1; tag < TAG_COUNT; tag++) {
        Name name = name_of((const byte *)TAG_NAMES[tag], strlen(TAG_NAMES[tag]));
        unsigned slot = slot_of(name);
        while (slot_tags[slot]) slot = (slot + 1) % TAG_SLOTS;
        slot_names[slot] = name;
        slot_tags[slot] = (byte)tag;
    }
}

static int tag_of(Name name) {
    for (unsigned slot = slot_of(name); slot_tags[slot]; slot = (slot + 1) % TAG_SLOTS)
        if (same_name(slot_names[slot], name)) return slot_tags[slot];
    return T_NONE;
}

#endif
