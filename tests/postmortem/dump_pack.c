/* SPDX-License-Identifier: Apache-2.0 */
/* dump_pack pack|unpack FROM TO: as zstd would, where there is no zstd. */
#include "check.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <zstd.h>

enum {
    LEVEL = 19
};

int main(int argc, char **argv)
{
    struct stat info;
    FILE *from, *to;
    size_t room, done;
    void *in, *out;
    bool packs;

    CHECK_MSG(argc == 4, "dump_pack pack|unpack FROM TO");
    packs = strcmp(argv[1], "pack") == 0;
    from = fopen(argv[2], "rb");
    CHECK_MSG(from && fstat(fileno(from), &info) == 0, "%s is not there", argv[2]);
    in = malloc((size_t)info.st_size);
    CHECK(in);
    CHECK_EQ(fread(in, 1, (size_t)info.st_size, from), info.st_size);
    fclose(from);
    room = packs ? ZSTD_compressBound((size_t)info.st_size)
                 : (size_t)ZSTD_getFrameContentSize(in, (size_t)info.st_size);
    CHECK_MSG(room < 1u << 30, "%s is no zstd frame of known size", argv[2]);
    out = malloc(room);
    CHECK(out);
    done = packs ? ZSTD_compress(out, room, in, (size_t)info.st_size, LEVEL)
                 : ZSTD_decompress(out, room, in, (size_t)info.st_size);
    CHECK_MSG(!ZSTD_isError(done), "%s", ZSTD_getErrorName(done));
    to = fopen(argv[3], "wb");
    CHECK_MSG(to, "%s cannot be written", argv[3]);
    CHECK_EQ(fwrite(out, 1, done, to), done);
    CHECK_EQ(fclose(to), 0);
    free(in);
    free(out);
    return 0;
}
