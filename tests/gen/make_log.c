/* SPDX-License-Identifier: Apache-2.0 */
/* make_log FILE ROWS STEP_NS [SEED [open|append|FRAME_ROWS]] - a log file of the scene. open: no
 * clean end. append: behind what the file has. */
#include "check.h"
#include "scene.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options};
    static scene_row_t row;
    gplog_file_t about;
    gpurt_writer_t *w;
    gpurt_error_t err;
    scene_t scene;

    CHECK_MSG(argc >= 4,
              "usage: make_log FILE ROWS STEP_NS [SEED [open|append|FRAME_ROWS]]");
    scene_about(&about);
    options.about = &about;
    options.frame_rows = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
    options.append = argc > 5 && strcmp(argv[5], "append") == 0;
    if (!options.append)
        unlink(argv[1]);
    CHECK_MSG(gpurt_writer_open(argv[1], &options, &w, &err) == GPURT_OK, "%s", err.text);
    scene_begin(&scene, gpurt_writer_dictionary(w),
                argc > 4 ? strtoull(argv[4], NULL, 10) : 1, strtoull(argv[3], NULL, 10));
    for (unsigned long i = strtoul(argv[2], NULL, 10); i > 0; i--) {
        scene_next(&scene, &row);
        CHECK_MSG(gpurt_writer_put(w, &row.row, &err) == GPURT_OK, "%s", err.text);
    }
    CHECK_MSG(gpurt_writer_flush(w, &err) == GPURT_OK, "%s", err.text);
    if (argc > 5 && strcmp(argv[5], "open") == 0)
        _exit(0);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    return 0;
}
