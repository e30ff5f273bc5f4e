/* SPDX-License-Identifier: Apache-2.0 */
/* A program with rights that its user lacks: it reads no variable of that user, overwrites no file
 * for him and starts no program of his. As root, this test makes setuid copies of itself, and one
 * with a capability, runs them as a user without rights, and looks at what they did. */
#include "check.h"
#include "environ.h"
#include "must.h"

#include <gpurt/gpurt.h>

#include "../kernels/planted_kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OWNER = 65531, /* of the setuid copy */
    USER = 65532   /* who runs it; both need not be known to the machine */
};

static char folder[] = "/tmp/gpurt-test-environ-XXXXXX";

/* ---- who is privileged --------------------------------------------------------------- */

static void ids_are_judged(void)
{
    const gpurt_env_ids_t plain = {7, 7, 7, 8, 8, 8, false};
    gpurt_env_ids_t one = plain;

    CHECK(!gpurt_env_ids_judge(&plain));
    one.effective_user = 0;
    CHECK(gpurt_env_ids_judge(&one));
    one = plain;
    one.saved_user = 0; /* it can have it back at any time */
    CHECK(gpurt_env_ids_judge(&one));
    one = plain;
    one.effective_group = 0;
    CHECK(gpurt_env_ids_judge(&one));
    one = plain;
    one.saved_group = 0;
    CHECK(gpurt_env_ids_judge(&one));
    one = plain;
    one.secure = true; /* capabilities change no id */
    CHECK(gpurt_env_ids_judge(&one));
}

static void roots_paths_are_judged(void)
{
    CHECK(!gpurt_env_is_roots("sh")); /* a name is no path */
    CHECK(!gpurt_env_is_roots("bin/sh"));
    CHECK(!gpurt_env_is_roots("/nonexistent/program"));
    CHECK(!gpurt_env_is_roots("/tmp/gpurt-nothing"));
}

/* ---- what the copy does: all that a user can ask of a program by its environment ------- */

static void child_starts(void)
{
    char *argv[] = {(char *)(uintptr_t)"gpurt-drain", NULL};
    int status;
    pid_t pid;

    if (gpurt_env_spawn(&pid, "gpurt-drain", NULL, argv) == 0)
        waitpid(pid, &status, 0);
}

static int act(void)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_error_t err = {0};
    gpurt_info_t info = {.struct_size = sizeof info};
    gpurt_t *rt;

    options.backend = GPURT_BACKEND_CPU;
    CHECK_MSG(gpurt_open(&options, &rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    printf("%s\n%s\n", gpurt_env_privileged() ? "privileged" : "plain", info.why);
    CHECK_EQ(gpurt_launch(rt, planted_named_barrier, {{1}, {64}}, {0}, &err), GPURT_OK);
    gpurt_sync(rt, &err);
    gpurt_close(rt);
    child_starts();
    return 0;
}
