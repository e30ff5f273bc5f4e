/* SPDX-License-Identifier: Apache-2.0 */
#include "colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_named(const char *word, colour_when_t *when)
{
    static const char *const names[] = {"auto", "always", "never"};

    *when = COLOUR_AUTO;
    for (int i = 0; word && i < 3; i++)
        if (strcmp(word, names[i]) == 0) {
            *when = (colour_when_t)i;
            return true;
        }
    return word == NULL;
}

bool colour_wanted(FILE *out, colour_when_t when)
{
    const char *terminal = getenv("TERM"), *refused = getenv("NO_COLOR");

    if (when != COLOUR_AUTO)
        return when == COLOUR_ALWAYS;
    return isatty(fileno(out)) && terminal && strcmp(terminal, "dumb") != 0 &&
           !(refused && refused[0]);
}
