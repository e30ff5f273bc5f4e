/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of statuses are frozen, each has its name and a sentence, and gpurt_fail keeps
 * to the caller's struct. */
#include "../check.h"

#include <gpurt/status.h>

#include <errno.h>

static const struct {
    gpurt_status_t status;
    int number;
    const char *name;
} frozen[] = {
    {GPURT_OK, 0, "GPURT_OK"},
    {GPURT_E_INVALID, -1, "GPURT_E_INVALID"},
    {GPURT_E_NOMEM, -2, "GPURT_E_NOMEM"},
    {GPURT_E_OS, -3, "GPURT_E_OS"},
    {GPURT_E_UNSUPPORTED, -4, "GPURT_E_UNSUPPORTED"},
    {GPURT_E_NOT_READY, -5, "GPURT_E_NOT_READY"},
    {GPURT_E_HANDLE, -6, "GPURT_E_HANDLE"},
    {GPURT_E_INTERNAL, -7, "GPURT_E_INTERNAL"},
    {GPURT_E_CLOSED, -10, "GPURT_E_CLOSED"},
    {GPURT_E_OPEN, -11, "GPURT_E_OPEN"},
    {GPURT_E_NO_DEVICE, -12, "GPURT_E_NO_DEVICE"},
    {GPURT_E_DRIVER, -13, "GPURT_E_DRIVER"},
    {GPURT_E_BUSY, -14, "GPURT_E_BUSY"},
    {GPURT_E_PROHIBITED, -15, "GPURT_E_PROHIBITED"},
    {GPURT_E_BACKEND, -16, "GPURT_E_BACKEND"},
    {GPURT_E_CUDA, -17, "GPURT_E_CUDA"},
    {GPURT_E_FORKED, -18, "GPURT_E_FORKED"},
    {GPURT_E_GRID, -20, "GPURT_E_GRID"},
    {GPURT_E_BLOCK, -21, "GPURT_E_BLOCK"},
    {GPURT_E_SHARED, -22, "GPURT_E_SHARED"},
    {GPURT_E_ARGS, -23, "GPURT_E_ARGS"},
    {GPURT_E_KERNEL, -24, "GPURT_E_KERNEL"},
    {GPURT_E_CLUSTER, -25, "GPURT_E_CLUSTER"},
    {GPURT_E_COOPERATIVE, -26, "GPURT_E_COOPERATIVE"},
    {GPURT_E_ROOM, -27, "GPURT_E_ROOM"},
    {GPURT_E_SERVICE, -28, "GPURT_E_SERVICE"},
    {GPURT_E_FAULT, -30, "GPURT_E_FAULT"},
    {GPURT_E_TRAP, -31, "GPURT_E_TRAP"},
    {GPURT_E_STACK, -32, "GPURT_E_STACK"},
    {GPURT_E_DEADLOCK, -33, "GPURT_E_DEADLOCK"},
    {GPURT_E_LIVELOCK, -34, "GPURT_E_LIVELOCK"},
    {GPURT_E_OCCUPANCY, -35, "GPURT_E_OCCUPANCY"},
    {GPURT_E_SYNC, -36, "GPURT_E_SYNC"},
    {GPURT_E_SCOPE, -37, "GPURT_E_SCOPE"},
    {GPURT_E_DEVICE_LOST, -38, "GPURT_E_DEVICE_LOST"},
    {GPURT_E_CANCELLED, -40, "GPURT_E_CANCELLED"},
    {GPURT_E_PANIC, -41, "GPURT_E_PANIC"},
    {GPURT_E_TIMEOUT, -42, "GPURT_E_TIMEOUT"},
    {GPURT_E_OWNER_DIED, -43, "GPURT_E_OWNER_DIED"},
    {GPURT_E_NOT_OWNER, -44, "GPURT_E_NOT_OWNER"},
    {GPURT_E_HELD, -45, "GPURT_E_HELD"},
    {GPURT_E_TRUNCATED, -50, "GPURT_E_TRUNCATED"},
    {GPURT_E_VERSION, -51, "GPURT_E_VERSION"},
    {GPURT_E_DAMAGED, -52, "GPURT_E_DAMAGED"},
    {GPURT_E_PART, -53, "GPURT_E_PART"},
    {GPURT_E_MOVED, -54, "GPURT_E_MOVED"},
    {GPURT_E_FULL, -60, "GPURT_E_FULL"},
    {GPURT_E_EMPTY, -61, "GPURT_E_EMPTY"},
    {GPURT_E_DROPPED, -62, "GPURT_E_DROPPED"},
    {GPURT_E_CHANNEL_CLOSED, -63, "GPURT_E_CHANNEL_CLOSED"},
    {GPURT_E_NO_FUNCTION, -70, "GPURT_E_NO_FUNCTION"},
};
enum {
    FROZEN_COUNT = sizeof frozen / sizeof frozen[0]
};

static void names(void)
{
    int known = 0;

    for (int i = 0; i < FROZEN_COUNT; i++) {
        CHECK_EQ(frozen[i].status, frozen[i].number);
        CHECK_STR(gpurt_status_name(frozen[i].status), frozen[i].name);
        CHECK(gpurt_status_text(frozen[i].status)[0] != '\0');
        CHECK(strcmp(gpurt_status_text(frozen[i].status), "unknown status") != 0);
    }
    /* A status that is new in the library is missing above. */
    for (int number = -1000; number <= 1000; number++)
        known += strcmp(gpurt_status_name(number), "GPURT_E_UNKNOWN") != 0;
    CHECK_EQ(known, FROZEN_COUNT);
    CHECK_STR(gpurt_status_name(1), "GPURT_E_UNKNOWN");
    CHECK_STR(gpurt_status_name(INT32_MIN), "GPURT_E_UNKNOWN");
    CHECK_STR(gpurt_status_text(-9), "unknown status");
}

static void texts_differ(void)
{
    for (int i = 0; i < FROZEN_COUNT; i++)
        for (int j = 0; j < i; j++)
            CHECK_MSG(strcmp(gpurt_status_text(frozen[i].status),
                             gpurt_status_text(frozen[j].status)) != 0,
                      "%s and %s say the same", frozen[i].name, frozen[j].name);
}

static void fail_fills(void)
{
    gpurt_error_t err;

    memset(&err, 0x5a, sizeof err);
    CHECK_EQ(gpurt_fail(&err, GPURT_E_OS, GPURT_FROM_ERRNO, 13, "open %s: %d", "/x", 7),
             GPURT_E_OS);
    CHECK_EQ(err.status, GPURT_E_OS);
    CHECK_EQ(err.origin, GPURT_FROM_ERRNO);
    CHECK_EQ(err.code, 13);
    CHECK_STR(err.text, "open /x: 7: Permission denied");
    gpurt_fail(&err, GPURT_E_OS, GPURT_FROM_ERRNO, ENOSPC, "writing; free some space");
    CHECK_STR(err.text, "writing: No space left on device; free some space");
    gpurt_fail(&err, GPURT_E_OS, GPURT_FROM_CUDA, 13, "launching; look");
    CHECK_STR(err.text, "launching; look");
    CHECK_EQ(gpurt_fail(NULL, GPURT_E_CUDA, GPURT_FROM_CUDA, 700, "%s", "nobody reads"),
             GPURT_E_CUDA);
}

static void fail_cuts(void)
{
    struct {
        gpurt_error_t err;
        char behind[8];
    } box;
    char text[2 * GPURT_ERROR_TEXT];

    memset(&box, 'Z', sizeof box);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    gpurt_fail(&box.err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0, "%s", text);
    CHECK_EQ(strlen(box.err.text), GPURT_ERROR_TEXT - 1);
    CHECK_EQ(strspn(box.err.text, "a"), GPURT_ERROR_TEXT - 1);
    gpurt_fail(&box.err, GPURT_E_OS, GPURT_FROM_ERRNO, 13, "%s", text);
    CHECK_EQ(strspn(box.err.text, "a"), GPURT_ERROR_TEXT - 1);
    text[100] = ';';
    text[101] = ' ';
    gpurt_fail(&box.err, GPURT_E_OS, GPURT_FROM_ERRNO, 13, "%s", text);
    CHECK_EQ(strlen(box.err.text), GPURT_ERROR_TEXT - 1);
    CHECK(memcmp(box.behind, "ZZZZZZZZ", sizeof box.behind) == 0);
}

int main(void)
{
    names();
    texts_differ();
    fail_fills();
    fail_cuts();
    return 0;
}
