/* SPDX-License-Identifier: Apache-2.0 */
/* Kept machine code: files are whole and once there, they have a bound, and what is over it is told once. */
#include "check.h"
#include "codekeep.h"
#include "outlet.h"
#include "trouble.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILES = 4096
};
#define BYTES (512ull << 20)

static uint32_t warnings;

void outlet_warn(uint64_t now_ns, const char *text)
{
    (void)now_ns;
    CHECK_MSG(strstr(text, "4096 files and 512 MiB of each process"), "%s", text);
    warnings++;
}

static uint32_t files_of(const char *folder)
{
    DIR *d = opendir(folder);
    uint32_t count = 0;

    CHECK(d);
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        count += strstr(e->d_name, ".cubin") != NULL;
    closedir(d);
    return count;
}

/* Another process is writing the same code, whose numbers are ours, as in a container of its own. */
static void check_beside(const char *folder)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/.%016x.%ld", folder, 0, (long)gettid());
    file = fopen(path, "w");
    CHECK(file && fclose(file) == 0);
    codekeep_put(0, "code", 4);
    CHECK_EQ(files_of(folder), 1);
    CHECK_EQ(unlink(path), 0);
}

/* Says so many more warnings than before. */
static void check_told(uint32_t count)
{
    warnings = 0;
    trouble_tell(1);
    CHECK_EQ(warnings, count);
}

static void folder_remove(const char *folder)
{
    char path[128];

    for (uint64_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%016llx.cubin", folder, (unsigned long long)i);
        CHECK_EQ(unlink(path), 0);
    }
    CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
    char folder[] = "/tmp/test_codekeep.XXXXXX";
    const char code[4] = "code";

    CHECK(mkdtemp(folder));
    codekeep_open(folder);
    CHECK(codekeep_is_on());
    codekeep_put(FILES, code, BYTES + 1); /* nothing of it is read */
    check_told(1);
    check_beside(folder);
    codekeep_put(FILES, code, BYTES); /* that is too much by one file */
    check_told(0);
    for (uint64_t i = 0; i < FILES; i++)
        codekeep_put(i, code, sizeof code);
    CHECK_EQ(files_of(folder), FILES);
    codekeep_put(FILES, code, sizeof code);
    codekeep_put(0, code, sizeof code); /* which is there */
    check_told(0);
    CHECK_EQ(files_of(folder), FILES);
    folder_remove(folder);
    return 0;
}
