/* SPDX-License-Identifier: Apache-2.0 */
/* loss_check FILE: reads the log of a gpu_loss as gpurt-log cat --jsonl prints it, and compares: of
 * each warp every number from 0 on, each once and in order, at least as far as it says in FILE.
 *
 * Whoever must find out why one is there twice has this output and no more, so it reads on to the
 * end and says what tells causes apart. A row that was kept and came again has the time of the
 * first, and stands alone or with its frame. A warp that the GPU ran again from where it had been
 * has new times, goes on from there, and says so in FILE. A row with another's contents leaves its
 * own number missing. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    NUMBERS = 1 << 20, /* of a warp, which ends after 2 s; a row of more is none of ours */
    SAMPLES = 4        /* rows that are told one by one */
};

typedef struct row {
    uint64_t time_ns, line; /* line: of the output, from 1; 0: did not come */
} row_t;

typedef struct warp {
    uint32_t said, back; /* what it went back from, 0: it never did */
    row_t *rows;         /* by their numbers */
    uint32_t room;
    uint32_t end; /* behind the highest that came */
    uint32_t twice,
        run; /* rows that came twice; the run of them goes on with this number */
} warp_t;

static struct {
    uint64_t records, promised;
    uint64_t twice, same_time, runs; /* runs: stretches of one warp, one after another */
    uint64_t late, missing, strange;
    uint32_t warps_twice, warps_back, warps_missing, samples;
} sum;

static bool room_make(warp_t *w, uint32_t number)
{
    uint32_t room = w->room ? w->room : 1024;
    row_t *more;

    if (number < w->room)
        return true;
    while (room <= number)
        room *= 2;
    more = realloc(w->rows, room * sizeof *more);
    if (!more)
        return false;
    memset(more + w->room, 0, (room - w->room) * sizeof *more);
    w->rows = more;
    w->room = room;
    return true;
}

/* The row that the line says, beside the first of its number. */
static void sample_tell(const warp_t *w, uint32_t warp, uint32_t number, const row_t *row,
                        const char *line)
{
    const row_t *first = &w->rows[number];

    if (sum.samples++ >= SAMPLES)
        return;
    printf("warp %u: %u comes where %u should, in line %llu", warp, number, w->end,
           (unsigned long long)row->line);
    if (first->line)
        printf(", again: first in line %llu, %lld ns before",
               (unsigned long long)first->line, (long long)(row->time_ns - first->time_ns));
    printf("; it said %u", w->said);
    if (w->back)
        printf(" and went back from %u", w->back);
    printf(": %s", line);
}

static void twice_add(warp_t *w, uint32_t number, const row_t *row)
{
    sum.same_time += row->time_ns == w->rows[number].time_ns;
    sum.warps_twice += w->twice == 0;
    sum.runs += w->twice == 0 || number != w->run;
    sum.twice++;
    w->twice++;
    w->run = number + 1;
}

/* Returns: false without memory. */
static bool row_add(warp_t *w, uint32_t warp, uint32_t number, const row_t *row,
                    const char *line)
{
    if (!room_make(w, number))
        return false;
    if (number != w->end)
        sample_tell(w, warp, number, row, line);
    if (w->rows[number].line) {
        twice_add(w, number, row);
        return true;
    }
    sum.late += number < w->end;
    w->rows[number] = *row;
    w->end = number < w->end ? w->end : number + 1;
    return true;
}

static bool rows_read(warp_t *warps, uint32_t count)
{
    char line[1024];

    for (uint64_t at = 1; fgets(line, sizeof line, stdin); at++) {
        const char *message = strstr(line, "\"msg\":\""),
                   *time = strstr(line, "\"ts_ns\":");
        row_t row = {time ? strtoull(time + 8, NULL, 10) : 0, at};
        unsigned warp, number;

        if (!message || sscanf(message, "\"msg\":\"%u %u\"", &warp, &number) != 2)
            continue;
        sum.records++;
        if (warp >= count || number >= NUMBERS) {
            sum.strange++;
            printf("of no warp: %s", line);
        } else if (!row_add(&warps[warp], warp, number, &row, line)) {
            return false;
        }
    }
    return true;
}

static void missing_find(const warp_t *w, uint32_t warp)
{
    uint32_t end = w->said > w->end ? w->said : w->end, missing = 0, first = 0;

    for (uint32_t i = end; i > 0; i--) {
        if (i <= w->room && w->rows[i - 1].line)
            continue;
        missing++;
        first = i - 1;
    }
    sum.promised += w->said;
    sum.warps_back += w->back != 0;
    sum.missing += missing;
    if (missing && sum.warps_missing++ < SAMPLES)
        printf("warp %u: %u of %u records are missing, the first is %u; it said %u\n", warp,
               missing, end, first, w->said);
}

static int judge(void)
{
    if (sum.twice + sum.late + sum.missing + sum.strange) {
        printf("%llu records: %llu twice, of %u warps, in %llu runs, %llu with the time of "
               "the first; %u warps went back; %llu late; %llu missing, of %u warps; "
               "%llu strange\n",
               (unsigned long long)sum.records, (unsigned long long)sum.twice,
               sum.warps_twice, (unsigned long long)sum.runs,
               (unsigned long long)sum.same_time, sum.warps_back,
               (unsigned long long)sum.late, (unsigned long long)sum.missing,
               sum.warps_missing, (unsigned long long)sum.strange);
        return 1;
    }
    printf("%llu records, %llu of them promised\n", (unsigned long long)sum.records,
           (unsigned long long)sum.promised);
    return sum.records > 0 && sum.promised > 0 ? 0 : 1;
}

/* Of each warp what it said, then of each what it went back from. Returns: NULL where the file
 * is not that. */
static warp_t *warps_load(const char *path, uint32_t *count)
{
    FILE *file = fopen(path, "rb");
    warp_t *warps = NULL;
    struct stat info;

    if (file && fstat(fileno(file), &info) == 0 && info.st_size >= 8) {
        *count = (uint32_t)(info.st_size / 8);
        warps = calloc(*count, sizeof *warps);
    }
    for (uint32_t i = 0; warps && i < 2 * *count; i++) {
        warp_t *w = &warps[i % *count];
        uint32_t *word = i < *count ? &w->said : &w->back;

        if (fread(word, sizeof *word, 1, file) != 1)
            *word = 0;
    }
    if (file)
        fclose(file);
    return warps;
}

int main(int argc, char **argv)
{
    uint32_t count = 0;
    warp_t *warps = argc == 2 ? warps_load(argv[1], &count) : NULL;
    bool read;

    if (!warps) {
        fprintf(stderr, "usage: gpurt-log cat --jsonl LOG | loss_check FILE\n");
        return 2;
    }
    read = rows_read(warps, count);
    for (uint32_t w = 0; w < count; w++) {
        missing_find(&warps[w], w);
        free(warps[w].rows);
    }
    free(warps);
    if (!read)
        printf("not read to its end: no memory\n");
    return judge() || !read;
}
