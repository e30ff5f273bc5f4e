#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file includes only headers of its own floor or a lower one; what is above the library includes public ones only."""
import os
import re

from lint_files import Report, matching, without_comments

# The longest matching path counts. A new public header must be entered here.
FLOORS = {
    "runtime/include/gpurt/base.h": 0,
    "runtime/include/gpurt/status.h": 0,
    "runtime/include/gpurt/atomic.h": 0,
    "runtime/include/gpurt/point.h": 0,
    "runtime/base/": 0,
    "runtime/include/gpurt/group.h": 1,
    "runtime/include/gpurt/record.h": 1,
    "runtime/include/gpurt/activity.h": 1,
    "runtime/include/gpurt/box.h": 1,
    "runtime/include/gpurt/heaprow.h": 1,
    "runtime/include/gpurt/ringput.h": 1,
    "runtime/include/gpurt/levels.h": 1,
    "runtime/include/gpurt/state.h": 1,
    "runtime/box/": 1,
    "runtime/include/gpurt/dialect.h": 2,
    "runtime/include/gpurt/dialect_cuda.h": 2,
    "runtime/include/gpurt/dialect_cuda_cancel.h": 2,
    "runtime/include/gpurt/dialect_cuda_defer.h": 2,
    "runtime/include/gpurt/dialect_simt.h": 2,
    "runtime/include/gpurt/guard.h": 2,
    "runtime/include/gpurt/defer.h": 2,
    "runtime/include/gpurt/unwind.h": 2,
    "runtime/include/gpurt/scope.h": 2,
    "runtime/include/gpurt/ids.h": 2,
    "runtime/include/gpurt/warp.h": 2,
    "runtime/include/gpurt/block.h": 2,
    "runtime/include/gpurt/clock.h": 2,
    "runtime/include/gpurt/logport.h": 2,
    "runtime/include/gpurt/logroom.h": 2,
    "runtime/include/gpurt/logput.h": 2,
    "runtime/include/gpurt/logargs.h": 2,
    "runtime/include/gpurt/log.h": 2,
    "runtime/include/gpurt/operand.h": 2,
    "runtime/include/gpurt/window.h": 2,
    "runtime/include/gpurt/trail.h": 2,
    "runtime/include/gpurt/context.h": 2,
    "runtime/include/gpurt/panic.h": 2,
    "runtime/include/gpurt/waits.h": 2,
    "runtime/include/gpurt/alloc.h": 2,
    "runtime/include/gpurt/alloclarge.h": 2,
    "runtime/include/gpurt/allocwatch.h": 2,
    "runtime/include/gpurt/alloctell.h": 2,
    "runtime/include/gpurt/allocrecord.h": 2,
    "runtime/include/gpurt/allocrow.h": 2,
    "runtime/include/gpurt/alloccore.h": 2,
    "runtime/include/gpurt/alloccheck.h": 2,
    "runtime/include/gpurt/allocmap.h": 2,
    "runtime/include/gpurt/allocrun.h": 2,
    "runtime/include/gpurt/allocslab.h": 2,
    "runtime/include/gpurt/alloctree.h": 2,
    "runtime/include/gpurt/arena.h": 2,
    "runtime/include/gpurt/arenatable.h": 2,
    "runtime/include/gpurt/blockarena.h": 2,
    "runtime/include/gpurt/magazine.h": 2,
    "runtime/include/gpurt/reclaimmap.h": 2,
    "runtime/include/gpurt/slotset.h": 2,
    "runtime/include/gpurt/warptally.h": 2,
    "runtime/include/gpurt/ref.h": 2,
    "runtime/include/gpurt/epoch.h": 2,
    "runtime/include/gpurt/hazard.h": 2,
    "runtime/include/gpurt/gcmap.h": 2,
    "runtime/include/gpurt/object.h": 2,
    "runtime/include/gpurt/matrix.h": 2,
    "runtime/include/gpurt/places.h": 2,
    "runtime/include/gpurt/rack.h": 2,
    "runtime/include/gpurt/region.h": 2,
    "runtime/include/gpurt/regionlook.h": 2,
    "runtime/include/gpurt/regionmap.h": 2,
    "runtime/include/gpurt/malloc.h": 2,
    "runtime/include/gpurt/kernel.h": 2,
    "runtime/include/gpurt/device.h": 2,
    "runtime/simt/": 3,
    "runtime/schedule/": 3,
    "runtime/include/gpurt/gpurt.h": 4,
    "runtime/include/gpurt/hostlog.h": 4,
    "runtime/include/gpurt/heap.h": 4,
    "runtime/include/gpurt/checkpoint.h": 4,
    "runtime/include/gpurt/reclaim.h": 4,
    "runtime/include/gpurt/gc.h": 4,
    "runtime/include/gpurt/arenas.h": 4,
    "runtime/include/gpurt/regions.h": 4,
    "runtime/include/gpurt/recover.h": 4,
    "runtime/host/": 4,
    "cupti/": 5,
    "logstore/": 5,
    "postmortem/": 5,
    "tui/": 6,
    "examples/": 7,
    "tests/": 8,
}
PUBLIC = "runtime/include/"
PUBLIC_ONLY = ("tui/", "examples/", "tests/install/")
# Rooms that a folder may look into all the same: the programs are made of them.
ALSO = {"tui/": ("runtime/base/", "runtime/box/", "logstore/", "postmortem/")}
# Who may look up, and why.
UPWARD = {
    ("runtime/simt/", "runtime/include/gpurt/gpurt.h"): "takes the structs of a launch as the user fills them; calls nothing",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def floor(name):
    rooms = [room for room in FLOORS if name == room or (room.endswith("/") and name.startswith(room))]
    return FLOORS[max(rooms, key=len)] if rooms else None


def resolve(name, included):
    """The file of this tree that `#include` names, or None for one of the system."""
    near = os.path.normpath(os.path.join(os.path.dirname(name), included))
    if near in files:
        return near
    if PUBLIC + included in files:
        return PUBLIC + included
    same = [file for file in files if os.path.basename(file) == os.path.basename(included)]
    return same[0] if len(same) == 1 else None


report = Report()
files = set(matching("*.c", "*.h", "*.S", "*.cu", "*.cuh"))
for name in sorted(files):
    own = floor(name)
    if own is None:
        report.say(name, 1, "in no room", "enter it in FLOORS of tools/lint_floors.py")
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
              and os.path.dirname(target) != os.path.dirname(name)
              and not target.startswith(ALSO.get(name.split("/")[0] + "/", ()))):
            report.say(name, number, f"{target} is private to its room", "use the public headers, gpurt/*.h")
        elif name.startswith(PUBLIC) and not target.startswith(PUBLIC):
            report.say(name, number, f"a public header includes the private {target}", "it is not installed")
report.end()
