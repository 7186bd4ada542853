/* The halves of a product of 128 bits, folded: no bit of one number moves another by a known
 * distance. What hashes that nobody can aim at are made of. */

#ifndef GOSSAMER_PRODUCT_H
#define GOSSAMER_PRODUCT_H

#include <stdint.h>

static inline uint64_t folded_product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), one = (a >> 32) * (b & UINT32_MAX);
    uint64_t other = (a & UINT32_MAX) * (b >> 32), high = (a >> 32) * (b >> 32);
    uint64_t middle = (low >> 32) + (one & UINT32_MAX) + other;
    return (middle << 32 | (low & UINT32_MAX)) ^ (high + (one >> 32) + (middle >> 32));
#endif
}

#endif
