#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint_circles.py BUILD: no two files of a library need each other, by the symbols in their objects.

Files of one noun may (heap.c, heapview.c). What stands in a circle can be read, tested and moved only together. To
break one, let the caller pass a table of functions (part.h, boxpart.h), or move what both need into a file below them.
Exit status 77: nothing is built there."""
import glob
import os
import subprocess
import sys

NOUN = 4  # letters that the names of files of one noun begin with
# Files that need each other all the same, and why.
TOGETHER = (
    ({"barrier", "block", "cancel", "device", "failure", "fault", "hostact", "hostwait", "lane", "launch", "panicked",
      "park", "report", "schedule", "stream", "warp", "worker"}, "the CPU back end is one machine: its parts wake each other"),
    ({"dictionary", "program"}, "a process is an entry of the dictionary, which numbers processes"),
    ({"objectrow", "render"}, "a record of an object is rendered by its class, whose texts are rendered"),
    ({"activity_text", "gpurows", "host_text", "memory_text", "running_text", "times_text"},
     "one report of what GPUs did"),
    ({"heap_page", "objectpage"}, "a class draws a part of its page by hand, in the page's own lines"),
    ({"filelist", "gputime", "linepage", "linesheet", "loglist", "paniclist", "picture", "sitelist", "view_gpu",
      "view_lines", "view_log", "view_overview", "view_panic", "view_sites"}, "views.h is a table of all views, and views open each other"),
)


def members(archive):
    """Of each file: symbols that it defines, and those that it needs. Weak ones need nobody."""
    text = subprocess.run(["nm", "-g", archive], check=True, capture_output=True, text=True).stdout
    defined, needed, name = {}, {}, None
    for line in text.splitlines():
        fields = line.split()
        if line.endswith(".o:"):
            name = line[:-3].rsplit("/")[-1].rsplit(".", 1)[0]
            defined[name], needed[name] = set(), set()
        elif len(fields) == 2 and fields[0] == "U":
            needed[name].add(fields[1])
        elif len(fields) == 3:
            defined[name].add(fields[2])
    return defined, needed


def edges_of(archive):
    """edges[a][b]: a symbol of b that a needs. Files of one noun need each other unseen."""
    defined, needed = members(archive)
    home = {symbol: name for name, symbols in defined.items() for symbol in symbols}
    edges = {name: {} for name in defined}
    for name, symbols in needed.items():
        for symbol in sorted(symbols):
            if home.get(symbol, name) != name:
                edges[name].setdefault(home[symbol], symbol)
    return edges


def reached(edges, begin):
    """Each file that begin needs, and the one it was found by."""
    found, queue = {}, [begin]
    for at in queue:
        for to in edges[at]:
            if to not in found:
                found[to] = at
                queue.append(to)
    return found


def circles(edges):
    """Sets of files that need each other."""
    needs = {name: set(reached(edges, name)) for name in edges}
    return {frozenset(b for b in needs[a] if a in needs[b]) for a in edges if a in needs[a]}


def is_fine(circle):
    noun = os.path.commonprefix(sorted(circle))
    return len(noun) >= NOUN or any(circle <= files for files, _ in TOGETHER)


def tell(edges, circle):
    """The shortest way round from its first file."""
    inside = {a: {b: s for b, s in edges[a].items() if b in circle} for a in circle}
    begin = min(circle)
    found, way = reached(inside, begin), [begin]
    while len(way) == 1 or way[-1] != begin:
        way.append(found[way[-1]])
    way.reverse()
    text = ", ".join(f"{a}.c needs {edges[a][b]} of {b}.c" for a, b in zip(way, way[1:]))
    print(f"{len(circle)} files need each other: {text}: pass a table, or move what both need below them")


def main(build):
    archives = sorted(glob.glob(os.path.join(build, "lib", "libgpurt*.a")))
    if not archives:
        print(f"circles: no library in {build}/lib: build one first")
        return 77
    bad = 0
    for archive in archives:
        edges = edges_of(archive)
        for circle in sorted(circles(edges), key=min):
            if not is_fine(circle):
                bad += 1
                tell(edges, circle)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
