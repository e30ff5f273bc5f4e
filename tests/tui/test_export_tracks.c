/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks of an export: numbers of two processes are two tracks, and whatever a log has, the
 * table holds it, with what a track lies in and the one for the rest. */
#include "export_tracks.h"

#include "check.h"

static uint32_t made;

static void track(export_out_t *o, const export_track_t *t)
{
    (void)o;
    CHECK_EQ(t->number, ++made);
    CHECK(t->number <= EXPORT_TRACKS);
    CHECK(t->parent < t->number);
}

static const export_writer_t writer = {.track = track};

static export_tracks_t *begin(export_out_t *out, uint32_t programs)
{
    export_tracks_t *t;

    memset(out, 0, sizeof *out);
    out->programs.count = programs;
    made = 0;
    t = export_tracks_create(&writer, out);
    CHECK(t != NULL);
    return t;
}

static const export_track_t *get(export_tracks_t *t, uint16_t kind, uint16_t program,
                                 uint32_t a, uint32_t b)
{
    return export_tracks_get(
        t, (export_key_t){.kind = kind, .program = program, .a = a, .b = b});
}

static void check_parents(uint32_t programs)
{
    export_out_t out;
    export_tracks_t *t = begin(&out, programs);
    const export_track_t *warp = get(t, EXPORT_WARP, 0, 3, 5), *up;
    const bool shared = programs > 1;

    CHECK_EQ(made, shared ? 4 : 3);
    CHECK(get(t, EXPORT_WARP, 0, 3, 5) == warp);
    CHECK(get(t, EXPORT_WARP, 1, 3, 5) != warp);
    CHECK_EQ(made, shared ? 8 : 7); /* one that nobody named is none of the first's */
    for (up = warp; up->parent; up = &out.tracks[up->parent - 1])
        CHECK_EQ(up->key.program, 0);
    CHECK_EQ(up->key.kind, shared ? EXPORT_PROCESS : EXPORT_DEVICE);
    for (up = get(t, EXPORT_WARP, 1, 3, 5); up->parent; up = &out.tracks[up->parent - 1])
        CHECK_EQ(up->key.program, 1);
    CHECK_EQ(up->key.kind, EXPORT_PROCESS);
    export_tracks_destroy(t);
}

/* With so much room left a track that needs four comes, and then more that find none. */
static void check_full(uint32_t left)
{
    export_out_t out;
    export_tracks_t *t = begin(&out, 2);
    const export_track_t *others;

    for (uint32_t i = 1; made < EXPORT_TRACKS - left; i++)
        get(t, EXPORT_THREAD, 0, i, 0);
    get(t, EXPORT_WARP, 1, 3, 5);
    others = get(t, EXPORT_WARP, 2, 3, 5);
    CHECK_EQ(others->key.kind, EXPORT_OTHERS);
    CHECK(get(t, EXPORT_STREAM, 3, 1, 7) == others);
    export_tracks_destroy(t);
}

int main(void)
{
    check_parents(1);
    check_parents(2);
    for (uint32_t left = 4; left <= 8; left++)
        check_full(left);
    return 0;
}
