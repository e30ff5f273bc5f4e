# SPDX-License-Identifier: Apache-2.0
"""py_app.py LIBRARY MODE [SECONDS] - a Python program that launches through the stand-in for CUPTI (py_launch.c). The lines that
tests ask for are marked with a name."""
import ctypes
import sys
import threading
import time

lib = ctypes.CDLL(sys.argv[1])
lib.py_cost_us.restype = ctypes.c_double
lib.py_cost_us.argtypes = [ctypes.c_long]


class Model:
    def forward(self, name):
        def inner(x):
            return lib.py_launch(x)  # line: inner

        if name:
            # Behind a comment, and more lines than one.
            return inner(
                name)


def rest(seconds):
    time.sleep(seconds)  # line: rest


def step(name):
    Model().forward(name)  # line: step


def own():
    step(b"own_thread")


def thread():
    t = threading.Thread(target=step, args=(b"other_thread",))
    t.start()
    t.join()


def beside():
    step(b"before")
    lib.py_launch_beside(b"beside")  # line: beside


def now():
    for _ in range(12):  # more than have a stack each
        step(b"first")
    step(b"second")


def deep(depth=200):
    if depth:
        return deep(depth - 1)
    return step(b"deep")


def named():
    scope = {"step": step}
    code = "def f\u00fcr():\n    step(b'named')\n\nf\u00fcr()\n"
    exec(compile(code, "/tmp/\u00e4\u20ac \x1b[31m.py", "exec"), scope)


def busy():
    """Threads that come and go, and code that does, while kernels are launched."""
    end = time.time() + 1.5

    def work():
        while time.time() < end:
            scope = {"step": step}
            exec(compile("def f(): step(b'busy')\nf()", "/tmp/made%d.py" % (time.time() * 1e6), "exec"), scope)
            lib.py_launch_beside(b"beside_busy")

    for _ in range(5):
        threads = [threading.Thread(target=work) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def cost():
    def down(depth):
        return down(depth - 1) if depth else lib.py_cost_us(300000)

    print("%.3f us a launch" % down(12))


if lib.py_begin() == 0:
    globals()[sys.argv[2]]()
    rest(float(sys.argv[3]) if len(sys.argv) > 3 else 0.9)
