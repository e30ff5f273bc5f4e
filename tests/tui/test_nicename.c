/* SPDX-License-Identifier: Apache-2.0 */
/* Names of launches as people write them; and those that are made to fill the memory of whoever
 * reads a log stay as they are, soon. */
#include "check.h"
#include "names.h"
#include "nicename.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BOMB = 512,
    DOUBLINGS = 40, /* a trillion bytes */
    BOMBS = 40,
    MANY = 2000 /* names, in fewer places */
};

/* f(A<i, i>, A<that, that>, ...): each parameter is twice as long as the one before. */
static void bomb_make(char text[BOMB], uint32_t number)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int used = snprintf(text, BOMB, "_Z%dbomb%02u1AIiiE", 6, number);

    for (int i = 0; i < DOUBLINGS; i++) {
        char type[8];

        if (i < 36)
            snprintf(type, sizeof type, "S%c_", digits[i]);
        else
            snprintf(type, sizeof type, "S1%c_", digits[i - 36]);
        used += snprintf(text + used, (size_t)(BOMB - used), "S_I%s%sE", type, type);
    }
}

static void check_plain(void)
{
    CHECK_STR(nicename("_Z5saxpyPfPKfi"), "saxpy(float*, float const*, int)");
    CHECK_STR(nicename("_Z5saxpyPfPKfi"), "saxpy(float*, float const*, int)");
    CHECK_STR(nicename("__nv_static_4__a_b__Z5saxpyPfPKfi"),
              "saxpy(float*, float const*, int)");
    CHECK(nicename("main") == NULL);
    CHECK(nicename("") == NULL);
    CHECK(nicename("_Z") == NULL);
    CHECK(nicename("_Z9999999999x") == NULL);
}

/* More than are kept: each is its own. */
static void check_many(void)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            char text[32], want[32];

            snprintf(text, sizeof text, "_Z5k%04di", i);
            snprintf(want, sizeof want, "k%04d(int)", i);
            CHECK_STR(nicename(text), want);
        }
}

/* One of 3 KiB leaves no room for the rest of its line. */
static void check_long(void)
{
    static char text[3200] = "_Z3000";

    memset(text + 6, 'x', 3000);
    strcpy(text + 3006, "v");
    CHECK(nicename(text) == NULL);
}

static void check_bombs(void)
{
    char text[BOMB];

    bomb_make(text, 0);
    CHECK(nicename(text) == NULL);
    CHECK_STR(nicename("_Z5afterv"), "after()");
    for (uint32_t i = 1; i < BOMBS; i++) {
        bomb_make(text, i);
        CHECK(nicename(text) == NULL);
    }
    CHECK(nicename("_Z6calleri") == NULL); /* a log like that is not believed any more */
}

int main(void)
{
    char *known = names_demangled("_Z1fv");

    if (!known)
        SKIP("no C++ library here knows mangled names");
    free(known);
    check_plain();
    check_many();
    check_long();
    check_bombs();
    return 0;
}
