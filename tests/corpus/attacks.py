"""A table of attacks: programs that try to reach past their own process, or to use it up.

Each says what it would have reached where nothing held it. `$W` stands for a file outside to write,
`$R` for a secret file to read, `$P` for a port that listens on this machine. Where a program leaves
something in `ret`, that is its loot. The scope has two primitives, `pick(name)` and `look()`, also
as `robot.pick` and `robot.look`.
"""

# ruff: noqa: E501  one attack a line reads better than its pieces
from __future__ import annotations

from dataclasses import dataclass

REFUSED = ("syntax", "violation", "undefined")


@dataclass(frozen=True)
class Attack:
    """One attack."""

    family: str
    """What kind of hole it looks for."""
    name: str
    """Unique in its family."""
    reaches: str
    """What it would have reached."""
    source: str
    """The program."""
    ends: tuple[str, ...] = REFUSED
    """Kinds of failure it must end with; `value` where it may end with a harmless value."""

    @property
    def id(self) -> str:
        """Return family and name, for test reports."""
        return f"{self.family}: {self.name}"


ATTACKS: list[Attack] = []


def _family(family: str, entries: dict[str, str], ends: tuple[str, ...] = REFUSED) -> None:
    """Add a family; each key is `name | what it reaches`."""
    for title, source in entries.items():
        name, reaches = title.split(" | ")
        ATTACKS.append(Attack(family, name, reaches, source, ends))


# Finds the `os` functions by way of a class every interpreter has.
_OS = (
    "os = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__enter__.__globals__\n"
)

_family(
    "dunder walk",
    {
        "subclasses of object | every class of the interpreter": (
            "ret = [str(c) for c in ().__class__.__base__.__subclasses__()]"
        ),
        "by the mro | the same by another road": "ret = str([].__class__.__mro__[1].__subclasses__())",
        "by bases | the same by a third": "ret = str(''.__class__.__bases__[0].__subclasses__())",
        "shell by wrap_close | a shell on the host": _OS + "os['system']('touch $W')",
        "shell by how it is made | the same": (
            _OS.replace("__enter__", "__init__") + "os['system']('touch $W')"
        ),
        "popen | a shell with its output": _OS + "ret = os['popen']('cat $R').read()",
        "environment | keys in the environment": _OS + "ret = dict(os['environ'])",
        "folder listing | names of the host's files": _OS + "ret = os['listdir']('/root')",
        "kill the parent | the robot's own process": _OS + "os['kill'](os['getppid'](), 9)",
        "by catch_warnings | a module by a warning's globals": (
            "w = [c for c in ().__class__.__base__.__subclasses__() if 'warning' in c.__name__]\n"
            "ret = w[0].__init__.__globals__['sys'].modules['os'].system('touch $W')"
        ),
        "loader of a class | any module": (
            "for c in ().__class__.__base__.__subclasses__():\n"
            "    if c.__name__ == 'BuiltinImporter':\n"
            "        c.load_module('posix').system('touch $W')"
        ),
        "function globals | the program's own builtins": (
            "def f(): pass\nf.__globals__['__builtins__']['open']('$W', 'w')"
        ),
        "lambda builtins | the same of a lambda": "ret = (lambda: 0).__builtins__['open']('$R').read()",
        "method's function | globals of a class": (
            "class A:\n    def f(self): pass\nret = str(A().f.__func__.__globals__)"
        ),
        "dict of a class | methods as plain functions": "ret = str(str.__dict__)",
        "dict of an instance | hidden attributes": "ret = str(Point(0, 0).__dict__)",
        "closure cells | values a function holds": (
            "def f():\n    a = 1\n    return lambda: a\nret = f().__closure__[0].cell_contents"
        ),
        "defaults | a function's defaults, to change them": (
            "def f(a=1): return a\nf.__defaults__ = (2,)\nret = f()"
        ),
        "globals of a library | a library module's names": (
            "ret = affinity.rotate.__globals__['__builtins__']['open']('$R').read()"
        ),
        "self of a builtin | the builtins module": "ret = print.__self__.open('$R').read()",
        "class written over | another class for an object": (
            "class A: pass\nclass B: pass\na = A()\na.__class__ = B\nret = str(a)"
        ),
        "reduce | a recipe that calls anything": "ret = str((1).__reduce_ex__(2)[0].__globals__)",
        "init of subclasses | a hook of every class": "ret = str(object.__init_subclass__)",
        "getattribute by hand | any attribute, by a text": (
            "ret = str(object.__getattribute__((), '__class__'))"
        ),
        "in an assert message | a dunder in a message": "assert False, ().__class__.__base__",
        "in an annotation | annotations are evaluated": "x: ().__class__.__base__ = 1",
        "in a return annotation | so are those of functions": (
            "def f() -> ().__class__.__base__: pass"
        ),
        "in a del | deletes what it walks to": "class A: pass\ndel A.__doc__",
        "as a loop target | stores by a loop": "class A: pass\nfor A.__module__ in ['x']: pass",
        "as a with target | stores by a with": (
            "class A:\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\n"
            "with A() as A.__bases__: pass"
        ),
        "augmented | stores by +=": "class A: pass\nA.__module__ += 'x'",
    },
)

_family(
    "builtins",
    {
        "open for reading | a file of the host": "ret = open('$R').read()",
        "open for writing | a file on the host": "open('$W', 'w').write('x')",
        "open, another name | the same": "o = open\nret = o('$R').read()",
        "open as a default | the same, at definition": "def f(o=open): return o('$R').read()\nret = f()",
        "open as a key | the same, by max": "ret = max(['$R'], key=open)",
        "open by map | the same, by map": "ret = [f.read() for f in map(open, ['$R'])]",
        "open in a decorator | the same, by @": "@open\ndef f(): pass",
        "open in a lambda | the same, later": "f = lambda: open('$R').read()\nret = f()",
        "open in a class body | the same, in a class": "class A:\n    x = open('$R').read()\nret = A.x",
        "open in a comprehension | the same": "ret = [f for f in [open('$R').read()]]",
        "open in an f-string | the same": "ret = f'{open(\"$R\").read()}'",
        "exec | any statement": "exec('import os; os.system(\"touch $W\")')",
        "eval | any expression": "ret = eval('__import__(\"os\").environ')",
        "eval as a key | the same, by sorted": "sorted(['__import__(\"os\").abort()'], key=eval)",
        "compile | a code object": "ret = str(compile('1', 'a', 'eval').co_code)",
        "import function | any module": "__import__('os').system('touch $W')",
        "builtins dict | every builtin": "__builtins__['open']('$W', 'w')",
        "builtins attribute | the same where it is a module": "__builtins__.open('$W', 'w')",
        "delattr | any attribute gone": "delattr(np, 'array')",
        "globals | the namespace itself": "ret = globals()['__builtins__']['open']('$R').read()",
        "locals | the same": "locals()['pick'] = print",
        "vars | the dict of anything": "ret = str(vars(robot))",
        "dir | names of anything": "ret = dir(robot.pick)",
        "input | waits for ever": "ret = input()",
        "breakpoint | a debugger": "breakpoint()",
        "help | a pager": "help('os')",
        "license | a pager": "license()",
        "exit | ends the process": "exit(0)",
        "quit | ends the process": "quit()",
        "memoryview | memory": "ret = memoryview(b'abc').tolist()",
        "anext | a coroutine": "ret = str(anext(1))",
        "build class | a class from a function": "ret = __build_class__(lambda: None, 'A')",
        "debug | a name of the interpreter": "ret = __debug__",
        "spec | the module's own loader": "ret = __spec__",
        "loader | the same": "ret = __loader__",
        "file | a path of the host": "ret = __file__",
    },
)

_family(
    "imports",
    {
        "os | the system": "import os\nos.system('touch $W')",
        "sys | every loaded module": "import sys\nret = sys.modules['os'].environ",
        "posix | the system, below os": "import posix\nposix.system('touch $W')",
        "subprocess | processes": "import subprocess\nret = subprocess.check_output(['cat', '$R'])",
        "socket | the network": "import socket\nsocket.create_connection(('127.0.0.1', $P))",
        "ctypes | memory": "import ctypes\nctypes.string_at(0)",
        "importlib | any module": "import importlib\nimportlib.import_module('os').system('touch $W')",
        "builtins module | every builtin": "import builtins\nret = builtins.open('$R').read()",
        "pathlib | files": "from pathlib import Path\nPath('$W').touch()",
        "shutil | files": "import shutil\nshutil.copy('$R', '$W')",
        "pickle | runs what it reads": (
            "import pickle\nret = pickle.loads(b\"cos\\nsystem\\n(S'touch $W'\\ntR.\")"
        ),
        "marshal | code objects": "import marshal\nret = marshal.loads(b'i\\x01\\x00\\x00\\x00')",
        "gc | every object": "import gc\nret = str(gc.get_objects()[:3])",
        "inspect | frames": "import inspect\nret = str(inspect.currentframe().f_back)",
        "code module | an interpreter": "import code\ncode.interact()",
        "threading | threads": "import threading\nthreading.Thread(target=print).start()",
        "multiprocessing | processes": "import multiprocessing\nmultiprocessing.Process().start()",
        "signal | handlers of the kernel's alarms": "import signal\nsignal.signal(2, print)",
        "resource | the limits themselves": "import resource\nresource.setrlimit(0, (-1, -1))",
        "mmap | memory of files": "import mmap\nret = mmap.mmap(-1, 10).size()",
        "urllib | the network": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:$P')",
        "inside a function | the same, hidden": "def f():\n    import os\n    os.system('touch $W')\nf()",
        "inside a class | the same, hidden": "class A:\n    import os\nA.os.system('touch $W')",
        "from | one name": "from os import system\nsystem('touch $W')",
        "star | every name": "from os import *\nsystem('touch $W')",
        "as a known name | hidden behind a name in scope": "import os as np\nnp.system('touch $W')",
        "from, as a known name | the same": "from os import system as box\nbox('touch $W')",
        "submodule | a module below a known one": "import numpy.f2py\nnumpy.f2py.os.system('touch $W')",
        "two in one | one good, one bad": "import math, os\nos.system('touch $W')",
        "relative | the package around the program": "from . import secrets",
        "relative, deeper | the same": "from ..sandbox import worker",
        "the engine | the engine's own modules": "import cap.sandbox.worker.worker\nret = str(cap)",
        "from a name in scope | a private name of a known one": "from numpy import _core",
        "future | another language": "from __future__ import barry_as_FLUFL",
        "shapely | all of shapely": "import shapely.lib\nret = str(shapely.lib)",
        "antigravity | a browser": "import antigravity",
    },
)

_family(
    "frames",
    {
        "of a generator | the frame that resumes it": (
            "g = (g.gi_frame.f_back.f_back for _ in [1])\nret = str([*g][0].f_globals)"
        ),
        "builtins of a frame | every builtin": (
            "def f(): yield\ng = f()\nret = g.gi_frame.f_builtins['open']('$R').read()"
        ),
        "globals of a frame | the namespace": "g = (x for x in [1])\nret = str(g.gi_frame.f_globals)",
        "locals of a frame | another function's values": (
            "g = (x for x in [1])\nret = str(g.gi_frame.f_locals)"
        ),
        "code of a frame | a code object": "g = (x for x in [1])\nret = str(g.gi_frame.f_code)",
        "yield from | the generator below": (
            "def f(): yield from [1]\ng = f()\nnext(g)\nret = str(g.gi_yieldfrom)"
        ),
        "running | the state of a generator": "g = (x for x in [1])\nret = g.gi_running",
        "suspended | the state of a generator": "g = (x for x in [1])\nret = g.gi_suspended",
        "traceback | the frame of an error": (
            "try:\n    1 / 0\nexcept Exception as e:\n"
            "    ret = str(e.__traceback__.tb_frame.f_back.f_globals)"
        ),
        "traceback given | the same by with_traceback": (
            "try:\n    1 / 0\nexcept Exception as e:\n    ret = str(e.with_traceback(None))"
        ),
        "traceback of exit | the same by a context manager": (
            "class A:\n    def __enter__(self): return self\n"
            "    def __exit__(self, kind, error, trace):\n"
            "        self.loot = str(trace.tb_frame.f_back.f_globals)\n        return True\n"
            "a = A()\nwith a:\n    1 / 0\nret = a.loot"
        ),
        "next traceback | the frames in between": (
            "class A:\n    def __enter__(self): return self\n"
            "    def __exit__(self, k, e, t):\n        self.t = t.tb_next\n        return True\n"
            "a = A()\nwith a: 1 / 0"
        ),
        "line of a traceback | where it stands": (
            "class A:\n    def __enter__(self): return 1\n"
            "    def __exit__(self, k, e, t): return t.tb_lineno\nwith A(): 1 / 0"
        ),
        "trace function | a hook in a frame": "g = (x for x in [1])\ng.gi_frame.f_trace = print",
        "jump | runs any line": "g = (x for x in [1])\ng.gi_frame.f_lineno = 1",
        "back only | any frame's caller": "def f(x): return x.f_back\nret = str(f(1))",
        "context of an error | the error before": (
            "try:\n    try: 1 / 0\n    except Exception: [][0]\nexcept Exception as e:\n"
            "    ret = str(e.__context__.__traceback__)"
        ),
    },
)

_family(
    "code objects",
    {
        "of a function | bytecode": "def f(): pass\nret = str(f.__code__.co_code)",
        "replaced | another function's code": (
            "def f(): pass\ndef g(): return 1\nf.__code__ = g.__code__\nret = f()"
        ),
        "by replace | bytecode of one's own": (
            "def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'd\\x00S\\x00')\nf()"
        ),
        "function type | a function with real builtins": (
            "def f(): return open('$R').read()\nret = type(f)(f.__code__, {})()"
        ),
        "code type | memory, by bad bytecode": (
            "def f(): pass\nret = str(type(f.__code__)(0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', 0))"
        ),
        "constants | inner functions": "def f(): return lambda: 1\nret = str(f.__code__.co_consts)",
        "names | the names it uses": "def f(x): return x.co_names\nret = f(1)",
        "code of a generator | bytecode": "g = (x for x in [1])\nret = str(g.gi_code.co_code)",
        "old spelling | the same in an old Python": "def f(): pass\nret = str(f.func_globals)",
        "kwdefaults | changed defaults": "def f(*, a=1): return a\nf.__kwdefaults__['a'] = 2\nret = f()",
        "annotations | what was evaluated": "def f(a: int): pass\nf.__annotations__ = {}",
        "wrapped | what is below a decorator": "def f(): pass\nf.__wrapped__ = print",
    },
)

_family(
    "format",
    {
        "attribute | any attribute, in a text": "ret = '{0.__class__.__base__}'.format(())",
        "chain | a function's globals, in a text": (
            "def f(): pass\nret = '{0.__globals__}'.format(f)"
        ),
        "index | an entry, in a text": "ret = '{0[0].__class__.__base__}'.format([1])",
        "by keyword | the same by name": "ret = '{a.__class__.__base__}'.format(a=1)",
        "in the width | a field in a field": "ret = '{0:{1.__class__.__base__}}'.format(1, 2)",
        "format_map | attributes by a dict": "ret = '{a.__class__.__base__}'.format_map({'a': 1})",
        "taken | the method, kept": "f = '{0.__class__.__base__}'.format\nret = f(1)",
        "by map | the method, mapped": "ret = [*map('{0.__class__.__base__}'.format, [1])]",
        "as a key | the method, as a key": "ret = max([1], key='{0.__class__.__base__}'.format)",
        "joined text | a template from two literals": "ret = ('{0.__class' '__.__base__}').format(1)",
        "match | the method, matched": "match '{0.__class__.__base__}':\n    case str(format=f): ret = f(1)",
    },
)

_family(
    "unicode",
    {
        "italic exec | the same": "𝑒𝑥𝑒𝑐('1')",
        "bold open | the same": "ret = 𝐨𝐩𝐞𝐧('$R').read()",
        "script eval | the same": "ret = ℯ𝓋𝒶𝓁('1')",
        "full width underscore | a dunder in other letters": "ret = str(().＿＿class＿＿)",
        "low line | a dunder by another line": "ret = str(().﹍﹍class﹍﹍)",
        "double struck import | a module": "𝕚𝕞𝕡𝕠𝕣𝕥 os",
        "import of other letters | a module": "import ｏｓ\nos.system('touch $W')",
        "name bound | a primitive bound in other letters": "ｐｉｃｋ = print",
        "keyword argument | a private keyword": "def f(**k): return k\nret = f(＿x=1)",
        "match attribute | in a pattern": "match ():\n    case object(＿＿class＿＿=c): ret = str(c)",
        "format method | in other letters": "ret = '{0.__class__.__base__}'.ｆｏｒｍａｔ(1)",
        "frame | in other letters": "g = (x for x in [1])\nret = str(g.ｇｉ_frame)",
        "escaped in a literal | a name in a text alone": "ret = str(().\\u005f_class__)",
        "global | in a global statement": "def f():\n    global ｐｉｃｋ\n    ｐｉｃｋ = 1\nf()",
        "encoding line | text in another coding": "# -*- coding: utf-7 -*-\nimport os",
    },
)

_family(
    "numpy files",
    {
        "load | a file, and code in it": "ret = np.load('$R', allow_pickle=True)",
        "save | a file written": "np.save('$W', np.ones(3))",
        "savez | a file written": "np.savez('$W', np.ones(3))",
        "savez_compressed | a file written": "np.savez_compressed('$W', np.ones(3))",
        "savetxt | a file written": "np.savetxt('$W', np.ones(3))",
        "loadtxt | a file, as text": "ret = np.loadtxt('$R', dtype=str).tolist()",
        "genfromtxt | a file, or an address": "ret = np.genfromtxt('$R', dtype=str).tolist()",
        "genfromtxt, network | the network": "ret = np.genfromtxt('http://127.0.0.1:$P/')",
        "fromfile | a file, as bytes": "ret = np.fromfile('$R', dtype='u1').tobytes()",
        "tofile | a file written": "np.ones(3).tofile('$W')",
        "dump | a file written": "np.ones(3).dump('$W')",
        "dumps | a pickle": "ret = np.ones(3).dumps()",
        "memmap | a file, as memory": "ret = bytes(np.memmap('$R', mode='r'))",
        "memmap for writing | a file made": "np.memmap('$W', mode='w+', shape=(3,))",
        "fromregex | a file, by a pattern": "ret = np.fromregex('$R', '.*', 'S9').tolist()",
        "fromstring | text, evaluated": "ret = np.fromstring('1 2', sep=' ').tolist()",
        "DataSource | an address": "ret = np.lib.npyio.DataSource().open('$R').read()",
        "method, taken | the method kept": "f = np.ones(3).tofile\nf('$W')",
        "method of the class | unbound": "np.ndarray.tofile(np.ones(3), '$W')",
        "by map | mapped": "[*map(np.loadtxt, ['$R'])]",
        "matched | the method, by a pattern": "match np.ones(3):\n    case object(tofile=f): f('$W')",
    },
)
# What the check cannot follow, the facades of the modules answer.
_family(
    "aliases",
    {
        "numpy files | the files of numpy": "n = np\nn.save('$W', [1])",
        "numpy in a list | the same": "ret = [np][0].load('$R')",
        "numpy as an argument | the same": "def f(n): return n.fromfile('$R')\nret = f(np)",
        "linalg | modules below it": "l = np.linalg\nl.linalg.warnings",
        "random | the state below it": "r = np.random\nret = r.mtrand",
        "math | what is no function of it": "m = math\nret = m.system",
        "affinity | its own imports": "a = affinity\nret = str(a.np)",
    },
    ends=("raised",),
)

_family(
    "numpy walk",
    {
        "f2py | a compiler": "np.f2py.compile('x')",
        "ctypeslib | shared libraries": "np.ctypeslib.load_library('libc', '/lib')",
        "testing | runs text": "np.testing.rundocs('$R')",
        "lib | modules below": "ret = np.lib.npyio.os.environ",
        "core | the same": "ret = np.core.multiarray.os",
        "_core | the same": "ret = np._core._methods.os",
        "linalg module | warnings, then sys": "ret = np.linalg.linalg.warnings.sys.modules",
        "linalg test | a test runner": "np.linalg.test()",
        "fft test | a test runner": "np.fft.test()",
        "test | a test runner": "np.test()",
        "compat | modules below": "ret = np.compat.os.environ",
        "distutils | a compiler": "np.distutils.exec_command.exec_command('touch $W')",
        "random state | memory of a generator": "ret = str(np.random.default_rng(0).bit_generator.ctypes)",
        "mtrand | modules below": "ret = np.random.mtrand",
        "rec | arrays of records": "ret = np.rec.fromfile('$R', formats='S9')",
        "bmat | names, by a text": "ret = np.bmat('pick')",
        "matrix | text, evaluated": "ret = np.matrix('1 2; 3 4').tolist()",
        "frompyfunc | objects, unchecked": "ret = np.frompyfunc(print, 1, 1)(1)",
        "nditer | memory, unchecked": "ret = str(np.nditer([1]))",
        "show_config | paths of the host": "np.show_config()",
        "get_include | a path of the host": "ret = np.get_include()",
        "seterrcall | a hook": "np.seterrcall(print)",
        "info | text of any object, from files": "np.info('os')",
        "char | modules below": "ret = np.char.array(['a'])",
        "ma | modules below": "ret = str(np.ma.core)",
        "polynomial | modules below": "ret = str(np.polynomial.polynomial.np)",
        "exceptions | a module": "ret = str(np.exceptions)",
        "dtypes | a module": "ret = str(np.dtypes)",
        "loader of the facade | the facade's maker": "ret = str(np.__class__.__init__.__globals__)",
        "dict of the facade | every name": "ret = str(np.__dict__)",
    },
)

_family(
    "array memory",
    {
        "data | a buffer": "ret = str(np.ones(3).data)",
        "ctypes | an address": "ret = np.ones(3).ctypes.data",
        "interface | an address, as a number": "ret = np.ones(3).__array_interface__['data'][0]",
        "struct | a capsule": "ret = str(np.ones(3).__array_struct__)",
        "setflags | a read-only array, written": "a = np.ones(3)\na.setflags(write=1)",
        "flag written | the same by the flag": "a = np.ones(3)\na.flags.writeable = True",
        "resize | freed memory": "a = np.ones(3)\nb = a[:]\na.resize(10**6, refcheck=False)\nret = b",
        "setfield | raw bytes": "a = np.ones(3)\na.setfield(1, 'i1')",
        "getfield | raw bytes": "ret = np.ones(3).getfield('i1').tolist()",
        "base | the array below": "ret = str(np.ones(3)[1:].base)",
        "frombuffer | memory": "ret = np.frombuffer(b'12345678').tolist()",
        "fake interface | any address": (
            "class A:\n    __array_interface__ = {'data': (4096, False), 'typestr': '<i8',"
            " 'shape': (1,), 'version': 3}\nret = np.asarray(A()).tolist()"
        ),
        "fake interface, by a method | any address": (
            "class A:\n    @property\n    def __array_interface__(self): return {}\nnp.asarray(A())"
        ),
        "array method | an object for an array": (
            "class A:\n    def __array__(self): return np.ones(1)\nret = np.asarray(A())"
        ),
        "ufunc override | a hook of numpy": (
            "class A:\n    def __array_ufunc__(self, *a): return a\nret = str(np.add(A(), 1))"
        ),
        "from_dlpack | a capsule": "ret = np.from_dlpack(np.ones(1))",
        "strides | memory outside": "ret = np.lib.stride_tricks.as_strided(np.ones(1), (99,), (8,))",
        "sharing | what shares memory": "ret = np.shares_memory(np.ones(1), np.ones(1))",
    },
)

_FORGED = "a = np.array([4096])\n"
_family(
    "forged objects",
    {
        "array class | memory taken for objects": (
            _FORGED + "ret = str(np.ndarray((1,), dtype=object, buffer=a)[0])"
        ),
        "class of an array | the same by type()": (
            _FORGED + "ret = str(type(a)((1,), dtype=object, buffer=a)[0])"
        ),
        "array class, kept | the same by another name": (
            _FORGED + "make = np.ndarray\nret = str(make((1,), dtype=object, buffer=a)[0])"
        ),
        "array class, subclassed | the same by a subclass": (
            _FORGED + "class A(np.ndarray): pass\nret = str(A((1,), dtype=object, buffer=a)[0])"
        ),
        "array class, generic | the same by an alias": (
            _FORGED + "ret = str(np.ndarray[int]((1,), dtype=object, buffer=a)[0])"
        ),
        "view | numbers seen as objects": _FORGED + "ret = str(a.view(object)[0])",
        "record | fields that overlap": (
            "d = np.dtype({'names': ['a', 'b'], 'formats': ['O', 'i8'], 'offsets': [0, 0]})"
        ),
        "class of classes | classes of any names": (
            "ret = str(type(int)('A', (), {'__array_interface__': 1}))"
        ),
        "class of classes, kept | the same": "make = type(object)\nmake('A', (), {})",
        "class of classes, as a base | a metaclass": "class M(type(int)): pass\nM('A', (), {})",
        "class of a function | a function of any code": "ret = type(lambda: 0)(1, {})",
        "class of a generator's method | objects of the interpreter": "ret = type(print)()",
        "names of a text | names of the frame": "ret = np.r_['pick, look']",
    },
    ends=("raised",),
)

_family(
    "marked names",
    {
        "methods of texts | a template that reads any attribute": (
            "text\U000e01ef = lambda v: v\nt = '{0.__class__.__mro__}'\nret = t.format(1)"
        ),
        "class of a value | a class that is closed": (
            "def kind\U000e01ef(v): return v\nret = str((5).__class__)"
        ),
        "an undefined name | what no program writes": "def f(): return nothing\U000e01ef\nf()",
    },
)

_family(
    "classes and records",
    {
        "a field renamed while its class is made | Python's own builtins, by the code that is written": (
            "from dataclasses import dataclass, field\n"
            "f = field(default=1)\n"
            "def hook(cls):\n"
            '    f.name = \'a" + open("$R").read() #\'\n'
            "    cls.x.name = f.name\n"
            "    return 5\n"
            "@dataclass(init=False, eq=False)\n"
            "class C:\n"
            "    x: int = f\n"
            "    y: int = classmethod(property(hook))\n"
            "ret = repr(C())"
        ),
        "a field renamed by an inherited default | the same": (
            "from dataclasses import dataclass, field\n"
            "f = field(default=1)\n"
            "class B:\n"
            "    y = classmethod(property(lambda cls: setattr(cls.x, 'name', 'a\" + open(\"$R\").read() #')))\n"
            "@dataclass(init=False, eq=False)\n"
            "class C(B):\n"
            "    x: int = f\n"
            "    y: int\n"
            "ret = repr(C())"
        ),
        "a field renamed by a flag | the same": (
            "from dataclasses import dataclass, field\n"
            "class Flag:\n"
            "    def __bool__(self):\n"
            '        C.x.name = \'a" + str(open("$W", "w")) #\'\n'
            "        return True\n"
            "class C:\n"
            "    x: int = field(default=1)\n"
            "    y: int = field(default=1, repr=Flag())\n"
            "C.x.name\n"
            "ret = repr(dataclass(init=False)(C)()).undefined"
        ),
        "a field renamed by an option | the same": (
            "from dataclasses import dataclass, field\n"
            "class Flag:\n"
            "    def __bool__(self):\n"
            '        C.x.name = \'a" + str(open("$W", "w")) #\'\n'
            "        return True\n"
            "class C:\n"
            "    x: int = field(default=1)\n"
            "ret = repr(dataclass(C, init=False, repr=Flag())()).undefined"
        ),
        "a library's class made a data class | another meaning of it": (
            "from dataclasses import dataclass\n"
            "from types import SimpleNamespace\n"
            "ret = str(dataclass(SimpleNamespace))"
        ),
        "a frame by a named tuple | the worker's globals": (
            "from abc import ABC\n"
            "from collections import namedtuple\n"
            "from types import GeneratorType\n"
            'class X(namedtuple("N", ["gi_frame"]), ABC): pass\n'
            "X.register(GeneratorType)\n"
            "def g():\n"
            "    yield 1\n"
            "match g():\n"
            "    case X(frame): ret = str(frame)\n"
            "frame"
        ),
        "a frame by a typed named tuple | the same": (
            "from abc import ABC\n"
            "from typing import NamedTuple\n"
            "class N(NamedTuple):\n"
            "    gi_frame: int\n"
            "class X(N, ABC): pass\n"
            "def g():\n"
            "    yield 1\n"
            "X.register(type(g()))\n"
            "def g():\n"
            "    yield 1\n"
            "match g():\n"
            "    case X(frame): ret = str(frame)\n"
            "frame"
        ),
        "a frame by an iterator | the same": (
            "from collections import namedtuple\n"
            "from collections.abc import Iterator\n"
            'class X(namedtuple("N", ["gi_frame"]), Iterator):\n'
            "    def __next__(self): pass\n"
            "def g():\n"
            "    yield 1\n"
            "X.register(type(g()))\n"
            "def g():\n"
            "    yield 1\n"
            "match g():\n"
            "    case X(frame): ret = str(frame)\n"
            "frame"
        ),
        "a frame of a traceback by a number | the same": (
            "from collections import namedtuple\n"
            "from numbers import Number\n"
            'class X(namedtuple("N", ["tb_frame"]), Number): pass\n'
            "class M:\n"
            "    def __enter__(self): pass\n"
            "    def __exit__(self, kind, error, trace):\n"
            "        X.register(type(trace))\n"
            "        match trace:\n"
            "            case X(frame): self.frame = frame\n"
            "        return True\n"
            "m = M()\n"
            "with m: 1 / 0\n"
            "ret = str(m.frame)"
        ),
        "memory by a named tuple | raw memory of an array": (
            "from abc import ABC\n"
            "from collections import namedtuple\n"
            'class X(namedtuple("N", ["data"]), ABC): pass\n'
            "X.register(type(np.zeros(1)))\n"
            "match np.arange(3):\n"
            "    case X(memory): ret = str(memory)\n"
            "memory"
        ),
        "format by a named tuple | a template that reads any attribute": (
            "from abc import ABC\n"
            "from collections import namedtuple\n"
            'class X(namedtuple("N", ["format"]), ABC): pass\n'
            "X.register(str)\n"
            'match "{0.__class__.__mro__}":\n'
            "    case X(f): ret = f(1)\n"
            "f"
        ),
        "format by a data class of a text | the same": (
            "from dataclasses import dataclass\n"
            "@dataclass(init=False)\n"
            "class X(str):\n"
            "    format: int\n"
            'match X("{0.__class__.__mro__}"):\n'
            "    case X(f): ret = f(1)"
        ),
        "format by a text that is registered | the same": (
            "from abc import ABC\n"
            "from dataclasses import dataclass\n"
            "@dataclass\n"
            "class X(ABC):\n"
            "    format: int\n"
            "class T(str): pass\n"
            "X.register(T)\n"
            'match T("{0.__class__.__mro__}"):\n'
            "    case X(f): ret = f(1)\n"
            "f"
        ),
        "a class of the library that is registered | what the library takes for a number": (
            "from numbers import Number\nNumber.register(str)\nret = isinstance('', Number)"
        ),
        "the same in a class of one's own | a pattern that takes another's": (
            "from abc import ABCMeta\nclass X(metaclass=ABCMeta): pass\n"
            "X.register(int)\nret = isinstance(1, X)"
        ),
        "the same by another's hand | the same": (
            "from abc import ABC\nclass X(ABC): pass\n"
            "np.vectorize(X.register, otypes=[object])([int])\nret = isinstance(1, X)"
        ),
        "a class by data | a class with any names": (
            'from abc import ABCMeta\nX = ABCMeta("X", (), {"__match_args__": ("gi_frame",)})'
        ),
        "a class by data that lies | memory taken for an array": (
            "from abc import ABCMeta\n"
            "class D(dict):\n"
            "    def items(self): return []\n"
            'X = ABCMeta("X", (), D({"__array_interface__": {"version": 3, "shape": (4,), "typestr": "<i8", "data": (id(D), False)}}))\n'
            "ret = np.array(X(), copy=False)"
        ),
        "a class by names that lie | a class that watches": (
            "from abc import ABCMeta\n"
            "class S(str):\n"
            "    def startswith(self, *a): return False\n"
            'X = ABCMeta("X", (), {S("__getattribute__"): lambda s, n: n})'
        ),
        "the insides of a class, copied | functions by which a class is made": (
            "from functools import wraps\n"
            "from types import SimpleNamespace\n"
            "from dataclasses import dataclass\n"
            "@dataclass\n"
            "class C:\n"
            '    x: "Path"\n'
            "ret = str(wraps(C)(SimpleNamespace()))"
        ),
        "a written function's hints | names of the worker": (
            "from dataclasses import dataclass\n"
            "from functools import singledispatch, wraps\n"
            "@dataclass\n"
            "class C:\n"
            "    x: int = 1\n"
            'def f(v: "Path"): pass\n'
            "@singledispatch\n"
            "def h(v): pass\n"
            "wraps(f)(C.__eq__)\n"
            "h.register(C.__eq__)\n"
            "ret = str(list(h.registry)[1])"
        ),
        "fields of a record, compared | memory taken for objects": (
            'd = np.dtype([("o", "O"), ("i", "i8")])\n'
            "class E:\n"
            "    def __eq__(self, other):\n"
            "        self.got = other\n"
            "        return True\n"
            "e = E()\n"
            "'fields'\nd.fields == e\n"
            'e.got["i"] = (np.dtype("i8"), 0)'
        ),
        "fields of a record, joined | the same": (
            'd = np.dtype([("o", "O"), ("i", "i8")])\n'
            "class E:\n"
            "    def __ror__(self, other):\n"
            "        self.got = other\n"
            "        return 1\n"
            "e = E()\n"
            "'fields'\nd.fields | e\n"
            'e.got["i"] = (np.dtype("i8"), 0)'
        ),
        "groups of a pattern, compared | a pattern that the library keeps": (
            "import re\n"
            "class E:\n"
            "    def __eq__(self, other):\n"
            '        other["a"] = 99\n'
            "        return True\n"
            '"groupindex"\nre.compile("(?P<a>x)").groupindex == E()'
        ),
        "a module as a namespace | another meaning of a library's function": (
            "import math\n"
            "from types import SimpleNamespace\n"
            "class K(SimpleNamespace):\n"
            "    def __init__(self, target, **named):\n"
            "        SimpleNamespace.__init__(target, **named)\n"
            "K(math, sqrt=lambda v: 1)"
        ),
        "the limit of output, forged by a class | the same": (
            "from abc import ABCMeta\n"
            'raise ABCMeta("OutputLimit", (Exception,), {"__module__": "x"})("x")'
        ),
    },
    ends=("raised",),
)

_family(
    "other objects made anew",
    {
        "a class that is imported | another meaning of it": (
            "from fractions import Fraction as F\nF.limit_denominator = lambda *a: 1"
        ),
        "a class by another name | the same": (
            "from fractions import Fraction\nK = Fraction\nK.limit_denominator = lambda *a: 1"
        ),
        "a class of a module by another name | the same": (
            "import random\nR = random.Random\nS = R\nS.random = lambda s: 5"
        ),
        "by a super of one's own | another print": (
            "class K:\n    def go(self, obj, *a):\n        def super(): return obj\n"
            "        super().__init__(*a)\nK().go(print, 'print', lambda *a: None)"
        ),
        "by a super that is a parameter | another module": (
            "import math\nclass K:\n    def go(self, super):\n"
            "        super().__init__(sqrt=lambda v: 1)\nK().go(lambda: math)"
        ),
        "by the name of a base | the same": (
            "import math\nclass Base: pass\nclass K(Base):\n    def go(self):\n"
            "        Base.__init__(sqrt=lambda v: 1)\nBase = math\nK().go()"
        ),
    },
)

_family(
    "shapely",
    {
        "private geometry | the C object": "ret = str(Point(0, 0)._geom)",
        "geo interface | a hook": "ret = str(Point(0, 0).__geo_interface__)",
        "array interface | an address": "ret = str(Point(0, 0).__array_interface__)",
        "reduce | a recipe": "ret = str(Point(0, 0).__reduce__())",
        "setstate | any state": "Point(0, 0).__setstate__(b'x')",
        "io | files": "ret = shapely.io.from_wkb(b'')",
        "lib | the C library": "ret = shapely.lib.GEOSGeometry",
        "affinity's module | math, then more": "ret = str(affinity.math)",
        "affinity's own import | numpy in full": "ret = str(affinity.np)",
        "loads | a parser": "ret = shapely.wkb.loads(b'')",
        "patched class | another meaning of Polygon": "Polygon.area = 3",
        "patched class, deeper | the same": "Point.coords.x = 3",
        "patched affinity | another meaning of rotate": "affinity.rotate = print",
        "subclass hook | a class that watches": (
            "class P(Point):\n    def __init_subclass__(cls): pass"
        ),
        "coords context | the dict of a geometry": "ret = str(box(0, 0, 1, 1).exterior.__dict__)",
    },
)

_family(
    "attributes by data",
    {
        "getattr | the class of classes": "ret = getattr(getattr((), '__cl' + 'ass__'), '__ba' + 'se__')",
        "getattr by map | the same": "ret = [*map(getattr, [()], ['__dict__'])]",
        "getattr with a default | the same": "ret = getattr((), '__' + 'reduce_ex__', None)",
        "getattr of a frame | the program's caller": (
            "g = (x for x in [1])\nret = getattr(getattr(g, 'gi_' + 'frame'), 'f_back')"
        ),
        "getattr of a traceback | frames": (
            "try: 1 / 0\nexcept Exception as e: ret = str(getattr(e, '__trace' + 'back__'))"
        ),
        "name that changes | another attribute than the one looked at": (
            "class S(str):\n    def startswith(self, *a): return False\nret = getattr((), S('__dict__'))"
        ),
        "setattr | the library's own": "ret = setattr(np, 'array', print)",
        "setattr of a primitive's group | what a call means": "ret = setattr(robot, 'pick', print)",
        "setattr of a class | the library's classes": "ret = setattr(Polygon, 'area', 1)",
        "setattr of a special method | the interpreter's machinery": (
            "class A: pass\nret = setattr(A, '__get' + 'attr__', print)"
        ),
        "setattr of a recipe for memory | raw memory": (
            "class A: pass\na = A()\nsetattr(a, '__array_' + 'interface__', {'data': (0, False), "
            "'shape': (9,), 'typestr': '<i8', 'version': 3})\nret = str(np.asarray(a))"
        ),
        "setattr of strides | numbers become objects": (
            "a = np.zeros(2, dtype=[('o', 'O'), ('i', 'i8')])\na['i'] = id(a)\nv = a['o']\n"
            "setattr(v, 'strides', (8,))\nret = str(type(v[1]))"
        ),
        "strides | numbers become objects": (
            "a = np.zeros(2, dtype=[('o', 'O'), ('i', 'i8')])\na['i'] = id(a)\nv = a['o']\n"
            "v.strides = (8,)\nret = str(type(v[1]))"
        ),
        "strides in a loop | numbers become objects": (
            "a = np.zeros(2, dtype=[('o', 'O'), ('i', 'i8')])\na['i'] = id(a)\nv = a['o']\n"
            "for v.strides in [(8,)]: pass\nret = str(type(v[1]))"
        ),
        "strides of objects | the interpreter's end": (
            "a = np.array([1, 2, 3], dtype=object)\n[a.strides] = [(4,)]\nret = str(a.tolist())"
        ),
        "setattr of a class of an object | another's methods": (
            "class A: pass\nclass B: pass\nret = setattr(A(), '__cl' + 'ass__', B)"
        ),
        "template in a variable | the class of classes": "t = '{0.__cl' + 'ass__.__base__}'\nret = t.format(1)",
        "template by % | the same": "ret = ('{0.__%s__}' % 'dict').format(1)",
        "template as a mapping | the same": "ret = ('{a.__di' + 'ct__}').format_map({'a': int})",
        "template unbound | the same": "ret = str.format('{0.__di' + 'ct__}', int)",
        "template by map | the same": "ret = [*map(('{0.__di' + 'ct__}').format, [int])]",
        "template by a kept method | the same": ("f = ('{0.__di' + 'ct__}').format\nret = f(int)"),
        "template in a width | the same": "ret = ('{:{0.__di' + 'ct__}}').format(int, 1)",
        "template of a class below | the same": (
            "class S(str):\n    def f(self, *a): return super().format(*a)\n"
            "ret = S('{0.__di' + 'ct__}').f(int)"
        ),
        "template by getattr | the same": "ret = getattr('{0.__di' + 'ct__}', 'for' + 'mat')(int)",
        "template by attrgetter | the same": (
            "from operator import attrgetter\nret = attrgetter('format')('{0.__di' + 'ct__}')(int)"
        ),
        "template by methodcaller | the same": (
            "from operator import methodcaller\nret = methodcaller('format', int)('{0.__di' + 'ct__}')"
        ),
        "template on a frame | the program's caller": "g = (x for x in [1])\nret = ('{0.gi_' + 'frame}').format(g)",
        "attrgetter | the class of classes": (
            "from operator import attrgetter\nret = attrgetter('__class__.__base__')(())"
        ),
        "methodcaller | pieces of an object": (
            "from operator import methodcaller\nret = methodcaller('__reduce_ex__', 4)(())"
        ),
        "type renamed | a class of any names": "t = type\nret = t('A', (), {})",
        "type by map | the same": "ret = [*map(type, ['A'], [()], [{}])]",
        "type as a default | the same": "def f(t=type): return t('A', (), {})\nret = f()",
        "type of a type | the same": "ret = type(int)('A', (), {})",
        "type by a class's class | the same": "ret = int.__class__('A', (), {})",
        "type in brackets | the same": "ret = type[int]('A', (), {})",
        "type as a base, renamed | a class of classes": "t = type\nclass M(t): pass\nret = M('A', (), {})",
        "metaclass by data | a class of any names": (
            "from abc import ABCMeta\nret = ABCMeta('A', (), {'__getattr__': print})().x"
        ),
        "metaclass, its slots | the same": (
            "from abc import ABCMeta\nret = ABCMeta('A', (), {'__slots__': ['__getattr__']})().x"
        ),
        "metaclass as a base | a class of classes": (
            "from abc import ABCMeta\nclass M(ABCMeta): pass\nret = M('A', (), {})"
        ),
        "metaclass by the class of an abstract one | a class of any names": (
            "from abc import ABC\nret = type(ABC)('A', (), {'__getattr__': print})"
        ),
        "namespace by data | raw memory": (
            "from types import SimpleNamespace\n"
            "a = SimpleNamespace(**{'__array_interface__': {'data': (0, False), 'shape': (9,), "
            "'typestr': '<i8', 'version': 3}})\nret = str(np.asarray(a))"
        ),
        "namespace by json | the same": (
            "import json\nfrom types import SimpleNamespace\n"
            't = \'{"__array_interface__": {"data": [0, false], "shape": [9], '
            '"typestr": "<i8", "version": 3}}\'\n'
            "ret = np.asarray(json.loads(t, object_hook=lambda d: SimpleNamespace(**d))).tolist()[3]"
        ),
        "hint as a text | a text that is evaluated": (
            "from functools import singledispatch\n@singledispatch\ndef f(x): pass\n@f.register\n"
            "def g(x: \"__import__('os').popen('touch $W')\"): pass\nret = 1"
        ),
        "hint of a stand-in | the worker's own classes": (
            "from functools import singledispatch\nfrom itertools import batched\n@singledispatch\n"
            "def f(x): pass\nf.register(batched)\nret = [str(k) for k in f.registry]"
        ),
        "hint as a text of a method | the same": (
            "from functools import singledispatchmethod\nclass A:\n    @singledispatchmethod\n"
            "    def f(self, x): pass\n    @f.register\n"
            "    def g(self, x: \"__import__('os').popen('touch $W')\"): pass\nret = 1"
        ),
        "word of its own | an array's memory": (
            "class A: data = base = 1\nret = str(np.ones(3).data)"
        ),
        "word of its own, resized | memory given back while it is used": (
            "class A: resize = 1\na = np.ones(3)\nb = a[:]\nret = a.resize(9, refcheck=False)"
        ),
        "words given by keyword | the program's caller": (
            "d = dict(gi_frame=1, f_back=1, f_globals=1)\n"
            "ret = (x for x in [1]).gi_frame.f_back.f_globals"
        ),
        "words given in a text | the same": (
            "s = 'gi_frame f_back f_builtins'\nret = str((x for x in [1]). # the frame\n"
            "  gi_frame.f_builtins) if 0 else ((x for x in [1]). # here\n  gi_frame)"
        ),
        "word by a pattern | the same": (
            "d = dict(gi_frame=1)\nmatch (x for x in [1]):\n    case object(gi_frame=f): ret = str(f)"
        ),
        "stream below a stream | a file's methods": "from io import StringIO\nret = StringIO()._stream.buffer",
        "bytes read into an array of objects | forged objects": (
            "from io import BytesIO\na = np.array([None])\nret = BytesIO(b'12345678').readinto(a)"
        ),
        "buffer of bytes | raw memory": "from io import BytesIO\nret = BytesIO(b'1').getbuffer()",
        "printer's function | the worker's output": "ret = print._function.left",
        "another module by a facade | the worker's own": "import contextlib\nc = contextlib\nret = c.sys",
        "globals of a stand-in | the worker's own": (
            "from operator import attrgetter\nret = getattr(attrgetter, '__glo' + 'bals__')"
        ),
        "generator of a context | its frame": (
            "from contextlib import contextmanager\n@contextmanager\ndef f(): yield 1\n"
            "d = dict(gi_frame=1)\nret = f().gen.gi_frame"
        ),
        "what an abstract class keeps | the machinery behind it": (
            "from abc import ABC\nclass A(ABC): pass\nret = A._abc_impl"
        ),
    },
    ends=("raised",),
)

_family(
    "names by data",
    {
        "a property of numpy's | memory, by an attribute that numpy asks for": (
            "p = [np.finfo][0].epsneg\n"
            "p.func = lambda self: {'data': (0, False), 'shape': (9,), 'typestr': '<i8', 'version': 3}\n"
            "p.attrname = '__array_interface__'\nclass A:\n    x = p\n"
            "a = A()\na.x\nret = np.asarray(a).tolist()[9]"
        ),
        "matrix of texts | a text that is evaluated": "ret = np.c_.makemat('1, 2')",
        "matrix of texts, by rows | the same": "ret = np.r_.makemat('1, 2')",
    },
    ends=("raised",),
)

_MEMORY = (
    "secret = (1234567, 2)\n"
    "face = {'data': (id(secret), False), 'shape': (6,), 'typestr': '<i8', 'version': 3}\n"
)
_WRITES_MEMO = (
    "class B:\n    def __deepcopy__(self, memo):\n        for made in [*memo.values()]:\n"
    "            if isinstance(made, dict):\n                made['__array_interface__'] = face\n"
    "        return 1\n"
    "class A:\n    def __init__(self):\n        self.b = B()\n"
)
_SPY = (
    "got = []\nclass Spy:\n    h = 0\n    def __hash__(self): return self.h\n"
    "    def __eq__(self, other):\n        got.append(other)\n        return False\n"
)
_family(
    "handed to the program's objects",
    {
        "a mark within a name | a recipe for copies, in an object": (
            "import copy\nclass A:\n    pass\na = A()\n"
            "setattr(a, '_' + chr(0xE01EF) + '_reduce_ex__', lambda p: (list, ((1, 2),)))\n"
            "a.__dict__['x'] = 1\nret = copy.deepcopy(a)[1]"
        ),
        "a mark within a key | the same by a namespace": (
            "import copy\nfrom types import SimpleNamespace\n"
            "class A(SimpleNamespace):\n    pass\n"
            "a = A(**{'_' + chr(0xE01EF) + '_reduce_ex__': lambda p: (list, ((1, 2),))})\n"
            "vars(a).update(z=1)\nret = copy.deepcopy(a)[1]"
        ),
        "a frozen record's fields | a library object's own attributes": (
            "import copy\nfrom dataclasses import dataclass\n"
            "from functools import cached_property\n@dataclass(frozen=True)\n"
            "class C(cached_property):\n    _function: object = None\n    _name: str = ''\n"
            "class A:\n    pass\n"
            "A.p = C(lambda self: (lambda p: (list, ((1, 2, 3),))), '__reduce_ex__')\n"
            "a = A()\na.p\nret = copy.deepcopy(a)[1]"
        ),
        "state by a memo | memory, by an attribute in an object's new dictionary": (
            "import copy\n"
            + _MEMORY
            + _WRITES_MEMO
            + "ret = np.array(copy.deepcopy(A())).tolist()[2]"
        ),
        "state by a record's memo | the same by a library's own copy": (
            "from dataclasses import dataclass, asdict\n" + _MEMORY + _WRITES_MEMO + "@dataclass\n"
            "class R:\n    a: A\nret = np.array(asdict(R(A()))['a']).tolist()[2]"
        ),
        "state by an array's memo | the same by numpy's": (
            _MEMORY + _WRITES_MEMO + "a = np.empty(1, dtype=object)\na[0] = A()\n"
            "ret = np.array(a.__deepcopy__({})[0]).tolist()[2]"
        ),
        "state by a memo of one's own | the same by data": (
            "import copy\n" + _MEMORY + "class A:\n    def __init__(self): self.b = 1\n"
            "a, memo = A(), {}\ncopy.deepcopy(a, memo)\n"
            "place = [k for k, v in memo.items() if isinstance(v, dict)][0]\n"
            "y = copy.deepcopy(a, {place: {'__array_interface__': face}})\n"
            "ret = np.array(y).tolist()[2]"
        ),
        "state by a memo that answers | the same by an object": (
            "import copy\n" + _MEMORY + "class Memo:\n    n = 0\n"
            "    def get(self, key, default=None):\n        self.n += 1\n"
            "        return {'__array_interface__': face} if self.n == 3 else default\n"
            "    def __setitem__(self, key, value): pass\n    def __getitem__(self, key): return []\n"
            "class A:\n    def __init__(self): self.x = 1\n"
            "ret = np.array(copy.deepcopy(A(), Memo())).tolist()[2]"
        ),
        "state of a library's object | the inner state of a source of random numbers": (
            "import copy\n"
            "class Kept:\n"
            "    def append(self, x): seen.append(x)\n"
            "class Memo(dict):\n"
            "    def get(self, key, default=None): return default\n"
            "    def __getitem__(self, key): return Kept()\n"
            "seen = []\n"
            "try: copy.deepcopy(np.random.default_rng(1), Memo())\n"
            "except TypeError: pass\n"
            "ret = str(seen[0])"
        ),
        "name that lies | memory, by an attribute of a namespace": (
            "from types import SimpleNamespace\n" + _MEMORY + "class Name(str):\n"
            "    def startswith(self, *given): return False\n"
            "    def __getitem__(self, key): return 'a'\n"
            "ret = np.array(SimpleNamespace(**{Name('__array_interface__'): face})).tolist()"
        ),
        "name that lies, in a dictionary | the same by vars": (
            "secret = (1234567, 2)\n"
            "face = {'data': (id(secret), False), 'shape': (6,), 'typestr': '<i8', 'version': 3}\n"
            "class A: pass\n"
            "class Name(str):\n"
            "    def __hash__(self): return told.pop() if told else hash('__array_interface__')\n"
            "    def __eq__(self, other): return True\n"
            "    def __getitem__(self, key): return 'a'\n"
            "    def startswith(self, *given): return False\n"
            "a = A()\n"
            "a.x = 1\n"
            "told = [1, hash('x'), hash('x'), 1]\n"
            "vars(a).update({Name('__array_interface__'): face})\n"
            "ret = np.array(a).tolist()[2]"
        ),
        "flags of zero | memory, by a class of any names": (
            "from enum import Flag\n" + _MEMORY + "class F(Flag):\n    NONE = 0\n"
            "E = F('E', {'__array_interface__': face})\nret = np.array(E).tolist()[2]"
        ),
        "class it chooses by | the class of classes, by a hash": (
            "from functools import singledispatch\n"
            "got = []\n"
            "class Spy:\n"
            "    def __hash__(self): return self.h\n"
            "    def __eq__(self, other):\n"
            "        got.append(other)\n"
            "        return False\n"
            "@singledispatch\n"
            "def f(x): return 0\n"
            "f(int)\n"
            "for place in range(id(int) - 200000, id(int) + 200000, 8):\n"
            "    spy = Spy()\n"
            "    spy.h = (place >> 4) | ((place & 15) << 60)\n"
            "    if spy.h >> 63: spy.h -= 1 << 64\n"
            "    try: f.dispatch(spy)\n"
            "    except AttributeError: pass\n"
            "ret = str(got[0])"
        ),
        "class kept by a cache | the class of classes, by a hash of several": (
            "from functools import lru_cache\n"
            "got = []\n"
            "class Spy:\n"
            "    h = 0\n"
            "    def __hash__(self): return self.h\n"
            "    def __eq__(self, other):\n"
            "        got.append(other)\n"
            "        return False\n"
            "P1, P2, P5 = 11400714785074694791, 14029467366897019727, 2870177450012600261\n"
            "M, X = (1 << 64) - 1, 2870177450012600261 ^ 3527539\n"
            "I1, I2 = pow(P1, -1, 1 << 64), pow(P2, -1, 1 << 64)\n"
            "def lane(acc, h):\n"
            "    acc = (acc + (h & M) * P2) & M\n"
            "    return (((acc << 31) | (acc >> 33)) & M) * P1 & M\n"
            "def back(acc):\n"
            "    acc = acc * I1 & M\n"
            "    return ((acc >> 31) | (acc << 33)) & M\n"
            "@lru_cache(maxsize=None, typed=True)\n"
            "def f(*x): return 0\n"
            "f(int)\n"
            "start = lane(P5, hash(int))\n"
            "for place in range(id(int) - 40000, id(int) + 40000, 16):\n"
            "    kind = (place >> 4) | ((place & 15) << 60)\n"
            "    want = lane(start, kind) + (2 ^ X) & M\n"
            "    acc = (want - (4 ^ X)) & M\n"
            "    for h in (hash(Spy), kind):\n"
            "        acc = (back(acc) - (h & M) * P2) & M\n"
            "    h = (back(acc) - start) * I2 & M\n"
            "    Spy.h, spy = h - (1 << 64) if h >> 63 else h, Spy()\n"
            "    f(int, spy)\n"
            "ret = str(got[0])"
        ),
        "registry | the dictionary that functions are chosen by": (
            "from functools import singledispatch\n"
            + _SPY
            + "@singledispatch\ndef f(x): return 0\n"
            "f.registry == Spy()\ngot[0][int] = str\nret = f(3)\nif ret == 0: raise ValueError(ret)"
        ),
        "ambiguous choice | the class of arrays, by an exception before another": (
            "from functools import singledispatch\nfrom collections.abc import Sized, Container\n"
            "@singledispatch\ndef f(x): return 0\nf.register(Sized, len)\nf.register(Container, len)\n"
            "try: f(np.zeros(2))\nexcept RuntimeError as e: ret = str(e.__context__.args[0])"
        ),
        "hint with a mark | what stands before a value's class": (
            "from functools import singledispatch\n@singledispatch\ndef f(x): return 0\n"
            "@f.register\ndef g(x: 'kind\\U000e01ef'): return 1\nret = str([*f.registry])"
        ),
        "method of a text, added to | a template that reads any attribute": (
            "got = []\nclass Spy:\n    def __radd__(self, other):\n        got.append(other)\n"
            "        return 1\nt = '{0.__globals__}'\ntry: t.format += Spy()\n"
            "except AttributeError: pass\nimport pprint\nret = str(got[0](pprint.pformat))"
        ),
        "method of texts, added to | the same of the class": (
            "got = []\nclass Spy:\n    def __radd__(self, other):\n        got.append(other)\n"
            "        return 1\nfor kind in [str]:\n    try: kind.format += Spy()\n"
            "    except TypeError: pass\nimport pprint\n"
            "ret = str(got[0]('{0.__globals__}', pprint.pformat))"
        ),
        "text of a base | what the names in it mean to a library": (
            "from dataclasses import dataclass\nclass Base:\n"
            "    'Base(x=sys.executable)\\n--\\n\\n'\n"
            "@dataclass(init=False)\nclass D(Base):\n    y: int = 0\n"
            "if D.__doc__ == 'D()': raise ValueError('nothing')\nret = D.__doc__"
        ),
        "empty text | the same": (
            "from dataclasses import dataclass\nclass Base:\n"
            "    'Base(x=sys.executable)\\n--\\n\\n'\n"
            "@dataclass(init=False)\nclass D(Base):\n    ''\n    y: int = 0\n"
            "if D.__doc__ == 'D()': raise ValueError('nothing')\nret = D.__doc__"
        ),
        "builtin made anew | what getattr does": (
            "try:\n"
            "    class A(getattr):\n"
            "        y = getattr.__init__('getattr', lambda *a: 42)\n"
            "except TypeError: pass\n"
            "ret = getattr(1, 'real')\n"
            "if ret == 1: raise ValueError(ret)"
        ),
        "module made anew | what a module has": (
            "import math\n"
            "try:\n"
            "    class A(math):\n"
            "        y = math.__init__(pi=3)\n"
            "except TypeError: pass\n"
            "ret = math.pi\n"
            "if ret > 3: raise ValueError(ret)"
        ),
    },
    ends=("raised",),
)

_family(
    "private names",
    {
        "coords | the array below": "ret = str(Point(0, 0).coords._coords)",
        "mangled to a dunder | a dunder by mangling": "class A:\n    def f(self): return self.__class_\nA().f()",
        "private of another | another object's private": (
            "class A:\n    def f(self, o): return o._geom\nret = A().f(Point(0, 0))"
        ),
        "private by self | another object as self": (
            "class A:\n    def f(self): return self._geom\nret = A.f(Point(0, 0))"
        ),
        "private of a base | what a library's class keeps": (
            "class A(Point):\n    _geom = 0\nret = str(A.f)"
        ),
        "private by a pattern | the same": (
            "match Point(0, 0):\n    case Point(_geom=g): ret = str(g)"
        ),
        "evaluated by self | any Python, by a hint's own evaluation": (
            "class A:\n    _determine_new_args = 0\n    _evaluate = 0\n"
            "    def refs(self): return self._determine_new_args(())\n"
            "    def value(self, names): return self._evaluate(names, names, frozenset())\n"
            "A.value(A.refs(List[\"__import__('os').popen('touch $W').read()\"])[0], {})"
        ),
        "evaluated by any name | the same": (
            "class A:\n    _evaluate = 0\n"
            'for h in (Optional[\'open("$W", "w")\'], Union[\'open("$W", "w")\', int]):\n'
            "    h._evaluate({}, {}, frozenset())"
        ),
        "arguments of a hint | a text that is evaluated": (
            'ret = Dict[str, \'open("$W", "w")\']._args'
        ),
        "generator of numbers | its state in memory": "ret = str(np.random.default_rng(0)._bit_generator)",
        "implementation of a list | an array's own class": (
            "class A:\n    _implementation = 0\n    def f(self): return self._implementation\n"
            "ret = str(A.f(np.add))"
        ),
        "registry of a class | classes of the interpreter": (
            "class A:\n    _abc_impl = 0\n    def f(self): return self._abc_impl\n"
            "ret = str(A.f(Sequence))"
        ),
    },
    ends=("raised",),
)

_family(
    "classes",
    {
        "metaclass | the making of classes": "class M(type): pass\nclass A(metaclass=M): pass",
        "metaclass function | the same": "class A(metaclass=lambda *a: 1): pass\nret = A",
        "three arguments | a class of any names": "ret = type('A', (), {'__getattr__': print})",
        "type starred | the same": "ret = type(*['A', (), {}])",
        "class keyword | a hook's argument": "class B: pass\nclass A(B, flag=1): pass",
        "class keywords | the same": "k = {'metaclass': 1}\nclass A(**k): pass",
        "getattr | a hook for attributes": "class A:\n    def __getattr__(self, n): return n\nret = A().x",
        "getattribute | the same for all": "class A:\n    def __getattribute__(self, n): return n",
        "setattr | a hook for writes": "class A:\n    def __setattr__(self, n, v): pass",
        "del | runs when nobody looks": "class A:\n    def __del__(self): pick('x')\nA()",
        "new | the making of objects": "class A:\n    def __new__(cls): return pick",
        "init subclass | a hook": "class A:\n    def __init_subclass__(cls): pass",
        "set name | a hook": "class A:\n    def __set_name__(self, o, n): pass",
        "class getitem | a hook": "class A:\n    def __class_getitem__(cls, k): return k",
        "instancecheck | lies to isinstance": "class A:\n    def __instancecheck__(self, x): return True",
        "mro entries | a hook": "class A:\n    def __mro_entries__(self, b): return ()",
        "prepare | a hook": "class A:\n    @classmethod\n    def __prepare__(cls): return {}",
        "reduce | a recipe that calls": "class A:\n    def __reduce__(self): return print, ()",
        "reduce ex | the same": "class A:\n    def __reduce_ex__(self, n): return print, ()",
        "getstate | the same": "class A:\n    def __getstate__(self): return 1",
        "buffer | memory": "class A:\n    def __buffer__(self, f): return b''",
        "await | a coroutine": "class A:\n    def __await__(self): yield",
        "dir | a hook": "class A:\n    def __dir__(self): return []",
        "get | a descriptor": "class A:\n    def __get__(self, o, t): return o",
        "slots | the dict of an instance": "class A:\n    __slots__ = ('__dict__',)",
        "special by assignment | a special method that is no def": "class A:\n    __add__ = eval",
        "special by a loop | the same": "class A:\n    for __len__ in [print]: pass",
        "special by a lambda | the same": "class A:\n    __call__ = lambda self: open",
        "special by walrus | the same": "class A:\n    (__len__ := print)",
        "special, in an if | hidden": "class A:\n    if 1:\n        def __getattr__(self, n): pass",
        "special, nested | in an inner class": "class A:\n    class B:\n        def __del__(self): pass",
        "class named | a name of the interpreter": "class __A__: pass",
        "super, kept | an unbound special": "class A:\n    def f(self): return super().__init__\nA().f()",
        "super, other special | the reduce of object": (
            "class A:\n    def f(self): return super().__reduce__()\nA().f()"
        ),
        "super, globals | what is below": (
            "class A:\n    def f(self): return super().__init__.__globals__\nA().f()"
        ),
        "match args | an attribute by position": (
            "class A:\n    __match_args__ = ('__class__',)\nmatch A():\n    case A(c): ret = str(c)"
        ),
        "match args, computed | the same": (
            "class A:\n    __match_args__ = ('__cl' + 'ass__',)\nmatch A():\n    case A(c): ret = str(c)"
        ),
        "match args, frame | the same": (
            "class A:\n    __match_args__ = ('gi_frame',)\nmatch A():\n    case A(c): ret = str(c)"
        ),
    },
)

_family(
    "exceptions",
    {
        "obj of AttributeError | the object that lacked it": (
            "try:\n    np.nothing_at_all_here\nexcept Exception as e: ret = str(e.obj)"
        ),
        "obj, matched | the same by a pattern": (
            "try:\n    [].x\nexcept Exception as e:\n    match e:\n"
            "        case AttributeError(obj=o): ret = str(o)"
        ),
        "traceback | frames": "try: 1 / 0\nexcept Exception as e: ret = str(e.__traceback__)",
        "traceback, matched | the same": (
            "try: 1 / 0\nexcept Exception as e:\n    match e:\n"
            "        case Exception(__traceback__=t): ret = str(t)"
        ),
        "suppress | another context": "try: 1 / 0\nexcept Exception as e: e.__traceback__ = 1",
        "state | a new state": "try: 1 / 0\nexcept Exception as e: e.__setstate__({'a': 1})",
        "except as a primitive | a primitive bound": "try: 1 / 0\nexcept Exception as pick: pass",
        "robot error's class | the engine's modules": (
            "ret = str(NotFound.__init__.__globals__) + NotFound.__module__"
        ),
        "error of a primitive | the parent's frames": (
            "try: pick(1, 2, 3)\nexcept TypeError as e: ret = str(e.__traceback__.tb_frame.f_globals)"
        ),
    },
)

_family(
    "generators",
    {
        "async function | a coroutine": "async def f(): pass\nf()",
        "await | a loop of one's own": "async def f(): await f()\nf()",
        "async for | an asynchronous generator": "async def f():\n    async for x in f(): pass",
        "async with | an asynchronous context": "async def f():\n    async with f(): pass",
        "async comprehension | the same": "ret = [x async for x in y]",
        "coroutine frame | a frame": "def f(c): return c.cr_frame.f_builtins\nret = f(1)",
        "coroutine code | code": "def f(c): return c.cr_code\nret = f(1)",
        "coroutine origin | frames": "def f(c): return c.cr_origin\nret = f(1)",
        "awaited | a generator below": "def f(c): return c.cr_await\nret = f(1)",
        "asynchronous frame | a frame": "def f(c): return c.ag_frame\nret = f(1)",
        "asynchronous code | code": "def f(c): return c.ag_code\nret = f(1)",
        "frame by a lambda | a frame": "ret = str((lambda g: g.gi_frame)((x for x in [1])))",
        "frame, sent | a frame": "def f():\n    x = yield\n    yield x.gi_frame\ng = f()\nnext(g)\ng.send(g)",
        "code by a map | code": "ret = [*map(lambda g: g.gi_code, [(x for x in [1])])]",
    },
)

_family(
    "patterns",
    {
        "dunder by keyword | any dunder": "match ():\n    case object(__class__=c): ret = str(c)",
        "in an or | a dunder in an alternative": (
            "match ():\n    case int(real=c) | object(__class__=c): ret = str(c)"
        ),
        "frame | a frame": "g = (x for x in [1])\nmatch g:\n    case object(gi_frame=f): ret = str(f)",
        "data | memory": "match np.ones(2):\n    case object(data=d): ret = str(d)",
        "base | the array below": "match np.ones(2)[1:]:\n    case object(base=b): ret = str(b)",
        "value of a module | a module below": "match 1:\n    case np.lib.npyio.os: ret = 1",
        "class of a module | a class below": "match 1:\n    case np.memmap(): ret = 1",
        "captured primitive | a primitive bound": "match 1:\n    case pick: pass",
        "captured as | a primitive bound": "match 1:\n    case int() as pick: pass",
        "captured rest | a primitive bound": "match {}:\n    case {**pick}: pass",
        "captured star | a primitive bound": "match [1]:\n    case [*pick]: pass",
        "type | the class of classes": "match int:\n    case type(__subclasses__=s): ret = str(s)",
    },
)

_family(
    "tampering",
    {
        "primitive assigned | a primitive that lies": "pick = lambda name: 'done'",
        "primitive by walrus | the same": "(pick := print)",
        "primitive in a loop | the same": "for pick in [print]: pass",
        "primitive as a parameter | the same": "def f(pick): return pick(1)",
        "primitive as a function | the same": "def pick(name): return 'done'",
        "primitive as a class | the same": "class pick: pass",
        "primitive by global | the same": "def f():\n    global pick\n    pick = 1\nf()",
        "primitive deleted | a primitive gone": "del pick",
        "primitive by import | the same": "from math import pi as pick",
        "primitive by with | the same": (
            "class A:\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\n"
            "with A() as pick: pass"
        ),
        "primitive in a comprehension | the same": "ret = [pick for pick in [1]]",
        "primitive augmented | the same": "pick += 1",
        "primitive annotated | the same": "pick: int = 1",
        "attribute of a primitive | a mark on it": "pick.done = True",
        "name of a primitive | another name": "pick.__name__ = 'look'",
        "group member | a group that lies": "robot.pick = print",
        "group member, deleted | a group with a gap": "del robot.pick",
        "group member, in a loop | the same": "for robot.pick in [print]: pass",
        "group member, unpacked | the same": "robot.pick, x = print, 1",
        "group member, augmented | the same": "robot.pick += 1",
        "group itself | a group that lies": "robot = 1",
        "method of a group's class | the class of groups": "robot.__class__.pick = print",
        "dict of a group | the group itself": "robot.__dict__['pick'] = print",
        "numpy | numpy that lies": "np.array = print",
        "numpy submodule | the same": "np.linalg.norm = print",
        "numpy in a loop | the same": "for np.pi in [3]: pass",
        "math | math that lies": "math.pi = 3",
        "a builtin class | str that lies": "str.upper = print",
        "an error class | an error that lies": "NotFound.message = 1",
        "builtins entry | builtins that lie": "__builtins__['len'] = print",
        "name of the program | another main": "__name__ = 'cap'",
    },
)

_family(
    "classes by their classes",
    {
        "mro, added to | the interpreter's own method": (
            "class Catch:\n    def __radd__(self, other): return other\n"
            "class A: pass\nA.mro += Catch()\nret = str(A.mro.__self__)"
        ),
        "mro of classes | what makes classes": "ret = str(type.mro(int))",
        "mro by a key | the interpreter's own method": "import operator\nret = str(operator.attrgetter('mro.__self__')(int))",
        "mro, its owner | the same": "ret = str(int.mro.__call__.im_self)",
        "mro written over | another order": "class A: pass\nPoint.mro = lambda: 1",
        "bases written over | another class": "class A: pass\nsetattr(A, '__bases__', (Point,))",
        "bases added to | another class": "class A: pass\nA.__bases__ += (int,)",
        "module written over | trust": "class A: pass\nsetattr(A, '__module__', 'builtins')",
        "module deleted | trust": "class A: pass\ndel A.__module__",
        "module of a function | the module a function is from": "ret = affinity.rotate.__module__",
        "module of a primitive | where it is from": "ret = pick.__module__",
        "printoptions for a while | the same": "with np.printoptions(formatter={'all': print}): print(np.ones(2))",
        "an output's name | a file": "import sys\nsys.stderr.name = '$W'",
        "an output's buffer | a file": "import sys\nsys.stderr.buffer.raw.write(b'x')",
        "a log's file | a file": "import logging\nlogging.basicConfig(filename='$W', level=10)\nlogging.debug('x')\nlogging.FileHandler('$W')",
        "a log's format | attributes": "import logging\nlogging.basicConfig(format='{0.__class__}', style='{')\nlogging.root.handlers",
    },
    ends=(*REFUSED, "raised"),
)
_family(
    "an array's type under its iterator",
    {
        "read | memory past the array": (
            "a = np.zeros(1000, np.int8)\nit = a.flat\na.dtype = np.dtype('S1000')\nret = str(it[999])"
        ),
        "written | memory past the array": (
            "a = np.zeros(1000, np.int8)\nit = a.flat\na.dtype = np.dtype('S1000')\nit[999] = b'x' * 1000"
        ),
        "by name | memory past the array": (
            "a = np.zeros(1000, np.int8)\nit = a.flat\nsetattr(a, 'dtype', np.dtype('S1000'))\nret = str(it[999])"
        ),
        "by a loop | memory past the array": (
            "a = np.zeros(1000, np.int8)\nit = np.ndenumerate(a).iter\nfor a.dtype in [np.dtype('S1000')]: ret = str(it[999])"
        ),
        "with others | memory past the array": (
            "a = np.zeros(1000, np.int8)\nit = a.flat\n(b, a.dtype) = 1, np.dtype('S1000')\nret = str(it[999])"
        ),
        "in an object | memory past the array": (
            "class A: pass\nx = A()\nx.a = np.zeros(1000, np.int8)\nit = x.a.flat\nx.a.dtype = np.dtype('S1000')\nret = str(it[999])"
        ),
        "to objects | any address as an object": "a = np.zeros(3)\na.dtype = [('x', 'O')]\nret = str(a)",
    },
    ends=("raised",),
)
_family(
    "faults of the interpreter, held by the kernel",
    {
        "an error's place | memory beside a text": (
            "e = UnicodeDecodeError('a', b'x', 0, 1, 'r')\ne.start = -4 * 10**12\ne.end = e.start + 1\nret = len(str(e))"
        ),
        "a sort that changes what it sorts | an object twice": (
            "class A:\n    def __lt__(self, o):\n        a[:] = None\n        return True\n"
            "a = np.array([A() for i in range(50)], dtype=object)\na.sort()\nret = 1"
        ),
    },
    ends=("value", "raised", "killed"),
)
_family(
    "classes by their classes, kept whole",
    {
        "mro by a pattern | the interpreter's own method": (
            "match int:\n    case object(mro=found): ret = str(found)"
        ),
        "mro by position | the same": (
            "class A:\n    __match_args__ = ('mro',)\n    mro = 1\nmatch A():\n    case A(found): ret = found"
        ),
    },
)
_family(
    "primitives",
    {
        "closure | the pipes": "ret = [c.cell_contents for c in pick.__closure__]",
        "closure of a member | the pipes": "ret = [c.cell_contents for c in robot.pick.__closure__]",
        "globals | the worker's modules": "ret = str(pick.__globals__['wire'])",
        "os by globals | the system": "pick.__globals__['os'].system('touch $W')",
        "code | the code of the proxy": "ret = str(pick.__code__.co_consts)",
        "defaults | the proxy's defaults": "ret = str(pick.__defaults__)",
        "get | bound to another": "ret = pick.__get__(1)",
        "reduce | a recipe": "ret = str(pick.__reduce__())",
        "subclasses by a group | classes": "ret = str(robot.__class__.__base__.__subclasses__())",
        "printing | the output's object": "ret = str(print.__self__.parts)",
        "output limit | the limit itself": "print.__self__.left = 10 ** 9",
        "import hook | the guard's lists": "ret = str(__import__.args)",
    },
)

_family(
    "wire",
    {
        "a function | code across the wire": "pick(lambda: 1)",
        "a generator | a generator across": "pick(x for x in [1])",
        "a class | a class across": "class A: pass\npick(A)",
        "an instance | an object across": "class A: pass\npick(A())",
        "a module | a module across": "pick(np)",
        "a primitive | a function of the parent": "pick(pick)",
        "objects in an array | pickled objects": "pick(np.array([object()], dtype=object))",
        "deep | the parent's stack": "x = []\nfor _ in range(100000): x = [x]\npick(x)",
        "endless | a list in itself, without end": "x = []\nx.append(x)\npick(x)\nx[0][0].y",
        "huge text | the parent's memory": "pick('a' * (80 << 20))",
        "huge array | the parent's memory": "pick(np.zeros(80 << 20, dtype='u1'))",
        "too many arguments | the primitive's own error": "pick(*range(1000))",
        "unknown keyword | the same": "pick(**{'name': 1, 'eval': 2})",
        "keyword that is no name | the same": "pick(**{'': 1})",
        "dunder keyword | a dunder as keyword": "pick(**{'__class__': 1})",
        "lies about its class | a class that lies": (
            "class A(int):\n    def __eq__(self, o): return True\n    def __hash__(self): return 1\n"
            "pick(A(3))\n1 / 0"
        ),
        "dictionary of objects | keys that lie": (
            "class A:\n    def __hash__(self): return 1\npick({A(): 1})"
        ),
        "not text | text that is none": "pick('\\ud800')",
    },
    ends=("raised", "value", "memory"),
)

_family(
    "processor",
    {
        "loop | a core, for ever": "while True: pass",
        "loop that catches | the same": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "finally | the same": "def f():\n    try:\n        while True: pass\n    finally: f()\nf()",
        "generator that stays | the same": (
            "def g():\n    while True:\n        try: yield\n        except BaseException: pass\n"
            "x = g()\nnext(x)\nwhile True:\n    try: x.throw(ValueError())\n    except ValueError: pass"
        ),
        "iterator | the same, in C": "sum(iter(int, 1))",
        "big power | one instruction": "ret = 10 ** 10 ** 9",
        "big product | one instruction": "x = 7 ** (10 ** 7)\nret = (x * x) % 7",
        "matrix product | native code": "while True: np.ones((400, 400)) @ np.ones((400, 400))",
        "sort | native code": "while True: np.sort(np.ones(10 ** 6))",
        "einsum | one native call": "np.einsum('ab,cd,ef,gh->', *[np.ones((90, 90))] * 4)",
        "geometry | native code": (
            "while True: Point(0, 0).buffer(1, 4000).intersection(Point(1, 0).buffer(1, 4000))"
        ),
        "last words | a message without end": (
            "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"
        ),
        "hash | a key without end": (
            "class K:\n    def __hash__(self):\n        while True: pass\n{K(): 1}"
        ),
        "comparison | a sort without end": (
            "class K:\n    def __lt__(self, o):\n        while True: pass\nsorted([K(), K()])"
        ),
        "context exit | a with without end": (
            "class C:\n    def __enter__(self): pass\n    def __exit__(self, *a):\n"
            "        while True: pass\nwith C(): pass"
        ),
        "big text of a number | one call": "while True: int('9' * 4300) ** 3000",
    },
    ends=("timeout",),
)

_family(
    "memory",
    {
        "bytes | all memory": "x = bytes(10 ** 11)",
        "doubling list | all memory": "x = [0]\nwhile True: x = x + x",
        "doubling text | all memory": "x = 'a'\nwhile True: x += x",
        "array | all memory": "x = np.ones(10 ** 10)",
        "broadcast, copied | all memory": "x = np.broadcast_to(1.0, (10 ** 10,)).copy()",
        "many small | all memory": "x = []\nwhile True: x.append(bytes(10 ** 6))",
        "repeat | all memory": "x = [0] * 10 ** 11",
        "text repeat | all memory": "x = 'a' * 10 ** 11",
        "shift | all memory": "x = 1 << (10 ** 12)",
        "pad | all memory": "x = np.pad(np.ones(1), 10 ** 10)",
        "format width | all memory": "x = f'{1:>99999999999}'",
        "tile | all memory": "x = np.tile(np.ones(1000), 10 ** 8)",
    },
    ends=("memory", "raised", "killed", "timeout"),
)

_family(
    "output",
    {
        "loop | the log": "while True: print('a' * 100)",
        "loop that catches | the log": (
            "while True:\n    try: print('a' * 100)\n    except Exception: pass"
        ),
        "one line | the log": "print('a' * 10 ** 7)",
        "no line end | the log": "while True: print('a' * 1000, end='')",
        "separator | the log": "print(*range(10), sep='a' * 10 ** 6)",
    },
    ends=("output",),
)

_family(
    "large answers",
    {
        "message | the parent's memory": "raise ValueError('a' * 10 ** 7)",
        "name of an error | a name that lies": "class OutputLimit(Exception): pass\nraise OutputLimit",
        "value | the parent's memory": "ret = 'a' * (70 << 20)",
        "deep value | the parent's stack": "ret = []\nfor _ in range(10 ** 5): ret = [ret]",
        "value that is no data | an object across": "ret = print",
        "calls | the parent's time": "while True: look()",
        "line ends | lines of the log": "raise ValueError('a\\n' * 1000 + 'Traceback')",
    },
    ends=("raised", "output", "limit", "memory", "timeout"),
)

_family(
    "recursion",
    {
        "function | the C stack": "def f(): f()\nf()",
        "repr | the C stack": "x = []\nfor _ in range(10 ** 5): x = [x]\nrepr(x)",
        "comparison | the C stack": (
            "x, y = [], []\nfor _ in range(10 ** 5): x, y = [x], [y]\nx == y"
        ),
        "getitem | the C stack": "class A:\n    def __getitem__(self, k): return self[k]\nA()[0]",
        "iteration | the C stack": "x = iter([])\nfor _ in range(10 ** 5): x = map(abs, x)\nlist(x)",
        "destruction | the C stack": "x = None\nfor _ in range(10 ** 6): x = (x,)\ndel x",
        "isinstance | the C stack": "x = int\nfor _ in range(10 ** 5): x = (x,)\nisinstance('', x)",
        "sorted key | the C stack": "def k(x): return sorted([1], key=k)\nk(1)",
        "arrays | the C stack": "x = 1\nfor _ in range(10 ** 4): x = [x]\nnp.array(x)",
    },
    ends=("raised", "killed", "memory", "value", "timeout"),
)

_family(
    "death",
    {
        "system exit | the process": "raise SystemExit(3)",
        "keyboard interrupt | the caller's own": "raise KeyboardInterrupt",
        "generator exit | a quiet end": "raise GeneratorExit",
        "base exception | what is not caught": "class B(BaseException): pass\nraise B",
        "memory error | a lie about memory": "raise MemoryError",
        "error in an error | the report itself": (
            "class E(Exception):\n    def __str__(self): raise E\nraise E"
        ),
        "error in an error, worse | the report itself": (
            "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E"
        ),
        "text that is none | the report itself": "raise ValueError('\\ud800')",
        "exit in a callback | native code": "np.apply_along_axis(lambda a: 1 / 0, 0, np.ones((2, 2)))",
        "stop iteration | the loop's own": "raise StopIteration",
    },
    ends=("raised", "memory"),
)

_HOLD = "from fractions import Fraction\nfrom collections import Counter\n"
_family(
    "library under another name",
    {
        "loop variable | a method of the library": (
            _HOLD + "for K in [Fraction]: K.limit_denominator = print"
        ),
        "argument | the same": _HOLD + "def patch(K): K.pop = print\npatch(Counter)",
        "attribute | the same": (
            _HOLD + "class A: pass\na = A()\na.k = Counter\na.k.most_common = print"
        ),
        "element, private | the same": _HOLD + "kinds = [Fraction]\nkinds[0]._x = print",
        "setattr | the same": _HOLD + "K = Fraction\nsetattr(K, 'limit_denominator', print)",
        "unbound | the same": _HOLD + "for K in [Counter]: del K.most_common",
        "class of a shape | every polygon": "for K in [type(Point(0, 0)), Point]: K.area = 1",
        "below all shapes | the same": "class P(Point): pass\nfor K in [Point]: K.buffer = print",
        "error of a library | what it raises": (
            "try: np.linalg.inv(np.zeros((2, 2)))\nexcept Exception as e: type(e).__str__ = print"
        ),
        "error of a robot | what primitives raise": "for E in [NotFound]: E.x = 1",
        "closed class | what stands for it": "type(lambda: 0).x = 1",
        "class of a module | the same": "K = type(math)\nK.x = 1",
        "enumeration | all of them": "from enum import Enum\nfor K in [Enum]: K.x = 1",
        "hint | all of them": "from typing import Generic\nfor K in [Generic]: K.x = 1",
        "decorator's class | all of them": (
            "from functools import cached_property\nfor K in [cached_property]: K.func = 1"
        ),
    },
    ends=("raised",),
)

_family(
    "bound special attributes",
    {
        "name of a builtin | what errors say": "for f in [sorted]: f.__name__ = 'x'",
        "text of the library's function | the same": (
            "from statistics import mean\nfor f in [mean]: f.__doc__ = 'x'"
        ),
        "name of the library's class | another class by name": (
            _HOLD + "for K in [Fraction]: K.__name__ = 'x'"
        ),
        "operator of the library's class | sums": (
            _HOLD + "for K in [Fraction]: K.__add__ = lambda a, b: 1"
        ),
        "the same by setattr | sums": (
            _HOLD + "for K in [Fraction]: setattr(K, '__add__', lambda a, b: 1)"
        ),
        "name that is no text | the engine's report": (
            "class S(str):\n    def __eq__(self, o): return True\n    __hash__ = None\n"
            "class E(Exception): pass\nE.__name__ = S('MemoryError')"
        ),
        "name of a primitive | another call": "for p in [pick]: p.__name__ = 'look'",
        "operator of an object | numpy's look at it": (
            "class A: pass\na = A()\na.__len__ = lambda: 3"
        ),
        "class | another class": "class A: pass\nclass B: pass\nsetattr(A(), '__class__', B)",
        "hints of the library | what was evaluated": (
            "from statistics import mean\nret = str(mean.__annotations__)"
        ),
        "hints of an object | the same": "ret = NotFound('x').__annotations__",
        "function below numpy's | another's globals": "ret = str(np.mean.__wrapped__)",
        "function below a record's | the same": (
            "from dataclasses import dataclass\n@dataclass\nclass A: x: int = 1\n"
            "ret = str(A.__repr__.__wrapped__)"
        ),
        "members of no enumeration | what it keeps": "ret = np.ones(1).__members__",
        "members, changed | a member that is none": (
            "from enum import Enum\nclass E(Enum): a = 1\nE.__members__['b'] = 2"
        ),
        "copied to a class | another's name": (
            "from functools import update_wrapper\nclass E(Exception): pass\n"
            "update_wrapper(E, NotFound)"
        ),
        "copied to a namespace | another's values": (
            "from functools import update_wrapper\nfrom types import SimpleNamespace\n"
            "update_wrapper(SimpleNamespace(), print)"
        ),
        "dictionary of an error | what it carries": (
            "try: 1 / 0\nexcept Exception as e: ret = e.__dict__"
        ),
        "dictionary of a shape | its pointer": "p = Point(0, 0)\nret = str(p.__dict__)",
        "dictionary of a group | the robot's calls": "r = [robot][0]\nr.__dict__['pick'] = print",
        "dictionary of a class | methods as plain functions": "class A: pass\nret = str(A.__dict__)",
        "dictionary of a function | what wraps it": "def f(): pass\nret = f.__dict__",
        "vars by map | the dictionary of a module": "ret = str([*map(vars, [math])])",
        "names of the moment | a frame's own dictionary": "ret = [f() for f in [vars]]",
        "memory by a dictionary | numpy's look at it": (
            "class A: pass\na = A()\n"
            "a.__dict__['__array_interface__'] = {'data': (id(0), False), 'shape': (4,), "
            "'typestr': '<i8', 'version': 3}\nret = np.asarray(a)"
        ),
        "memory by a dictionary's update | the same": (
            "class A: pass\na = A()\nvars(a).update({'__array_struct__': 1})\nret = 1"
        ),
        "memory by a name that lies | the same": (
            "class S(str):\n    def startswith(self, *a): return False\nclass A: pass\na = A()\n"
            "a.__dict__[S('__array_interface__')] = {}"
        ),
        "what a library keeps in an object | its private parts": (
            "from random import Random\nfrom contextlib import ExitStack\n"
            "class K(ExitStack): pass\nk = K()\nret = str(vars(k)['_exit_callbacks'])"
        ),
        "made anew, a namespace | another's values": (
            "from types import SimpleNamespace\nn = SimpleNamespace(a=1)\nn.__init__(b=2)"
        ),
        "made anew, a record | its written methods": (
            "from dataclasses import dataclass\n@dataclass\nclass A: x: int = 1\n"
            "ret = A.__init__\nprint(ret)"
        ),
        "made anew, a group | the robot's calls": "r = [robot][0]\nr.__init__(pick=print)",
        "made anew, a module | another module": "m = [math][0]\nm.__init__(sqrt=print)",
        "set plainly, a module | another module": "object.__setattr__([math][0], 'sqrt', print)",
        "set plainly, a class | the library's": (
            _HOLD + "object.__setattr__(Fraction, 'limit_denominator', print)"
        ),
        "set plainly, memory | numpy's look at it": (
            "class A: pass\nobject.__setattr__(A(), '__array_interface__', {})"
        ),
        "set plainly, a name that lies | the same": (
            "class S(str):\n    def startswith(self, *a): return False\nclass A: pass\n"
            "object.__setattr__(A(), S('__array_interface__'), {})"
        ),
        "set plainly, a field | a data class's code": (
            "from dataclasses import field\nobject.__setattr__(field(default=1), 'name', 'x')"
        ),
        "set by super, memory | numpy's look at it": (
            "class A:\n    def f(self): super().__setattr__('__array_struct__', 1)\nA().f()"
        ),
        "set by super, its parts | what sets any attribute": (
            "class A:\n    def f(self): return super().__setattr__\n"
            "A().f().args[0]('__dict__', {'__array_struct__': 1})"
        ),
        "set by super, its function | what binds by a name in data": (
            "class A:\n    def f(self): return super().__setattr__\nret = A().f().func"
        ),
        "a data class's options | a function of the library": (
            "from dataclasses import dataclass\nret = repr(dataclass(frozen=True).func)"
        ),
    },
    ends=("raised",),
)

_family(
    "source",
    {
        "null byte | the parser": "x = 1\0",
        "brackets | the parser's stack": "(" * 5000,
        "a megabyte of brackets | the parser's stack": "[" * 10**6,
        "closed brackets | the parser's stack": "[" * 150 + "]" * 150,
        "minus signs | the compiler's stack": "x = " + "-" * 30000 + "1",
        "attributes | the compiler's stack": "x" + ".a" * 20000,
        "calls | the compiler's stack": "x" + "()" * 20000,
        "subscripts | the compiler's stack": "x" + "[0]" * 20000,
        "sums | the compiler's stack": "x = " + "1 + " * 15000 + "1",
        "powers | the compiler's time": "x = " + "9 ** " * 100 + "9",
        "ladder | the compiler's stack": "if 1: pass\n" + "elif 1: pass\n" * 4000,
        "lambdas | the compiler's stack": "x = " + "lambda: " * 9000 + "1",
        "indentation | the tokenizer": "".join(" " * n + "if 1:\n" for n in range(150))
        + " " * 150
        + "x",
        "digits | the reading of numbers": "x = " + "9" * 60000,
        "f-strings | the parser's stack": "x = " + "f'{" * 500,
        "surrogates | the text itself": "x = '\ud800'",
        "ten megabytes | the parser's time": "x = 1\n" * 1_700_000,
        "many names | the check's time": "\n".join(f"x{n} = {n}" for n in range(6000)),
        "dedent | the tokenizer": "if 1:\n        x\n    y",
    },
)

_family(
    "odd sources",
    {
        "unicode | the reading of names": "x = '" + "\u0301" * 60000 + "'",
        "form feed | the tokenizer": "\f" * 60000,
    },
    ends=("value",),
)

# The same game under the policy of benchmarks: what is listed must lead nowhere else.
BENCHMARK_ATTACKS: dict[str, str] = {
    "a module that is not listed": "import os\nos.system('touch $W')",
    "a module below a listed one": "import collections._sys",
    "the module behind one": "import random\nrandom._os.system('touch $W')",
    "the module behind one, by a name": "from random import _os",
    "the module behind one, by getattr": "import random\ngetattr(random, '_os').system('touch $W')",
    "the module behind one, unlisted": "import json\nret = json.decoder.scanner",
    "sys by re": "import re\nret = re.enum.sys.modules",
    "sys by an alias": "import re\nr = re\nret = r.enum.sys.modules",
    "io by typing": "import typing\nt = typing\nret = t.io",
    "attrgetter": "from operator import attrgetter\nret = attrgetter('__class__')(1)",
    "attrgetter, by the module": "import operator\no = operator\nret = o.attrgetter('__class__')(1)",
    "methodcaller": "from operator import methodcaller\nret = methodcaller('__reduce__')(1)",
    "formatter": "import string\nret = string.Formatter().format('{0.__class__.__base__}', 1)",
    "template": "from string import Template\nret = Template('$$x')",
    "update_wrapper": (
        "from functools import update_wrapper\ndef f(): pass\n"
        "update_wrapper(f, affinity.rotate, (), ('__globals__',))\nret = math.os"
    ),
    "wraps with names": (
        "from functools import wraps\ndef f(): pass\n"
        "wraps(affinity.rotate, (), ('__globals__',))(f)"
    ),
    "make_dataclass": "from dataclasses import make_dataclass\nmake_dataclass('A', ['x'])",
    "type hints as text": "from typing import get_type_hints\nret = get_type_hints({})",
    "singledispatch": "from functools import singledispatch",
    "a file's hash": "from hashlib import file_digest\nret = file_digest('$R', 'md5')",
    "a file as json": "import json\nret = json.load(open('$R'))",
    "the system's random": "from random import SystemRandom\nret = SystemRandom().random()",
    "star": "from random import *\nret = _os",
    "numpy in full": "import numpy.lib\nret = numpy.lib.npyio.os",
    "numpy files by name": "from numpy import load\nret = load('$R')",
    "numpy files by getattr": "import numpy as np\ngetattr(np, 'save')('$W', [1])",
    "getattr of a dunder": "ret = getattr((), '__class__')",
    "getattr of a dunder, put together": "ret = getattr((), '_' * 2 + 'class' + '_' * 2)",
    "getattr of a frame": "ret = getattr((x for x in [1]), 'gi_frame')",
    "getattr of format": "ret = getattr('{0.__class__.__base__}', 'format')(1)",
    "getattr by a text that lies": (
        "class S(str):\n    def startswith(self, *a): return False\n"
        "    def __eq__(self, o): return False\n    def __hash__(self): return 1\n"
        "ret = getattr((), S('__class__'))"
    ),
    "getattr in other letters": "ret = getattr((), '\uff3f\uff3fclass\uff3f\uff3f')",
    "setattr of a dunder": "class A: pass\nsetattr(A, '__getattr__', print)",
    "getattr as a key": "ret = [*map(getattr, [()], ['__class__'])]",
    "partial getattr": "from functools import partial\nret = partial(getattr, ())('__class__')",
    "reduced getattr": "from functools import reduce\nret = reduce(getattr, ['__class__'], ())",
    "eval of an import": "ret = eval('__import__(\"os\")')",
    "eval of a file": "ret = eval('open(\"$R\").read()')",
    "eval of a dunder": "ret = eval('().__class__')",
    "eval of a dunder, put together": "ret = eval('().' + '_' * 2 + 'class' + '_' * 2)",
    "eval of a frame": "ret = eval('(x for x in [1]).gi_frame')",
    "eval of builtins": "ret = eval('_' * 2 + 'builtins' + '_' * 2)",
    "eval with names that bring no builtins": "ret = eval('open', {'open_': 1})",
    "eval with builtins of its own": (
        "ret = eval('exec', {'_' * 2 + 'builtins' + '_' * 2: {'exec': 1}})"
    ),
    "eval among a library's names": (
        "import numpy as np\nret = np.vectorize(eval, otypes=[object])(['sys.modules'])[0]"
    ),
    "eval of a text that lies": (
        "class S(str):\n    def strip(self, *a): return '().__class__'\nret = eval(S('1'))"
    ),
    "eval of eval": 'ret = eval(\'eval("().__" + "class__")\')',
    "eval of code": "ret = eval(b'1')",
    "eval with a marked name": (
        "t = '{0.__class__.__mro__}'\n"
        "ret = eval('t.format(1)', {'text' + chr(0xe01ef): lambda v: v, 't': t})"
    ),
    "eval with a marked name of its own": (
        "t = '{0.__class__.__mro__}'\n"
        "ret = eval('t.format(1)', {'t': t}, {'text' + chr(0xe01ef): lambda v: v})"
    ),
    "eval with names that answer for a marked one": (
        "class D(dict):\n    def __missing__(self, name):\n        return lambda v: v\n"
        "t = '{0.__class__.__mro__}'\nret = eval('t.format(1)', {}, D(t=t))"
    ),
    "eval with a name that lies": (
        "class S(str):\n    def __eq__(self, o): return True\n"
        "    def __hash__(self): return hash('text' + chr(0xe01ef))\n"
        "t = '{0.__class__.__mro__}'\n"
        "ret = eval('t.format(1)', {'t': t, S('a'): lambda v: v})"
    ),
    "eval of a marked name": "ret = eval('text' + chr(0xe01ef))(1)",
    "sys in full": "import sys\ns = sys\nret = s.modules",
    "open": "ret = open('$R').read()",
    "dunder of a named tuple": "from collections import namedtuple\nnamedtuple('A', ['__class__'])",
    "code by a named tuple": "from collections import namedtuple\nnamedtuple('A', ['x=1): pass #'])",
    "metaclass of an enumeration": "from enum import EnumMeta",
    "class of an enumeration's class": "from enum import Enum\nret = type(Enum)('A', (), {})",
    "class of a class": "ret = type(int)('A', (), {'__del__': print})",
    "class by reduce": "from functools import reduce\nret = reduce(type, [(), {}], 'A')",
    "copy of a recipe": "import copy\nclass A:\n    def __reduce__(self): return print, ()\ncopy.copy(A())",
    "forged array": "import numpy as np\nret = type(np.ones(1))((1,), dtype=object, buffer=np.ones(1))",
    "private by getattr": "ret = getattr(Point(0, 0), '_geom')",
    "private by getattr, put together": "ret = getattr(Point(0, 0), '_' + 'geom')",
    "private written": "import random\nrandom._inst = 1\nret = random._inst.x",
    "hint evaluated": (
        "import typing\nclass A:\n    _evaluate = 0\n"
        "ret = typing.Optional['open(\"$R\").read()']._evaluate({}, {}, frozenset())"
    ),
    "bound evaluated": (
        "from typing import TypeVar\nT = TypeVar('T', bound='open(\"$R\").read()')\nret = T._bound"
    ),
    "hint evaluated by a class": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: 'open(\"$R\").read()'\n"
        "ret = P._field_types"
    ),
    "private of a partial": (
        "from functools import partial\np = partial(pow, 2)\nret = p._partial"
    ),
    "memory by an enumeration": (
        "from enum import Enum\nimport numpy as np\n"
        "E = Enum('E', {'__array_interface__': {'data': (id(0), False), 'shape': (4,), "
        "'typestr': '<i8', 'version': 3}, 'a': 1})\nm = np.asarray(E.a)\nm[0] = 12345\nret = m"
    ),
    "memory by an enumeration, in pairs": (
        "from enum import Enum\nE = Enum('E', [('__array_interface__', 1), ('a', 2)])\nret = 1"
    ),
    "attributes by an enumeration": (
        "from enum import IntEnum\nE = IntEnum('E', {'__getattr__': 1, 'a': 2})\nret = 1"
    ),
    "recipe by an enumeration": (
        "import copy\nfrom enum import Enum\n"
        "E = Enum('E', {'__reduce_ex__': lambda *a: (setattr, (np, 'x', 1)), 'a': 1})\n"
        "copy.copy(E.a)"
    ),
    "class by an enumeration": (
        "from enum import Flag\nE = Flag(value='E', names={'__class__': 1, 'a': 2})\nret = 1"
    ),
    "enumeration of names that lie": (
        "from enum import StrEnum\nclass S(str):\n    def startswith(self, *a): return False\n"
        "E = StrEnum('E', [S('__array_interface__')])\nret = 1"
    ),
    "enumeration of one's own kind": (
        "from enum import Enum\nclass Mine(Enum): pass\nE = Mine('E', ['__call__'])\nret = 1"
    ),
    "enumeration by its class": "from enum import Enum\nret = type(Enum)('E', (Enum,), {})",
    "memory by a cached property": (
        "from functools import cached_property\nimport numpy as np\n"
        "class A:\n    @cached_property\n    def x(self):\n"
        "        return {'data': (id(0), False), 'shape': (4,), 'typestr': '<i8', 'version': 3}\n"
        "A.x.attrname = '__array_interface__'\na = A()\na.x\nret = np.asarray(a).tolist()[9]"
    ),
    "attributes by a field's name": (
        "from dataclasses import dataclass, field, astuple\nf = field(default=1)\n"
        "@dataclass\nclass A:\n    x: int = f\nf.name = '__class__'\n"
        "ret = astuple(A())[0].undefined"
    ),
    "attributes by a field that is handed out": (
        "from dataclasses import dataclass, fields, asdict\n@dataclass\nclass A:\n    x: int = 1\n"
        "fields(A)[0].name = '__class__'\nret = asdict(A())['__class__']"
    ),
    "class by a named tuple": (
        "from collections import namedtuple\nret = namedtuple('A', ['__array_interface__'])"
    ),
    "class by a typed named tuple": (
        "from typing import NamedTuple\nret = NamedTuple('A', [('__array_interface__', int)])"
    ),
    "new type": "from typing import NewType\nret = NewType('A', '().x')",
    "typed dictionary": "from typing import TypedDict\nret = TypedDict('A', {'__x__': '().x'})",
    "simple namespace": ("ret = type(robot)(**{'__array_interface__': {}})"),
    "state below a group": "r = np.random\nret = r.state.x",
    "late module of dates": "import _strptime\nret = _strptime._thread_allocate_lock",
    "late module of time": "import time\ntime.sleep(9)",
}
"""All refused by the check, or ended by an exception of the program's own."""
