/* SPDX-License-Identifier: Apache-2.0 */
/* A file that the user names for output is ours, or is refused in one line: another user's file,
 * link or pipe. Links of ours and root's lead where they should; what is no file is opened as it
 * is; what is made has the rights that were asked for, and a refused file keeps what it holds.
 * Without root's rights there are no other users: then the rest is checked. */
#include "check.h"
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    USER = 65532 /* need not be known to the machine */
};

static char folder[] = "/tmp/gpurt-test-outfile-XXXXXX";
static gpurt_error_t err;

static void file_make(const char *name, const char *text, mode_t mode, uid_t owner)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    CHECK_MSG(fd >= 0, "%s: %s", name, strerror(errno));
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, mode) == 0 && close(fd) == 0);
    if (owner != geteuid())
        CHECK(chown(name, owner, owner) == 0);
}

static void link_make(const char *to, const char *name, uid_t owner)
{
    CHECK(symlink(to, name) == 0);
    if (owner != geteuid())
        CHECK(lchown(name, owner, owner) == 0);
}

static const char *holds(const char *name)
{
    static char text[64];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    CHECK_MSG(got >= 0 && close(fd) == 0, "%s: %s", name, strerror(errno));
    text[got] = '\0';
    return text;
}

static void say(const char *name, gpurt_outfile_how_t how, mode_t rights)
{
    int fd = gpurt_outfile_open(name, how, rights, &err);

    CHECK_MSG(fd >= 0, "%s: %s", name, err.text);
    CHECK(write(fd, "new", 3) == 3 && close(fd) == 0);
}

/* With the name that the user typed, and what to do. */
static void refused(const char *name, gpurt_outfile_how_t how, const char *why)
{
    memset(&err, 0, sizeof err);
    CHECK_EQ(gpurt_outfile_open(name, how, 0600, &err), -1);
    CHECK_EQ(err.status, GPURT_E_OS);
    CHECK_CONTAINS(err.text, name);
    CHECK_CONTAINS(err.text, why);
    CHECK_CONTAINS(err.text, "choose another file");
}

static mode_t rights_of(const char *name)
{
    struct stat info;

    CHECK(stat(name, &info) == 0);
    return info.st_mode & 07777;
}

/* ---- what everybody may check -------------------------------------------------------- */

static void ours_are_opened(void)
{
    umask(022);
    say("made", GPURT_OUTFILE_REPLACE, 0600);
    CHECK_EQ(rights_of("made"), 0600);
    say("wide", GPURT_OUTFILE_NEW, 0666);
    CHECK_EQ(rights_of("wide"), 0644);
    refused("wide", GPURT_OUTFILE_NEW, "File exists");
    say("made", GPURT_OUTFILE_APPEND, 0600);
    CHECK_STR(holds("made"), "newnew");
    say("made", GPURT_OUTFILE_REPLACE, 0600);
    CHECK_STR(holds("made"), "new");
    file_make("log", "older", 0640, geteuid());
    say("log", GPURT_OUTFILE_LOG, 0600);
    CHECK_STR(holds("log"), "newer");
    CHECK_EQ(rights_of("log"), 0640);
    CHECK_EQ(gpurt_outfile_rights_like("log"), 0640);
    CHECK_EQ(gpurt_outfile_rights_like("nowhere"), 0600);
    CHECK_EQ(gpurt_outfile_open("no/such/folder", GPURT_OUTFILE_LOG, 0600, &err), -1);
    CHECK_CONTAINS(err.text, "no/such/folder: No such file");
}

static void links_of_ours_lead_on(void)
{
    char whole[PATH_MAX];

    CHECK(mkdir("deep", 0700) == 0);
    file_make("deep/end", "old", 0600, geteuid());
    link_make("end", "deep/near", geteuid());
    link_make("deep/near", "far", geteuid());
    say("far", GPURT_OUTFILE_REPLACE, 0600);
    CHECK_STR(holds("deep/end"), "new");
    snprintf(whole, sizeof whole, "%s/deep/made", folder);
    link_make(whole, "to-nothing", geteuid());
    say("to-nothing", GPURT_OUTFILE_LOG, 0600);
    CHECK_STR(holds("deep/made"), "new");
    refused("far", GPURT_OUTFILE_NEW, "File exists");
    link_make("round", "round", geteuid());
    CHECK_EQ(gpurt_outfile_open("round", GPURT_OUTFILE_LOG, 0600, &err), -1);
    CHECK_EQ(err.code, ELOOP);
    CHECK_EQ(gpurt_outfile_place("far", whole, sizeof whole, &err), GPURT_OK);
    CHECK_STR(whole, "deep/end");
}

/* Whose write waits for room, too: only the opening was without waiting. */
static void a_late_reader_is_waited_for(void)
{
    int fd, status;
    pid_t reader = fork();

    if (reader == 0) {
        usleep(100000);
        _exit(strcmp(holds("fifo"), "new") != 0);
    }
    fd = gpurt_outfile_open("fifo", GPURT_OUTFILE_REPLACE, 0600, &err);
    CHECK_MSG(fd >= 0, "%s", err.text);
    CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
    CHECK(write(fd, "new", 3) == 3 && close(fd) == 0);
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
}

static void what_is_no_file_is_opened(void)
{
    char place[PATH_MAX], text[4];
    int ends[2], saved = dup(STDOUT_FILENO), fd;

    say("/dev/null", GPURT_OUTFILE_REPLACE, 0600);
    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK_EQ(gpurt_outfile_open("fifo", GPURT_OUTFILE_REPLACE, 0600, &err), -1);
    CHECK_CONTAINS(err.text, "fifo: nobody reads this pipe");
    fd = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    say("fifo", GPURT_OUTFILE_REPLACE, 0600);
    CHECK(fd >= 0 && read(fd, text, 4) == 3 && close(fd) == 0);
    a_late_reader_is_waited_for();
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    say("/dev/stdout", GPURT_OUTFILE_REPLACE, 0600);
    CHECK(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO && read(ends[0], text, 4) == 3);
    CHECK(close(saved) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
    /* nothing takes the place of a device */
    CHECK_EQ(gpurt_outfile_place("/dev/null", place, sizeof place, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "/dev/null is no regular file");
}

/* What was made is removed by what it is, not by its name; a link stays. */
static void only_what_was_made_is_removed(void)
{
    bool made;
    int fd;

    link_make("target", "link", geteuid());
    fd = gpurt_outfile_make("link", GPURT_OUTFILE_LOG, 0600, &made, &err);
    CHECK(fd >= 0 && made);
    CHECK(gpurt_outfile_same("link", "target") && !gpurt_outfile_same("link", "made"));
    CHECK(!gpurt_outfile_same("nowhere", "nowhere"));
    CHECK(close(gpurt_outfile_make("link", GPURT_OUTFILE_LOG, 0600, &made, &err)) == 0);
    CHECK(!made);
    gpurt_outfile_remove("link", fd);
    CHECK(access("target", F_OK) != 0 && readlink("link", (char[8]){0}, 8) == 6);
    file_make("target", "another", 0600, geteuid());
    gpurt_outfile_remove("link", fd);
    CHECK_STR(holds("target"), "another");
    CHECK(close(fd) == 0);
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    gpurt_outfile_remove("/dev/null", fd);
    CHECK(access("/dev/null", F_OK) == 0 && close(fd) == 0);
}

/* ---- other users --------------------------------------------------------------------- */

static void others_files_are_refused(void)
{
    char place[PATH_MAX];

    file_make("theirs", "kept", 0666, USER);
    file_make("empty", "", 0666, USER);
    for (int how = GPURT_OUTFILE_REPLACE; how <= GPURT_OUTFILE_LOG; how++) {
        refused("theirs", (gpurt_outfile_how_t)how, "belongs to user 65532");
        refused("empty", (gpurt_outfile_how_t)how, "belongs to user 65532");
    }
    CHECK_STR(holds("theirs"), "kept");
    CHECK_EQ(gpurt_outfile_place("theirs", place, sizeof place, &err), GPURT_E_OS);
    CHECK(mkfifo("their-fifo", 0666) == 0 && chown("their-fifo", USER, USER) == 0);
    refused("their-fifo", GPURT_OUTFILE_LOG, "the pipe belongs to user 65532");
}

static void others_links_are_refused(void)
{
    file_make("precious", "kept", 0600, geteuid());
    link_make("precious", "their-link", USER);
    refused("their-link", GPURT_OUTFILE_REPLACE, "the symbolic link belongs to user 65532");
    link_make("their-link", "over", geteuid());
    refused("over", GPURT_OUTFILE_LOG, "over (their-link)");
    CHECK_STR(holds("precious"), "kept");
    link_make("not-yet", "their-hope", USER);
    refused("their-hope", GPURT_OUTFILE_LOG, "the symbolic link");
    CHECK(access("not-yet", F_OK) != 0);
    link_make("theirs", "to-theirs", geteuid());
    refused("to-theirs", GPURT_OUTFILE_APPEND, "the file belongs to user 65532");
}

/* Root's link is followed, root's file is not taken. */
static void of_root_to_others(void)
{
    file_make("roots", "kept", 0666, 0);
    link_make("users", "roots-link", 0);
    CHECK(mkfifo("roots-fifo", 0666) == 0 && chmod("roots-fifo", 0666) == 0);
    CHECK(chmod(folder, 0777) == 0 && setresuid(USER, USER, USER) == 0);
    refused("roots", GPURT_OUTFILE_REPLACE, "belongs to user 0");
    CHECK_STR(holds("roots"), "kept");
    say("roots-link", GPURT_OUTFILE_LOG, 0600);
    CHECK_STR(holds("users"), "new");
    CHECK(close(gpurt_outfile_open("roots-fifo", GPURT_OUTFILE_LOG, 0600, &err)) == 0);
}

static void as_another_user(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        of_root_to_others();
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
    char command[64];

    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    ours_are_opened();
    links_of_ours_lead_on();
    what_is_no_file_is_opened();
    only_what_was_made_is_removed();
    if (geteuid() == 0) {
        others_files_are_refused();
        others_links_are_refused();
        as_another_user();
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
    return 0;
}
