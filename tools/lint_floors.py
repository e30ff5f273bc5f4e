#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file includes only headers of its own floor or a lower one; what is above the library includes public ones only."""
import os
import re

from lint_files import Report, lines_of, matching, without_comments

# The longest matching folder counts. A public header's floor is the list of HEADERS in which it stands.
HEADERS = "runtime/include/CMakeLists.txt"
FLOORS = {
    "runtime/base/": 0,
    "runtime/box/": 1,
    "runtime/simt/": 3,
    "runtime/schedule/": 3,
    "runtime/host/": 4,
    "kernels/": 4,
    "cupti/": 5,
    "cupti/base/": 5.1,  # tenths: the order of folders of one floor
    "cupti/records/": 5.2,
    "cupti/callers/": 5.2,
    "cupti/launches/": 5.3,
    "cupti/lines/": 5.3,
    "cupti/core/": 5.4,
    "logstore/": 5,
    "postmortem/": 5,
    "tui/common/": 6,
    "tui/": 7,
    "examples/": 8,
    "tests/": 9,
}
PUBLIC = "runtime/include/"
PUBLIC_ONLY = ("tui/", "examples/", "tests/install/")
# Rooms that a folder may look into all the same: the programs are made of them.
ALSO = {"tui/": ("kernels/", "runtime/base/", "runtime/box/", "logstore/", "postmortem/", "tui/common/")}
# Who may look up, and why.
UPWARD = {
    ("runtime/simt/", "runtime/include/gpurt/gpurt.h"): "takes the structs of a launch as the user fills them; calls nothing",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def header_floors():
    """The floor of each public header, by its path: `gpurt_public_headers(FLOOR N a.h b.h)`."""
    text = "\n".join(line.split("#")[0] for line in lines_of(HEADERS)) if os.path.exists(HEADERS) else ""
    return {os.path.dirname(HEADERS) + "/gpurt/" + header: int(found.group(1))
            for found in re.finditer(r"gpurt_public_headers\(FLOOR (\d+)([^)]*)\)", text)
            for header in found.group(2).split()}


def room_of(name):
    """The folder of a program, with the folders in it."""
    return "/".join(os.path.dirname(name).split("/")[:2]) + "/"


def floor(name):
    if name in HEADER_FLOORS:
        return HEADER_FLOORS[name]
    rooms = [room for room in FLOORS if name.startswith(room)]
    return FLOORS[max(rooms, key=len)] if rooms else None


def resolve(name, included):
    """The file of this tree that `#include` names, or None for one of the system."""
    near = os.path.normpath(os.path.join(os.path.dirname(name), included))
    if near in files:
        return near
    if PUBLIC + included in files:
        return PUBLIC + included
    same = [file for file in files if ("/" + file).endswith("/" + included)]
    return same[0] if len(same) == 1 else None


HEADER_FLOORS = header_floors()
report = Report()
files = set(matching("*.c", "*.h", "*.S", "*.cu", "*.cuh"))
for name in sorted(files):
    own = floor(name)
    if own is None:
        report.say(name, 1, "in no room", f"enter a folder in FLOORS of tools/lint_floors.py, a public header in {HEADERS}")
        continue
    for number, line in enumerate(without_comments(name), 1):
        found = INCLUDE.match(line)
        target = resolve(name, found.group(1)) if found else None
        if not target or floor(target) is None:
            continue
        if floor(target) > own and not any(name.startswith(room) and target == up for room, up in UPWARD):
            report.say(name, number, f"floor {own} includes {target} of floor {floor(target)}",
                       "move what you need down, or call through a seam")
        elif (name.startswith(PUBLIC_ONLY) and not target.startswith(PUBLIC)
              and not target.startswith(room_of(name))
              and not target.startswith(ALSO.get(name.split("/")[0] + "/", ()))):
            report.say(name, number, f"{target} is private to its room", "use the public headers, gpurt/*.h")
        elif name.startswith(PUBLIC) and not target.startswith(PUBLIC):
            report.say(name, number, f"a public header includes the private {target}", "it is not installed")
report.end()
