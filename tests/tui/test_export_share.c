/* SPDX-License-Identifier: Apache-2.0 */
/* The counter of how much of its time a GPU ran kernels: by hand, and for any crowd as much as the
 * kernels took. */
#include "export_share.h"

#include "check.h"

enum {
    CROWD = 20000
};
#define T     EXPORT_SHARE_NS
#define BEGIN (70000 * T)

static export_share_t share;
static char story[256];

static void points_say(const export_share_point_t *points, uint32_t count)
{
    size_t used = 0;

    CHECK(count <= EXPORT_SHARE_POINTS);
    story[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        CHECK(i == 0 || points[i].time_ns > points[i - 1].time_ns);
        used += (size_t)snprintf(story + used, sizeof story - used, "%llu:%.0f ",
                                 (unsigned long long)((points[i].time_ns - BEGIN) / T),
                                 points[i].percent);
    }
}

static void kernel(uint64_t from, uint64_t to, const char *want)
{
    export_share_point_t points[EXPORT_SHARE_POINTS];

    points_say(points, export_share_kernel(&share, 0, BEGIN + from * T / 100,
                                           BEGIN + to * T / 100, points));
    CHECK_MSG(strcmp(story, want) == 0, "'%s', not '%s'", story, want);
}

static void end(const char *want)
{
    export_share_point_t points[EXPORT_SHARE_POINTS];

    points_say(points, export_share_end(&share, 0, points));
    CHECK_MSG(strcmp(story, want) == 0, "'%s', not '%s'", story, want);
    memset(&share, 0, sizeof share);
}

static void check_points(void)
{
    end("");
    kernel(10, 20, "");
    kernel(15, 40, ""); /* two at once count once */
    kernel(30, 35, "");
    end("0:30 1:0 ");

    kernel(10, 20, "");
    kernel(150, 160, "0:10 ");
    kernel(400, 500, "1:10 2:0 "); /* up to the end of its tenth */
    kernel(550, 650, "4:100 5:50 ");
    kernel(680, 980, "6:70 7:100 ");
    kernel(980, 1020, "9:100 ");
    end("10:20 11:0 ");

    kernel(50, 400, "0:50 1:100 ");
    kernel(390, 420, "3:100 ");
    end("4:20 5:0 ");
}

static uint32_t rng = 1;

static uint64_t below(uint32_t n)
{
    rng = rng * 1664525u + 1013904223u;
    return (uint64_t)rng * n >> 32;
}

/* Percents by the tenths that they stand for. */
static double took(const export_share_point_t *points, uint32_t count,
                   export_share_point_t *last)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t time_ns =
            points[i].time_ns / T * T; /* the first begins within its tenth */

        sum += last->percent / 100 * (double)(time_ns - last->time_ns);
        *last = (export_share_point_t){time_ns, points[i].percent};
    }
    return sum;
}

static void check_crowd(void)
{
    export_share_point_t points[EXPORT_SHARE_POINTS], last = {BEGIN, 0};
    uint64_t at = BEGIN, until = BEGIN;
    double ran = 0, told = 0;

    for (int i = 0; i < CROWD; i++) {
        uint64_t stop;

        at += below(2) ? below(1000000) : below(400000000);
        stop = at + 1 + (below(20) ? below(2000000) : below(700000000));
        if (stop > until) {
            ran += (double)(stop - (at > until ? at : until));
            until = stop;
        }
        told += took(points, export_share_kernel(&share, 0, at, stop, points), &last);
    }
    told += took(points, export_share_end(&share, 0, points), &last);
    CHECK_MSG(told > ran * 0.999999 && told < ran * 1.000001, "%f, not %f", told, ran);
}

int main(void)
{
    export_share_point_t points[EXPORT_SHARE_POINTS];

    check_points();
    check_crowd();
    CHECK_EQ(export_share_kernel(&share, EXPORT_SHARE_DEVICES, 1, 2, points), 0);
    memset(&share, 0, sizeof share);
    CHECK_EQ(export_share_kernel(&share, 0, BEGIN + 7, BEGIN + 9, points), 0);
    CHECK_EQ(export_share_end(&share, 0, points), 2);
    CHECK_EQ(points[0].time_ns, BEGIN + 7);
    CHECK_EQ(points[1].time_ns, BEGIN + T);
    return 0;
}
