# SPDX-License-Identifier: Apache-2.0
"""gdb commands for programs that run kernels on gpurt's CPU back end.

    gpurt lanes [BLOCK]                 who stands where: every resident block, or one
    gpurt bt BLOCK THREAD [ARG...]      backtrace of a lane; ARG as for bt, e.g. full
    gpurt apply BLOCK THREAD COMMAND    any command, as if that lane were the current thread

BLOCK and THREAD are numbers, or x,y,z. Load with `source` or gdb's -x.

Lanes are fibers: at a stop all but one of each worker thread lie in memory, on stacks of their
own. Their saved registers are put into the worker's thread while a command looks at them, and
what was there is put back. A core file's registers cannot be changed; there a lane passes for the
caller of the thread's newest frame.
"""
import contextlib
import re

import gdb
import gdb.unwinder

OPERATIONS = ("syncwarp", "ballot", "match_any", "match_all",
              "shfl", "shfl_up", "shfl_down", "shfl_xor")
WARP = 32

# What runtime/simt/fiber_*.S pushes: the names of program counter and stack pointer, where each
# register lies from the saved stack pointer on, and the size of all of it.
FRAMES = {
    "x86-64": ("rip", "rsp", 64, dict(r15=8, r14=16, r13=24, r12=32, rbx=40, rbp=48, rip=56)),
    "aarch64": ("pc", "sp", 176, dict({f"x{19 + i}": 8 * i for i in range(12)}, pc=88)),
}
# ucontext_t on x86-64, for builds with GPURT_FIBER_UCONTEXT: gregs begin at byte 40.
UCONTEXT = {name: 40 + 8 * i for i, name in enumerate(
    "r8 r9 r10 r11 r12 r13 r14 r15 rdi rsi rbp rbx rdx rax rcx rsp rip".split())}


def word_at(address):
    data = gdb.selected_inferior().read_memory(address, 8)
    return int.from_bytes(bytes(data), "little")


def architecture():
    name = gdb.selected_inferior().architecture().name()
    for known in FRAMES:
        if known in name:
            return known
    raise gdb.GdbError(f"gpurt: lanes of {name} cannot be looked into")


def frame_place(frame):
    """Its program counter and stack pointer."""
    return [frame.read_register(name) for name in FRAMES[architecture()][:2]]


# ---- finding things ------------------------------------------------------------------------
class Worker:
    """A worker and the thread it is."""

    def __init__(self, value, thread):
        self.value, self.thread = value, thread

    def blocks(self):
        for i in range(int(self.value["block_count"])):
            yield self.value["blocks"][i].dereference()


def workers_by_thread():
    """Each worker thread knows itself, in thread-local storage."""
    found = []
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        try:
            pointer = gdb.parse_and_eval("simt_worker_self")
            if int(pointer):
                found.append(Worker(pointer.dereference(), thread))
        except gdb.error:  # no libthread_db, or the thread runs
            continue
    return found


def workers_by_name():
    """The open runtime leads to its workers, their number to a thread's name."""
    names = {t.name: t for t in gdb.selected_inferior().threads()}
    for symbol in gdb.lookup_static_symbols("opened"):
        if symbol.type.name != "gpurt_opened_t":
            continue
        device_type = gdb.lookup_type("simt_device_t").pointer()
        backend = gdb.lookup_global_symbol("gpurt_backend_simt")
        opened = symbol.value()
        if not backend or int(opened["ops"]) != int(backend.value().address):
            continue
        device = opened["self"].cast(device_type).dereference()
        workers = [device["workers"][i] for i in range(int(device["worker_count"]))]
        return [Worker(w, names.get(f"gpurt-sm{int(w['index']):02d}")) for w in workers]
    return []


def find_workers():
    if not gdb.selected_inferior().threads():
        raise gdb.GdbError("gpurt: the program is not being run")
    with selection_kept():
        found = workers_by_thread()
        try:
            found = found or workers_by_name()
        except gdb.error:
            pass
    if not found:
        raise gdb.GdbError("gpurt: no worker of the CPU back end is running "
                           "(is gpurt open? was runtime/simt built with -g?)")
    return sorted(found, key=lambda w: int(w.value["index"]))


@contextlib.contextmanager
def selection_kept():
    """Whatever is selected inside, the user's thread and frame are selected again after."""
    thread, level = gdb.selected_thread(), 0
    try:
        level = gdb.selected_frame().level()
    except gdb.error:
        pass
    try:
        yield
    finally:
        if thread and thread.is_valid():
            thread.switch()
            if level:
                gdb.execute(f"frame {level}", to_string=True)


# ---- names ---------------------------------------------------------------------------------
def dims(value):
    return tuple(int(value[axis]) for axis in "xyz")


def block_name(block):
    size, index = dims(block["self"]["grid"]), dims(block["self"]["index"])
    return str(index[0]) if size[1:] == (1, 1) else "(%d,%d,%d)" % index


def ranges(numbers):
    """[0, 1, 2, 5] -> "0..2,5"; the numbers are sorted."""
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(str(a) if a == b else f"{a}..{b}" for a, b in parts)


def parse_place(text, what):
    if not re.fullmatch(r"\d+|\(?\d+,\d+,\d+\)?", text):
        raise gdb.GdbError(f"gpurt: {what} is a number or x,y,z, not '{text}'")
    parts = tuple(int(n) for n in text.strip("()").split(","))
    return parts if len(parts) == 3 else parts[0]


def fits(place, rank, position):
    return place == (position if isinstance(place, tuple) else rank)


# ---- lanes ---------------------------------------------------------------------------------
class Lane:
    def __init__(self, worker, block, rank):
        self.worker, self.block, self.rank = worker, block, rank
        self.value = block["lanes"][rank]

    def name(self):
        kernel = self.block["launch"]["kernel"]["name"].string()
        return f"kernel {kernel}, block {block_name(self.block)} thread {self.rank}"

    def is_current(self):
        return int(self.worker.value["current"]) == int(self.value.address)

    def state(self):
        """(what it does, mask, missing lanes, site), as gdb shows them."""
        lane, fiber = self.value, int(self.value["fiber"])
        kind = STATES.get(int(lane["state"]), "?")
        site = lane["site"].string() if int(lane["site"]) else ""
        mask = missing = ""
        if self.is_current():
            return "runs", mask, missing, ""
        if kind == "SIMT_DONE":
            return "ended", mask, missing, ""
        if kind == "SIMT_AT_WARP":
            warp = lane["warp"].dereference()
            away = ~(int(warp["done"]) | int(warp["waiting"]))
            mask = f"{int(lane['mask']):08x}"
            missing = f"{int(lane['mask']) & int(warp['all']) & away:08x}"
            op = int(lane["op"])
            return (f"in {OPERATIONS[op] if op < len(OPERATIONS) else 'reduce'}",
                    mask, missing, site)
        if kind == "SIMT_AT_BARRIER":
            number = int(lane["barrier"])
            barrier = self.block["barriers"][number]
            wanted = self.block["live"] if number == 0 else barrier["expected"]
            name = f"named barrier {number}" if number else "block barrier"
            return f"at {name}, {int(barrier['arrived'])} of {int(wanted)}", mask, missing, site
        if kind == "SIMT_READY":
            if not int(lane["site"]) and not self.has_begun(fiber):
                return "not begun", mask, missing, ""
            relaxed = int(lane["warp"]["yielded"]) >> (self.rank % WARP) & 1
            spins = int(lane["spins"]) or (relaxed and site)
            return ("spins" if spins else "can run"), mask, missing, site
        return WORDS.get(kind, kind), mask, missing, site

    def has_begun(self, fiber):
        """A fiber that no lane ran on yet stands at its very beginning."""
        if not fiber:
            return False
        return place_of(self.value["fiber"].dereference())[0] != begin_address()

    def runs_on_thread(self):
        """Whether the worker's thread is on this lane's stack: its registers are the lane's."""
        if not int(self.value["fiber"]) or not self.worker.thread:
            return False
        fiber, low = self.value["fiber"], int(self.value["fiber"]["stack"])
        with selection_kept():
            self.worker.thread.switch()
            sp = int(frame_place(gdb.newest_frame())[1])
        return low <= sp <= low + int(fiber["stack_bytes"])


WORDS = {"SIMT_AT_CLUSTER": "at cluster barrier", "SIMT_AT_GRID": "at grid barrier",
         "SIMT_AT_WORD": "asleep at a word", "SIMT_PARKED": "in activemask"}
STATES = {}


def learn_states():
    """The numbers of simt_state_t, from the program itself."""
    if not STATES:
        for field in gdb.lookup_type("simt_state_t").strip_typedefs().fields():
            STATES[field.enumval] = field.name


def begin_address():
    try:
        return int(gdb.parse_and_eval("(unsigned long)&simt_place_begin"))
    except gdb.error:
        return None


def place_of(fiber):
    """(pc, registers) of a fiber that is not running."""
    place, arch = int(fiber["place"]), architecture()
    if begin_address() is None:
        if arch != "x86-64":
            raise gdb.GdbError(f"gpurt: no lanes of ucontext builds on {arch}")
        registers = {name: word_at(place + at) for name, at in UCONTEXT.items()}
        return registers["rip"], registers
    pc, sp, size, offsets = FRAMES[arch]
    registers = {name: word_at(place + at) for name, at in offsets.items()}
    registers[sp] = place + size
    return registers[pc], registers


def find_lane(words):
    block_at, thread_at = parse_place(words[0], "BLOCK"), parse_place(words[1], "THREAD")
    for worker in find_workers():
        for block in worker.blocks():
            if not fits(block_at, int(block["rank"]), dims(block["self"]["index"])):
                continue
            for rank in range(int(block["threads"])):
                lane = Lane(worker, block, rank)
                if fits(thread_at, rank, dims(lane.value["self"]["thread"])):
                    return lane
            raise gdb.GdbError(f"gpurt: block {words[0]} has {int(block['threads'])} threads")
    raise gdb.GdbError(f"gpurt: block {words[0]} is not resident (see `gpurt lanes`)")


# ---- in a lane's place ---------------------------------------------------------------------
def registers_can_change():
    """Not those of a core file."""
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is None or connection.type != "core"


@contextlib.contextmanager
def registers_replaced(registers):
    """The selected thread has these registers, until it gets its own back."""
    thread = gdb.selected_thread()
    gdb.newest_frame().select()
    kept = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in registers}
    try:
        write_registers(thread, registers)
        yield
    finally:
        write_registers(thread, kept)


def write_registers(thread, registers):
    """A write goes to the selected frame: in any but the newest, into saved ones in memory."""
    thread.switch()
    gdb.newest_frame().select()
    for name, value in registers.items():
        gdb.execute(f"set ${name} = {value:#x}", to_string=True)


class FrameId:
    def __init__(self, pc, sp):
        self.pc, self.sp = pc, sp


class CallerUnwinder(gdb.unwinder.Unwinder):
    """For core files, whose registers cannot be changed: while it has a lane's registers, the
    lane passes for the caller of the thread's newest frame, and gdb goes on from there."""

    def __init__(self):
        super().__init__("gpurt lanes")
        self.registers = self.newest = None

    def __call__(self, frame):
        if not self.registers:
            return None
        pc, sp = frame_place(frame)
        if (int(pc), int(sp)) != self.newest:
            return None
        saved = {name: gdb.Value(value).cast(frame.read_register(name).type)
                 for name, value in self.registers.items()}
        # gdb takes a stack that does not grow from callee to caller for a broken one.
        info = frame.create_unwind_info(FrameId(pc, saved[FRAMES[architecture()][1]]))
        for name, value in saved.items():
            info.add_saved_register(name, value)
        return info

    @contextlib.contextmanager
    def calling(self, registers):
        self.newest = tuple(int(value) for value in frame_place(gdb.newest_frame()))
        self.registers = registers
        gdb.invalidate_cached_frames()
        try:
            yield
        finally:
            self.registers = None
            gdb.invalidate_cached_frames()


def run_in_lane(lane, command):
    if STATES.get(int(lane.value["state"])) == "SIMT_DONE":
        raise gdb.GdbError(f"gpurt: {lane.name()} has ended")
    if not int(lane.value["fiber"]):
        raise gdb.GdbError(f"gpurt: {lane.name()} has not begun")
    print(f"{lane.name()}: {' '.join(w for w in lane.state() if w)}")
    with selection_kept():
        if lane.worker.thread:
            lane.worker.thread.switch()
        if lane.runs_on_thread():
            gdb.newest_frame().select()
            gdb.execute(command)
            return
        registers = place_of(lane.value["fiber"].dereference())[1]
        if registers_can_change():
            with registers_replaced(registers):
                gdb.execute(command)
        else:
            print("(below frame #0, which is the thread's own)")
            with UNWINDER.calling(registers):
                gdb.execute(command)


# ---- commands ------------------------------------------------------------------------------
class GpurtCommand(gdb.Command):
    """Look at kernels on gpurt's CPU back end: gpurt lanes, gpurt bt, gpurt apply."""

    def __init__(self):
        super().__init__("gpurt", gdb.COMMAND_STACK, prefix=True)


class LanesCommand(gdb.Command):
    """gpurt lanes [BLOCK]: what every lane of the resident blocks does, alike ones together.
MASK and MISSING are of the warp operation a lane waits in: MISSING has not come yet."""

    def __init__(self):
        super().__init__("gpurt lanes", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        place = parse_place(words[0], "BLOCK") if words else None
        learn_states_or_say()
        for worker in find_workers():
            self.print_worker(worker, place)

    def print_worker(self, worker, place):
        blocks = [b for b in worker.blocks() if place is None or
                  fits(place, int(b["rank"]), dims(b["self"]["index"]))]
        thread = f", thread {worker.thread.num}" if worker.thread else ""
        print(f"worker {int(worker.value['index'])}{thread}: "
              f"{int(worker.value['block_count'])} blocks resident")
        if not blocks:
            return
        rows = [("KERNEL", "BLOCK", "THREADS", "STATE", "MASK", "MISSING", "SITE")]
        for block in blocks:
            rows += self.block_rows(worker, block)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            print(("  " + "  ".join(w.ljust(n) for w, n in zip(row, widths))).rstrip())

    def block_rows(self, worker, block):
        alike = {}
        for rank in range(int(block["threads"])):
            alike.setdefault(Lane(worker, block, rank).state(), []).append(rank)
        kernel = block["launch"]["kernel"]["name"].string()
        return [(kernel, block_name(block), ranges(ranks), *state)
                for state, ranks in alike.items()]


class BacktraceCommand(gdb.Command):
    """gpurt bt BLOCK THREAD [ARG...]: backtrace of a lane; ARG as for bt, e.g. full."""

    def __init__(self):
        super().__init__("gpurt bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) < 2:
            raise gdb.GdbError("gpurt bt BLOCK THREAD [ARG...]")
        learn_states_or_say()
        run_in_lane(find_lane(words), " ".join(["backtrace"] + words[2:]))


RUNNING = ("c continue s step n next si stepi ni nexti fin finish u until adv advance j jump "
           "r run start starti k kill detach return signal").split()


class ApplyCommand(gdb.Command):
    """gpurt apply BLOCK THREAD COMMAND: any gdb command, as if the lane were the thread."""

    def __init__(self):
        super().__init__("gpurt apply", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(None, 2)
        if len(words) < 3:
            raise gdb.GdbError("gpurt apply BLOCK THREAD COMMAND")
        if words[2].split()[0] in RUNNING:
            raise gdb.GdbError("gpurt apply looks only: it cannot let a lane run")
        learn_states_or_say()
        run_in_lane(find_lane(words), words[2])


def learn_states_or_say():
    try:
        learn_states()
    except gdb.error as error:
        raise gdb.GdbError("gpurt: this program does not hold the CPU back end, or holds it "
                           "without debug information") from error


UNWINDER = CallerUnwinder()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)
GpurtCommand()
LanesCommand()
BacktraceCommand()
ApplyCommand()
