#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which files the lints read, and how they report.

The lints work on the current directory: what git tracks or would track, or all files where there is no git.
As a program: prints the files that match one of the patterns, each ended by NUL."""
import fnmatch
import os
import re
import subprocess
import sys


def all_files():
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True)
    if git.returncode == 0:
        names = git.stdout.split("\0")
    else:
        names = [
            os.path.relpath(os.path.join(folder, name))
            for folder, folders, found in os.walk(".")
            if not (os.path.relpath(folder).split(os.sep)[0] in ("build", ".git"))
            for name in found
        ]
    return sorted(name for name in set(names) if os.path.isfile(name))


def matching(*patterns):
    return [name for name in all_files() if any(fnmatch.fnmatch(name, p) for p in patterns)]


def lines_of(name):
    """The lines of a text file; none of a binary one."""
    with open(name, "rb") as file:
        data = file.read()
    return [] if b"\0" in data else data.decode("utf-8", "replace").split("\n")


def without_comments(name):
    """The lines of a C file with comments and the insides of strings blanked; numbers of lines stay."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group(0))
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    keep = lambda found: found.group(0) if found.group(0)[0] in "\"'" else blank(found)
    text = token.sub(keep, "\n".join(lines_of(name)))
    return re.sub(r'(?<!include )"(?:\\.|[^"\\\n])*"', blank, text).split("\n")


class Report:
    """Collects `file:line: what: do this`."""

    def __init__(self):
        self.count = 0

    def say(self, name, line, what, do):
        self.count += 1
        print(f"{name}:{line}: {what}: {do}")

    def end(self):
        sys.exit(1 if self.count else 0)


if __name__ == "__main__":
    sys.stdout.write("".join(name + "\0" for name in matching(*sys.argv[1:])))
