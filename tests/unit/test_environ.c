/* SPDX-License-Identifier: Apache-2.0 */
/* A program with rights that its user lacks: it reads no variable of that user, overwrites no file
 * for him and starts no program of his. As root, this test makes setuid copies of itself, and one
 * with a capability, runs them as a user without rights, and looks at what they did. */
#include "check.h"
#include "environ.h"
#include "number.h"

#include <gpurt/gpurt.h>

#include "../kernels/planted_kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    OWNER = 65531, /* of the setuid copy */
    USER = 65532,  /* who runs it; both need not be known to the machine */
    PATH_ROOM = 128,
    SAID_ROOM = 4096
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

/* ---- numbers ----------------------------------------------------------------------------- */

static void numbers_are_read(void)
{
    static const char *const none[] = {"-1",
                                       " 1",
                                       "+1",
                                       "1 ",
                                       "0x",
                                       "12a",
                                       "",
                                       "18446744073709551616",
                                       "0x10000000000000000"};
    uint64_t number;

    CHECK(gpurt_number_read("010", &number) && number == 10); /* not octal */
    CHECK(gpurt_number_read("0X1f", &number) && number == 31);
    CHECK(gpurt_number_read("18446744073709551615", &number) && number == UINT64_MAX);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK_MSG(!gpurt_number_read(none[i], &number), "'%s' is a number", none[i]);
}

/* A seed that wraps would replay another schedule than it names. */
static void numbers_beyond_are_refused(void)
{
    static const struct {
        const char *name, *value;
    } wrong[] = {
        {"GPURT_SEED", "18446744073709551616"},   {"GPURT_SEED", " -1"},
        {"GPURT_WORKERS", "4294967297"},          {"GPURT_SCHEDULE", "random:4294967297"},
        {"GPURT_SCHEDULE", "random:-4294967295"}, {"GPURT_SCHEDULE", "pct:4294967297"}};
    const gpurt_options_t options = {.backend = GPURT_BACKEND_CPU};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gpurt_error_t err = {0};
        gpurt_t *rt;

        CHECK(setenv(wrong[i].name, wrong[i].value, 1) == 0);
        CHECK_EQ(gpurt_open(&options, &rt, &err), GPURT_E_INVALID);
        CHECK_CONTAINS(err.text, wrong[i].name);
        CHECK(unsetenv(wrong[i].name) == 0);
    }
}

/* ---- a place that is root's alone -------------------------------------------------------- */

static void place(char path[PATH_ROOM], const char *root, const char *name)
{
    snprintf(path, PATH_ROOM, "%s/%s", root, name);
}

/* Each right of somebody else's, to the program or to its folder, is one too many. */
static void rights_are_judged(const char *root, const char *program)
{
    CHECK(gpurt_env_is_roots(program));
    CHECK(chmod(program, 0775) == 0 && !gpurt_env_is_roots(program));
    CHECK(chmod(program, 0757) == 0 && !gpurt_env_is_roots(program));
    CHECK(chmod(program, 0755) == 0 && chown(program, OWNER, 0) == 0);
    CHECK(!gpurt_env_is_roots(program));
    CHECK(chown(program, 0, 0) == 0 && chown(root, OWNER, 0) == 0);
    CHECK(!gpurt_env_is_roots(program));
    CHECK(chown(root, 0, 0) == 0 && chmod(root, 0777) == 0);
    CHECK(!gpurt_env_is_roots(program));
    CHECK(chmod(root, 0755) == 0 && gpurt_env_is_roots(program));
}

/* In a process with rights: the link leads to what is root's, and what it led to is started. */
static void link_is_followed_once(const char *link, const char *program, const char *said)
{
    char *argv[] = {(char *)(uintptr_t) "say", NULL}, text[PATH_ROOM] = "";
    FILE *file;
    int status;
    pid_t pid, other;

    CHECK(setenv("GPURT_TEST", "mine", 1) == 0);
    pid = fork();
    if (pid == 0) {
        if (setresgid((gid_t)-1, USER, (gid_t)-1) != 0 || !gpurt_env_privileged())
            _exit(98);
        if (gpurt_env_spawn(&other, link, NULL, argv) != 0)
            _exit(97);
        _exit(waitpid(other, &status, 0) == other && status == 0 ? 0 : 96);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_MSG(status == 0, "status %x", (unsigned)status);
    file = fopen(said, "r");
    CHECK(file && fgets(text, sizeof text, file) && fclose(file) == 0);
    CHECK_MSG(strncmp(text, program, strlen(program)) == 0 &&
                  strcmp(text + strlen(program), " \n") == 0,
              "it was started as, with the variable: %s", text);
}

static void roots_place_is_used(void)
{
    char root[] = "/run/gpurt-test-environ-XXXXXX", program[PATH_ROOM], said[PATH_ROOM];
    char link[PATH_ROOM];
    FILE *file;

    if (!gpurt_env_is_roots("/run") || !mkdtemp(root)) {
        puts("/run is not root's alone: not looked at");
        return;
    }
    place(program, root, "say");
    place(said, root, "said");
    place(link, root, "link");
    file = fopen(program, "w");
    CHECK(file && fprintf(file, "#!/bin/sh\necho \"$0 $GPURT_TEST\" >%s\n", said) > 0);
    CHECK(fclose(file) == 0 && chmod(program, 0755) == 0 && chmod(root, 0755) == 0);
    rights_are_judged(root, program);
    CHECK(symlink(program, link) == 0);
    link_is_followed_once(link, program, said);
    CHECK(unlink(link) == 0 && unlink(program) == 0 && unlink(said) == 0 &&
          rmdir(root) == 0);
}

/* ---- what the copy does: all that a user can ask of a program by its environment ------- */

static void child_starts(void)
{
    char *argv[] = {(char *)(uintptr_t) "gpurt-drain", NULL};
    int status;
    pid_t pid;

    if (gpurt_env_spawn(&pid, "gpurt-drain", NULL, argv) == 0)
        waitpid(pid, &status, 0);
}

/* The kernel fails, which is reported, with the lines of its stacks. */
static void act(void)
{
    const gpurt_options_t options = {.backend = GPURT_BACKEND_CPU};
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    static uint32_t words[64];
    const struct planted_args args = {.words = words};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    gpurt_t *rt;

    CHECK_MSG(gpurt_open(&options, &rt, &err) == GPURT_OK, "%s", err.text);
    CHECK(gpurt_info(rt, &info) == GPURT_OK);
    printf("%s\n%s\n", gpurt_env_privileged() ? "privileged" : "plain", info.why);
    CHECK(gpurt_launch(rt, &launch, planted_named_barrier, &args, &err) == GPURT_OK);
    CHECK(gpurt_sync(rt, &err) != GPURT_OK);
    gpurt_close(rt, &err);
    child_starts();
    fflush(stdout);
    _exit(0); /* the search for leaks may not look at a process with rights */
}

/* ---- who runs the copy, and what he finds afterwards ------------------------------------ */

static const char *in_folder(char path[PATH_ROOM], const char *name)
{
    snprintf(path, PATH_ROOM, "%s/%s", folder, name);
    return path;
}

static bool is_there(const char *name)
{
    char path[PATH_ROOM];

    return access(in_folder(path, name), F_OK) == 0;
}

static void write_file(const char *name, mode_t mode, const char *text)
{
    char path[PATH_ROOM];
    FILE *file = fopen(in_folder(path, name), "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(chmod(path, mode) == 0 && chown(path, OWNER, OWNER) == 0);
}

static void copy_self(uid_t owner, mode_t mode)
{
    char path[PATH_ROOM], bytes[65536];
    int from = open("/proc/self/exe", O_RDONLY), to;
    ssize_t count;

    unlink(in_folder(path, "copy"));
    to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
    CHECK(from >= 0 && to >= 0);
    while ((count = read(from, bytes, sizeof bytes)) > 0)
        CHECK(write(to, bytes, (size_t)count) == count);
    close(from);
    CHECK(close(to) == 0 && chown(path, owner, owner) == 0 && chmod(path, mode) == 0);
}

static void become_user(int out)
{
    char copy[PATH_ROOM], report[PATH_ROOM], log[PATH_ROOM], path[PATH_ROOM];
    char *argv[] = {copy, (char *)(uintptr_t) "act", NULL};
    char *env[] = {report, log, path, NULL};

    in_folder(copy, "copy");
    snprintf(report, sizeof report, "GPURT_CHECK_REPORT=%s/report", folder);
    snprintf(log, sizeof log, "GPURT_LOG=%s/asked.gplog", folder);
    snprintf(path, sizeof path, "PATH=%s/bin:/usr/bin:/bin", folder);
    if (dup2(out, STDOUT_FILENO) >= 0 && setgid(USER) == 0 && setuid(USER) == 0)
        execve(copy, argv, env);
    _exit(99);
}

/* Runs the copy with all that a user can ask for. What it said is in `said`. The report there is
 * of the user that it writes as: no other's is overwritten anyway. */
static void run_copy(char said[SAID_ROOM], uid_t writer)
{
    char path[PATH_ROOM];
    FILE *out = tmpfile();
    int status;
    pid_t pid;

    CHECK(out);
    unlink(in_folder(path, "bin/started"));
    write_file("report", 0666, "kept");
    CHECK(chown(in_folder(path, "report"), writer, writer) == 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        become_user(fileno(out));
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    rewind(out);
    said[fread(said, 1, SAID_ROOM - 1, out)] = '\0';
    CHECK_MSG(status == 0, "status %x: %s", (unsigned)status, said);
    fclose(out);
}

static bool report_is_kept(void)
{
    char path[PATH_ROOM], text[16] = "";
    FILE *file = fopen(in_folder(path, "report"), "r");

    CHECK(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return strcmp(text, "kept") == 0;
}

static void make_folder(void)
{
    static const char *const names[] = {"bin/gpurt-drain", "bin/addr2line"};
    char path[PATH_ROOM], script[2 * PATH_ROOM];

    CHECK(mkdtemp(folder) && chmod(folder, 0777) == 0);
    CHECK(mkdir(in_folder(path, "bin"), 0777) == 0 && chmod(path, 0777) == 0);
    snprintf(script, sizeof script, "#!/bin/sh\n: >%s/bin/started\nexit 1\n", folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_file(names[i], 0755, script);
}

static void remove_folder(void)
{
    static const char *const names[] = {
        "bin/gpurt-drain", "bin/addr2line", "bin/started", "bin", "copy",
        "report",          "asked.gplog"};
    char path[PATH_ROOM];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(in_folder(path, names[i]));
    CHECK(rmdir(folder) == 0);
}

static void check_withheld(const char *what, uid_t writer)
{
    char said[SAID_ROOM];

    run_copy(said, writer);
    if (strncmp(said, "plain\n", 6) == 0) {
        printf("%s: this file system gives no rights to programs: not looked at\n", what);
        return;
    }
    CHECK_MSG(strstr(said, "variables of the environment are not read"), "%s: %s", what,
              said);
    CHECK_MSG(report_is_kept(), "%s: the report was written", what);
    CHECK_MSG(!is_there("bin/started"), "%s: the user's program was started", what);
    CHECK_MSG(!is_there("asked.gplog"), "%s: a log was made", what);
}

/* CAP_NET_BIND_SERVICE, effective: as of a server that setcap made fit for port 80. */
static bool give_capability(void)
{
    const struct vfs_cap_data cap = {.magic_etc =
                                         VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                                     .data[0].permitted = 1u << CAP_NET_BIND_SERVICE};
    char path[PATH_ROOM];

    return setxattr(in_folder(path, "copy"), "security.capability", &cap, XATTR_CAPS_SZ_2,
                    0) == 0;
}

static void copies_are_run(void)
{
    char said[SAID_ROOM];

    make_folder();
    copy_self(USER, 0755); /* without rights it does all of that: the test can see it */
    run_copy(said, USER);
    CHECK_MSG(strncmp(said, "plain\n", 6) == 0, "%s", said);
    CHECK(!report_is_kept());
    CHECK(is_there("bin/started"));
    copy_self(OWNER, 04755);
    check_withheld("setuid", OWNER);
    copy_self(0, 0755);
    if (give_capability())
        check_withheld("a capability", USER);
    else
        puts("a capability: this machine gives none to files: not looked at");
    remove_folder();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "act") == 0)
        act();
    ids_are_judged();
    numbers_are_read();
    numbers_beyond_are_refused();
    roots_paths_are_judged();
    if (geteuid() == 0) {
        roots_place_is_used();
        copies_are_run();
    } else {
        puts("copies with rights: root alone can make them: not looked at");
    }
    return 0;
}
