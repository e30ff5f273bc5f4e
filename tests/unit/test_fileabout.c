/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of several boxes in one file: each has a number there, whoever came first, and
 * rows of one box are not taken for rows of another's device. */
#include "fileabout.h"
#include "reader.h"
#include "writer.h"

#include "check.h"

#include <gpurt/impl/activity.h>
#include <unistd.h>

static void section_add(gplog_file_t *about, uint32_t kind, uint32_t device,
                        const char *name)
{
    gplog_section_t *s = &about->sections[about->section_count++];

    s->kind = kind;
    s->device = device;
    s->sm_count = kind == GPURT_SECTION_HOST ? 1 : 132;
    s->warp_slots = kind == GPURT_SECTION_HOST ? 1 : 64;
    snprintf(s->name, sizeof s->name, "%s", name);
}

/* A process on one GPU, with host code. */
static gplog_file_t about_gpu(uint32_t device)
{
    gplog_file_t about = {.section_count = 0};

    section_add(&about, GPURT_SECTION_CUDA, device, "a GPU");
    section_add(&about, GPURT_SECTION_HOST, 0, "host");
    return about;
}

static gplog_file_t about_host(void)
{
    gplog_file_t about = {.section_count = 0};

    section_add(&about, GPURT_SECTION_HOST, 0, "host");
    return about;
}

static void check_numbers(void)
{
    gplog_file_t first = about_gpu(0), second = about_gpu(1), plain = about_host();
    gplog_file_t all = {.section_count = 0};
    gplog_numbers_t n;

    gplog_about_join(&all, &first);
    gplog_about_numbers(&all, &first, 0, &n);
    CHECK(n.same);
    CHECK_EQ(all.section_count, 2);
    gplog_about_join(&all, &second);
    gplog_about_join(&all, &plain);
    gplog_about_join(&all, &first);
    CHECK_EQ(all.section_count, 3);
    gplog_about_numbers(&all, &first, 0, &n);
    CHECK(n.same);
    gplog_about_numbers(&all, &second, 0, &n);
    CHECK(!n.same);
    CHECK_EQ(n.section[0], 2);
    CHECK_EQ(n.section[1], 1);
    gplog_about_numbers(&all, &plain, 0, &n);
    CHECK(!n.same);
    CHECK_EQ(n.section[0], 1);
}

/* Nine places: those that come later keep their own numbers, and none points outside. */
static void check_full(void)
{
    gplog_file_t all = {.section_count = 0}, one;
    gplog_numbers_t n;

    for (uint32_t device = 0; device < 12; device++) {
        one = about_gpu(device);
        gplog_about_join(&all, &one);
    }
    CHECK_EQ(all.section_count, GPURT_BOX_SECTIONS);
    one = about_gpu(7); /* the last that has a place: 0, host, 1 to 7 */
    gplog_about_numbers(&all, &one, 0, &n);
    CHECK_EQ(n.section[0], 8);
    one = about_gpu(11);
    gplog_about_numbers(&all, &one, 0, &n);
    CHECK_EQ(n.section[0], 0);
    CHECK_EQ(n.section[1], 1);
}

static uint32_t kind_of(const gplog_file_t *about, uint32_t kind, uint32_t section,
                        uint32_t device)
{
    const gpurt_row_t row = {
        .kind = (uint8_t)kind, .section = (uint8_t)section, .block = device};

    return gplog_about_kind(about, &row);
}

/* Of which back end a row's device is, where both have one of that number and where not. */
static void check_kinds(void)
{
    gplog_file_t all = about_gpu(0);

    CHECK(!gplog_about_is_mixed(&all));
    section_add(&all, GPURT_SECTION_CPU, 0, "CPU");
    section_add(&all, GPURT_SECTION_CPU, 1, "CPU");
    CHECK(gplog_about_is_mixed(&all));
    CHECK_EQ(kind_of(&all, GPURT_KIND_LOG, 0, 1), GPURT_SECTION_CUDA);
    CHECK_EQ(kind_of(&all, GPURT_KIND_LOG, 1, 0), GPURT_SECTION_HOST);
    CHECK_EQ(kind_of(&all, GPURT_KIND_PANIC, 2, 0), GPURT_SECTION_CPU);
    CHECK_EQ(kind_of(&all, GPURT_KIND_LOG, 4, 0), GPURT_SECTION_NONE);
    CHECK_EQ(kind_of(&all, GPURT_KIND_KERNEL, 1, 1), GPURT_SECTION_CUDA);
    CHECK_EQ(kind_of(&all, GPURT_KIND_LAUNCH, 1, 0), GPURT_SECTION_NONE);
    CHECK_EQ(kind_of(&all, GPURT_KIND_LAUNCH, 1, 1), GPURT_SECTION_CPU);
    all = about_gpu(0);
    CHECK_EQ(kind_of(&all, GPURT_KIND_LAUNCH, 1, 0), GPURT_SECTION_CUDA);
    CHECK_STR(gplog_back_end(GPURT_SECTION_CPU), "cpu");
    CHECK_STR(gplog_back_end(GPURT_SECTION_CUDA), "cuda");
    CHECK_STR(gplog_back_end(GPURT_SECTION_HOST), "host");
    CHECK_STR(gplog_back_end(77), "unknown");
}

static void row_make(gpurt_row_t *row, uint64_t time_ns, uint32_t section)
{
    memset(row, 0, sizeof *row);
    row->time_ns = time_ns;
    row->kind = GPURT_KIND_LOG;
    row->section = (uint8_t)section;
}

/* One after another and side by side, in one run and in a second that appends. */
static void check_file(const char *path, bool append)
{
    gpurt_writer_options_t o = {.struct_size = sizeof o, .append = append};
    gplog_file_t first = about_gpu(append ? 5 : 0), second = about_gpu(1);
    gplog_numbers_t of_first, of_second;
    gpurt_box_intent_t place;
    gpurt_writer_t *w;
    gpurt_error_t err;
    gpurt_row_t row;

    CHECK_MSG(gpurt_writer_open(path, &o, &w, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(gpurt_writer_about(w, &first, &err), GPURT_OK);
    gpurt_writer_numbers(w, &first, &of_first);
    CHECK_EQ(gpurt_writer_about(w, &second, &err), GPURT_OK);
    gpurt_writer_numbers(w, &second, &of_second);
    row_make(&row, append ? 11 : 1, 0);
    CHECK_EQ(gpurt_writer_put_of(w, &of_second, &row, &err), GPURT_OK);
    for (int again = 0; again < 2; again++) { /* a frame that failed is made once more */
        row_make(&row, append ? 12 : 2, 0);
        CHECK_EQ(gpurt_writer_prepare(w, &of_second, &row, sizeof row, &place, &err),
                 GPURT_OK);
        CHECK_EQ(row.section, 0);
    }
    CHECK_EQ(gpurt_writer_commit(w, &err), GPURT_OK);
    row_make(&row, append ? 13 : 3, 0);
    CHECK_EQ(gpurt_writer_prepare(w, &of_first, &row, sizeof row, &place, &err), GPURT_OK);
    CHECK_EQ(gpurt_writer_commit(w, &err), GPURT_OK);
    CHECK_EQ(gpurt_writer_close(w, &err), GPURT_OK);
}

/* The device of each row, in order of time. */
static void check_devices(const char *path, const uint32_t *devices, uint32_t count)
{
    gpurt_log_summary_t sum;
    gpurt_log_t *log;
    gpurt_error_t err;
    uint32_t seen = 0;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    for (uint32_t f = 0; f < gpurt_log_frames(log); f++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0;

        CHECK_EQ(gpurt_log_read(log, f, &rows, &err), GPURT_OK);
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
            CHECK(seen < count && row->section < sum.about.section_count);
            CHECK_EQ(sum.about.sections[row->section].kind, GPURT_SECTION_CUDA);
            CHECK_EQ(sum.about.sections[row->section].device, devices[seen]);
            seen++;
        }
    }
    CHECK_EQ(seen, count);
    gpurt_log_close(log);
}

int main(void)
{
    static const uint32_t devices[] = {1, 1, 0, 1, 1, 5};
    char path[] = "/tmp/test_fileabout.XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    unlink(path);
    check_numbers();
    check_full();
    check_kinds();
    check_file(path, false);
    check_devices(path, devices, 3);
    check_file(path, true);
    check_devices(path, devices, 6);
    unlink(path);
    return 0;
}
