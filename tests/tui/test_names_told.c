/* SPDX-License-Identifier: Apache-2.0 */
/* How many names of kernels, calls and ranges there are: the number where each has a row, and no
 * more than is known where others share one. */
#include "activity_text.h"
#include "check.h"

enum {
    MOST = 24 /* rows that are shown */
};

static gpurt_model_activity_t *activity;

static void of_kernels(uint32_t count, bool others)
{
    activity->rows = 1;
    activity->kernel_count = count;
    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++) {
        gpurt_model_kernel_t *k = &activity->kernels[i];

        k->kind = GPURT_KIND_KERNEL;
        k->times.count = i < count || (others && i == GPURT_MODEL_OTHER_KERNELS);
    }
}

static void of_host(gpurt_model_host_rows_t *rows, uint32_t count, bool others)
{
    rows->count = count;
    for (uint32_t i = 0; i <= GPURT_MODEL_HOST_ROWS; i++)
        rows->list[i].times.count =
            i < count || (others && i == GPURT_MODEL_HOST_ROWS) ? 2 : 0;
}

static void check_says(const char *const says[4])
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK(out != NULL);
    activity_plain(out, activity, MOST);
    CHECK_EQ(fclose(out), 0);
    for (int i = 0; i < 4; i++)
        CHECK_CONTAINS(text, says[i]);
    free(text);
}

int main(void)
{
    activity = calloc(1, sizeof *activity);
    CHECK(activity != NULL);

    of_kernels(GPURT_MODEL_KERNELS, false);
    of_host(&activity->call_rows, GPURT_MODEL_HOST_ROWS, false);
    of_host(&activity->range_rows, MOST + 1, false);
    check_says(
        (const char *const[]){"kernels    256 of 256 names,", "calls      128 of 64 names,",
                              "ranges     50 of 25 names,", "\nand 232 more names\n"});
    check_says(
        (const char *const[]){"\nand 40 more names\n", "\nand 1 more name\n", "", ""});

    of_kernels(GPURT_MODEL_KERNELS, true);
    of_host(&activity->call_rows, GPURT_MODEL_HOST_ROWS, true);
    of_host(&activity->range_rows, GPURT_MODEL_HOST_ROWS, true);
    check_says((const char *const[]){
        "kernels    257 of more than 256 names,", "calls      130 of more than 64 names,",
        "ranges     130 of more than 64 names,", "\nand more than 232 more names\n"});
    check_says((const char *const[]){"\nand more than 40 more names\n", "", "", ""});
    free(activity);
    return 0;
}
