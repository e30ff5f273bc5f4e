/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "collected_text.h"
#include "launchee.h"
#include "plural.h"

#include <sys/stat.h>

int recording_open(recording_t *r, const gpurt_option_program_t *program, const char *path,
                   const gpurt_writer_options_t *options)
{
    gpurt_error_t err = {0};

    r->program = program;
    r->path = path;
    launchee_write_errors();
    if (gpurt_writer_open(path, options, &r->writer, &err) == GPURT_OK)
        return -1;
    return gpurt_option_refuse(program, "%s", err.text);
}

void recording_drop(recording_t *r)
{
    gpurt_writer_figures_t sum;
    gpurt_error_t err;

    if (!r->writer)
        return;
    gpurt_writer_figures(r->writer, &sum);
    if (sum.rows == 0 && gpurt_writer_pending(r->writer) == 0)
        gpurt_writer_drop(r->writer);
    else if (gpurt_writer_close(r->writer, &err) != GPURT_OK)
        gpurt_option_refuse(r->program, "%s is not whole: %s", r->path, err.text);
    r->writer = NULL;
}

/* What stands behind the size came later: who reads the line finds the rest where it was. */
static void tell(const recording_t *r, uint32_t seen, const gpurt_writer_figures_t *sum,
                 const collected_text_t *collected)
{
    struct stat file = {0};

    stat(r->path, &file);
    if (seen == 0 && sum->panics == 0)
        gpurt_option_refuse(r->program, "%s; %s holds no records",
                            r->joined ? "the program's collector recorded no GPU activity "
                                        "meanwhile"
                                      : "the program never opened gpurt, and the "
                                        "collector saw no CUDA in it",
                            r->path);
    else
        gpurt_option_refuse(r->program,
                            "%llu record%s, %llu lost, %llu panic%s in %s (%llu bytes)%s",
                            (unsigned long long)sum->messages,
                            gpurt_plural(sum->messages, "s"), (unsigned long long)sum->lost,
                            (unsigned long long)sum->panics, gpurt_plural(sum->panics, "s"),
                            r->path, (unsigned long long)file.st_size, collected->sums);
    if (sum->lost)
        gpurt_option_refuse(
            r->program, "lost: mostly where a ring was full (LOST in gpurt-log cat says); "
                        "larger rings: GPURT_RING_BYTES=N, to wait instead: "
                        "GPURT_POLICY=block");
    collected_text_tell(collected, r->program);
}

bool recording_close(recording_t *r, uint32_t seen, bool quiet,
                     const gpurt_error_t *failure)
{
    collected_text_t collected;
    gpurt_writer_figures_t sum;
    gpurt_error_t err = {0}, gone = {0};
    bool whole, stands;

    if (!r->writer)
        return true;
    whole = gpurt_writer_flush(r->writer, &err) == GPURT_OK;
    gpurt_writer_figures(r->writer, &sum);
    collected_text_take(&collected, r->writer);
    stands = gpurt_writer_stands(r->writer, &gone) == GPURT_OK;
    whole &= gpurt_writer_close(r->writer, whole ? &err : NULL) == GPURT_OK;
    r->writer = NULL;
    if (failure || !whole)
        gpurt_option_refuse(r->program, "%s is not whole: %s", r->path,
                            failure ? failure->text : err.text);
    else if (stands && !quiet)
        tell(r, seen, &sum, &collected);
    if (!stands)
        gpurt_option_refuse(r->program, "%s", gone.text);
    return whole && !failure && stands;
}
