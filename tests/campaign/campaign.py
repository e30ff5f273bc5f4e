#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fault campaign: programs that fail in every way there is, and what is left of them.

  campaign.py BIN APP [--gpu] [--runs N] [--jobs J] [--seed S] [--case NAME...] [--seconds T] [--write PAGE] [--rows FILE]

Each run is one program of 8 blocks that log. Held to account in each: every message whose log call had returned is in the log,
once (committed, lost, twice); no record is shown that does not add up in itself (torn); the failure is reported whole, with its
place and its values; and where the context must be healthy, a second launch in the same process has run and logged. On a GPU
(--gpu) a trap or a bad address ends the context: there the second launch must be refused, and a program started right after must
work. N is the runs of each case; none begins after T seconds. --write puts the table into a page, between its marks; --rows into a file as the benches' rows."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

BLOCKS, WAIT_S, SEEDS_APART = 8, 60, 1000003
MESSAGE = re.compile(r"^m (\d+) (\d+) (\d+)$")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = open(os.path.join(HERE, "campaign_app_kernels.c"), encoding="utf-8").read().splitlines()

Result = collections.namedtuple("Result", "committed lost twice torn report healthy")
# serial: not beside others, a core dump stops the GPU for everybody
Case = collections.namedtuple("Case", "name words run serial", defaults=(False,))


class Wrong(Exception):
    """A run that is not as it must be."""


def must(condition, *what):
    if not condition:
        raise Wrong(*what)


def line_of(text):
    return next(i + 1 for i, line in enumerate(SOURCE) if text in line)


def lines_before(last, stream):
    """A stream that ends without that line is of a program that died."""
    for line in iter(stream.readline, last):
        must(line, "ended without", last)
        yield line


class Run:
    """A folder, a program in it, and a drainer. Everything it started is gone at its end."""

    def __init__(self, options, folder, seed):
        self.bin, self.app, self.folder, self.rng = options.bin, options.app, folder, random.Random(seed)
        self.turn = seed - options.seed * SEEDS_APART  # of its case
        self.log, self.done, self.started = f"{folder}/run.gplog", f"{folder}/done", []
        self.gpu = options.gpu
        self.env = dict(os.environ, GPURT_BACKEND="cuda" if self.gpu else "cpu", GPURT_POLICY="block",
                        GPURT_RING_BYTES="4096" if self.gpu else "16384", GPURT_WORKERS="2", GPURT_CUPTI="off")

    def program(self, name):
        return os.path.join(self.bin, name)

    def start(self, way, failing, messages, recording=()):
        self.messages = messages
        return self.run([self.program("gpurt-record"), "-q", *recording, "-o", self.log, "--", self.app, way, str(failing),
                         str(messages), self.done])

    def run(self, command):
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=self.env)
        self.started.append(child)
        line = child.stdout.readline()
        must(line.strip().isdigit(), "did not begin", line, child.stderr.read() if child.poll() is not None else "")
        return child, int(line)

    def end(self, child):
        """Lets it end by itself. Returns: what it printed, and its status."""
        child.stdin.close()
        out = child.stdout.read()  # not communicate(), which leaves out what readline() has read ahead
        return out, child.stderr.read(), child.wait(timeout=WAIT_S)

    def wait_for_messages(self):
        """A kernel of a GPU that others use as well may take its time to begin."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and not self.committed():
            time.sleep(0.0005)

    def another_process_works(self):
        """Asked twice a case: contexts are made one after the other, which is what most of a run's time goes into."""
        if self.turn >= 2:
            return None
        child, _ = self.run([self.app, "none", "0", "4", self.done + ".2"])
        out, err, code = self.end(child)
        must(code == 0 and "\nhealthy\n" in out, "the next process", code, out[-300:], err[-300:])
        return 1

    def close(self):
        for child in self.started:
            if child.poll() is None:
                child.kill()
            child.wait(timeout=WAIT_S)
            for pipe in (child.stdin, child.stdout, child.stderr):
                if pipe and not pipe.closed:
                    pipe.close()

    def committed(self):
        """Messages (block, number) whose log calls have returned, in both launches."""
        with open(self.done, "rb") as file:
            done = struct.unpack(f"{2 * BLOCKS}Q", file.read(16 * BLOCKS).ljust(16 * BLOCKS, b"\0"))
        return {(at % BLOCKS, at // BLOCKS * self.messages + i) for at, count in enumerate(done) for i in range(count)}

    def records(self):
        done = subprocess.run([self.program("gpurt-log"), "stat", "--json", self.log], capture_output=True, text=True)
        return json.loads(done.stdout)["records"] if done.returncode == 0 else 0

    def account(self):
        """What the log holds against what was committed."""
        must(subprocess.run([self.program("gpurt-log"), "verify", self.log], capture_output=True).returncode == 0, "verify")
        cat = subprocess.run([self.program("gpurt-log"), "cat", "--jsonl", self.log], capture_output=True, text=True)
        must(cat.returncode == 0, "cat", cat.stderr)
        seen, torn = collections.Counter(), 0
        for line in cat.stdout.splitlines():
            row = json.loads(line)
            if not row.get("file", "").endswith("campaign_app_kernels.c") or row["level"] != "INFO":
                continue
            found = MESSAGE.match(row["msg"])
            block, i, total = map(int, found.groups()) if found else (0, 0, -1)
            torn += total != (block * 40503 + i) * 2654435761 % 2 ** 32 or block != row["block"]
            seen[block, i] += 1
        committed = self.committed()
        missing = committed - set(seen)
        self.tell_missing(missing, committed)
        return len(committed), len(missing), sum(count - 1 for count in seen.values()), torn

    def tell_missing(self, missing, committed):
        """Which they are tells more than how many: the last ones, or some amid others."""
        for block in sorted({block for block, _ in missing}):
            numbers = sorted(i for b, i in missing if b == block)
            print(f"lost in {self.folder}: block {block}: {len(numbers)} from {numbers[0]} to {numbers[-1]}, the last committed "
                  f"is {max(i for b, i in committed if b == block)}", file=sys.stderr)

    def panics(self, expected, texts, way):
        """Each failing block is in the report with its place and its values."""
        listed = json.loads(subprocess.run([self.program("gpurt-panic"), "list", "--json", self.log], capture_output=True,
                                           text=True, check=True).stdout)
        must(listed["panics"] == expected, "panics", listed["panics"], expected)
        must(listed["sources"][0]["left_out"] == 0, "left out")
        for number in {1, max(1, expected // 2), expected}:
            shown = json.loads(subprocess.run([self.program("gpurt-panic"), "show", "--json", str(number), self.log],
                                              capture_output=True, text=True, check=True).stdout)
            must(shown["line"] in map(line_of, texts), way, shown["line"])
            block, at = (int(o["text"]) for o in shown["operands"])
            must(shown["block"] == [block, 0, 0] and shown["msg"].endswith(f"block {block} at message {at}"), shown["msg"])
            must(len(shown["lane_values"]) == bin(shown["failed"]).count("1") > 0, "lanes", shown["failed"])
            must(("turn" in [held["name"] for held in shown.get("held", [])]) == (way == "lock"), "held", shown.get("held"))
            before = [row["msg"] for row in shown["before"]["warp"] if row["msg"].startswith("m ")]
            must(before and before[-1].startswith(f"m {block} {at - 1} "), "before", shown["before"]["warp"][-3:])


def fails(way, failing, status, texts):
    """The first launch fails, or some of its blocks do; the second one works."""
    def run(r):
        child, _ = r.start(way, failing, 2 * r.rng.randint(4, 40))
        out, err, code = r.end(child)
        must(code == 0 and "\nhealthy\n" in out, "not healthy", code, out[-300:], err[-300:])
        must(out.startswith(status + "\n"), out[:100])
        if status == "GPURT_E_PANIC":
            r.panics(failing * len(texts), texts, way)
        else:
            place = re.search(r"campaign_app_kernels\.c:(\d+)", out)
            must(place and int(place.group(1)) == line_of(texts[0]), "place", out[:900])
            must(re.search(r"block \(?[0-7]\b", out), "block", out[:900])
        return Result(*r.account(), report=1, healthy=1)
    return run


def takes_context(way, failing, status, error):
    """On a GPU: the context dies, the process is told so, and the next process works."""
    def run(r):
        child, _ = r.start(way, failing, 2 * r.rng.randint(4, 40))
        out, err, code = r.end(child)
        must(code == 0 and "\nlost\n" in out, "not told", code, out[-600:], err[-300:])
        must(out.startswith(status + "\n"), out[:600])
        for words in (f"({error}, ", "newest first: campaign\n", "what to do: "):
            must(words in out, "report", words, out[:900])
        return Result(*r.account(), report=1, healthy=r.another_process_works())
    return run


def dumps_core(way, failing, cause):
    """On a GPU, under gpurt-record --gpu-core: the report has what failed, in which block, and the kernel's own line, also where
    what failed was inlined there from a header."""
    def run(r):
        child, _ = r.start(way, failing, 2 * r.rng.randint(4, 40), ["--gpu-core"])
        _, err, code = r.end(child)
        must(code == 128 + signal.SIGABRT, "status", code, err[-600:])
        shown = json.loads(subprocess.run([r.program("gpurt-panic"), "show", "--json", "1", r.log], capture_output=True,
                                          text=True, check=True).stdout)
        must(cause in shown["msg"] and "kernel campaign" in shown["msg"], "fault", shown["msg"])
        place = [shown["file"].split("/")[-1], shown["line"]]
        must(place == ["campaign_app_kernels.c", line_of(PLACES[way][0])], "place", place)
        must(shown["block"][0] < failing, "block", shown["block"])
        return Result(*r.account(), report=1, healthy=r.another_process_works())
    return run


def kill_app(way, stop_first):
    """Anywhere in its life. What it had stopped in is nothing that could fail: no report, no health. An heir holds its GPU,
    which goes on to the kernel's end."""
    def run(r):
        child, pid = r.start(way, 0, 100000)
        if r.gpu:
            r.wait_for_messages()
        time.sleep(r.rng.random() * (0.01 if r.gpu else 0.03))
        if stop_first:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(r.rng.random() * (0.01 if r.gpu else 0.03))
        os.kill(pid, signal.SIGKILL)
        _, _, code = r.end(child)
        must(code == 128 + signal.SIGKILL, code)
        return Result(*r.account(), report=None, healthy=None)
    return run


def stop_app(r):
    """Stopped for a while in the middle, and going on."""
    child, pid = r.start("none", 0, 2000)
    for _ in range(3):
        time.sleep(r.rng.random() * 0.01)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(r.rng.random() * 0.02)
        os.kill(pid, signal.SIGCONT)
    out, _, code = r.end(child)
    must(code == 0 and "\nhealthy\n" in out, "not healthy", out[-300:])
    must(len(r.committed()) == 4000 * BLOCKS, len(r.committed()))
    return Result(*r.account(), report=None, healthy=1)


def kill_drainer(r):
    """Its drainer dies anywhere; the program goes on, and another drainer takes over with the same file."""
    child, pid = r.start("panic", 2, 100)
    time.sleep(r.rng.random() * 0.02)
    child.kill()
    child.wait(timeout=WAIT_S)
    other = subprocess.Popen([r.program("gpurt-drain"), "-p", str(pid), "-o", r.log], stderr=subprocess.PIPE, text=True)
    r.started.append(other)
    out = "".join(lines_before("healthy\n", child.stdout))
    end = time.monotonic() + WAIT_S  # a program that ends without a drainer takes its box along
    while r.records() < len(r.committed()) + 2 and other.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    whole = r.records() >= len(r.committed()) + 2  # the first one had all: the next may come too late
    child.stdin.close()
    _, err = other.communicate(timeout=WAIT_S)
    must(whole and (other.returncode == 0 or str(pid) in err), "the next drainer", err, out[-300:])
    r.panics(2, PLACES["panic"], "panic")
    return Result(*r.account(), report=1, healthy=1)


PLACES = {"trap": ["gpurt_trap();"], "address": ["gpurt_store_relaxed_sys_u32(p->wrong"],
          "misaligned": ["gpurt_group_store("], "assert": ["GPURT_ASSERT(i =="], "panic": ['GPURT_PANIC("block'],
          "lock": ['GPURT_PANIC("block'], "defer": ["/* and so does its handler */", 'GPURT_PANIC("handler of']}
FAULTS = (("trap", "trap", "GPURT_E_TRAP", "cudaErrorLaunchFailure", "trap"),
          ("address", "illegal address", "GPURT_E_FAULT", "cudaErrorIllegalAddress", "illegal address"),
          ("misaligned", "misaligned access", "GPURT_E_FAULT", "cudaErrorMisalignedAddress", "misaligned"))
GPU_FAULTS = (("shared", "an address beyond shared memory", "GPURT_E_FAULT", "cudaErrorIllegalAddress"),
              ("cuda-assert", "CUDA's own assert", "GPURT_E_TRAP", "cudaErrorAssert"))
PANICS = (("assert", "assert"), ("panic", "panic"), ("defer", "panic, and another in its handler,"),
          ("lock", "panic while it holds a lock,"))


def cases(gpu):
    def blocks(words, failing):
        return f"{words} in {failing} of {BLOCKS} blocks"
    many = (1, 4, 8)
    rows = []
    for way, words, status, error, _ in FAULTS:
        rows += [Case(f"{way}-{n}", blocks(words, n), takes_context(way, n, status, error) if gpu else
                      fails(way, n, status, PLACES[way])) for n in many]
    if gpu:
        for way, words, status, error in GPU_FAULTS:
            rows += [Case(f"{way}-{n}", blocks(words, n), takes_context(way, n, status, error)) for n in (1, 8)]
        rows += [Case(f"core-{way}", blocks(f"{words}, with a core dump,", 4), dumps_core(way, 4, cause), True)
                 for way, words, _, _, cause in FAULTS]
    for way, words in PANICS:
        rows += [Case(f"{way}-{n}", blocks(words, n), fails(way, n, "GPURT_E_PANIC", PLACES[way])) for n in many]
    return rows + [Case("kill-app", "SIGKILL of the program, anywhere", kill_app("none", False)),
                   Case("stop-kill-app", "SIGSTOP of the program, then SIGKILL", kill_app("none", True)),
                   Case("kill-app-heir", "SIGKILL of the program, while a process that it forked lives on", kill_app("heir", False)),
                   Case("stop-app", "SIGSTOP of the program, three times, and on", stop_app),
                   Case("kill-drainer", "SIGKILL of the drainer, anywhere, with panics in 2 blocks", kill_drainer)]


def one(task):
    options, case, seed = task
    if time.monotonic() > options.until:
        return case, seed, None, None
    room = "/dev/shm" if options.gpu else None  # memory that CUDA can register
    with tempfile.TemporaryDirectory(prefix="gpurt-campaign-", dir=room) as folder:
        run = Run(options, folder, seed)
        try:
            return case, seed, case.run(run), None
        except (Wrong, AssertionError, subprocess.SubprocessError, OSError, ValueError, KeyError) as e:
            return case, seed, None, f"{type(e).__name__}: {str(e)[:600]}"
        finally:
            run.close()


def table(rows, every_case, gpu):
    lines = [f"| failure | runs | committed records | lost | twice | torn shown | report whole | next {'process' if gpu else 'launch'} works |",
             "|---|---|---|---|---|---|---|---|"]
    for case in every_case:
        results = [result for c, result in rows if c is case and result]
        if not results:
            continue
        runs = len(results)

        def share(field):
            known = [getattr(r, field) for r in results if getattr(r, field) is not None]
            return f"{sum(known)} of {len(known)}" if known else "-"
        total = [sum(getattr(r, field) for r in results) for field in ("committed", "lost", "twice", "torn")]
        lines.append(f"| {case.words} | {runs} | {total[0]:,} | {total[1]} | {total[2]} | {total[3]} | {share('report')} | "
                     f"{share('healthy')} |")
    every = [r for _, r in rows if r]
    lines.append(f"| **all** | **{len(every):,}** | **{sum(r.committed for r in every):,}** | **{sum(r.lost for r in every)}** | "
                 f"**{sum(r.twice for r in every)}** | **{sum(r.torn for r in every)}** | | |")
    return lines


def bench_rows(rows, every_case, seconds, where):
    """As the benches print them."""
    def row(name, value, unit, peer="-", peer_value="-"):
        return f"campaign\t{name}\t{value}\t{unit}\t{peer}\t{peer_value}\t-"
    lines = [f"# {where}", "bench\tcase\tvalue\tunit\tpeer\tpeer_value\tratio"]
    for case in every_case:
        results = [result for c, result in rows if c is case and result]
        if results:
            lines += [row(f"{case.name}.runs", len(results), "runs"),
                      row(f"{case.name}.lost", sum(r.lost + r.twice + r.torn for r in results), "records", "committed",
                          sum(r.committed for r in results))]
    return lines + [row("all.runs", len(rows), "runs"), row("all.seconds", round(seconds), "s")]


def machine(gpu):
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), "unknown processor")
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    if gpu:
        model = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                               text=True).stdout.split("\n")[0].replace(", ", ", driver ") + f", {model}"
    commit = os.environ.get("GPURT_COMMIT") or commit
    return f"{time.strftime('%Y-%m-%d', time.gmtime())}, {model}, {os.cpu_count()} processors, Linux {os.uname().release}, commit {commit}"


def write(page, lines, gpu):
    text = open(page, encoding="utf-8").read()
    name = "campaign on a GPU" if gpu else "campaign"
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, rest = text.split(begin)
    with open(page, "w", encoding="utf-8") as file:
        file.write(head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("app")
    parser.add_argument("--runs", type=int, default=53)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", nargs="+")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--write")
    parser.add_argument("--rows")
    options = parser.parse_args()
    options.until = time.monotonic() + options.seconds
    every_case = [case for case in cases(options.gpu) if not options.case or case.name in options.case]
    tasks = [(options, case, options.seed * SEEDS_APART + i) for i in range(options.runs) for case in every_case]
    rows, failed, start, where = [], 0, time.monotonic(), machine(options.gpu)
    for serial in (False, True):
        with concurrent.futures.ThreadPoolExecutor(1 if serial else options.jobs) as pool:
            for case, seed, result, why in pool.map(one, [task for task in tasks if task[1].serial == serial]):
                if not why and not result:
                    continue
                rows.append((case, result))
                if why or result.lost or result.twice or result.torn:
                    failed += 1
                    print(f"FAILED {case.name} (seed {seed}): {why or result}", flush=True)
    seconds = time.monotonic() - start
    lines = table(rows, every_case, options.gpu)
    print("\n".join(lines))
    print(f"{len(rows)} runs, {failed} failed, {seconds:.0f} s")
    if options.rows:
        with open(options.rows, "w", encoding="utf-8") as file:
            file.write("\n".join(bench_rows(rows, every_case, seconds, where)) + "\n")
    if options.write and not failed:
        write(options.write, [f"{len(rows):,} runs, {where}:", "", *lines], options.gpu)
    sys.exit(failed > 0 or not rows)


if __name__ == "__main__":
    main()
