/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts between which lanes move money by several words at once, beside lanes that take all of
 * them at one moment. */
#ifndef GPURT_TESTS_KCAS_KERNELS_H
#define GPURT_TESTS_KCAS_KERNELS_H

#include <gpurt/kcas.h>
#include <gpurt/kernel.h>

enum {
    KCAS_ACCOUNTS = GPURT_KCAS_WORDS,
    KCAS_MONEY = 1000 /* in each at first */
};

/* Written by: any lane. */
typedef struct kcas_verdict {
    uint64_t xmoved[KCAS_ACCOUNTS]; /* by operations that were done; modulo 2^64 */
    uint32_t xdone, xdiffers;
    uint32_t xmoments; /* at which all accounts were compared as one */
    uint32_t owned;    /* written plainly by the owner of both words */
    uint32_t xwrong;   /* of those, sums that were none; and answers that cannot be */
} kcas_verdict_t;

struct kcas_args {
    gpurt_kcas_t kcas;
    uint64_t *accounts;
    kcas_verdict_t *verdict;
    uint32_t rounds, seed, lanes;
    uint32_t accounts_used; /* by moves */
};

#endif
