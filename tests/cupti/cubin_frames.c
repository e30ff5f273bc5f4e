/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_frames FILE: what cubincode.c knows of each instruction of machine code, a line each:
 * "function offset file:line inlined < file:line". */
#include "check.h"
#include "cubincode.h"
#include "elfview.h"

#include <elf.h>
#include <stdio.h>

enum {
    STEP = 16,
    BYTES_MOST = 64 << 20
};

static void frames_print(const cubincode_t *c, const char *function, uint64_t offset)
{
    line_frame_t f[LINETABLE_FRAMES];
    uint32_t count = cubincode_frames(c, function, offset, f);

    printf("%s %llx ", function, (unsigned long long)offset);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%s%s%s:%u %s", i ? " < " : "", f[i].folder, f[i].folder[0] ? "/" : "",
               f[i].file, f[i].line, f[i].function);
    putchar('\n');
}

int main(int argc, char **argv)
{
    static const char text[] = ".text.";
    uint8_t *code = malloc(BYTES_MOST), *copy = malloc(BYTES_MOST);
    FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
    elfsection_t s;
    cubincode_t *c;
    elfview_t elf;
    size_t bytes;

    CHECK(code && copy && in);
    bytes = fread(code, 1, BYTES_MOST, in);
    fclose(in);
    memcpy(copy, code, bytes);
    c = cubincode_open(copy, bytes);
    CHECK(c && elfview_open((bytes_t){code, bytes}, &elf));
    for (uint32_t i = 0; i < elf.count; i++)
        if (elfview_section(&elf, i, &s) && strncmp(s.name, text, strlen(text)) == 0)
            for (uint64_t at = 0; at < s.data.size; at += STEP)
                frames_print(c, s.name + strlen(text), at);
    cubincode_close(c);
    free(code);
    free(copy);
    return 0;
}
