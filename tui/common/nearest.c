/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* One row of the table for each letter of a; two rows back for swapped letters. */
static unsigned distance_of(const char *a, const char *b)
{
    unsigned table[NEAREST_MAX + 1][NEAREST_MAX + 1];
    size_t n = strlen(a), m = strlen(b);

    if (n > NEAREST_MAX || m > NEAREST_MAX)
        return NEAREST_MAX;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (unsigned)(i + j);
                continue;
            }
            table[i][j] = least(table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                                least(table[i - 1][j], table[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                table[i][j] = least(table[i][j], table[i - 2][j - 2] + 1);
        }
    return table[n][m];
}

void nearest_try(nearest_t *n, const char *word)
{
    unsigned distance = distance_of(n->typed, word);

    if (!n->word || distance < n->distance) {
        n->word = word;
        n->distance = distance;
    }
}

const char *nearest_found(const nearest_t *n)
{
    return n->word && n->distance <= (strlen(n->typed) + 2) / 3 ? n->word : NULL;
}
