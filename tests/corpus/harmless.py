"""A table of harmless programs: what people and models write, each with the value it must give.

Every value was worked out by plain Python. The scope is that of the attacks: `pick(name)` returns
its argument, `look()` returns 1, and both are also members of `robot`.
"""

# ruff: noqa: E501  one program a line reads better than its pieces
from __future__ import annotations

from typing import Any

HARMLESS: dict[str, tuple[str, Any]] = {
    "dictionary of an object": (
        "class A:\n    def __init__(self): self._x, self.y = 1, [2]\nret = vars(A())",
        {"_x": 1, "y": [2]},
    ),
    # plain values and expressions
    "arithmetic": ("ret = (2 + 3) * 4 - 7 // 2 + 7 % 4", 20),
    "powers": ("ret = [2 ** 10, pow(2, 10, 7), 2 ** -1]", [1024, 2, 0.5]),
    "floats": ("ret = round(0.1 + 0.2, 10)", 0.3),
    "big integers": ("ret = 2 ** 200 % 1000007", 446616),
    "bits": ("ret = [5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 256 >> 2]", [1, 7, 6, -6, 16, 64]),
    "booleans": (
        "ret = [True and False, True or False, not True, 1 < 2 < 3]",
        [False, True, False, True],
    ),
    "ternary": ("x = 5\nret = 'big' if x > 3 else 'small'", "big"),
    "complex": ("ret = (1 + 2j) * (3 - 1j)", 5 + 5j),
    "none": ("ret = None", None),
    "ellipsis in a body": ("def f(): ...\nret = f()", None),
    "chained assignment": ("a = b = c = 3\nret = a + b + c", 9),
    "augmented assignment": ("a = 10\na -= 3\na *= 2\na //= 4\na **= 2\nret = a", 9),
    "swap": ("a, b = 1, 2\na, b = b, a\nret = [a, b]", [2, 1]),
    "unpacking": ("a, *rest, z = [1, 2, 3, 4]\nret = [a, rest, z]", [1, [2, 3], 4]),
    "nested unpacking": ("(a, (b, c)), d = (1, (2, 3)), 4\nret = a + b + c + d", 10),
    "annotated": ("x: int = 3\ny: 'a text' = 4\nret = x + y", 7),
    "number bases": (
        "ret = [0xff, 0b101, 0o17, int('ff', 16), hex(255), bin(5), oct(8)]",
        [255, 5, 15, 255, "0xff", "0b101", "0o10"],
    ),
    "division": ("ret = [7 / 2, 7 // 2, -7 // 2, divmod(7, 2)]", [3.5, 3, -4, (3, 1)]),
    "infinity": ("ret = float('inf') > 10 ** 100", True),
    # text
    "text methods": ("ret = ' Red Block '.strip().lower().replace(' ', '_')", "red_block"),
    "split and join": ("ret = '-'.join('a b c'.split())", "a-b-c"),
    "f-string": ("name, x = 'block', 0.12345\nret = f'{name}: {x:.2f} m'", "block: 0.12 m"),
    "f-string with width": ("w = 6\nret = f'{3:>{w}}|{\"a\":<3}|{5:03d}'", "     3|a  |005"),
    "f-string with repr": ("ret = f'{\"a\"!r} {1 + 1 = }'", "'a' 1 + 1 = 2"),
    "format of a literal": ("ret = '{} and {}'.format('a', 2)", "a and 2"),
    "format with names": ("ret = '{a:.1f} {b!r}'.format(a=1.25, b='x')", "1.2 'x'"),
    "format with width": ("ret = '{:>{w}}'.format(1, w=3)", "  1"),
    "format with numbers": ("ret = '{1} {0}'.format('a', 'b')", "b a"),
    "format builtin": ("ret = format(3.14159, '.2f')", "3.14"),
    "percent": ("ret = '%s is at %.1f, %d' % ('cup', 0.25, 3)", "cup is at 0.2, 3"),
    "slicing text": ("s = 'abcdef'\nret = [s[1:3], s[::-1], s[-2:]]", ["bc", "fedcba", "ef"]),
    "text tests": (
        "ret = ['block' in 'red block', 'red block'.startswith('red'), 'a1'.isalnum()]",
        [True, True, True],
    ),
    "characters": ("ret = [ord('a'), chr(98), ascii('é')]", [97, "b", "'\\xe9'"]),
    "unicode text": ("ret = len('naïve 日本')", 8),
    "unicode names": ("höhe = 2\nπ = 3\nret = höhe * π", 6),
    "multi-line text": ("ret = '''a\nb'''.splitlines()", ["a", "b"]),
    "bytes": ("ret = b'abc'[1] + bytes([1, 2])[0]", 99),
    "word import in a text": ("ret = 'import os; exec(1)'", "import os; exec(1)"),
    "print refuses what it does not know": (
        "ret = []\nfor named in ({'foo': 1}, {'sep': 1}, {'end': 2}):\n    try: print('x', **named)\n    except TypeError as e: ret.append(str(e))",
        [
            "'foo' is an invalid keyword argument for print()",
            "sep must be None or a string, not int",
            "end must be None or a string, not int",
        ],
    ),
    "print to an object of its own": (
        "class Out:\n    def __init__(self): self._parts = []\n    def write(self, s): self._parts.append(s)\no = Out()\nprint(1, 2, file=o)\nret = ''.join(o._parts)",
        "1 2\n",
    ),
    "encodings": (
        "ret = [len('\u00e9'.encode(e)) for e in ('utf-16-le', 'utf-8-sig', 'cp1252', 'unicode_escape', 'utf-7')] + [len('\u4e2d'.encode('gbk'))]",
        [2, 5, 1, 4, 5, 2],
    ),
    "a module shows as one": (
        "ret = [repr(math), str(type(np)), math.__name__]",
        ["<module 'math'>", "<class 'module'>", "math"],
    ),
    "annotations of the future": (
        "from __future__ import annotations\ndef f(a: Nothing) -> Nowhere: return a\nret = f(1)",
        1,
    ),
    "more operators": (
        "class A:\n    def __lshift__(self, o): return 'l'\n    def __ror__(self, o): return 'r'\n    def __index__(self): return 2\n    def __format__(self, s): return 'f' + s\n    def __divmod__(self, o): return (1, 2)\nclass D(dict):\n    def __missing__(self, k): return k\nret = [A() << 1, 1 | A(), [0, 1, 2][A()], f'{A():x}', divmod(A(), 1), D()['k']]",
        ["l", "r", 2, "fx", (1, 2), "k"],
    ),
    "more exceptions": (
        "try: b'\\xff'.decode()\nexcept UnicodeDecodeError: ret = IOError is OSError",
        True,
    ),
    "dunder in a text": ("ret = '__class__ and _x'", "__class__ and _x"),
    "comment with import": ("# import os, eval(x), __class__\nret = 1", 1),
    "docstring": ('def f():\n    """import os and eval(x)."""\n    return 1\nret = f()', 1),
    "backslashes": (r"ret = 'a\\b\t'", "a\\b\t"),
    "translate": ("ret = 'abc'.translate(str.maketrans('ab', 'xy'))", "xyc"),
    "printing": ("print('hello', 1, sep=', ', end='!')\nret = 1", 1),
    # collections
    "list methods": (
        "x = [3, 1]\nx.append(2)\nx.extend([5])\nx.sort()\nx.reverse()\nret = x + [x.index(2), x.pop()]",
        [5, 3, 2, 2, 1],
    ),
    "list comprehension": (
        "ret = [x * y for x in range(3) for y in range(2) if x != y]",
        [0, 0, 0, 2],
    ),
    "nested comprehension": ("ret = [[j for j in range(i)] for i in range(3)]", [[], [0], [0, 1]]),
    "dict": (
        "d = {'a': 1}\nd['b'] = 2\nd.update(c=3)\nret = [sorted(d.items()), d.get('z', 0), 'a' in d]",
        [[("a", 1), ("b", 2), ("c", 3)], 0, True],
    ),
    "dict comprehension": ("ret = {name: len(name) for name in ['a', 'bb']}", {"a": 1, "bb": 2}),
    "dict merge": ("ret = {**{'a': 1}, 'b': 2} | {'c': 3}", {"a": 1, "b": 2, "c": 3}),
    "dict deletion": ("d = {'a': 1, 'b': 2}\ndel d['a']\nret = d", {"b": 2}),
    "default of a dict": (
        "d = {}\nfor w in 'a b a'.split():\n    d[w] = d.get(w, 0) + 1\nret = d",
        {"a": 2, "b": 1},
    ),
    "setdefault": ("d = {}\nd.setdefault('a', []).append(1)\nret = d", {"a": [1]}),
    "set": ("ret = sorted({1, 2, 3} & {2, 3, 4} | {9})", [2, 3, 9]),
    "set comprehension": ("ret = sorted({x % 3 for x in range(10)})", [0, 1, 2]),
    "frozenset": ("ret = frozenset([1, 2]) <= {1, 2, 3}", True),
    "tuple": ("t = (1, 2, 3)\nret = t[1:] + (4,)", (2, 3, 4)),
    "slices": (
        "x = list(range(10))\nret = [x[::2], x[-3:], x[5:2:-1]]",
        [[0, 2, 4, 6, 8], [7, 8, 9], [5, 4, 3]],
    ),
    "slice assignment": ("x = [1, 2, 3, 4]\nx[1:3] = [9]\nret = x", [1, 9, 4]),
    "zip and enumerate": (
        "ret = [(i, a, b) for i, (a, b) in enumerate(zip('ab', [1, 2]))]",
        [(0, "a", 1), (1, "b", 2)],
    ),
    "sorting with a key": (
        "ret = sorted(['ccc', 'a', 'bb'], key=len, reverse=True)",
        ["ccc", "bb", "a"],
    ),
    "sorting with a lambda": (
        "ret = sorted([(1, 'b'), (2, 'a')], key=lambda p: p[1])",
        [(2, "a"), (1, "b")],
    ),
    "min and max": (
        "d = {'a': 3, 'b': 1}\nret = [min(d, key=d.get), max(d.values()), min([], default=0)]",
        ["b", 3, 0],
    ),
    "any and all": (
        "ret = [any(x > 2 for x in [1, 3]), all(x > 2 for x in [1, 3])]",
        [True, False],
    ),
    "map and filter": ("ret = list(map(str, filter(None, [0, 1, 2])))", ["1", "2"]),
    "reversed": ("ret = list(reversed([1, 2, 3]))", [3, 2, 1]),
    "sum of lists": ("ret = sum([[1], [2]], [])", [1, 2]),
    "range": (
        "ret = [list(range(3)), range(10)[2:4] == range(2, 4), 3 in range(5)]",
        [[0, 1, 2], True, True],
    ),
    "iterators": ("it = iter([1, 2])\nret = [next(it), next(it), next(it, 'end')]", [1, 2, "end"]),
    "star in a call": ("def f(a, b, c): return a + b * c\nret = f(*[1, 2], **{'c': 3})", 7),
    "star in a list": ("ret = [*range(2), *'ab']", [0, 1, "a", "b"]),
    "membership": ("ret = [1 not in [2], 'a' in {'a': 1}]", [True, True]),
    "bytearray": ("b = bytearray(b'ab')\nb[0] = 99\nret = bytes(b)", b"cb"),
    # statements
    "if, elif, else": (
        "x = 2\nif x == 1:\n    ret = 'a'\nelif x == 2:\n    ret = 'b'\nelse:\n    ret = 'c'",
        "b",
    ),
    "for with else": ("for x in [1, 2]:\n    if x > 2: break\nelse:\n    ret = 'none'", "none"),
    "while with break": (
        "n = 0\nwhile True:\n    n += 1\n    if n % 2: continue\n    if n > 5: break\nret = n",
        6,
    ),
    "while with else": ("n = 3\nwhile n:\n    n -= 1\nelse:\n    ret = 'done'", "done"),
    "nested loops": ("ret = 0\nfor i in range(3):\n    for j in range(i):\n        ret += j", 1),
    "try": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    ret = str(error)",
        "division by zero",
    ),
    "try with all parts": (
        "ret = []\ntry:\n    ret.append(1)\nexcept ValueError:\n    ret.append(2)\nelse:\n    ret.append(3)\nfinally:\n    ret.append(4)",
        [1, 3, 4],
    ),
    "several exceptions": (
        "try:\n    {}['a']\nexcept (IndexError, KeyError) as e:\n    ret = e.args[0]",
        "a",
    ),
    "raise from": (
        "try:\n    try:\n        [][0]\n    except IndexError as e:\n        raise ValueError('bad') from e\nexcept ValueError as e:\n    ret = str(e)",
        "bad",
    ),
    "bare except": ("try:\n    int('x')\nexcept:\n    ret = 'caught'", "caught"),
    "file errors by name": (
        "try:\n    raise FileNotFoundError('no map')\nexcept (OSError, TimeoutError) as e:\n    ret = str(e)",
        "no map",
    ),
    "own exception": (
        "class NoBlock(Exception):\n    pass\ntry:\n    raise NoBlock('red')\nexcept NoBlock as e:\n    ret = e.args",
        ("red",),
    ),
    "robot error caught": (
        "try:\n    raise NotFound('cup')\nexcept RobotError as e:\n    ret = str(e)",
        "cup",
    ),
    "assert": ("try:\n    assert 1 > 2, 'no'\nexcept AssertionError as e:\n    ret = str(e)", "no"),
    "with": (
        "class C:\n    def __enter__(self): return 5\n    def __exit__(self, *args): return True\nwith C() as x:\n    1 / 0\nret = x",
        5,
    ),
    "del": ("x = [1, 2]\ndel x[0]\ny = 1\ndel y\nret = x", [2]),
    "pass": ("for _ in range(3): pass\nret = 'ok'", "ok"),
    "global": ("n = 0\ndef f():\n    global n\n    n += 1\nf()\nf()\nret = n", 2),
    "nonlocal": (
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g\ng = f()\ng()\nret = g()",
        2,
    ),
    "walrus": ("ret = [y for x in range(4) if (y := x * x) > 1]", [4, 9]),
    "walrus in while": (
        "xs = [1, 2, 0, 3]\nret = []\nwhile (x := xs.pop(0)):\n    ret.append(x)",
        [1, 2],
    ),
    "main guard": ("def main(): return 3\nif __name__ == '__main__':\n    ret = main()", 3),
    "everyday words": ("id = 3\ndir = 'left'\ninput = [id, dir]\nret = input", [3, "left"]),
    "library name rebound": ("box = 'red box'\nscale = 2\nret = box * scale", "red boxred box"),
    "attribute of a rebound name": (
        "class T: pass\nbox = T()\nbox.lid = 'open'\nret = box.lid",
        "open",
    ),
    # match
    "match values": (
        "match 'b':\n    case 'a': ret = 1\n    case 'b' | 'c': ret = 2\n    case _: ret = 3",
        2,
    ),
    "match sequence": ("match [1, 2, 3]:\n    case [a, *rest]: ret = [a, rest]", [1, [2, 3]]),
    "match mapping": (
        "match {'x': 1, 'y': 2}:\n    case {'x': x, **rest}: ret = [x, rest]",
        [1, {"y": 2}],
    ),
    "match class": ("match 3.5:\n    case int(): ret = 'int'\n    case float() as f: ret = f", 3.5),
    "match own class": (
        "class P:\n    __match_args__ = ('x', 'y')\n    def __init__(self, x, y): self.x, self.y = x, y\nmatch P(1, 2):\n    case P(1, y): ret = y",
        2,
    ),
    "match by keyword": ("class P:\n    x = 3\nmatch P():\n    case P(x=v) if v > 2: ret = v", 3),
    "match guard": ("match 5:\n    case n if n > 3: ret = 'big'\n    case _: ret = 'small'", "big"),
    "match none": ("match None:\n    case None: ret = 'none'\n    case True: ret = 't'", "none"),
    # functions
    "function": (
        "def area(w, h=2, *, scale=1): return w * h * scale\nret = [area(3), area(3, 4), area(3, scale=10)]",
        [6, 12, 60],
    ),
    "any arguments": (
        "def f(*args, **kwargs): return [args, kwargs]\nret = f(1, 2, a=3)",
        [(1, 2), {"a": 3}],
    ),
    "positional only": ("def f(a, /, b): return a - b\nret = f(5, b=2)", 3),
    "recursion": ("def fact(n): return 1 if n < 2 else n * fact(n - 1)\nret = fact(10)", 3628800),
    "mutual recursion": (
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\nret = even(10)",
        True,
    ),
    "closure": ("def adder(n):\n    return lambda x: x + n\nret = adder(3)(4)", 7),
    "lambda with a default": ("ret = [f() for f in [lambda i=i: i for i in range(3)]]", [0, 1, 2]),
    "decorator": (
        "def twice(f):\n    def g(*a): return f(*a) * 2\n    return g\n@twice\ndef f(x): return x\nret = f(3)",
        6,
    ),
    "decorator with arguments": (
        "def times(n):\n    def wrap(f):\n        def g(x): return f(x) * n\n        return g\n    return wrap\n@times(3)\ndef f(x): return x\nret = f(2)",
        6,
    ),
    "generator": (
        "def count(n):\n    for i in range(n):\n        yield i\nret = list(count(3))",
        [0, 1, 2],
    ),
    "generator with return": (
        "def g():\n    x = yield 1\n    yield x\nit = g()\nnext(it)\nret = it.send('hi')",
        "hi",
    ),
    "yield from": ("def g():\n    yield from [1, 2]\n    yield 3\nret = [*g()]", [1, 2, 3]),
    "generator expression": ("ret = sum(x * x for x in range(4))", 14),
    "generator closed": (
        "def g():\n    try:\n        yield 1\n    finally:\n        log.append('closed')\nlog = []\nit = g()\nnext(it)\nit.close()\nret = log",
        ["closed"],
    ),
    "type hints": (
        "def f(a: List[str], b: Optional[int] = None) -> Dict[str, float]:\n    return {a[0]: float(b or 0)}\nret = f(['x'], 2)",
        {"x": 2.0},
    ),
    "callable hint": (
        "def f(g: Callable[[int], int], x: Union[int, str]) -> Any: return g(x)\nret = f(lambda x: x + 1, 2)",
        3,
    ),
    "new hints": (
        "def f(a: list[int] | None = None) -> tuple[int, ...]: return tuple(a or [])\nret = f([1])",
        (1,),
    ),
    "function attribute": ("def f(): f.calls += 1\nf.calls = 0\nf()\nf()\nret = f.calls", 2),
    "name of a function": ("def find_cup(): pass\nret = find_cup.__name__", "find_cup"),
    "early return": (
        "def f(x):\n    for y in x:\n        if y > 1: return y\nret = [f([1, 2]), f([])]",
        [2, None],
    ),
    "memo in a default": (
        "def fib(n, memo={}):\n    if n not in memo:\n        memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)\n    return memo[n]\nret = fib(80)",
        23416728348467685,
    ),
    "functions in a dict": (
        "ops = {'add': lambda a, b: a + b, 'max': max}\nret = [ops['add'](1, 2), ops['max'](3, 4)]",
        [3, 4],
    ),
    "callable": ("ret = [callable(len), callable(3)]", [True, False]),
    # classes
    "class": (
        "class Box:\n    def __init__(self, w, h=1):\n        self.w, self.h = w, h\n    def area(self): return self.w * self.h\nret = Box(3, 2).area()",
        6,
    ),
    "class attribute": (
        "class A:\n    count = 0\n    def __init__(self): A.count += 1\nA()\nA()\nret = A.count",
        2,
    ),
    "private attribute": (
        "class A:\n    def __init__(self): self._x = 1\n    def get(self): return self._x\nret = A().get()",
        1,
    ),
    "private method": (
        "class A:\n    def _half(self, x): return x / 2\n    def f(self, x): return self._half(x)\nret = A().f(3)",
        1.5,
    ),
    "private class attribute": (
        "class A:\n    _limit = 5\n    def f(self): return self._limit\nret = A().f()",
        5,
    ),
    "inheritance": (
        "class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): return super().f() + 1\nret = B().f()",
        2,
    ),
    "super init": (
        "class A:\n    def __init__(self, x): self.x = x\nclass B(A):\n    def __init__(self, x):\n        super().__init__(x)\n        self.y = 2 * x\nret = [B(3).x, B(3).y]",
        [3, 6],
    ),
    "old super": (
        "class A:\n    def __init__(self, x): self.x = x\nclass B(A):\n    def __init__(self):\n        super(B, self).__init__(4)\nret = B().x",
        4,
    ),
    "base init": (
        "class A:\n    def __init__(self, x): self.x = x\nclass B(A):\n    def __init__(self):\n        A.__init__(self, 5)\nret = B().x",
        5,
    ),
    "exception with a field": (
        "class Far(ValueError):\n    def __init__(self, metres):\n        super().__init__(f'{metres} m')\n        self.metres = metres\ntry:\n    raise Far(3)\nexcept Far as e:\n    ret = [str(e), e.metres]",
        ["3 m", 3],
    ),
    "repr and str": (
        "class P:\n    def __repr__(self): return 'P()'\n    def __str__(self): return 'p'\nret = [repr(P()), str(P()), f'{P()}', f'{[P()]}']",
        ["P()", "p", "p", "[P()]"],
    ),
    "arithmetic class": (
        "class V:\n    def __init__(self, x): self.x = x\n    def __add__(self, o): return V(self.x + o.x)\n    def __mul__(self, k): return V(self.x * k)\n    def __neg__(self): return V(-self.x)\nret = (-(V(1) + V(2)) * 3).x",
        -9,
    ),
    "comparing class": (
        "class P:\n    def __init__(self, n): self.n = n\n    def __lt__(self, o): return self.n < o.n\n    def __eq__(self, o): return self.n == o.n\n    def __hash__(self): return hash(self.n)\nret = [min([P(3), P(1)]).n, P(1) == P(1), len({P(1), P(1)})]",
        [1, True, 1],
    ),
    "container class": (
        "class Bag:\n    def __init__(self): self.items = {}\n    def __getitem__(self, k): return self.items[k]\n    def __setitem__(self, k, v): self.items[k] = v\n    def __len__(self): return len(self.items)\n    def __contains__(self, k): return k in self.items\n    def __iter__(self): return iter(self.items)\nb = Bag()\nb['a'] = 1\nret = [b['a'], len(b), 'a' in b, list(b)]",
        [1, 1, True, ["a"]],
    ),
    "iterator class": (
        "class Count:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n    def __next__(self):\n        if self.n == 0: raise StopIteration\n        self.n -= 1\n        return self.n\nret = list(Count(3))",
        [2, 1, 0],
    ),
    "callable class": (
        "class Add:\n    def __init__(self, n): self.n = n\n    def __call__(self, x): return x + self.n\nret = Add(2)(3)",
        5,
    ),
    "property": (
        "class A:\n    def __init__(self): self._r = 2\n    @property\n    def area(self): return self._r ** 2\n    @area.setter\n    def area(self, v): self._r = v ** 0.5\na = A()\na.area = 9\nret = a.area",
        9.0,
    ),
    "static and class method": (
        "class A:\n    n = 3\n    @staticmethod\n    def twice(x): return 2 * x\n    @classmethod\n    def make(cls): return cls.n\nret = [A.twice(2), A.make()]",
        [4, 3],
    ),
    "linked list": (
        "class Node:\n    def __init__(self, data, next=None):\n        self.data = data\n        self.next = next\nn = Node(1, Node(2))\nret = [n.data, n.next.data]",
        [1, 2],
    ),
    "class with a base field": (
        "class Arm:\n    def __init__(self): self.base = [0, 0]\nret = Arm().base",
        [0, 0],
    ),
    "record class": (
        "class Pose:\n    x: float = 0.0\n    y: float = 0.0\np = Pose()\np.x = 1.5\nret = [p.x, p.y]",
        [1.5, 0.0],
    ),
    "nested class": ("class A:\n    class B:\n        x = 1\nret = A.B.x", 1),
    "isinstance": (
        "class A: pass\nclass B(A): pass\nret = [isinstance(B(), A), issubclass(B, A), isinstance(1, (int, str)), isinstance('', int | str)]",
        [True, True, True, True],
    ),
    "type of a value": (
        "ret = [type(1) is int, type('a') == str, type([]).__name__]",
        [True, True, "list"],
    ),
    "class name": (
        "class Cup: pass\nret = [Cup().__class__.__name__, type(Cup()).__name__, Cup.__name__]",
        ["Cup", "Cup", "Cup"],
    ),
    "make another of one's class": (
        "class A:\n    def again(self): return type(self)()\nret = isinstance(A().again(), A)",
        True,
    ),
    "bool class": (
        "class A:\n    def __bool__(self): return False\nret = 'y' if A() else 'n'",
        "n",
    ),
    "subclass of dict": (
        "class D(dict):\n    def total(self): return sum(self.values())\nret = D(a=1, b=2).total()",
        3,
    ),
    "object": ("none = object()\nret = none is not object()", True),
    # numpy
    "array": ("ret = (np.array([1.0, 2.0]) * 2 + 1).tolist()", [3.0, 5.0]),
    "mean": ("ret = float(np.mean([1, 2, 3, 4]))", 2.5),
    "norm": ("ret = float(np.linalg.norm(np.array([3, 4])))", 5.0),
    "statistics of arrays": (
        "a = np.array([[1.0, 2.0], [3.0, 4.0]])\nret = [a.mean(axis=0).tolist(), a.sum().item(), a.max(), a.std() > 1]",
        [[2.0, 3.0], 10.0, 4.0, True],
    ),
    "linspace": ("ret = np.linspace(0, 1, 5).tolist()", [0.0, 0.25, 0.5, 0.75, 1.0]),
    "argmin": ("ret = int(np.argmin([3, 1, 2]))", 1),
    "argsort": ("ret = np.argsort([3, 1, 2])[::-1].tolist()", [0, 2, 1]),
    "stack": ("ret = np.vstack([[1, 2], [3, 4]]).T.tolist()", [[1, 3], [2, 4]]),
    "concatenate": ("ret = np.concatenate([np.zeros(1), np.ones(2)]).tolist()", [0.0, 1.0, 1.0]),
    "boolean index": ("a = np.arange(5)\nret = a[a > 2].tolist()", [3, 4]),
    "several axes": (
        "a = np.arange(6).reshape(2, 3)\nret = [a[:, 0].tolist(), a[..., 1].tolist(), a[None].shape]",
        [[0, 3], [1, 4], (1, 2, 3)],
    ),
    "clip and round": (
        "ret = np.round(np.clip([-1, 0.456, 2], 0, 1), 2).tolist()",
        [0.0, 0.46, 1.0],
    ),
    "where": ("ret = np.where(np.array([1, -1]) > 0, 'right', 'left').tolist()", ["right", "left"]),
    "unique": ("ret = np.unique([2, 1, 2]).tolist()", [1, 2]),
    "rotation": (
        "t = np.pi / 2\nr = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])\nret = np.round(r @ np.array([1, 0]), 6).tolist()",
        [0.0, 1.0],
    ),
    "cross and dot": (
        "ret = [np.cross([1, 0, 0], [0, 1, 0]).tolist(), int(np.dot([1, 2], [3, 4]))]",
        [[0, 0, 1], 11],
    ),
    "solve": ("ret = np.linalg.solve(np.array([[2.0, 0], [0, 4]]), [2, 4]).tolist()", [1.0, 1.0]),
    "eigenvalues": (
        "ret = sorted(np.linalg.eigvals(np.diag([1.0, 2.0])).real.tolist())",
        [1.0, 2.0],
    ),
    "isclose": ("ret = bool(np.isclose(0.1 + 0.2, 0.3)) and np.allclose([1], [1])", True),
    "meshgrid": (
        "x, y = np.meshgrid([0, 1], [2, 3])\nret = np.c_[x.ravel(), y.ravel()].tolist()",
        [[0, 2], [1, 2], [0, 3], [1, 3]],
    ),
    "row index": ("ret = np.r_[1, 2:4].tolist()", [1, 2, 3]),
    "seeded random": (
        "np.random.seed(0)\na = np.random.rand(2)\nnp.random.seed(0)\nret = bool((a == np.random.rand(2)).all())",
        True,
    ),
    "random choice": ("ret = np.random.choice(['a']) == 'a'", True),
    "generator of numbers": (
        "rng = np.random.default_rng(0)\nret = 0 <= rng.integers(10) < 10 and rng.normal(size=3).shape",
        (3,),
    ),
    "shuffle": ("x = [1, 2, 3]\nnp.random.shuffle(x)\nret = sorted(x)", [1, 2, 3]),
    "polynomial fit": (
        "ret = np.round(np.polyfit([0, 1, 2], [1, 3, 5], 1), 6).tolist()",
        [2.0, 1.0],
    ),
    "interpolation": ("ret = float(np.interp(0.5, [0, 1], [10, 20]))", 15.0),
    "isinstance of an array": (
        "ret = [isinstance(np.ones(1), np.ndarray), isinstance([1], (np.ndarray, tuple)), isinstance(np.ones(1)[0], np.floating)]",
        [True, False, True],
    ),
    "type of an array": (
        "ret = [type(np.ones(1)) is np.ndarray, type(np.ones(1)).__name__, type(np.ones(1)[0]).__name__]",
        [True, "ndarray", "float64"],
    ),
    "hint of an array": (
        "def f(p: np.ndarray, q: Optional[np.ndarray] = None) -> np.ndarray: return p + 1\nret = f(np.zeros(1)).tolist()",
        [1.0],
    ),
    "match of an array": (
        "match np.zeros(1):\n    case np.ndarray() as a: ret = a.tolist()",
        [0.0],
    ),
    "array of text": ("ret = np.array(['a', 'b'])[[1, 0]].tolist()", ["b", "a"]),
    "dtypes": (
        "ret = [np.array([1, 2], dtype=np.float32).dtype.name, np.arange(3).astype(float).tolist()]",
        ["float32", [0.0, 1.0, 2.0]],
    ),
    "vectorize": ("ret = np.vectorize(lambda x: x + 1)(np.arange(3)).tolist()", [1, 2, 3]),
    "fft": ("ret = np.abs(np.fft.fft(np.ones(4))).tolist()", [4.0, 0.0, 0.0, 0.0]),
    "numpy alias": ("norm = np.linalg.norm\nret = float(norm([0, 2]))", 2.0),
    "in place": ("a = np.zeros(3)\na[1:] += 2\na[0] = -1\nret = a.tolist()", [-1.0, 2.0, 2.0]),
    "resize of a copy": ("ret = np.resize([1, 2], 4).tolist()", [1, 2, 1, 2]),
    "quantiles": (
        "ret = [float(np.median([1, 9, 2])), float(np.percentile([0, 10], 50))]",
        [2.0, 5.0],
    ),
    # math and geometry
    "math": (
        "ret = [math.floor(2.7), math.sqrt(16), math.gcd(12, 18), round(math.degrees(math.pi))]",
        [2, 4.0, 6, 180],
    ),
    "hypot": ("ret = math.hypot(3, 4) + math.atan2(0, 1)", 5.0),
    "point": ("p = Point(1, 2)\nret = [p.x, p.y, p.distance(Point(1, 5))]", [1.0, 2.0, 3.0]),
    "polygon": ("ret = Polygon([(0, 0), (2, 0), (2, 2), (0, 2)]).area", 4.0),
    "coordinates": ("ret = list(box(0, 0, 1, 1).centroid.coords)", [(0.5, 0.5)]),
    "exterior": ("ret = np.array(box(0, 0, 1, 1).exterior.coords[:-1]).shape", (4, 2)),
    "line": (
        "line = LineString([(0, 0), (4, 0)])\nret = [line.length, line.interpolate(0.5, normalized=True).x]",
        [4.0, 2.0],
    ),
    "buffer and contains": ("ret = Point(0, 0).buffer(1).contains(Point(0.5, 0.5))", True),
    "intersection": ("ret = box(0, 0, 2, 2).intersection(box(1, 1, 3, 3)).area", 1.0),
    "affinity": ("p = affinity.translate(Point(0, 0), 1, 2)\nret = [p.x, p.y]", [1.0, 2.0]),
    "rotate": (
        "p = rotate(Point(1, 0), 90, origin=(0, 0))\nret = [round(p.x, 6), round(p.y, 6)]",
        [0.0, 1.0],
    ),
    "scale": ("ret = scale(box(0, 0, 1, 1), 2, 3).area", 6.0),
    "union": ("ret = unary_union([box(0, 0, 1, 1), box(1, 0, 2, 1)]).area", 2.0),
    "multi": ("ret = len(MultiPoint([(0, 0), (1, 1)]).geoms)", 2),
    "hull": ("ret = MultiPoint([(0, 0), (1, 0), (0, 1), (0.1, 0.1)]).convex_hull.area", 0.5),
    # imports that bind what is there
    "import numpy": ("import numpy as np\nret = int(np.sum([1, 2]))", 3),
    "import math": ("import math\nret = math.ceil(1.2)", 2),
    "import of hints": (
        "from typing import List, Optional\ndef f(x: List[int]) -> Optional[int]: return x[0]\nret = f([4])",
        4,
    ),
    "import of shapely": ("from shapely.geometry import Point, Polygon\nret = Point(3, 4).x", 3.0),
    "import in a function": (
        "def f():\n    import numpy as np\n    return int(np.max([1, 5]))\nret = f()",
        5,
    ),
    # calls of the robot
    "call": ("ret = pick('red block')", "red block"),
    "call in a loop": ("ret = [pick(name) for name in ['a', 'b']]", ["a", "b"]),
    "call as a key": ("ret = sorted(['b', 'a'], key=pick)", ["a", "b"]),
    "call by the group": ("ret = [robot.pick(2), robot.look()]", [2, 1]),
    "call kept": ("p = pick\nret = p(3)", 3),
    "call with an array": ("ret = pick(np.array([1.0, 2.0])).tolist()", [1.0, 2.0]),
    "call with a keyword": ("ret = pick(name=(1, 'a'))", (1, "a")),
    "call with plain data": (
        "ret = pick({'a': [1, (2, 3)], 'b': {4}})",
        {"a": [1, (2, 3)], "b": {4}},
    ),
    "call wrapped": (
        "def careful(name):\n    try:\n        return pick(name)\n    except RobotError:\n        return None\nret = careful('x')",
        "x",
    ),
    "call inside a class": (
        "class Hand:\n    def take(self, name): return pick(name)\nret = Hand().take('cup')",
        "cup",
    ),
    "wrong arguments caught": (
        "try:\n    pick(*[])\nexcept TypeError:\n    ret = 'caught'",
        "caught",
    ),
    "retry": ("tries = 0\nwhile tries < 3:\n    tries += look()\nret = tries", 3),
}

BENCHMARK: dict[str, tuple[str, Any]] = {
    "eval": ("ret = eval('2 + 3 * 4')", 14),
    "eval, of names around it": ("def f(x):\n    return eval('x + y')\ny = 2\nret = f(1)", 3),
    "eval, of names it is given": ("ret = eval('a * len(b)', {'a': 2}, {'b': [1, 2]})", 4),
    "eval, by map": ("ret = list(map(eval, ['1', '[2]']))", [1, [2]]),
    "a helper of its own": ("def _twice(_x):\n    return _x * 2\nret = _twice(_x=2)", 4),
    "hasattr tells the truth": (
        "class A:\n    def __init__(self): self.data, self._n = 1, 2\n    def __call__(self): pass\n"
        "ret = [hasattr([], '__iter__'), hasattr(1, '__iter__'), hasattr(A(), '_n'), hasattr(A(), '_m'), hasattr(A(), 'data'), hasattr(A(), '__call__'), getattr(A(), '_m', 5)]",
        [True, False, True, False, True, True, 5],
    ),
    "numpy.random by name": (
        "from numpy.random import rand\nimport numpy.random as r\nret = [rand(2).shape, r.randint(1)]",
        [(2,), 0],
    ),
    "batches": (
        "from itertools import batched\nret = list(batched('abc', 2))",
        [("a", "b"), ("c",)],
    ),
    "builtins by their names": (
        "try: getattr(1)\nexcept TypeError as e: ret = str(e)",
        "getattr expected at least 2 arguments, got 1",
    ),
    "sys.maxsize": ("import sys\nret = sys.maxsize > 2**30", True),
    # what programs of benchmarks import, under their policy
    "collections": (
        "from collections import Counter, deque, defaultdict, OrderedDict\nd = defaultdict(list)\nd['a'].append(1)\nq = deque([1, 2], maxlen=2)\nq.append(3)\nret = [Counter('aab').most_common(1), list(q), dict(d), list(OrderedDict(a=1))]",
        [[("a", 2)], [2, 3], {"a": [1]}, ["a"]],
    ),
    "named tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\np = P(1, y=2)\nret = [p.x + p.y, p[1], str(p)]",
        [3, 2, "P(x=1, y=2)"],
    ),
    "typed named tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 2\nret = P(1).x + P(1).y",
        3,
    ),
    "abstract collections": (
        "import collections.abc\nret = [isinstance([], collections.abc.Sequence), isinstance({}, collections.abc.Sequence)]",
        [True, False],
    ),
    "itertools": (
        "import itertools as it\nret = [list(it.permutations([1, 2])), list(it.accumulate([1, 2, 3])), list(it.islice(it.count(), 2)), [k for k, g in it.groupby('aab')]]",
        [[(1, 2), (2, 1)], [1, 3, 6], [0, 1], ["a", "b"]],
    ),
    "functools": (
        "from functools import reduce, lru_cache, partial, cmp_to_key, wraps\n@lru_cache(maxsize=None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef quiet(f):\n    @wraps(f)\n    def g(*a): return f(*a)\n    return g\n@quiet\ndef named(): return 1\nret = [fib(50), reduce(lambda a, b: a * b, [2, 3]), partial(pow, 2)(5), sorted([2, 1], key=cmp_to_key(lambda a, b: a - b)), named.__name__]",
        [12586269025, 6, 32, [1, 2], "named"],
    ),
    "total ordering": (
        "from functools import total_ordering\n@total_ordering\nclass A:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == o.n\n    def __lt__(self, o): return self.n < o.n\nret = A(1) >= A(1)",
        True,
    ),
    "regular expressions": (
        "import re\nm = re.match(r'(\\w+)-(\\d+)', 'ab-12')\nret = [m.group(1), m.groups(), re.sub('a', 'b', 'aa'), re.findall(r'\\d', 'a1b2'), re.compile('X', re.I).search('x') is not None]",
        ["ab", ("ab", "12"), "bb", ["1", "2"], True],
    ),
    "heap": (
        "import heapq\nh = [3, 1, 2]\nheapq.heapify(h)\nret = [heapq.heappop(h), heapq.nlargest(1, h)]",
        [1, [3]],
    ),
    "bisect": (
        "from bisect import bisect_left, insort\nx = [1, 3]\ninsort(x, 2)\nret = [x, bisect_left(x, 3)]",
        [[1, 2, 3], 2],
    ),
    "string": ("import string\nret = string.ascii_lowercase[:3] + string.digits[-1]", "abc9"),
    "random": (
        "import random\nrandom.seed(1)\na = random.random()\nrandom.seed(1)\nret = [a == random.random(), random.choice([5]), sorted(random.sample([1, 2], 2))]",
        [True, 5, [1, 2]],
    ),
    "statistics": (
        "import statistics\nret = [statistics.mean([1, 2, 3]), statistics.median([1, 5, 2]), statistics.mode('aab')]",
        [2, 2, "a"],
    ),
    "fractions and decimals": (
        "from fractions import Fraction\nfrom decimal import Decimal, getcontext\ngetcontext().prec = 5\nret = [str(Fraction(1, 3) + Fraction(1, 6)), str(Decimal('0.1') + Decimal('0.2')), str(Decimal(1) / 3)]",
        ["1/2", "0.3", "0.33333"],
    ),
    "dates": (
        "from datetime import date, datetime, timedelta\nd = date(2024, 2, 28) + timedelta(days=2)\nret = [d.isoformat(), d.strftime('%d %m'), datetime.strptime('01-02-2023', '%d-%m-%Y').month, f'{d:%Y}']",
        ["2024-03-01", "01 03", 2, "2024"],
    ),
    "hash": (
        "import hashlib\nret = hashlib.md5('a'.encode('ascii')).hexdigest()",
        "0cc175b9c0f1b6a831c399e269772661",
    ),
    "json": (
        "import json\nret = [json.loads('{\"a\": [1, null]}'), json.dumps({'b': True})]",
        [{"a": [1, None]}, '{"b": true}'],
    ),
    "data class": (
        "from dataclasses import dataclass, field, asdict, replace\n@dataclass(order=True, frozen=True)\nclass P:\n    x: int\n    tags: list = field(default_factory=list, compare=False)\nret = [P(1) < P(2), repr(P(1)), asdict(P(3)), replace(P(1), x=5).x]",
        [True, "P(x=1, tags=[])", {"x": 3, "tags": []}, 5],
    ),
    "enumeration": (
        "from enum import Enum, IntEnum, auto\nclass Colour(Enum):\n    RED = auto()\n    BLUE = auto()\nclass N(IntEnum):\n    A = 3\nret = [Colour.RED.value, Colour['BLUE'].name, [c.name for c in Colour], Colour(1) is Colour.RED, N.A + 1]",
        [1, "BLUE", ["RED", "BLUE"], True, 4],
    ),
    "abstract class": (
        "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\nclass Box(Shape):\n    def area(self): return 2\ntry:\n    Shape()\nexcept TypeError:\n    ret = Box().area()",
        2,
    ),
    "copies": (
        "import copy\nfrom copy import deepcopy\na = [[1], {'b': 2}]\nb, c = copy.copy(a), deepcopy(a)\na[0].append(9)\nret = [b[0], c[0]]",
        [[1, 9], [1]],
    ),
    "operators": (
        "import operator\nfrom operator import itemgetter\nret = [operator.add(1, 2), sorted([(1, 'b'), (2, 'a')], key=itemgetter(1)), operator.mul(2, 3)]",
        [3, [(2, "a"), (1, "b")], 6],
    ),
    "complex mathematics": ("import cmath\nret = round(abs(cmath.exp(1j * cmath.pi) + 1), 9)", 0.0),
    "wrapped text": (
        "import textwrap\nret = [textwrap.fill('aa bb', 2), textwrap.dedent('  a')]",
        ["aa\nbb", "a"],
    ),
    "math by name": (
        "from math import sqrt, pi\nimport math as m\nret = [sqrt(9), m.floor(pi)]",
        [3.0, 3],
    ),
    "numpy by name": (
        "from numpy import array, mean\nimport numpy.linalg as la\nret = [float(mean(array([1, 3]))), float(la.norm([3, 4]))]",
        [2.0, 5.0],
    ),
    "hints": (
        "from typing import List, Tuple, Optional, Iterator, TypeVar, Generic\nT = TypeVar('T')\nclass Box(Generic[T]):\n    def __init__(self, x: T) -> None: self.x = x\ndef f(a: List[Tuple[int, str]]) -> Iterator[str]:\n    yield a[0][1]\nret = [next(f([(1, 'a')])), Box[int](3).x]",
        ["a", 3],
    ),
    "attributes by name": (
        "class A:\n    x = 1\na = A()\nsetattr(a, 'y', 2)\nret = [getattr(a, 'x'), getattr(a, 'z', 0), hasattr(a, 'y'), hasattr(a, 'gi_frame')]",
        [1, 0, True, False],
    ),
    "identity": ("a = []\nret = id(a) == id(a)", True),
    "import in a function": (
        "def f():\n    import math\n    from collections import Counter\n    return Counter('a')['a'] + math.floor(1.5)\nret = f()",
        2,
    ),
    "kinds": (
        "from collections import deque\nfrom decimal import Decimal\nret = [type(deque()) is deque, isinstance(Decimal(1), Decimal), type(Decimal(1)).__name__]",
        [True, True, "Decimal"],
    ),
}
