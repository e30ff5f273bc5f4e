#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the code in small ways and demands that a test notices.

  run.py [--all] [ID...]    every mutant, or those named
  run.py --part             the quick ones, which `./dev test` runs
  run.py --share K/N        the K-th of N equal shares of the table, which takes hours as a whole
  run.py --cuda             those flagged `cuda`, which the others leave out: with the CUDA back end; needs nvcc, no GPU
  run.py --jobs N [...]     any of these, judged on N copies of the built tree at once
  run.py --list             what there is

mutants.tsv holds a mutant a line: id, flags, place, text, replacement, tests. The place is a file's name without its
folder, since names are unique, or FILE:FUNCTION. The text must occur exactly once there, however it is spaced and broken
into lines. `part` in flags puts the mutant into --part, `cuda` into --cuda. Tests is a regular expression of ctest names, at least one of
which must go red. The tree is copied once to a scratch directory, configured and built;
then each mutant in turn is put in, what its tests need is built, they run, and the file is restored. Before that the
same tests must be green. A copy of a built tree works only at the path that it was built at: each of --jobs has its own
copy mounted there, in a namespace of its own, which root may make and most systems let anybody make.
Ends with 0 when every mutant was noticed."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import copies

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
TABLE = os.path.join(HERE, "mutants.tsv")
VARIANTS = ("race", "asan", "schedule", "clang")  # of a check program; a test names the one that it needs,
NEED_ALL = ("test_replay", "test_check_tool")     # or needs all
FOLDERS = {"bin": "tui/all", "tests": "tests/gen/all"}  # a script that is given a folder needs what lies there
GREEN_LIMIT_S = 3600
TEST_LIMIT_S = 150  # for all tests of a mutant: one that hangs has noticed too
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DGPURT_CUDA=OFF", "-DGPURT_BENCH=OFF",
             "-DGPURT_EXAMPLES=OFF"]
CUDA = ["-DGPURT_CUDA=ON"]
QUICK = ["-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"]  # compiling is most of the part, and it looks at no debug information


class Trouble(Exception):
    """The mutant could not be judged: its text is gone, or it does not build."""


def pattern_of(text):
    """Matches the text's tokens with any space, line ends and continuations of macros between them."""
    return re.compile(r"(?:\s|\\\n)*".join(map(re.escape, re.findall(r"\w+|\S", text))))


FUNCTION = re.compile(r"^(?P<head>[A-Za-z_](?:[^\n;{}]|\n(?!\n))*\))[^\n;{}()]*\n\{\n.*?^\}", re.M | re.S)
NAME = re.compile(r"GPURT_KERNEL\w*\((\w+)|(?<!\w)(?!__|GPURT_)(\w+)\s*\(")


def functions_of(whole):
    """(name, begin, end) of each function that our layout shows: its head at the margin, then a line with a brace."""
    for found in FUNCTION.finditer(whole):
        named = NAME.search(found.group("head"))
        if named:
            yield named.group(1) or named.group(2), found.start(), found.end()


def names_of_tree(source):
    """Each file of a tree by its name without the folder; a CMakeLists.txt by its path."""
    paths = {}
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        paths.update({name: os.path.join(folder, name) for name in files if name != "CMakeLists.txt"})
        paths.update({os.path.relpath(os.path.join(folder, name), source): os.path.join(folder, name)
                      for name in files if name == "CMakeLists.txt"})
    return paths


def place_of(paths, row):
    """Returns: the path of the row's file, its text, and where in it the row's text stands."""
    name, _, function = row["place"].partition(":")
    if name not in paths:
        raise Trouble(f"{name} is gone")
    with open(paths[name], encoding="utf-8") as file:
        whole = file.read()
    spans = [(0, len(whole))] if not function else [
        (begin, end) for called, begin, end in functions_of(whole) if called == function]
    if not spans:
        raise Trouble(f"{name} has no function {function}: write its place anew")
    pattern = pattern_of(row["text"])
    places = [place for begin, end in spans for place in pattern.finditer(whole, begin, end)]
    if len(places) != 1:
        raise Trouble(f"{row['place']} has its text {len(places)} times, not once: write it anew")
    return paths[name], whole, places[0]


def check_table(rows):
    """Whether each row still says something about the tree as it is."""
    stale, paths = 0, names_of_tree(SOURCE)
    for row in rows:
        try:
            place_of(paths, row)
        except Trouble as trouble:
            print(f"{row['id']}: {trouble}")
            stale += 1
    print(f"{len(rows) - stale} of {len(rows)} mutants have their place")
    return 1 if stale else 0


def read_table():
    rows, ids = [], set()
    with open(TABLE, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            fields = line.split("\t")
            if len(fields) != 6 or fields[0] in ids:
                sys.exit(f"{TABLE}:{number}: expected six fields and an id of its own, found {len(fields)}")
            ids.add(fields[0])
            rows.append({"id": fields[0], "flags": fields[1].split(","), "place": fields[2], "text": fields[3],
                         "replacement": fields[4], "tests": fields[5]})
    return rows


def run(command, cwd, limit=None):
    """Returns (exit status, output); 124 when it had to be ended, with all that it had started."""
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return 124, output


def copy_tree(to):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=SOURCE, capture_output=True)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else [
        os.path.relpath(os.path.join(folder, name), SOURCE)
        for folder, _, files in os.walk(SOURCE) for name in files
        if os.path.relpath(folder, SOURCE).split(os.sep)[0] not in ("build", ".git")]
    for name in filter(None, names):
        source = os.path.join(SOURCE, name)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
            shutil.copy2(source, os.path.join(to, name))


class Tree:
    """The scratch copy and its build."""

    def __init__(self, directory, jobs=1):
        self.directory = directory
        self.source = os.path.join(directory, "source")
        self.build = os.path.join(directory, "build")
        self.at_once = max(1, (os.cpu_count() or 1) // jobs)
        self.told = ""  # by ctest, the last time

    def configure(self, flags):
        copy_tree(self.source)
        status, output = run(["cmake", "-S", self.source, "-B", self.build, *CONFIGURE, *flags], self.source)
        if status:
            sys.exit(f"configure failed:\n{output}")
        return self.read()

    def read(self):
        self.paths = names_of_tree(self.source)
        shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], capture_output=True,
                               text=True)
        self.tests = {test["name"]: test.get("command", []) for test in json.loads(shown.stdout)["tests"]}
        targets = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], capture_output=True, text=True)
        self.targets = {line.split(":")[0] for line in targets.stdout.split("\n")}
        return self

    def names(self, pattern):
        found = [name for name in self.tests if re.search(pattern, name)]
        if not found:
            raise Trouble(f"no test is called {pattern}")
        return found

    def needs(self, names):
        """Build targets of tests: the programs in their command lines, and the other builds of these. Of a test whose
        program is not there yet ctest tells no command: then the target has the name of the test."""
        needed = set()
        for name in names:
            for word in self.tests[name] or [os.path.join(self.build, name.split(".")[0])]:
                program = os.path.basename(word)
                beside = os.path.dirname(word.removeprefix(self.source + "/"))
                needed |= {beside + "/all"} & self.targets  # of a script: what is built beside it
                needed |= {FOLDERS[place] for place in FOLDERS if word == os.path.join(self.build, place)}
                if not word.startswith(self.build) or program not in self.targets:
                    continue
                needed.add(program)
                for variant in VARIANTS:
                    if name in NEED_ALL or re.search(rf"\.{variant}(_|$)", name):
                        needed |= {f"{program}-{variant}"} & self.targets
        return sorted(needed)

    def make(self, names):
        status, output = run(["ninja", "-C", self.build, "-j", str(self.at_once), *self.needs(names)], self.build)
        if status:
            raise Trouble(f"it does not build:\n{output[-2000:]}")

    def red(self, pattern, limit_s=TEST_LIMIT_S, until=("--stop-on-failure",)):
        """Builds and runs the tests. Returns: the names of those that fail, or what else happened."""
        names = self.names(pattern)
        self.make(names)
        status, output = run(["ctest", "--test-dir", self.build, "-j", str(self.at_once), "-R", pattern,
                              *until, "--output-on-failure"], self.build, limit_s)
        if status == 124:
            return [f"no end after {limit_s} s"]
        failed = re.findall(r"^\s*\d+ - (\S+) \(", output, re.M)
        if status and not failed:
            raise Trouble(f"ctest ended with {status}:\n{output[-2000:]}")
        self.told = output
        return failed

    def put(self, row):
        """Returns: the file and its text from before."""
        path, before, place = place_of(self.paths, row)
        self.restore(path, before[:place.start()] + row["replacement"] + before[place.end():])
        return path, before

    @staticmethod
    def restore(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def judge(tree, row):
    """Returns: the tests that noticed."""
    path, before = tree.put(row)
    try:
        return tree.red(row["tests"])
    finally:
        tree.restore(path, before)


def those_green(tree, rows):
    """Returns: the rows whose tests pass as things are. A test that is red by itself would notice everything."""
    red = tree.red("|".join(f"({row['tests']})" for row in rows), GREEN_LIMIT_S, ())
    if red:
        print(f"{tree.told[-4000:]}\nred without any mutant: {', '.join(red)}", flush=True)
    return [row for row in rows if not any(re.search(row["tests"], name) for name in red)]


def verdict_of(tree, row):
    """Returns: whether a test noticed, and the line that says so."""
    begin = time.monotonic()
    try:
        failed = judge(tree, row)
        verdict = f"noticed by {', '.join(failed)}" if failed else f"NOT NOTICED by {row['tests']}"
    except Trouble as trouble:
        failed, verdict = [], f"CANNOT BE JUDGED: {' '.join(str(trouble).split())}"
    return bool(failed), f"{row['id']:28} {time.monotonic() - begin:5.1f} s  {verdict}"


def judge_all(tree, rows, jobs):
    green = those_green(tree, rows)
    for row in rows:
        if row not in green:
            print(f"{row['id']:28} CANNOT BE JUDGED: its test is red without it")
    verdicts = (verdict_of(tree, row) for row in green) if jobs == 1 else copies.verdicts(tree.directory, green, jobs)
    noticed = 0
    for is_noticed, line in verdicts:
        noticed += is_noticed
        print(line, flush=True)
    print(f"{noticed} of {len(rows)} mutants noticed")
    return 0 if noticed == len(rows) else 1


def serve(directory, jobs, rows):
    """One of --jobs: judges the mutants whose ids it reads, and answers each with a line."""
    tree = Tree(directory, jobs).read()
    by_id = {row["id"]: row for row in rows}
    for line in sys.stdin:
        is_noticed, verdict = verdict_of(tree, by_id[line.strip()])
        print(int(is_noticed), verdict, flush=True)


def share_of(text):
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text}: K/N, of 1 <= K <= N")
    return int(found[1]), int(found[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every mutant (the default)")
    parser.add_argument("--part", action="store_true", help="the quick ones")
    parser.add_argument("--share", type=share_of, metavar="K/N", help="the K-th of N equal shares of the table")
    parser.add_argument("--cuda", action="store_true", help="those that need the CUDA back end")
    parser.add_argument("--list", action="store_true", help="print the table's ids, places and tests")
    parser.add_argument("--check", action="store_true", help="only see that each has its place in the sources")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="judge on N copies of the tree at once")
    parser.add_argument("--serve", metavar="DIRECTORY", help=argparse.SUPPRESS)  # what --jobs starts
    parser.add_argument("ids", nargs="*", metavar="ID")
    words = parser.parse_args()
    rows = read_table()
    unknown = set(words.ids) - {row["id"] for row in rows}
    if unknown:
        parser.error(f"no mutant {', '.join(sorted(unknown))}")
    if words.ids:
        rows = [row for row in rows if row["id"] in words.ids]
        words.cuda = any("cuda" in row["flags"] for row in rows)
    elif words.cuda:
        rows = [row for row in rows if "cuda" in row["flags"]]
    elif words.part:
        rows = [row for row in rows if "part" in row["flags"]]
    elif words.share:
        share, shares = words.share
        rows = rows[len(rows) * (share - 1) // shares : len(rows) * share // shares]
    if words.list:
        for row in rows:
            print(f"{row['id']:28} {row['place']:36} {row['tests']}")
        return 0
    if words.check:
        return check_table(rows)
    # Not inside a test that runs us: its settings are not ours.
    for name in [name for name in os.environ if name.startswith("GPURT_")]:
        del os.environ[name]
    if words.serve:
        return serve(words.serve, words.jobs, rows)
    if not words.cuda:
        rows = [row for row in rows if "cuda" not in row["flags"]]
    with tempfile.TemporaryDirectory(prefix="gpurt-mutants-") as directory:
        tree = Tree(directory).configure((QUICK if words.part else []) + (CUDA if words.cuda else []))
        return judge_all(tree, rows, words.jobs)


if __name__ == "__main__":
    sys.exit(main())
