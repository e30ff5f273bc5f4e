/* SPDX-License-Identifier: Apache-2.0 */
#include "gpuwords.h"

#include "injection.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int gpuwords_check(const gpurt_option_program_t *program, const char *option)
{
    const char *words = option ? option : getenv("GPURT_CUPTI"), *unknown;
    size_t bytes = 0;
    int status;

    unknown = words ? gpurt_injection_unknown(words, &bytes) : NULL;
    if (!unknown && option && gpurt_injection_contradicts(option))
        return gpurt_option_refuse(program,
                                   "--cupti %s: 'off' goes with no other word; leave it "
                                   "out, or the others",
                                   option);
    if (!unknown)
        return 0;
    status = gpurt_option_refuse(program, "%s: '%.*s' is not known; it takes %s",
                                 option ? "--cupti" : "GPURT_CUPTI", (int)bytes, unknown,
                                 GPURT_CUPTI_WORDS);
    return option ? status : 0;
}

/* As the collector reads it. */
static bool is_budget(const char *percent)
{
    char *end;
    double value = strtod(percent, &end);

    return end != percent && *end == '\0' && value >= 0.1 && value <= 50;
}

/* Of --cupti beside --budget: what has records all the time. Returns: NULL: that does not go with it. */
static const char *budget_with(const char *words)
{
    static const struct {
        const char *asked, *all;
    } sets[] = {{"graphs", "budget,graphs"},
                {"waits", "budget,waits"},
                {"graphs,waits", "budget,graphs,waits"},
                {"waits,graphs", "budget,graphs,waits"}};

    if (!words)
        return "budget";
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(words, sets[i].asked) == 0)
            return sets[i].all;
    return NULL;
}

int gpuwords_budget(const gpurt_option_program_t *program, const char *percent,
                    const char **words)
{
    const char *all = budget_with(*words);

    if (!percent)
        return 0;
    if (!all)
        return gpurt_option_refuse(program, "--budget chooses what is recorded: leave out "
                                            "--cupti, or name 'graphs' or 'waits' there");
    if (!is_budget(percent))
        return gpurt_option_refuse(program, "--budget: '%s' is not from 0.1 to 50 percent",
                                   percent);
    if (setenv("GPURT_CUPTI_BUDGET", percent, 1) != 0)
        return gpurt_option_refuse(program, "environment: %s", strerror(errno));
    *words = all;
    return 0;
}

int gpuwords_set(const gpurt_option_program_t *program, const char *option,
                 const char *fallback)
{
    const char *words = option ? option : getenv("GPURT_CUPTI") ? NULL : fallback;

    if (words && setenv("GPURT_CUPTI", words, 1) != 0)
        return gpurt_option_refuse(program, "environment: %s", strerror(errno));
    return 0;
}
