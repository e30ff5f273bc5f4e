/* SPDX-License-Identifier: Apache-2.0 */
/* views.h - the views of the screen, one table: from it come their numbers, their keys, their lines
 * of the help, the names that -v takes and the tabs. A new view is a line here and its file.
 *
 * X(ID, name, second key, third key, keys as help prints them, help, label of the foot, its key);
 * the first key is the number of its line, but of the last two. The class of a view is view_<name>. */
#ifndef GPURT_TUI_VIEWS_H
#define GPURT_TUI_VIEWS_H

#define VIEW_LIST(X)                                                                       \
    X(OVERVIEW, overview, 0, 0, "1", "overview", NULL, NULL)                               \
    X(LOG, log, 'L', 0, "2 L", "log", NULL, NULL)                                          \
    X(PANICS, panics, KEY_F1 + 7, 'P', "3 F8 P", "panics", NULL, NULL)                     \
    X(SITES, sites, 0, 0, "4", "sites: every log statement that spoke", NULL, NULL)        \
    X(OUTPUT, output, 'o', 0, "5 o", "what the program printed", NULL, NULL)               \
    X(GPU, gpu, 'n', 0, "6 n", "GPUs: kernels, calls, ranges, memory", NULL, NULL)         \
    X(HEAPS, heaps, 'm', 0, "7 m", "heaps and pools", NULL, NULL)                          \
    X(OBJECTS, objects, 'b', 0, "8 b", "objects: heaps, arenas, tables and so on", NULL,   \
      NULL)                                                                                \
    X(LINES, lines, 'w', 0, "9 w", "lines: where kernels are, and why", NULL, NULL)        \
    X(SCHEDULER, scheduler, 0, 0, "e", "executors: busy, starved, stuck; why", NULL, NULL) \
    X(HELP, help, KEY_F1, 'h', "F1 ? h", "this help", "Help", "F1")

typedef enum view_id {
#define VIEW_ID(id, ...) VIEW_##id,
    VIEW_LIST(VIEW_ID)
#undef VIEW_ID
    VIEW_COUNT
} view_id_t;

/* "overview, log, ..., ": all names, for a message. */
#define VIEW_NAME(id, name, ...) #name ", "

/* The first key of a view. */
#define VIEW_KEY(id) ((id) == VIEW_HELP ? '?' : (id) == VIEW_SCHEDULER ? 'e' : '1' + (id))

#endif
