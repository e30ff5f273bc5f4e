/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_export - any bytes as a log, handed on in each format. Whatever was in it, a Perfetto
 * trace is a chain of whole packets. */
#include "fuzz.h"

#include "check.h"
#include "course.h"
#include "export.h"
#include "mend.h"
#include "reader.h"
#include "writer.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    MOST_BYTES = 64 << 20 /* no seed comes near it */
};

static void packets_check(const uint8_t *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        size_t bytes = 0;
        uint32_t shift = 0;

        CHECK(data[at++] == (1 << 3 | 2));
        do {
            CHECK(at < size && shift < 28);
            bytes |= (size_t)(data[at] & 0x7f) << shift;
            shift += 7;
        } while (data[at++] & 0x80);
        CHECK(bytes <= size - at);
        at += bytes;
    }
}

static void log_export(gpurt_log_t *log)
{
    static const char *const formats[] = {"perfetto", "chrome", "jsonl", "csv"};

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *bytes = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&bytes, &size);

        CHECK(out != NULL);
        CHECK_EQ(export_log(log, formats[i], NULL, out, NULL), GPURT_OK);
        CHECK_EQ(fclose(out), 0);
        CHECK(size < MOST_BYTES);
        if (i == 0)
            packets_check((const uint8_t *)bytes, size);
        free(bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    gpurt_log_t *log;

    CHECK(copy && fd >= 0);
    memcpy(copy, data, size);
    if (size & 1u)
        fuzz_mend(copy, size);
    CHECK(write(fd, copy, size) == (ssize_t)size);
    if (gpurt_log_open_fd(fd, "fuzz", &log, NULL) == GPURT_OK) {
        log_export(log);
        gpurt_log_close(log);
    }
    free(copy);
    return 0;
}

/* Another process, with the numbers of the first. */
static void second_write(gpurt_writer_t *w)
{
    gplog_numbers_t numbers;
    gplog_file_t about;
    gpurt_error_t err;

    course_about(&about);
    about.identity.start_ticks = 1; /* its pid came back */
    CHECK_MSG(gpurt_writer_about(w, &about, &err) == GPURT_OK, "%s", err.text);
    gpurt_writer_numbers(w, &about, &numbers);
    CHECK_MSG(course_write_of(w, &numbers, 1000, &err) == GPURT_OK, "%s", err.text);
}

/* The course, in frames of two sizes, and of two processes. */
uint8_t *fuzz_seed(uint32_t index, size_t *size)
{
    gpurt_writer_options_t o = {
        .struct_size = sizeof o, .frame_rows = index ? 1000 : 7, .append = true};
    char path[] = "/tmp/fuzz_export.XXXXXX";
    int fd = index < 3 ? mkstemp(path) : -1;
    gplog_file_t about;
    gpurt_writer_t *w;
    gpurt_error_t err;
    uint8_t *data;
    off_t end;

    if (fd < 0)
        return NULL;
    course_about(&about);
    o.about = &about;
    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(course_write(w, 8, &err) == GPURT_OK, "%s", err.text);
    if (index == 2)
        second_write(w);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    end = lseek(fd, 0, SEEK_END);
    data = malloc((size_t)end);
    CHECK(data && pread(fd, data, (size_t)end, 0) == end);
    *size = (size_t)end;
    close(fd);
    unlink(path);
    return data;
}
