#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every path and every source file that a document names exists: in links, and in backticks outside of blocks of code.
So does every document that another file names. The page of variables has those that the sources name, and no others.
The index has each page of docs."""
import fnmatch
import os
import re

from lint_files import Report, all_files, lines_of, matching

LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
QUOTED = re.compile(r"`([^`]+)`")
NAME = re.compile(r"[\w./{},*-]+")
SOURCE = re.compile(r"^[\w{},*]+\.(c|h|S|cu|cuh|py|mjs|sh|cmake|tsv|md|txt)$")
DOCUMENT = re.compile(r"\bdocs/\w[\w/]*\.(?:md|tsv)\b")
MADE_UP = ("tools/lint_selftest.py",)
HEADERS = "runtime/include/"  # what programs include as <gpurt/...>
INDEX = "docs/README.md"
VARIABLES = "docs/ENVIRONMENT.md"
ROOMS = ("runtime/", "kernels/", "logstore/", "postmortem/", "cupti/", "tui/")
# A text of the sources that is such a name, or begins with one and what it is set to. Names of statuses are none.
VARIABLE = re.compile(r'"(GPURT_(?!E_|OK\b)[A-Z0-9_]*[A-Z0-9])(?:=[^"]*)?"')
TOLD = re.compile(r"^\| ((?:`GPURT_\w+`(?:, )?)+) \|")
MACROS = ("GPURT_ASSERT", "GPURT_PANIC", "GPURT_UNREACHABLE")  # gpurt-panic looks for them in a user's source
# Names that documents make up or that are other people's.
OTHERS = {
    **dict.fromkeys(("app.c", "file.c", "first.c", "host.c", "k.c", "scale_kernels.c", "trapped.c",
                     "tests/fuzz/fuzz_name.c"), "an example of a name"),
    **dict.fromkeys(("cuda_occupancy.h", "cupti.h", "uvm_gpu_non_replayable_faults.c"), "NVIDIA's"),
    **dict.fromkeys(("runtime/host/sched",), "rooms that are still empty"),
}


def spread(name):
    """`a{b,c}.h` as `ab.h` and `ac.h`."""
    found = re.search(r"\{([^{}]*)\}", name)
    if not found:
        return [name]
    return [one for part in found.group(1).split(",") for one in spread(name[: found.start()] + part + name[found.end():])]


def exists(name):
    """A path of the tree, a header's as programs include it, or either without its ending; a name without a folder may
    lie anywhere."""
    if "/" not in name:
        return any(fnmatch.fnmatchcase(base, name) for base in bases)
    wanted = [known + name.rstrip("/") + ending for known in ("", HEADERS) for ending in ("", ".[ch]")]
    return any(fnmatch.fnmatchcase(path, one) for one in wanted for path in paths)


def check_index():
    linked = {os.path.normpath(os.path.join("docs", target)) for line in lines_of(INDEX) for target in LINK.findall(line)}
    for name in matching("docs/*.md"):
        if name != INDEX and name not in linked:
            report.say(INDEX, 1, f"{name} is not linked", "give it a line where a reader would look")


def check_variables():
    told = {}
    for number, line in enumerate(lines_of(VARIABLES), 1):
        for name in re.findall(r"`(\w+)`", found[1]) if (found := TOLD.match(line)) else ():
            told.setdefault(name, number)
    known = set()
    for name in matching(*(room + "*.[ch]" for room in ROOMS)):
        for number, line in enumerate(lines_of(name), 1):
            for variable in VARIABLE.findall(line):
                if variable not in told and variable not in known and variable not in MACROS:
                    report.say(name, number, f"{variable} is not in {VARIABLES}", "give it a row there")
                known.add(variable)
    for variable in sorted(told.keys() - known):
        report.say(VARIABLES, told[variable], f"no source names {variable}", "take its row out")


files = all_files()
bases = {os.path.basename(name) for name in files}
paths = set(files)
for name in files:
    while name := os.path.dirname(name):
        paths.add(name)
roots = {path for path in paths if "/" not in path}

report = Report()
for name in files:
    for number, line in enumerate(lines_of(name) if name not in MADE_UP and not name.endswith(".md") else (), 1):
        for page in DOCUMENT.findall(line):
            if page not in paths:
                report.say(name, number, f"{page} is not in the tree", "name what exists")
for name in matching("*.md"):
    code = False
    for number, line in enumerate(lines_of(name), 1):
        code ^= line.lstrip().startswith("```")
        if code or line.startswith("    "):
            continue
        for target in LINK.findall(line):
            if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(name), target)):
                report.say(name, number, f"the link {target} leads nowhere", "name what exists, as seen from here")
        for word in (word for quoted in QUOTED.findall(line) for word in quoted.split()):
            word = re.sub(r"(:\d+|[,;:.])+$", "", word)
            if not NAME.fullmatch(word) or word in OTHERS:
                continue
            root = word.split("/")[0]
            if not ("/" in word and root in roots | {"gpurt"} or "/" not in word and SOURCE.search(word)):
                continue
            for one in spread(word):
                if not exists(one):
                    report.say(name, number, f"{one} is not in the tree", "name what exists")
if INDEX in paths:
    check_index()
if VARIABLES in paths:
    check_variables()
report.end()
