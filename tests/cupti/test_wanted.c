/* SPDX-License-Identifier: Apache-2.0 */
/* The words of GPURT_CUPTI: those that people are told are those that mean something. */
#include "injection.h"
#include "wanted.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

static void check_told_is_known(void)
{
    char words[] = GPURT_CUPTI_WORDS;
    const char *unknown;
    uint32_t count = 0;

    for (char *word = strtok(words, ", "); word; word = strtok(NULL, ", "), count++) {
        uint32_t bits = wanted_read(word, &unknown);

        if (strcmp(word, "later") == 0) /* when, and not what */
            continue;
        CHECK_MSG(!unknown && (bits != 0) == (strcmp(word, "off") != 0), "%s", word);
    }
    CHECK(count > 4);
}

static void check_known_is_told(void)
{
    size_t bytes;

    for (uint32_t i = 0; wanted_rows[i].word; i++)
        CHECK_MSG(!gpurt_injection_unknown(wanted_rows[i].word, &bytes), "%s",
                  wanted_rows[i].word);
}

static void check_unknown(void)
{
    static const struct {
        const char *words, *unknown;
    } rows[] = {{"", NULL},
                {",,", NULL},
                {"all,later", NULL},
                {"default,nodes", NULL},
                {"kernel", "kernel"},
                {"default,ALL", "ALL"},
                {"kernels ", "kernels "},
                {"nodes,,kernelss,calls", "kernelss"},
                {"of", "of"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bytes = 0;
        const char *got = gpurt_injection_unknown(rows[i].words, &bytes);
        char word[32] = "";

        CHECK_MSG(!got == !rows[i].unknown, "%s", rows[i].words);
        if (!got)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)bytes, got);
        CHECK_STR(word, rows[i].unknown);
    }
}

int main(void)
{
    check_told_is_known();
    check_known_is_told();
    check_unknown();
    return 0;
}
