/* The bytes of one record: its header lines, its block, two empty lines. See pack.py. */

#ifndef GOSSAMER_PACK_RECORD_H
#define GOSSAMER_PACK_RECORD_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pack_sha1.h"

#define TEXT_CHARS 37 /* "sha1:" and 32 characters of base 32 */

typedef struct {
    const char *at; /* NULL for none */
    size_t length;
} Span;

/* `sha1:` and 20 bytes as 32 characters of five bits each. */
static void write_digest(char *to, const uint8_t *digest) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    memcpy(to, "sha1:", 5);
    to += 5;
    for (int group = 0; group < 4; group++, digest += 5) {
        const uint64_t bits = (uint64_t)digest[0] << 32 | (uint64_t)digest[1] << 24 |
                              (uint64_t)digest[2] << 16 | (uint64_t)digest[3] << 8 | digest[4];
        for (int shift = 35; shift >= 0; shift -= 5)
            *to++ = letters[bits >> shift & 31];
    }
}

static char *put(char *to, const void *text, size_t length) {
    memcpy(to, text, length);
    return to + length;
}
#define PUT(to, literal) put(to, literal, sizeof(literal) - 1)

static const char OF_PAYLOAD[] = "WARC-Payload-Digest: ";
static const char OF_BLOCK[] = "WARC-Block-Digest: ";

/* What a record will hold, and how many bytes. */
typedef struct {
    Span start, head, body; /* no body: the head is the block */
    size_t length, size;    /* of the block, of the record */
    char end[64];
} Plan;

static void make_plan(Plan *plan, Span start, Span head, Span body) {
    plan->start = start;
    plan->head = head;
    plan->body = body;
    plan->length = head.length + body.length;
    const int end_length = snprintf(plan->end, sizeof plan->end, "\r\nContent-Length: %zu\r\n\r\n",
                                    plan->length);
    plan->size = start.length + sizeof OF_BLOCK - 1 + TEXT_CHARS + (size_t)end_length +
                 plan->length + 4;
    if (body.at != NULL)
        plan->size += sizeof OF_PAYLOAD - 1 + TEXT_CHARS + 2;
}

/* Write a record; `digest` becomes the text of its body's, where it has one. */
static void write_record(const Plan *plan, char *to, char *digest) {
    uint8_t of_block[DIGEST_BYTES], of_body[DIGEST_BYTES];
    char *payload_digest = NULL;
    to = put(to, plan->start.at, plan->start.length);
    if (plan->body.at != NULL) {
        payload_digest = PUT(to, OF_PAYLOAD);
        to = PUT(payload_digest + TEXT_CHARS, "\r\n");
    }
    char *block_digest = PUT(to, OF_BLOCK);
    char *block = put(block_digest + TEXT_CHARS, plan->end, strlen(plan->end));
    to = put(block, plan->head.at, plan->head.length);
    if (plan->body.at == NULL) {
        sha1((uint8_t *)block, plan->length, of_block);
    } else {
        to = put(to, plan->body.at, plan->body.length);
        sha1_both((uint8_t *)block, plan->length, plan->head.length, of_block, of_body);
        write_digest(digest, of_body);
        put(payload_digest, digest, TEXT_CHARS);
    }
    write_digest(block_digest, of_block);
    PUT(to, "\r\n\r\n");
}

#endif
