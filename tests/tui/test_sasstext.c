/* SPDX-License-Identifier: Apache-2.0 */
/* The text of instructions, as a stand-in for cuobjdump prints it: functions of several GPUs, lines that
 * mean nothing, a tool that is missing, fails, hangs, or does not stop. */
#include "check.h"
#include "hosttime.h"
#include "sasstext.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000ull

static char why[SASSTEXT_WHY];

static sasstext_t *read_of(const char *path)
{
    return sasstext_read(path, NULL, SECOND, why);
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

/* ---- a folder ------------------------------------------------------------------------ */

/* Machine code with one function: a head, its section and the names of sections. */
static void cubin_make(const char *path, const char *section, uint32_t code)
{
    struct {
        Elf64_Ehdr head;
        Elf64_Shdr sections[3];
        uint32_t code;
        char names[64];
    } of = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                     .e_machine = EM_CUDA,
                     .e_shoff = sizeof of.head,
                     .e_ehsize = sizeof of.head,
                     .e_shentsize = sizeof of.sections[0],
                     .e_shnum = 3,
                     .e_shstrndx = 2},
            .code = code};
    FILE *file = fopen(path, "wb");

    snprintf(of.names + 1, sizeof of.names - 1, "%s", section);
    of.sections[1] = (Elf64_Shdr){.sh_name = 1,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_offset = (size_t)((char *)&of.code - (char *)&of),
                                  .sh_size = sizeof of.code};
    of.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                  .sh_offset = (size_t)(of.names - (char *)&of),
                                  .sh_size = sizeof of.names};
    CHECK(file && fwrite(&of, sizeof of, 1, file) == 1 && fclose(file) == 0);
}

static bool is_spin(const void *context, const char *function)
{
    (void)context;
    return strcmp(function, "spin(unsigned int*)") == 0;
}

static uint32_t files_of(const char *folder, const code_wish_t *wish)
{
    codefolder_t f = {0};
    uint32_t count;

    CHECK(codefolder_open(folder, wish, UINT64_MAX, &f));
    CHECK_EQ(f.unseen, 0);
    count = f.count;
    codefolder_close(&f);
    return count;
}

/* One file of each version, of functions that are asked for. What is no machine code is left out. */
static void check_folder(void)
{
    static const char *const names[] = {"1.cubin", "2.cubin", "3.cubin",
                                        "4.cubin", "5.cubin", "6.text"};
    const code_wish_t spin = {is_spin, NULL};
    char folder[] = "/tmp/test_sasstext.XXXXXX", path[6][64];
    sasstext_t *s;

    CHECK(mkdtemp(folder));
    for (int i = 0; i < 6; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    CHECK_EQ(files_of(folder, NULL), 0);
    CHECK(!sasstext_read(folder, &spin, SECOND, why) &&
          strstr(why, "none of the 0 files *.cubin in /tmp/test_sasstext."));
    cubin_make(path[0], ".text.both", 1);
    cubin_make(path[1], ".text._Z4spinPj", 1);
    cubin_make(path[2], ".text._Z4spinPj", 1);
    cubin_make(path[3], ".text._Z4spinPj", 2);
    cubin_make(path[5], ".text._Z4spinPj", 3);
    CHECK_EQ(truncate(path[3], 100), 0);
    cubin_make(path[4], ".nv.info._Z4spinPj", 4);
    CHECK_EQ(files_of(folder, NULL), 2);
    CHECK_EQ(files_of(folder, &spin), 1);
    cubin_make(path[3], ".text._Z4spinPj", 2);
    CHECK_EQ(files_of(folder, &spin), 2);
    /* the stand-in prints the same of both files: one version, then */
    s = sasstext_read(folder, &spin, SECOND, why);
    CHECK_MSG(s && !why[0], "%s", why);
    check_instruction(s, "spin(unsigned int*)", 90, 0x10, "@!P0 EXIT");
    CHECK_EQ(sasstext_function(s, "twice", 90), SASSTEXT_SEVERAL);
    sasstext_close(s);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(unlink(path[i]), 0);
    CHECK_EQ(rmdir(folder), 0);
}

/* Its time ends in the second file, or before the first one is looked at. */
static void check_cut(void)
{
    static const char *const names[] = {"1.cubin", "2hang.cubin"};
    const code_wish_t spin = {is_spin, NULL};
    char folder[] = "/tmp/test_sasstext.XXXXXX", path[2][64];
    codefolder_t f = {0};
    sasstext_t *s;

    CHECK(mkdtemp(folder));
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    cubin_make(path[0], ".text._Z4spinPj", 1);
    cubin_make(path[1], ".text._Z4spinPj", 2);
    s = sasstext_read(folder, &spin, 2 * SECOND, why);
    CHECK_MSG(s && strstr(why, "was through with 1 of 2 files"), "%s", why);
    CHECK_EQ(sasstext_function(s, "spin(unsigned int*)", 90), SASSTEXT_SEVERAL);
    check_instruction(s, "copy_plain", 90, 0x100, "NANOSLEEP R5");
    sasstext_close(s);
    CHECK(!sasstext_read(folder, &spin, 0, why) && strstr(why, "0 of 0 files") &&
          strstr(why, "2 of 2 were not looked at"));
    CHECK(codefolder_open(folder, NULL, 0, &f) && f.count == 0 && f.unseen == 2);
    codefolder_close(&f);
    CHECK(unlink(path[0]) == 0 && unlink(path[1]) == 0 && rmdir(folder) == 0);
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
    check_folder();
    check_cut();
    check_refused("none",
                  "in none: cuobjdump says: cuobjdump info    : File 'none' does not");
    check_refused("hang", "did not end in 1 s on hang");
    check_refused("flood", "did not end in 1 s on flood");
    CHECK(unlink(tool) == 0 && rmdir(folder) == 0);
    sasstext_close(NULL);
    return 0;
}
