/* SPDX-License-Identifier: Apache-2.0 */
/* The text of instructions, as a stand-in for cuobjdump prints it: functions of several GPUs, lines that
 * mean nothing, a tool that is missing, fails, hangs, or does not stop. */
#include "check.h"
#include "hosttime.h"
#include "sasstext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000ull

static char why[SASSTEXT_WHY];

static sasstext_t *read_of(const char *path)
{
    return sasstext_read(path, SECOND, why);
}

static void check_instruction(const sasstext_t *s, const char *function, uint32_t arch,
                              uint32_t offset, const char *wanted)
{
    uint32_t index = sasstext_function(s, function, arch);
    const char *text;

    CHECK_MSG(index < SASSTEXT_SEVERAL, "no %s of sm_%u", function, arch);
    text = sasstext_at(s, index, offset);
    CHECK_MSG(wanted ? text && strcmp(text, wanted) == 0 : !text, "%s+0x%x is '%s'",
              function, offset, text ? text : "(none)");
}

static void check_reads(void)
{
    sasstext_t *s = read_of("app");
    const char spin[] = "spin(unsigned int*)";
    char name[3001];

    CHECK_MSG(s, "%s", why);
    CHECK_STR(why, "");
    check_instruction(s, spin, 90, 0, "LDC R1, c[0x0][0x28]");
    check_instruction(s, spin, 90, 0x10, "@!P0 EXIT");
    check_instruction(s, spin, 90, 0x8, NULL);
    check_instruction(s, spin, 90, 0x20, "LDG.E R4, desc[UR4][R4.64]");
    check_instruction(s, spin, 90, 0x28, NULL);
    check_instruction(s, spin, 90, 0x30, NULL);
    check_instruction(s, spin, 90, 0x40, NULL);
    check_instruction(s, spin, 80, 0x20, "OF.ANOTHER R1");
    check_instruction(s, spin, 80, 0, NULL);
    check_instruction(s, "both", 90, 0, "NINETY");
    snprintf(name, sizeof name, "%03000d", 7);
    check_instruction(s, name, 90, 0, "LONG");
    check_instruction(s, "both", 89, 0, "EIGHTY"); /* which runs code of 8.0 */
    CHECK_EQ(sasstext_function(s, "both", 75), SASSTEXT_NONE);
    CHECK_EQ(sasstext_function(s, "both", 0), SASSTEXT_SEVERAL);
    CHECK_EQ(sasstext_function(s, "twice", 90), SASSTEXT_SEVERAL);
    check_instruction(s, "newer", 86, 0, "EIGHTY_SIX");
    check_instruction(s, "newer", 80, 0, "EIGHTY");
    CHECK_EQ(sasstext_function(s, "both", 100), SASSTEXT_NONE);
    CHECK_EQ(sasstext_function(s, "empty", 90), SASSTEXT_NONE);
    CHECK_EQ(sasstext_function(s, "", 90), SASSTEXT_NONE);
    sasstext_close(s);
    s = read_of("half");
    CHECK(s && strstr(why, "may be missing: cuobjdump says: cuobjdump fatal   : it broke"));
    sasstext_close(s);
}

static void check_refused(const char *path, const char *says)
{
    const uint64_t began = gpurt_steady_ns();

    CHECK(!read_of(path));
    CHECK_MSG(strstr(why, says), "%s", why);
    CHECK(gpurt_steady_ns() - began < 30 * SECOND);
}

int main(void)
{
    char folder[] = "/tmp/test_sasstext.XXXXXX", tool[256], path[4096];

    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", folder, 1);
    check_refused("app", "cuobjdump: No such file or directory; CUDA's toolkit has it");
    setenv("PATH", path, 1);
    snprintf(tool, sizeof tool, "%s/cuobjdump", folder);
    CHECK_EQ(symlink(FAKE_CUOBJDUMP, tool), 0);
    check_reads();
    check_refused("none",
                  "in none: cuobjdump says: cuobjdump info    : File 'none' does not");
    check_refused("hang", "did not end in 1 s on hang");
    check_refused("flood", "did not end in 1 s on flood");
    CHECK(unlink(tool) == 0 && rmdir(folder) == 0);
    sasstext_close(NULL);
    return 0;
}
