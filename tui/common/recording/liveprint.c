/* SPDX-License-Identifier: Apache-2.0 */
#include "liveprint.h"

#include "colour.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER = 1 << 16
};

/* A descriptor of its own: what others print to stderr is not buffered with it. Where we were
 * started without one (standardfiles.h) nobody would see the lines, and there are none. */
bool liveprint_open(liveprint_to_t *to, uint32_t level)
{
    int flags = fcntl(STDERR_FILENO, F_GETFL), fd;

    *to = (liveprint_to_t){.colour = colour_wanted(stderr, COLOUR_AUTO), .level = level};
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return true;
    fd = dup(STDERR_FILENO);
    to->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to->out && fd >= 0)
        close(fd);
    return to->out && setvbuf(to->out, NULL, _IOFBF, BUFFER) == 0;
}

void liveprint_close(liveprint_to_t *to)
{
    if (to->out)
        fclose(to->out);
    to->out = NULL;
}

/* A line that does not fit the buffer would be written in two. */
static gpurt_status_t row_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    liveprint_t *p = context;
    uint32_t lines = rowprint_lines(row);

    (void)err;
    if (row->level != GPURT_LEVEL_NONE && row->level < p->level)
        return GPURT_OK;
    for (uint32_t i = 0; i < lines; i++) {
        if (__fpending(p->text.out) + ROWPRINT_LINE > BUFFER)
            fflush(p->text.out);
        rowprint_text(&p->text, &p->about, row, i, i + 1);
    }
    return GPURT_OK;
}

static gpurt_status_t all_flush(void *context, gpurt_error_t *err)
{
    liveprint_t *p = context;

    (void)err;
    fflush(p->text.out);
    return GPURT_OK;
}

gpurt_drain_sink_t liveprint_sink(liveprint_t *p, const liveprint_to_t *to,
                                  const gpurt_boxmap_t *map,
                                  const gpurt_dictionary_t *dictionary)
{
    memset(p, 0, sizeof *p);
    gpurt_drain_about(map, &p->about);
    p->text = (rowprint_t){.out = to->out,
                           .dictionary = dictionary,
                           .colour = to->colour,
                           .pid = p->about.identity.pid};
    p->level = to->level;
    return (gpurt_drain_sink_t){
        .context = p, .put = row_put, .flush = all_flush, .in_order = true};
}
