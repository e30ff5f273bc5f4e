# SPDX-License-Identifier: Apache-2.0
"""Judges mutants on several copies of a built tree at once.

A build knows its own path. So each worker of run.py lives in a mount namespace of its own, where its copy lies at the
path of the first tree. A worker reads the id of a mutant and answers with a line; who is done gets the next."""
import os
import queue
import subprocess
import sys
import tempfile
import threading

SCRIPT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "run.py")
MOUNT = 'mount --bind "$1" "$2" && cd / && shift && exec "${@:2}"'


def started(directory, copy, jobs):
    """A worker that sees `copy` at the path of `directory`."""
    subprocess.run(["cp", "-a", directory, copy], check=True)
    alone = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    served = [sys.executable, SCRIPT, "--serve", directory, "--jobs", str(jobs)]
    return subprocess.Popen([*alone, "bash", "-c", MOUNT, "bash", copy, directory, *served], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def feed(worker, waiting, answers):
    """Hands one worker a mutant after the other."""
    while True:
        try:
            row = waiting.get_nowait()
        except queue.Empty:
            break
        try:
            worker.stdin.write(row["id"] + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline().rstrip("\n")
        except BrokenPipeError:
            answer = ""
        noticed, _, line = answer.partition(" ")
        answers.put((noticed == "1", line or f"{row['id']:28} CANNOT BE JUDGED: its worker ended"))
    worker.stdin.close()
    worker.wait()


def verdicts(directory, rows, jobs):
    """(whether it was noticed, line) of each row, in the order in which they are done."""
    waiting, answers = queue.Queue(), queue.Queue()
    for row in rows:
        waiting.put(row)
    with tempfile.TemporaryDirectory(prefix="gpurt-copies-") as copies:
        for number in range(min(jobs, len(rows))):
            worker = started(directory, os.path.join(copies, str(number)), jobs)
            threading.Thread(target=feed, args=(worker, waiting, answers), daemon=True).start()
        for _ in rows:
            yield answers.get()
