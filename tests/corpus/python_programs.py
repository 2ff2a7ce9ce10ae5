"""A table of ordinary Python: small programs whose meaning CPython decides.

They do what programs of every day do with classes, operators, exceptions, iterators, texts and the
standard library. `tests/cap/sandbox/test_python_programs.py` runs each by CPython and by the
sandbox, under both policies, and compares what came of it. A program begins below a line of three
number signs with its name. Where it ends with an expression, its value counts as well.
"""

# ruff: noqa: E501  a line of these programs is as long as it is
from __future__ import annotations

_CLASSES = r"""
### class with a method
class Counter:
    def __init__(self, start=0):
        self.count = start
    def add(self, n=1):
        self.count += n
        return self
c = Counter(2).add().add(5)
c.count
### equality by a private attribute of the other
class Point:
    def __init__(self, x, y):
        self._x, self._y = x, y
    def __eq__(self, other):
        return isinstance(other, Point) and other._x == self._x and other._y == self._y
a = Point(1, 2) == Point(1, 2)
b = Point(1, 2) == Point(2, 2)
c = Point(1, 2) != Point(2, 2)
### private names of two underscores
class Account:
    def __init__(self, owner):
        self.owner = owner
        self.__balance = 0
    def deposit(self, amount):
        self.__balance += amount
        return self.__balance
a = Account('ann')
a.deposit(10)
b = a.deposit(5)
b
### a private name from outside
class A:
    def __init__(self):
        self.__x = 1
try:
    A().__x
except AttributeError as e:
    m = str(e)
n = A()._A__x
### slots
class P:
    __slots__ = ('x', 'y')
    def __init__(self, x, y):
        self.x = x
        self.y = y
p = P(1, 2)
try:
    p.z = 3
except AttributeError as e:
    m = str(e)
p.x + p.y
### slots of private names
class P:
    __slots__ = ['_x', 'y']
    def __init__(self):
        self._x = 4
v = P()._x
### class without a hash
class U:
    __hash__ = None
try:
    {U()}
except TypeError as e:
    m = str(e)
### alias of an operator in the body
class V:
    def __init__(self, n): self.n = n
    def __add__(self, o): return V(self.n + (o.n if isinstance(o, V) else o))
    __radd__ = __add__
    def __repr__(self): return f'V({self.n})'
    __str__ = __repr__
a = V(1) + 2
b = 2 + V(1)
c = str(sum([V(1), V(2)]))
### operator by a lambda
class L:
    __len__ = lambda self: 3
    __call__ = lambda self, x: x * 2
n = len(L()), L()(4)
### equality alone takes the hash away
class E:
    def __eq__(self, o): return True
try:
    hash(E())
except TypeError as e:
    m = str(e)
### class attribute counted by a class method
class N:
    _made = 0
    @classmethod
    def make(cls):
        cls._made += 1
        return cls._made
N.make()
n = N.make()
### static method and property
class T:
    def __init__(self, c): self._c = c
    @property
    def f(self): return self._c * 9 / 5 + 32
    @f.setter
    def f(self, v): self._c = (v - 32) * 5 / 9
    @staticmethod
    def zero(): return T(0)
t = T.zero()
a = t.f
t.f = 212
b = t._c
### property without a setter
class R:
    @property
    def x(self): return 1
try:
    R().x = 2
except AttributeError as e:
    m = str(e)
### inheritance and super
class A:
    def hi(self): return 'A'
class B(A):
    def hi(self): return 'B' + super().hi()
class C(A):
    def hi(self): return 'C' + super().hi()
class D(B, C):
    def hi(self): return 'D' + super().hi()
d = D().hi()
### super with arguments
class A:
    def __init__(self, x): self.x = x
class B(A):
    def __init__(self, x, y):
        super(B, self).__init__(x)
        A.__init__(self, x + 1)
        self.y = y
b = B(1, 2)
b.x, b.y
### abstract by exception
class Shape:
    def area(self):
        raise NotImplementedError('area of ' + self.__class__.__name__)
class Sq(Shape): pass
try:
    Sq().area()
except NotImplementedError as e:
    m = str(e)
### its class makes another
class M:
    def __init__(self, v): self.v = v
    def twice(self): return self.__class__(self.v * 2)
class K(M): pass
k = K(2).twice()
n = type(k).__name__, k.v
### same class
class A: pass
class B(A): pass
a = A().__class__ is A, B().__class__ == A, isinstance(B(), A().__class__)
### classes of values
names = [t.__name__ for t in map(type, [1, 'a', 2.0, None, [], {}, (), {1}, True, b''])]
### is it a class
class A: pass
r = [isinstance(x, type) for x in (A, int, A(), 3, len)]
### the class of a class
class A: pass
r = type(A) is type, type(int) == type, type(A()) is A
### grouping by class
xs = [1, 'a', 2, 'b', 3.0]
groups = {}
for x in xs:
    groups.setdefault(type(x).__name__, []).append(x)
groups
### all of one class
same = len(set(map(type, [1, 2, 3]))) == 1
### sorted by class name
r = sorted([1, 'a', 2.0], key=lambda v: type(v).__name__)
### class of a class by name
r = int.__name__, type(3).__name__, type(type(3)).__name__
### a class made by a call of type
P = type('P', (), {'x': 1})
P().x
### comparison operators
class W:
    def __init__(self, kg): self.kg = kg
    def __lt__(self, o): return self.kg < o.kg
    def __le__(self, o): return self.kg <= o.kg
    def __repr__(self): return f'{self.kg}kg'
r = sorted([W(3), W(1), W(2)])
s = str(max(r)), W(1) <= W(1), W(1) > W(2)
### comparison that is not there
class A: pass
try:
    A() < A()
except TypeError as e:
    m = str(e)
### not implemented
class A:
    def __add__(self, o): return NotImplemented
    def __eq__(self, o): return NotImplemented
try:
    A() + 1
except TypeError as e:
    m = str(e)
q = A() == 1
### in-place operators
class Bag:
    def __init__(self): self.items = []
    def __iadd__(self, x):
        self.items.append(x)
        return self
    def __ior__(self, x):
        self.items += x
        return self
b = Bag()
b += 1
b |= [2, 3]
b.items
### bit operators
class S:
    def __init__(self, *n): self.n = frozenset(n)
    def __and__(self, o): return S(*(self.n & o.n))
    def __or__(self, o): return S(*(self.n | o.n))
    def __xor__(self, o): return S(*(self.n ^ o.n))
    def __invert__(self): return S(*(-x for x in self.n))
    def __lshift__(self, k): return S(*(x << k for x in self.n))
    def __rshift__(self, k): return S(*(x >> k for x in self.n))
    def l(self): return sorted(self.n)
r = [(S(1, 2) & S(2)).l(), (S(1) | S(2)).l(), (S(1, 2) ^ S(2)).l(), (~S(1)).l(), (S(1) << 2).l(), (S(8) >> 1).l()]
### reflected operators
class X:
    def __rsub__(self, o): return ('rsub', o)
    def __rmul__(self, o): return ('rmul', o)
    def __rpow__(self, o): return ('rpow', o)
    def __rtruediv__(self, o): return ('rdiv', o)
    def __rmatmul__(self, o): return ('rmat', o)
    def __ror__(self, o): return ('ror', o)
r = [1 - X(), 2 * X(), 3 ** X(), 4 / X(), 5 @ X(), 6 | X()]
### unary operators and rounding
class F:
    def __init__(self, v): self.v = v
    def __neg__(self): return F(-self.v)
    def __pos__(self): return self
    def __abs__(self): return F(abs(self.v))
    def __round__(self, n=0): return round(self.v, n)
    def __int__(self): return int(self.v)
    def __float__(self): return float(self.v)
    def __bool__(self): return self.v != 0
f = F(-2.567)
r = [(-f).v, abs(f).v, round(f, 1), int(f), float(f), bool(F(0)), (+f) is f]
### floor, ceil, trunc of its own
import math
class F:
    def __floor__(self): return 1
    def __ceil__(self): return 2
    def __trunc__(self): return 3
r = math.floor(F()), math.ceil(F()), math.trunc(F())
### container
class Grid:
    def __init__(self): self._cells = {}
    def __getitem__(self, at): return self._cells.get(at, '.')
    def __setitem__(self, at, v): self._cells[at] = v
    def __delitem__(self, at): del self._cells[at]
    def __contains__(self, at): return at in self._cells
    def __len__(self): return len(self._cells)
g = Grid()
g[1, 2] = '#'
g[0, 0] = 'o'
del g[0, 0]
r = g[1, 2], g[5, 5], (1, 2) in g, len(g)
### slices of its own
class S:
    def __getitem__(self, k):
        return (k.start, k.stop, k.step) if isinstance(k, slice) else k
s = S()
r = [s[1:2], s[::3], s[4], s['a', 1:2]]
### iteration by items
class S:
    def __getitem__(self, i):
        if i > 3: raise IndexError
        return i * i
r = list(S()), 4 in S()
### index and reversal
class I:
    def __index__(self): return 2
class R:
    def __reversed__(self): return iter('cba')
r = [[5, 6, 7][I()], list(range(I())), ''.join(reversed(R())), hex(I())]
### callable objects
class Adder:
    def __init__(self, n): self.n = n
    def __call__(self, x): return x + self.n
r = list(map(Adder(2), [1, 2])), callable(Adder(1)), callable(3)
### formats of its own
class M:
    def __init__(self, v): self.v = v
    def __format__(self, spec): return f'<{self.v:{spec or ".1f"}}>'
r = f'{M(2)} {M(2):.3f}', format(M(1), '5.1f'), '{:.0f}'.format(M(7))
### repr in a list
class A:
    def __repr__(self): return 'A!'
r = str([A(), (A(),), {'k': A()}])
### missing key
class D(dict):
    def __missing__(self, k): return k * 2
d = D(a=1)
r = d['a'], d['b'], 'b' in d, d.get('c')
### below a list
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[-1]
s = Stack([1])
s.push(2)
r = s.peek(), len(s), s, isinstance(s, list)
### below int and str
class Meter(int):
    def cm(self): return self * 100
class Name(str):
    def shout(self): return self.upper() + '!'
r = Meter(3).cm(), Meter(3) + 1, Name('bo').shout(), Name('a') == 'a'
### context manager
class Log:
    def __init__(self): self.lines = []
    def __enter__(self):
        self.lines.append('in')
        return self
    def __exit__(self, kind, error, trace):
        self.lines.append(kind.__name__ if kind else 'out')
        return kind is ValueError
log = Log()
with log: pass
with log as l: raise ValueError('x')
log.lines
### two managers
class C:
    def __init__(self, n, out): self.n, self.out = n, out
    def __enter__(self): self.out.append('+' + self.n); return self.n
    def __exit__(self, *a): self.out.append('-' + self.n)
out = []
with C('a', out) as a, C('b', out) as b:
    out.append(a + b)
out
### linked list
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self._next = next
def tail(node):
    while node._next is not None:
        node = node._next
    return node.value
head = Node(1, Node(2, Node(3)))
t = tail(head)
### linked list with data
class Node:
    def __init__(self, data):
        self.data = data
        self.next = None
class Linked:
    def __init__(self): self.head = None
    def push(self, data):
        node = Node(data)
        node.next = self.head
        self.head = node
    def __iter__(self):
        node = self.head
        while node:
            yield node.data
            node = node.next
l = Linked()
for x in 'abc': l.push(x)
r = list(l)
### binary tree
class Tree:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
    def insert(self, key):
        side = 'left' if key < self.key else 'right'
        if getattr(self, side) is None:
            setattr(self, side, Tree(key))
        else:
            getattr(self, side).insert(key)
    def walk(self):
        if self.left: yield from self.left.walk()
        yield self.key
        if self.right: yield from self.right.walk()
t = Tree(5)
for k in (3, 8, 1, 4): t.insert(k)
r = list(t.walk())
### attributes by name
class C: pass
c = C()
for k, v in {'a': 1, 'b': 2}.items():
    setattr(c, k, v)
r = [getattr(c, k, 0) for k in 'abz'], hasattr(c, 'a'), hasattr(c, 'z')
### a memo made on demand
class F:
    def get(self, n):
        if not hasattr(self, '_memo'): self._memo = {}
        if n not in self._memo: self._memo[n] = n * n
        return len(self._memo)
f = F()
r = [f.get(1), f.get(2), f.get(1)]
### flatten by what can be iterated
def flat(xs):
    for x in xs:
        if hasattr(x, '__iter__') and not isinstance(x, str): yield from flat(x)
        else: yield x
r = list(flat([1, [2, [3, 'ab']], (4,)]))
### risky words of its own
class Image:
    def __init__(self, obj): self.obj = obj
    def resize(self, k): return self.obj * k
    def dump(self): return f'<{self.obj}>'
    def dumps(self): return self.dump() * 2
i = Image(3)
r = i.resize(2), i.dump(), i.dumps(), i.obj
### a property called data
class Sensor:
    def __init__(self): self._raw = [1, 2]
    @property
    def data(self): return self._raw
    @data.setter
    def data(self, v): self._raw = list(v)
    @data.deleter
    def data(self): self._raw = None
s = Sensor()
a = s.data
s.data = (3,)
b = s.data, hasattr(s, 'data'), getattr(s, 'data'), hasattr(s, 'base')
setattr(s, 'data', [4])
c = s._raw
del s.data
d = s.data
### data in slots, patterns and templates
class P:
    __slots__ = ('data', 'base')
    __match_args__ = ('data', 'base')
    def __init__(self, data, base): self.data, self.base = data, base
p = P(1, [2])
match p:
    case P(1, b): r = b
match p:
    case P(base=x, data=y): s = x, y
t = '{0.data} {p.base[0]}'.format(p, p=p), f'{p.data}'
try:
    p.obj_
except AttributeError as e:
    m = str(e)
### class body reads its own data
base = 5
class A:
    obj = base + 1
    base = obj * 2
    data = [obj, base]
    def dump(self): return self.data, A.base
r = A().dump(), A.data, base
### fields called data and base
from dataclasses import dataclass, field, asdict, replace
from typing import NamedTuple
from enum import Enum
from operator import attrgetter
@dataclass
class D:
    data: list = field(default_factory=list)
    base: int = 10
class N(NamedTuple):
    data: int
    base: str = 'x'
class E(Enum):
    data = 1
    base = 2
d = D([1], base=2)
r = d, asdict(d), replace(d, base=3), d.data, D.base, N(1), N(data=2)._replace(base='y').base, N._fields
s = E.data, E['base'], E(2).name, list(E), [attrgetter('data')(x) for x in (d, N(5))]
### a group's members told apart
class A: data = 1
out = []
try:
    raise ExceptionGroup('g', [AttributeError('x'), KeyError('k')])
except* (AttributeError, KeyError) as g:
    out.append([repr(e) for e in g.exceptions])
try:
    try:
        A()._nothing
    except AttributeError as e:
        raise ExceptionGroup('h', [e])
except ExceptionGroup as g:
    m = str(g.exceptions[0])
### special method of a class, by a base
class A(dict):
    def __getitem__(self, k): return dict.__getitem__(self, k) + 1
    def __setitem__(self, k, v): super().__setitem__(k, v * 2)
    def __eq__(self, o): return dict.__eq__(self, o)
    __ne__ = dict.__ne__
a = A()
a['x'] = 3
r = a['x'], a == {'x': 6}, a != {}
### a base of its own
class Number:
    def __init__(self, base, digits): self.base, self.digits = base, digits
    def value(self):
        v = 0
        for d in self.digits: v = v * self.base + d
        return v
n = Number(2, [1, 0, 1]).value()
### special methods called by name
a = [1, 2]
r = a.__len__(), (3).__add__(4), 'ab'.__contains__('a'), [5].__getitem__(0), 'a'.__eq__('a')
### iterating by hand
it = [1, 2].__iter__()
r = [it.__next__(), it.__next__()]
try:
    it.__next__()
except StopIteration:
    r.append('end')
### documentation
def f():
    "Say it."
class A:
    'A thing.'
r = f.__doc__, A.__doc__, f.__name__, f.__qualname__
### method kept
class A:
    def __init__(self, n): self.n = n
    def get(self): return self.n
g = A(7).get
r = g(), A.get(A(3))
### nested class
class Outer:
    class Inner:
        x = 3
    def make(self): return Outer.Inner()
r = Outer().make().x, Outer.Inner.x
### class body runs
class T:
    squares = [i * i for i in range(4)]
    total = sum(squares)
    for k in range(2): last = k
r = T.squares, T.total, T.last
### decorator of a class
registry = {}
def register(cls):
    registry[cls.__name__.lower()] = cls
    return cls
@register
class Cat:
    noise = 'meow'
r = registry['cat']().noise, sorted(registry)
### decorator with arguments
def times(n):
    def wrap(f):
        def inner(*a): return [f(*a) for _ in range(n)]
        return inner
    return wrap
@times(3)
def hi(x): return x + 1
r = hi(4)
### mixin
class Loud:
    def say(self): return super().say().upper()
class Dog:
    def say(self): return 'wuff'
class LoudDog(Loud, Dog): pass
s = LoudDog().say()
### singleton by class attribute
class Config:
    _instance = None
    @classmethod
    def get(cls):
        if cls._instance is None: cls._instance = cls()
        return cls._instance
r = Config.get() is Config.get()
### chained calls
class Q:
    def __init__(self): self._parts = []
    def where(self, p): self._parts.append(p); return self
    def __str__(self): return ' and '.join(self._parts)
q = str(Q().where('a').where('b'))
### own copy
class A:
    def __init__(self, v): self.v = v
    def __copy__(self): return A(self.v + 1)
import copy
n = copy.copy(A(1)).v
### dictionary of an object
class A:
    def __init__(self): self.x, self.y = 1, 2
d = A().__dict__
### every attribute by vars
class A:
    def __init__(self): self.x = 1
d = vars(A())
### attribute on demand
class A:
    def __getattr__(self, name): return name.upper()
n = A().hello
### object made by new
class One:
    _it = None
    def __new__(cls):
        if cls._it is None: cls._it = super().__new__(cls)
        return cls._it
r = One() is One()
### metaclass
class Meta(type):
    def __call__(cls, *a): return 'made'
class A(metaclass=Meta): pass
r = A()
### descriptor
class Pos:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, o, t=None): return getattr(o, self.name)
    def __set__(self, o, v):
        if v < 0: raise ValueError('negative')
        setattr(o, self.name, v)
class A:
    x = Pos()
a = A()
a.x = 3
v = a.x
### deletion of attributes
class A: pass
a = A()
a.x = 1
del a.x
try:
    a.x
except AttributeError as e:
    m = str(e)
### attribute of nothing
try:
    None.x
except AttributeError as e:
    m = str(e)
### augmented attribute of another
class Box:
    def __init__(self): self._n = 0
def bump(b):
    b._n += 5
    return b
n = bump(Box())._n
### pprint by way of a library, and into a stream
import pprint, contextlib, io
from functools import singledispatch
with contextlib.ExitStack() as s: s.callback(pprint.pprint, {'a': 1})
show = singledispatch(pprint.pprint)
show([1])
b = io.StringIO()
pprint.pprint({'b': 1}, stream=b)
pprint.pprint(list(range(9)), b, 2, width=9)
with contextlib.redirect_stdout(b): pprint.pprint('x')
b.getvalue()
### redirect_stdout on a stack
import contextlib, io
b = io.StringIO()
with contextlib.ExitStack() as s:
    s.enter_context(contextlib.redirect_stdout(b))
    print('a')
b.getvalue()
### a default for an attribute that is not there
class A: pass
[getattr(A(), name, 5) for name in ('x', '_x', '__foo__', '__wrapped__', 'gi_frame', 'f_back')]
### what a cached property knows
from functools import cached_property
class A:
    __slots__ = ()
    @cached_property
    def v(self): return 1
print(A.v.func(A()), A.v.attrname)
A().v
### how getters show themselves
import operator
print(operator.attrgetter('a', 'b.c'), operator.methodcaller('m', 1, k=2), operator.methodcaller('m'))
### what a module says of itself
__version__ = '1.0'
__all__ = ['f']
__author__ = 'me'
def f(): return __version__
[f(), __all__]
### kinds of functions and modules
import types, math
print(isinstance(print, types.BuiltinFunctionType), isinstance(getattr, types.BuiltinFunctionType))
print(isinstance(len, types.BuiltinFunctionType), isinstance(types, types.ModuleType))
print(isinstance(math, types.ModuleType), isinstance(3, types.ModuleType))
### an error before another one
class A: pass
class M:
    def __enter__(self): return self
    def __exit__(self, kind, value, trace):
        print(len(str(value)), value.name == '_x')
        return True
with M(): A()._x
try:
    try: A()._y
    except AttributeError: raise ValueError(1)
except ValueError as e: text = str(e.__context__)
len(text)
### private names that a class and a program have
_x = 1
class A:
    import math as _m
    _x += 1
    y = _x
    del _x
    z = _x
    if not _x: _x = 3
    def f(self): return self._m.sqrt(4)
[A.y, A.z, A().f(), hasattr(A, '_x')]
"""

_EXCEPTIONS = r"""
### division by zero
try:
    1 / 0
except ZeroDivisionError as e:
    m = str(e)
### uncaught key
d = {'a': 1}
d['b']
### uncaught index
x = [1, 2]
x[5]
### uncaught value
int('abc')
### uncaught type
'a' + 1
### uncaught name of an attribute
x = 3
x.foo
### uncaught assertion
assert 1 == 2, 'one is not two'
### unbound local
def f():
    print(x)
    x = 1
f()
### exception of its own
class Broken(Exception):
    def __init__(self, part, code):
        super().__init__(f'{part} is broken')
        self.part, self.code = part, code
try:
    raise Broken('arm', 7)
except Broken as e:
    r = str(e), e.part, e.code, e.args
### uncaught exception of its own
class Stuck(RuntimeError): pass
def move(): raise Stuck('at the wall')
move()
### hierarchy
class A(Exception): pass
class B(A): pass
out = []
for k in (A, B, KeyError):
    try:
        raise k('x')
    except B: out.append('B')
    except A: out.append('A')
    except (LookupError, OSError): out.append('L')
out
### else and finally
out = []
for d in (1, 0):
    try:
        out.append(1 / d)
    except ZeroDivisionError:
        out.append('zero')
    else:
        out.append('fine')
    finally:
        out.append('end')
out
### finally returns
def f():
    try: return 'try'
    finally: out.append('finally')
out = []
r = f(), out
### raised again
def f():
    try:
        int('x')
    except ValueError:
        raise
try:
    f()
except ValueError as e:
    m = e.args
### the cause
try:
    try:
        {}['k']
    except KeyError as e:
        raise RuntimeError('no key') from e
except RuntimeError as e:
    r = repr(e.__cause__), repr(e.__context__), e.__suppress_context__
### from nothing
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise ValueError('hidden') from None
except ValueError as e:
    r = e.__cause__, e.__suppress_context__
### bytes that are no text
try:
    b'\xff\xfe'.decode('utf-8')
except UnicodeDecodeError as e:
    r = e.reason, e.start, str(e)
### text that is no ascii
try:
    'é'.encode('ascii')
except UnicodeEncodeError as e:
    r = str(e), isinstance(e, ValueError)
### every ordinary kind
kinds = [SyntaxError, IOError, ModuleNotFoundError, RuntimeWarning, OSError, EnvironmentError,
         ConnectionError, InterruptedError, ChildProcessError, IsADirectoryError, TabError,
         IndentationError, ReferenceError, SystemError, FutureWarning, SyntaxWarning, UnicodeWarning,
         BytesWarning, ResourceWarning, ImportWarning, PendingDeprecationWarning, BlockingIOError,
         NotADirectoryError, ProcessLookupError, BrokenPipeError, ConnectionResetError,
         UnicodeTranslateError, ConnectionRefusedError, ConnectionAbortedError]
r = [k.__name__ for k in kinds], issubclass(IndentationError, SyntaxError)
### syntax error raised
def parse(s):
    if '(' in s and ')' not in s: raise SyntaxError('unclosed')
    return s
try:
    parse('(a')
except SyntaxError as e:
    m = e.msg
### file not found raised
try:
    raise FileNotFoundError(2, 'No such file', 'a.txt')
except IOError as e:
    r = e.errno, e.filename, str(e)
### exception group
try:
    raise ExceptionGroup('many', [ValueError('a'), TypeError('b')])
except ExceptionGroup as g:
    r = str(g), [str(e) for e in g.exceptions]
### except star
out = []
try:
    raise ExceptionGroup('g', [ValueError('a'), TypeError('b'), ValueError('c')])
except* ValueError as g:
    out.append([str(e) for e in g.exceptions])
except* TypeError as g:
    out.append(len(g.exceptions))
out
### notes
e = ValueError('x')
e.add_note('while testing')
r = e.__notes__
### stop iteration with a value
def g():
    yield 1
    return 'done'
it = g()
next(it)
try:
    next(it)
except StopIteration as e:
    v = e.value
### recursion without end
def f(n): return f(n + 1)
try:
    f(0)
except RecursionError as e:
    m = type(e).__name__
### comparison of exceptions
e = KeyError('a')
r = repr(e), str(e), e.args, e == KeyError('a')
### exception in a comprehension
try:
    [1 / x for x in (1, 0)]
except ArithmeticError as e:
    k = type(e).__name__
### wrong arguments
def f(a, b): return a
out = []
for args, named in (((1,), {}), ((1, 2, 3), {}), ((1, 2), {'c': 3}), ((1,), {'a': 2, 'b': 3})):
    try:
        f(*args, **named)
    except TypeError as e:
        out.append(str(e))
out
### unpacking that does not fit
out = []
for v in ([1], [1, 2, 3]):
    try:
        a, b = v
    except ValueError as e:
        out.append(str(e))
out
### errors of builtins
out = []
for f in (lambda: len(3), lambda: max([]), lambda: 'a' < 1, lambda: [].pop(), lambda: {}.popitem(),
          lambda: next(iter([])), lambda: chr(-1), lambda: ord('ab'), lambda: sum('ab'), lambda: int([]),
          lambda: 'a'.index('b'), lambda: [1].remove(2), lambda: 1 .x, lambda: None[0], lambda: None()):
    try:
        f()
    except Exception as e:
        out.append(f'{type(e).__name__}: {e}')
out
### errors of attributes by name
out = []
for f in (lambda: getattr(1, 'x'), lambda: getattr(1), lambda: hasattr(1), lambda: getattr('a', 'b', 5),
          lambda: setattr(1, 'x', 2), lambda: print('x', foo=1)):
    try:
        out.append(f())
    except Exception as e:
        out.append(f'{type(e).__name__}: {e}')
out
### end of the program
raise SystemExit('enough')
### names deleted
x = 1
del x
try:
    x
except NameError as e:
    m = str(e)
### exception variable is gone
try:
    raise ValueError
except ValueError as e:
    pass
try:
    e
except NameError as error:
    m = str(error)
### message of format
try:
    '{:d}'.format('a')
except ValueError as e:
    m = str(e)
### index of format
try:
    t = '{} {}'
    t.format(1)
except IndexError as e:
    m = str(e)
"""

_FUNCTIONS = r"""
### closure and nonlocal
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return step
c = counter()
c()
r = c()
### global
total = 0
def add(x):
    global total
    total += x
for i in range(4): add(i)
total
### defaults kept
def f(x, seen=[]):
    seen.append(x)
    return seen
f(1)
r = f(2)
### late binding of lambdas
fs = [lambda: i for i in range(3)]
gs = [lambda i=i: i for i in range(3)]
r = [f() for f in fs], [g() for g in gs]
### every kind of parameter
def f(a, /, b, *rest, c=3, **named):
    return a, b, rest, c, named
r = f(1, 2, 4, 5, c=6, d=7), f(1, b=2)
### keyword only
def f(*, a, b=2): return a + b
try:
    f(1)
except TypeError as e:
    m = str(e)
r = f(a=1)
### recursion
def fact(n): return 1 if n < 2 else n * fact(n - 1)
r = fact(20)
### mutual recursion
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
r = even(10), odd(7)
### functions in a table
ops = {'+': lambda a, b: a + b, '-': lambda a, b: a - b}
r = [ops[k](5, 3) for k in '+-']
### generator
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
r = [x for _, x in zip(range(10), fib())]
### generator that is sent to
def mean():
    total = n = 0
    value = None
    while True:
        x = yield value
        total += x
        n += 1
        value = total / n
m = mean()
next(m)
r = [m.send(x) for x in (2, 4, 9)]
### generator closed and thrown into
out = []
def g():
    try:
        while True:
            try:
                yield 1
            except ValueError as e:
                out.append(str(e))
    finally:
        out.append('closed')
it = g()
next(it)
it.throw(ValueError('oops'))
it.close()
out
### yield from
def inner():
    x = yield 1
    return x
def outer():
    r = yield from inner()
    yield r
o = outer()
next(o)
v = o.send('hello')
### iterator class
class Down:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n
r = list(Down(3)), sum(Down(4))
### iter with an end
values = iter([1, 2, 0, 3])
r = list(iter(lambda: next(values), 0))
### walrus
data = [1, 5, 2, 8]
big = [y for x in data if (y := x * 2) > 5]
if (n := len(big)) > 1: text = f'{n} big'
### comprehensions
r = [x * y for x in range(3) for y in range(x)]
s = {x % 3 for x in range(10)}
d = {k: v for k, v in zip('abc', range(3)) if v}
g = sum(x for x in range(5))
### nested comprehension
m = [[1, 2], [3, 4]]
t = [[row[i] for row in m] for i in range(2)]
### unpacking
a, *b, c = range(5)
(d, e), f = (1, 2), 3
x = [*b, *'ab']
y = {**{'p': 1}, 'q': 2}
a, b, c, d, e, f, x, y
### swap and chain
a = b = 3
a, b = b + 1, a
r = 1 < a < 5, a == 4 != b
### ternary and short circuit
r = ['yes' if x else 'no' for x in (0, 1, '', 'a', [], [0])], 0 or 'b', 1 and 'c', None or 0
### while and else
n, steps = 27, 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
else:
    end = 'one'
steps
### for and else
for n in range(2, 10):
    for d in range(2, n):
        if n % d == 0: break
    else:
        print(n, 'is prime')
### continue and break
r = []
for i in range(10):
    if i % 2: continue
    if i > 6: break
    r.append(i)
### match values
def f(x):
    match x:
        case 0: return 'zero'
        case 1 | 2: return 'few'
        case int(n) if n > 100: return f'big {n}'
        case str() as s: return s.upper()
        case None: return 'none'
        case _: return 'other'
r = [f(x) for x in (0, 2, 101, 'a', None, 3.5)]
### match sequences
def f(x):
    match x:
        case []: return 'empty'
        case [a]: return f'one {a}'
        case [a, *_, b]: return f'{a}..{b}'
        case {'kind': k, **rest}: return k, rest
r = [f(x) for x in ([], [1], (1, 2, 3), {'kind': 'a', 'n': 1})]
### match classes
class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
def f(p):
    match p:
        case P(0, 0): return 'origin'
        case P(x=0, y=y): return f'on y at {y}'
        case P(x, y) if x == y: return 'diagonal'
        case P(): return 'point'
r = [f(p) for p in (P(0, 0), P(0, 3), P(2, 2), P(1, 2))]
### match nested commands
def run(words):
    match words.split():
        case ['go', ('north' | 'south') as d]: return 'going ' + d
        case ['take', *things]: return things
        case [verb, _]: return verb
r = [run(w) for w in ('go north', 'take a b', 'eat it')]
### match a dotted value
class C:
    RED = 1
def f(x):
    match x:
        case C.RED: return 'red'
        case _: return 'other'
r = f(1), f(2)
### function attributes
def f():
    f.calls += 1
    return f.calls
f.calls = 0
f()
r = f()
### annotations
def area(w: float, h: 'float' = 2) -> float:
    x: int = 3
    y: 'Nothing'
    return w * h * x
r = area(2)
### annotations of the future
# ruff: noqa: E501  a line of these programs is as long as it is
from __future__ import annotations
del annotations
class Node:
    next: Node | None = None
    def link(self, other: Node) -> Node:
        self.next = other
        return self
r = Node().link(Node()).next is not None
### a parameter called like a module
def grade(math, art): return math.bit_length() + art
class Np:
    def load(self, f): return 'loaded ' + f
def use(np): return np.load('x')
r = grade(8, 1), use(Np())
### a variable called like a module
def f():
    math = {'a': 90}
    return math.get('a')
r = f()
### arguments called like builtins
def f(id, type, input, format='x', vars=()): return [id, type, input, format, vars]
r = f(1, type='t', input=2)
### compose and curry
def compose(*fs):
    def run(x):
        for f in reversed(fs): x = f(x)
        return x
    return run
r = compose(str, lambda x: x + 1, len)([1, 2])
### memo by hand
def memo(f):
    cache = {}
    def inner(n):
        if n not in cache: cache[n] = f(n)
        return cache[n]
    inner.cache = cache
    return inner
@memo
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
r = fib(40), len(fib.cache)
### main guard
def main(): return 'ran'
if __name__ == '__main__': r = main()
### private helper
def _helper(x): return x * 2
_FACTOR = 3
def public(x): return _helper(x) * _FACTOR
r = public(2)
### identity
a = [1]
b = a
r = id(a) == id(b), id(a) == id([1]), a is b, isinstance(id(a), int)
### seen by identity
xs = [[1], [1]]
xs.append(xs[0])
seen, r = set(), []
for x in xs:
    r.append(id(x) in seen)
    seen.add(id(x))
n = len(seen)
del seen
### printing
print('a', 1, None, sep='-', end='!\n')
print(*[1, 2], [3])
print()
print(f'{"x":>3}|')
### coroutine
async def f(): return 1
r = 1
### names of the moment
def f():
    x = 1
    return locals()
r = f()
### evaluation of a text
r = eval('1 + 2')
### execution of a text
exec('x = 1')
### reading a file
with open('/etc/hostname') as f:
    text = f.read()
### asking a person
name = input('your name? ')
"""

_TEXT = r"""
### methods of text
s = ' Hello, World '
r = [s.strip(), s.lower(), s.upper(), s.swapcase(), s.title(), s.count('l'), s.find('o'), s.rfind('o'),
     s.replace('l', 'L', 1), s.strip().startswith('Hel'), s.split(','), s.strip().partition(', '),
     'a-b-c'.rsplit('-', 1), 'x'.center(5, '*'), '7'.zfill(3), 'ab'.ljust(4) + '|', 'a\tb'.expandtabs(4)]
### tests of text
r = ['abc'.isalpha(), '12'.isdigit(), 'a1'.isalnum(), ' '.isspace(), 'Ab'.istitle(), 'a_b'.isidentifier(), '½'.isnumeric()]
### join and split
r = ','.join(str(i) for i in range(4)), 'a b  c'.split(), 'a\nb\r\nc'.splitlines(), 'a,b'.split(',')
### f-strings
x, name, w = 3.14159, 'pi', 10
r = f'{name}={x:.2f}', f'{name!r:>{w}}', f'{x:{w}.3f}', f'{x=:.1f}', f'{{}}', f'{1_000_000:,}', f'{255:#x} {5:08b} {0.25:.0%}'
### format specs
r = [format(v, s) for v, s in ((3.14159, '.3f'), (42, '+d'), (42, '06d'), ('a', '^5'), ('a', '*<4'), (1e10, 'e'), (1234567, '_'), (0.000012, 'g'), (-5, '=+6'))]
### template in a variable
t = '{} and {}'
r = t.format(1, 'b'), t.format([1], {'a': 2})
### named fields
t = 'Hello {name}, you are {age:>3} years'
r = t.format(name='Bo', age=7)
### attribute and entry fields
class P:
    def __init__(self): self.x, self._y = 1, 2
t = '{p.x} {p._y} {d[k]} {l[0]}'
r = t.format(p=P(), d={'k': 'v'}, l=[9])
### template with width
r = '{:>{w}.{p}f}|{:^5}'.format(3.14159, 'a', w=8, p=2)
### template mapped
r = '{a} {b}'.format_map({'a': 1, 'b': 2})
### templates in a table
messages = {'hi': 'hi {0}', 'bye': 'bye {0} {0!r}'}
r = [messages[k].format('bo') for k in ('hi', 'bye')]
### format handed over
r = list(map('<{}>'.format, 'ab')), ', '.join(map('{:02d}'.format, [1, 2]))
### format of the class
r = str.format('{}-{}', 1, 2)
### own method called format
class Table:
    def format(self, width): return f'table of {width}'
r = Table().format(3)
### percent
r = '%d %s %5.1f %-4s| %r %x %%' % (3, 'a', 2.55, 'b', 'c', 255), '%(n)s' % {'n': 1}
### bytes
b = b'abc'
r = [b[0], b[1:], b.upper(), b + b'd', b.decode(), bytes([65, 66]), bytes(2), b.hex(), bytes.fromhex('0aff'), b'a,b'.split(b','), list(b), b'x' in b]
### bytearray
b = bytearray(b'abc')
b[0] = 65
b.append(100)
b.extend(b'ef')
r = bytes(b), len(b), b.pop()
### encodings
r = 'é'.encode(), 'é'.encode('latin-1'), 'a'.encode('utf-16-le'), b'\xe9'.decode('cp1252'), 'aé'.encode('ascii', 'ignore'), 'aé'.encode('ascii', 'replace')
### translate
t = str.maketrans('abc', 'xyz', 'd')
r = 'aabbccdd'.translate(t)
### characters
r = [chr(ord('a') + i) for i in range(3)], ascii('é'), repr('a\n'), ord('€')
### caesar
def caesar(s, k):
    out = ''
    for c in s:
        if c.isalpha():
            b = ord('A') if c.isupper() else ord('a')
            c = chr((ord(c) - b + k) % 26 + b)
        out += c
    return out
r = caesar('Hello, World!', 3), caesar(caesar('abc', 5), -5)
### palindrome
def is_palindrome(s):
    s = [c.lower() for c in s if c.isalnum()]
    return s == s[::-1]
r = is_palindrome('A man, a plan, a canal: Panama')
### word count
text = 'the cat and the dog and the bird'
counts = {}
for w in text.split(): counts[w] = counts.get(w, 0) + 1
r = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:3]
### roman numerals
def roman(n):
    out = ''
    for v, s in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), 'M CM D CD C XC L XL X IX V IV I'.split()):
        q, n = divmod(n, v)
        out += s * q
    return out
r = roman(1994), roman(2024)
### prefixes and suffixes
r = 'test_a'.removeprefix('test_'), 'a.py'.removesuffix('.py'), 'abc'.startswith(('x', 'a')), 'a' * 3
### text comparison
r = 'a' < 'b', 'Z' < 'a', 'abc' < 'abd', sorted(['b', 'A', 'c'], key=str.lower), max('hello')
### multi-line text
t = '''a
  b
c'''
r = [line.strip() for line in t.split('\n')], len(t)
### casefold and normal forms
r = 'Straße'.casefold(), 'ß'.upper(), 'İ'.lower() == 'i̇', len('naïve')
### numbers from text
r = int('0x1f', 16), int('101', 2), float('1e3'), int(' 42 '), float('nan') != float('nan'), complex('1+2j'), int('1_000')
"""

_DATA = r"""
### list methods
x = [3, 1, 2]
x.append(4); x.insert(0, 9); x.extend([5]); x.remove(1)
y = x.copy()
x.sort(); y.reverse()
r = x, y, x.pop(), x.index(4), x.count(9), x[::-1], x[1:3]
### slices assigned
x = list(range(6))
x[1:3] = ['a']
x[::2] = [0] * 3
del x[-1]
x
### dictionary methods
d = {'a': 1, 'b': 2}
d.update(c=3); d.setdefault('d', []).append(1)
r = [d.pop('a'), d.get('z', 0), list(d), list(d.values()), list(d.items()), 'b' in d, d | {'e': 5}, d.popitem()]
### dictionary from pairs
r = dict(zip('ab', [1, 2])), dict(a=1), dict([('x', 1)]), dict.fromkeys('ab', 0), {v: k for k, v in {'a': 1}.items()}
### order of dictionaries
d = {}
for k in 'cab': d[k] = 1
d.pop('a'); d['a'] = 2
r = list(d), list(reversed(d)), next(iter(d))
### changing while walking
d = {1: 1}
try:
    for k in d: d[k + 1] = 1
except RuntimeError as e:
    m = str(e)
### set operations
a, b = {1, 2, 3}, {2, 3, 4}
r = [sorted(x) for x in (a & b, a | b, a - b, a ^ b)], a <= b, {2} < a, a.isdisjoint({9})
a.discard(9); a.add(5); a.update([6]); a -= {1}
s = sorted(a), frozenset([1]) in {frozenset([1])}
### tuples
t = (1, 'a', 2.5)
r = t + (4,), t * 2, t.index('a'), t.count(1), t[::-1], (1, 2) < (1, 3), hash((1, 2)) == hash((1, 2))
### sorting with keys
people = [('bo', 3), ('al', 3), ('cy', 1)]
r = sorted(people, key=lambda p: (p[1], p[0])), sorted(people, key=lambda p: -p[1]), sorted('bca', reverse=True), min(people, key=lambda p: p[1])
### stable sort
x = ['bb', 'a', 'cc', 'd']
r = sorted(x, key=len), sorted(x, key=len, reverse=True)
### builtins over numbers
r = [abs(-3), round(2.5), round(3.14159, 2), pow(2, 10), pow(3, -1, 7), divmod(-7, 3), sum([1, 2], 10), min(3, 1), max([1, 5], default=0), 7 // -2, -7 % 3, 2 ** -1]
### builtins over iterables
r = [list(enumerate('ab', 1)), list(zip([1, 2], 'ab')), list(map(lambda x, y: x + y, [1, 2], [3, 4])), list(filter(None, [0, 1, '', 'a'])), any([]), all([]), list(reversed([1, 2])), sorted({3, 1})]
### strict zip
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as e:
    m = str(e)
### integers
r = 10 ** 30, (255).bit_length(), bin(10), oct(8), hex(255), int.from_bytes(b'\x01\x00', 'big'), (5).to_bytes(2, 'little'), 7 & 3, 6 | 1, 5 ^ 1, ~5, 1 << 10
### floats
r = 0.1 + 0.2, 1e308 * 10, (0.5).is_integer(), (2.5).as_integer_ratio(), float('inf') > 1, -0.0, 1 / 3, 3.0 == 3, (0.1).hex()
### complex numbers
z = 3 + 4j
r = abs(z), z.conjugate(), z * 1j, z.real, z.imag, complex(1, 2)
### truth
r = [bool(v) for v in (0, 1, '', 'a', [], [0], None, 0.0, {}, ())], True + True, isinstance(True, int)
### ranges
r = list(range(5, 0, -2)), len(range(0, 10, 3)), 4 in range(0, 10, 2), range(10)[2:5], range(3) == range(0, 3), range(10)[-1]
### copies share
a = [[0] * 2] * 2
a[0][0] = 1
b = [row[:] for row in a]
b[0][0] = 9
a, b
### matrix
def mul(a, b): return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]
r = mul([[1, 2], [3, 4]], [[0, 1], [1, 0]]), list(zip(*[[1, 2], [3, 4]]))
### matrix with its own sign
class M:
    def __init__(self, rows): self.rows = rows
    def __matmul__(self, o): return M([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __eq__(self, o): return self.rows == o.rows
r = (M([[1, 2]]) @ M([[3], [4]])).rows, M([[1]]) == M([[1]])
### sieve
def primes(n):
    sieve = [True] * (n + 1)
    sieve[:2] = [False, False]
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]: sieve[i * i::i] = [False] * len(sieve[i * i::i])
    return [i for i, p in enumerate(sieve) if p]
primes(40)
### greatest divisor
def gcd(a, b):
    while b: a, b = b, a % b
    return a
r = gcd(48, 18), gcd(7, 13)
### quick sort
def qs(x):
    if len(x) < 2: return x
    p, *rest = x
    return qs([v for v in rest if v < p]) + [p] + qs([v for v in rest if v >= p])
qs([3, 6, 1, 8, 2, 9, 2])
### binary search
def find(x, t):
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < t: lo = mid + 1
        else: hi = mid
    return lo
r = find([1, 3, 5, 7], 5), find([1, 3], 9)
### breadth first
graph = {'a': ['b', 'c'], 'b': ['d'], 'c': ['d'], 'd': []}
def path(start, goal):
    queue, seen = [[start]], {start}
    while queue:
        p = queue.pop(0)
        if p[-1] == goal: return p
        for n in graph[p[-1]]:
            if n not in seen:
                seen.add(n)
                queue.append(p + [n])
r = path('a', 'd')
### permutations by hand
def perms(x):
    if not x: return [[]]
    return [[v] + p for i, v in enumerate(x) for p in perms(x[:i] + x[i + 1:])]
perms([1, 2, 3])
### game of life
def step(cells):
    near = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy: near[x + dx, y + dy] = near.get((x + dx, y + dy), 0) + 1
    return {c for c, n in near.items() if n == 3 or (n == 2 and c in cells)}
r = sorted(step({(0, 1), (1, 1), (2, 1)}))
### hanoi
moves = []
def hanoi(n, a, b, c):
    if n:
        hanoi(n - 1, a, c, b)
        moves.append((a, c))
        hanoi(n - 1, b, a, c)
hanoi(3, 'A', 'B', 'C')
len(moves), moves[:3]
### knapsack
def best(items, cap):
    table = [0] * (cap + 1)
    for w, v in items:
        for c in range(cap, w - 1, -1): table[c] = max(table[c], table[c - w] + v)
    return table[cap]
r = best([(1, 1), (3, 4), (4, 5), (5, 7)], 7)
### bank
class Bank:
    def __init__(self): self._accounts = {}
    def open(self, name): self._accounts[name] = 0
    def move(self, name, amount):
        if self._accounts[name] + amount < 0: raise ValueError('not enough')
        self._accounts[name] += amount
        return self._accounts[name]
b = Bank()
b.open('x')
r = b.move('x', 5)
try:
    b.move('x', -9)
except ValueError as e:
    m = str(e)
### vector
class Vec:
    def __init__(self, *v): self.v = v
    def __add__(self, o): return Vec(*(a + b for a, b in zip(self.v, o.v)))
    def __mul__(self, k): return Vec(*(a * k for a in self.v))
    __rmul__ = __mul__
    def __iter__(self): return iter(self.v)
    def __repr__(self): return f'{type(self).__name__}{self.v}'
r = repr(2 * Vec(1, 2) + Vec(1, 1) * 3), list(Vec(1, 2)), [*Vec(3)]
### polynomial
class Poly:
    def __init__(self, *c): self._c = c
    def __call__(self, x):
        r = 0
        for a in self._c: r = r * x + a
        return r
    def __eq__(self, other): return self._c == other._c
    def __hash__(self): return hash(self._c)
r = Poly(1, 0, -1)(3), Poly(1) == Poly(1), len({Poly(1), Poly(1)})
### priority queue of its own
class PQ:
    def __init__(self): self.__items = []
    def push(self, p, x):
        self.__items.append((p, x))
        self.__items.sort()
    def pop(self): return self.__items.pop(0)[1]
    def __bool__(self): return bool(self.__items)
q = PQ()
for p, x in ((3, 'c'), (1, 'a'), (2, 'b')): q.push(p, x)
r = []
while q: r.append(q.pop())
### event handlers
class Event:
    def __init__(self): self._handlers = []
    def __iadd__(self, h):
        self._handlers.append(h)
        return self
    def __call__(self, *a): return [h(*a) for h in self._handlers]
e = Event()
e += lambda x: x + 1
e += str
r = e(3)
### state machine
class Light:
    _order = {'red': 'green', 'green': 'amber', 'amber': 'red'}
    def __init__(self): self._state = 'red'
    def next(self):
        self._state = self._order[self._state]
        return self
s = Light().next().next()._state
### tokenizer
def tokens(text):
    i = 0
    while i < len(text):
        if text[i].isdigit():
            j = i
            while j < len(text) and text[j].isdigit(): j += 1
            yield int(text[i:j])
            i = j
        else:
            if not text[i].isspace(): yield text[i]
            i += 1
r = list(tokens('12+(3 * 45)'))
### calculator
class Parser:
    def __init__(self, s): self._s, self._i = s.replace(' ', ''), 0
    def _peek(self): return self._s[self._i] if self._i < len(self._s) else ''
    def _take(self):
        c = self._peek()
        self._i += 1
        return c
    def expr(self):
        v = self._term()
        while self._peek() in ('+', '-') and self._peek():
            v = v + self._term() if self._take() == '+' else v - self._term()
        return v
    def _term(self):
        v = self._atom()
        while self._peek() == '*':
            self._take()
            v *= self._atom()
        return v
    def _atom(self):
        if self._peek() == '(':
            self._take()
            v = self.expr()
            self._take()
            return v
        n = ''
        while self._peek().isdigit(): n += self._take()
        return int(n)
r = Parser('2*(3+4)-5').expr()
### run lengths
def rle(s):
    out = []
    for c in s:
        if out and out[-1][0] == c: out[-1][1] += 1
        else: out.append([c, 1])
    return ''.join(f'{c}{n}' for c, n in out)
rle('aaabccd')
### pascal
row, rows = [1], []
for _ in range(5):
    rows.append(row)
    row = [a + b for a, b in zip([0] + row, row + [0])]
rows
### memory view
m = memoryview(b'abc')
r = m[0]
"""

_LIBRARY = r"""
### from math
from math import sin, pi, sqrt
r = round(sin(pi / 6), 9), sqrt(16)
### math by another name
import math as m
r = m.floor(2.7), m.gcd(12, 18), m.hypot(3, 4), m.isclose(0.1 + 0.2, 0.3), m.factorial(5), m.comb(5, 2)
### all of math
from math import *
r = floor(2.5), degrees(pi), tau > 6
### errors of math
import math
out = []
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.factorial(-1), lambda: math.exp(1e9)):
    try:
        f()
    except (ValueError, OverflowError) as e:
        out.append(str(e))
out
### numpy by its own names
from numpy import array, linspace, mean
import numpy as xp
r = mean(array([1, 2, 3])), linspace(0, 1, 3).tolist(), xp.dot([1, 2], [3, 4])
### numpy's norm
from numpy.linalg import norm
import numpy as np
r = float(norm([3, 4])), np.eye(2).tolist()
### typing by another name
import typing as t
def f(x: t.List[int]) -> t.Optional[int]: return x[0] if x else None
r = f([3]), f([])
### hints of every kind
from typing import Any, Callable, Dict, List, Optional, Tuple, Union, TypeVar, Generic, Iterable
T = TypeVar('T')
class Box(Generic[T]):
    def __init__(self, v: T) -> None: self.v = v
    def map(self, f: Callable[[T], Any]) -> 'Box': return Box(f(self.v))
def g(x: Union[int, str], d: Dict[str, List[Tuple[int, ...]]]) -> Iterable[Any]: return [x, d]
r = Box[int](3).map(lambda x: x + 1).v, g(1, {})
### only for a type checker
from typing import TYPE_CHECKING, Protocol
if TYPE_CHECKING:
    from typing import List
class Sized(Protocol):
    def size(self) -> int: ...
class A:
    def size(self): return 2
r = A().size()
### counter
from collections import Counter
c = Counter('abracadabra')
r = c.most_common(2), c['z'], sorted((c + Counter('az')).items()), c.total()
### default dictionary
from collections import defaultdict
d = defaultdict(list)
for k, v in [('a', 1), ('b', 2), ('a', 3)]: d[k].append(v)
n = defaultdict(lambda: defaultdict(int))
n['x']['y'] += 1
r = dict(d), n['x']['y']
### deque
from collections import deque
q = deque([1, 2, 3], maxlen=3)
q.append(4); q.appendleft(0); q.rotate(1)
r = list(q), q.maxlen, q.popleft()
### ordered dictionary and chain map
from collections import OrderedDict, ChainMap
o = OrderedDict(a=1, b=2)
o.move_to_end('a')
r = list(o), ChainMap({'x': 1}, {'x': 2, 'y': 3})['y'], o.popitem(last=False)
### named tuple
from collections import namedtuple
P = namedtuple('P', 'x y', defaults=[0])
p = P(1)
r = p, p._replace(x=5), p._asdict(), P._fields, P._make([7, 8]), P._field_defaults, p.x, p[1]
### named tuple with data
from collections import namedtuple
Node = namedtuple('Node', ['data', 'next'])
n = Node('a', Node(data='b', next=None))
r = n.data, n.next.data, n
### typed named tuple
from typing import NamedTuple
class Emp(NamedTuple):
    name: str
    id: int = 3
    def hi(self): return f'{self.name}#{self.id}'
e = Emp('Bo')
r = e, e.hi(), e._replace(name='Al'), e._asdict(), Emp._fields
### data class
from dataclasses import dataclass, field, asdict, astuple, replace, fields
@dataclass(order=True)
class Item:
    name: str
    price: float = 1.0
    tags: list = field(default_factory=list, compare=False, repr=False)
    def total(self, n): return self.price * n
a = Item('a', 2.0)
r = a, a.total(3), a < Item('b'), asdict(a), astuple(a), replace(a, price=5), [f.name for f in fields(a)]
### frozen data class
from dataclasses import dataclass, FrozenInstanceError
@dataclass(frozen=True)
class P:
    x: int
    y: int = 0
p = P(1)
try:
    p.x = 2
except FrozenInstanceError as e:
    m = str(e)
r = {p: 1}[P(1)], hash(p) == hash(P(1))
### data class with data and privates
from dataclasses import dataclass
@dataclass
class Node:
    data: int
    _left: 'Node' = None
    _right: 'Node' = None
def total(n): return 0 if n is None else n.data + total(n._left) + total(n._right)
r = total(Node(1, Node(2), Node(data=3))), Node(4)
### data class after init
from dataclasses import dataclass, field, InitVar
@dataclass
class R:
    w: float
    h: float
    area: float = field(init=False)
    scale: InitVar[int] = 1
    def __post_init__(self, scale): self.area = self.w * self.h * scale
r = R(2, 3, 2), R(1, 1).area
### enumeration
from enum import Enum, auto
class C(Enum):
    RED = 1
    GREEN = auto()
    ALIAS = 1
    def dark(self): return self.name.lower()
r = C.RED, C(2), C['RED'], list(C), C.ALIAS is C.RED, C.RED.dark(), C.GREEN.value, C.RED in C, len(C)
### enumeration errors
from enum import Enum
class C(Enum):
    RED = 1
out = []
for f in (lambda: C(5), lambda: C['X']):
    try:
        f()
    except (ValueError, KeyError) as e:
        out.append(str(e))
### numbers and flags by name
from enum import IntEnum, Flag, IntFlag, StrEnum, auto, unique
@unique
class L(IntEnum):
    LOW = 1
    HIGH = 5
class F(Flag):
    R = auto()
    W = auto()
class S(StrEnum):
    ON = auto()
r = L.HIGH > L.LOW, L.LOW + 1, F.R | F.W, F.R in (F.R | F.W), S.ON, S.ON == 'on', sorted(L)
### enumeration with values of many parts
from enum import Enum
class Planet(Enum):
    EARTH = (5.97e24, 6.37e6)
    MARS = (6.4e23, 3.4e6)
    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius
    @property
    def g(self): return round(6.67e-11 * self.mass / self.radius ** 2, 2)
r = [p.g for p in Planet], Planet.EARTH.name
### enumeration made by call
from enum import Enum
C = Enum('C', 'RED GREEN')
r = list(C), C.GREEN.value
### itertools
import itertools as it
r = [list(it.chain([1], 'a')), list(it.product('ab', repeat=2))[:3], list(it.combinations('abc', 2)), list(it.permutations([1, 2])), list(it.accumulate([1, 2, 3])), list(it.islice(it.count(5, 2), 3)), list(it.pairwise('abc')), list(it.starmap(pow, [(2, 3)])), list(it.compress('abc', [1, 0, 1])), list(it.chain.from_iterable([[1], [2]]))]
### groups in a row
from itertools import groupby, takewhile, dropwhile, zip_longest, tee, cycle, islice, repeat
r = [(k, len(list(g))) for k, g in groupby('aabccc')], list(takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(dropwhile(lambda x: x < 3, [1, 3, 1])), list(zip_longest('ab', [1], fillvalue='-')), list(islice(cycle('ab'), 3)), list(repeat(1, 2))
### functools
from functools import reduce, partial, lru_cache, wraps, total_ordering, cache
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
r = reduce(lambda a, b: a * b, range(1, 6)), partial(int, base=2)('101'), fib(50), fib.cache_info().hits > 0
### wraps
from functools import wraps
def loud(f):
    @wraps(f)
    def inner(*a, **k): return f(*a, **k).upper()
    return inner
@loud
def hi(name):
    "Greet."
    return 'hi ' + name
r = hi('bo'), hi.__name__, hi.__doc__
### total ordering
from functools import total_ordering
@total_ordering
class V:
    def __init__(self, *p): self._p = p
    def __eq__(self, o): return self._p == o._p
    def __lt__(self, o): return self._p < o._p
r = V(1, 2) >= V(1, 1), V(1) > V(2), V(3) <= V(3)
### cached property
from functools import cached_property
class A:
    n = 0
    @cached_property
    def x(self):
        A.n += 1
        return 7
a = A()
r = a.x, a.x, A.n
### by the class of the argument
from functools import singledispatch
@singledispatch
def show(x): return f'thing {x}'
@show.register
def _(x: int): return f'int {x}'
@show.register(list)
def _(x): return f'list of {len(x)}'
@show.register(str)
@show.register(bytes)
def words(x): return 'words'
r = show(1.5), show(2), show([1]), show('a'), show(b''), show(True)
### methods by the class of the argument
from functools import singledispatchmethod
class A:
    @singledispatchmethod
    def f(self, x): return 'any'
    @f.register
    def _(self, x: int): return 'int'
    @f.register(str)
    def _(self, x): return 'str'
r = A().f(1), A().f('a'), A().f(2.5)
### partial method and comparison key
from functools import partialmethod, cmp_to_key
class Cell:
    def set(self, v): self.v = v
    on = partialmethod(set, True)
c = Cell()
c.on()
r = c.v, sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a))
### operator
import operator
from operator import itemgetter, add, mul, attrgetter
class P:
    def __init__(self, x, y): self.x, self._y = x, y
ps = [P(2, 'b'), P(1, 'c')]
r = add(1, 2), mul(2, 3), sorted([(1, 'b'), (0, 'c')], key=itemgetter(0)), [p.x for p in sorted(ps, key=attrgetter('x'))], attrgetter('x', '_y')(ps[0]), operator.itemgetter(0, 2)('abc')
### method by name
from operator import methodcaller
r = methodcaller('upper')('a'), list(map(methodcaller('split', ','), ['a,b', 'c']))
### heap
import heapq
h = []
for x in (5, 1, 3): heapq.heappush(h, x)
r = heapq.heappop(h), heapq.nlargest(2, h), heapq.nsmallest(1, [3, 1]), list(heapq.merge([1, 3], [2])), heapq.heappushpop(h, 0)
### shortest path
import heapq
g = {'a': {'b': 1, 'c': 4}, 'b': {'c': 2, 'd': 6}, 'c': {'d': 1}, 'd': {}}
def dijkstra(s):
    dist, todo = {s: 0}, [(0, s)]
    while todo:
        d, n = heapq.heappop(todo)
        if d > dist[n]: continue
        for m, w in g[n].items():
            if d + w < dist.get(m, float('inf')):
                dist[m] = d + w
                heapq.heappush(todo, (d + w, m))
    return dist
dijkstra('a')
### bisect
from bisect import bisect_left, bisect_right, insort
x = [1, 3, 5]
insort(x, 4)
r = x, bisect_left(x, 3), bisect_right(x, 3), 'FDCBA'[bisect_right([60, 70, 80, 90], 75)]
### random with a seed
import random
random.seed(42)
r = random.random(), random.randint(1, 6), random.choice('abc'), random.sample(range(10), 3), random.uniform(0, 1), random.gauss(0, 1)
x = [1, 2, 3, 4]
random.shuffle(x)
y = random.choices('ab', weights=[1, 3], k=5)
### random of its own
from random import Random
a, b = Random(7), Random(7)
r = a.random() == b.random(), a.randrange(0, 10, 2), a.getrandbits(8)
### regular expressions
import re
m = re.match(r'(?P<y>\d{4})-(?P<m>\d\d)', '2024-05-06')
r = m.group('y'), m.groups(), m.groupdict(), m.span(), re.sub(r'\s+', ' ', 'a  b'), re.findall(r'\w+', 'a, b'), re.split('[,;]', 'a,b;c'), re.fullmatch('a+', 'aab')
### compiled expressions
import re
p = re.compile(r'(\w)(\w*)', re.I)
r = p.sub(lambda m: m.group(2) + m.group(1) + 'ay', 'pig latin'), [m.start() for m in p.finditer('a bc')], p.pattern, re.escape('a.b'), m if (m := re.search('z', 'abc')) else 'none'
### bad expression
import re
try:
    re.compile('(a')
except re.error as e:
    m = str(e)
### json
import json
s = json.dumps({'b': [1, 2.5, None, True], 'a': 'é'}, sort_keys=True)
r = s, json.loads(s), json.dumps([1, {'x': 2}], indent=2), json.dumps('é', ensure_ascii=False), json.dumps({'a': 1}, separators=(',', ':'))
### json errors
import json
out = []
for t in ('{', '[1,]', 'nul'):
    try:
        json.loads(t)
    except json.JSONDecodeError as e:
        out.append((str(e), e.pos))
try:
    json.dumps({1, 2})
except TypeError as e:
    m = str(e)
### json of its own kinds
import json
class P:
    def __init__(self, x): self.x = x
r = json.dumps([P(1)], default=lambda p: {'x': p.x}), json.loads('{"a": {"b": 1}}', object_hook=lambda d: sorted(d))
### dates
from datetime import date, datetime, timedelta, timezone
d = date(2024, 2, 28) + timedelta(days=2)
t = datetime(2024, 1, 1, 12, 30)
r = d, d.isoformat(), d.weekday(), (date(2024, 12, 25) - d).days, t.strftime('%Y/%m/%d %H:%M'), datetime.strptime('5 Jan 2023', '%d %b %Y'), t.replace(hour=1), f'{t:%d.%m.}', timedelta(hours=25), datetime.fromisoformat('2024-01-02T03:04:05'), t.astimezone(timezone.utc).tzinfo is timezone.utc
### a date that is not
import datetime
try:
    datetime.date(2023, 2, 29)
except ValueError as e:
    m = str(e)
### calendar
import calendar
r = calendar.isleap(2024), calendar.monthrange(2024, 2), calendar.day_name[0], calendar.weekday(2024, 1, 1), calendar.month_abbr[3], calendar.leapdays(2000, 2020)
### decimal
from decimal import Decimal, getcontext, ROUND_HALF_UP, InvalidOperation, localcontext
r = Decimal('0.1') + Decimal('0.2'), Decimal('2.675').quantize(Decimal('0.01'), rounding=ROUND_HALF_UP), Decimal(1) / 3, Decimal('1E+3').normalize(), Decimal('-1.5').copy_abs()
with localcontext() as c:
    c.prec = 4
    s = Decimal(2).sqrt()
try:
    Decimal('x')
except InvalidOperation as e:
    m = type(e).__name__
### fractions
from fractions import Fraction
r = Fraction(1, 3) + Fraction(1, 6), Fraction('0.25'), Fraction(6, 4).numerator, float(Fraction(1, 8)), Fraction(0.5), Fraction(22, 7).limit_denominator(5), 2 * Fraction(1, 4)
### string
import string
r = string.ascii_lowercase, string.digits, string.punctuation, string.capwords('a bc'), string.hexdigits
### template of string
from string import Template
t = Template('Hi $name, you owe $$${amount}')
r = t.substitute(name='Bo', amount=5), t.safe_substitute(name='Al')
### textwrap
import textwrap
r = textwrap.wrap('the quick brown fox', 10), textwrap.dedent('  a\n    b'), textwrap.shorten('hello big world', 11), textwrap.indent('a\nb', '> '), textwrap.fill('aa bb cc', 5)
### copies
import copy
a = [[1], {'k': [2]}]
b, c = copy.copy(a), copy.deepcopy(a)
a[0].append(9)
class P:
    def __init__(self): self._items = [1]
p = P()
q = copy.deepcopy(p)
p._items.append(2)
r = b[0], c[0], q._items
### deep copy of its own
import copy
class A:
    def __init__(self, v): self.v = v
    def __deepcopy__(self, memo): return A(copy.deepcopy(self.v, memo) + ['copied'])
r = copy.deepcopy([A([1])])[0].v
### frozen record of everyday names
from dataclasses import dataclass, replace, asdict
@dataclass(frozen=True)
class Msg:
    data: str = "d"
    base: int = 0
    _own: float = 1.0
    def own(self): return self._own
@dataclass(frozen=True, slots=True)
class Slim:
    fields: list
    _x: int = 3
a, b = Msg("q", 7, 2.0), Msg("q", 7, 2.0)
s = Slim([1])
r = a.data, a.base, a.own(), a == b, a == Msg("r"), hash(a) == hash(b), repr(a), asdict(a), s
s = str(s), s.fields, replace(a, data="z").data
### array
from array import array
a = array('d', [1.0, 2.5])
a.append(4)
a.extend([1])
b = array('i', range(3))
r = a, a[1], sum(a), list(b), b.typecode, b.itemsize, array('B', b'ab').tobytes()
### struct
import struct
b = struct.pack('<hIf', 1, 2, 0.5)
r = b, struct.unpack('<hIf', b), struct.calcsize('>qB'), struct.pack('>3s', b'abc'), list(struct.iter_unpack('<H', b'\x01\x00\x02\x00'))
try:
    struct.pack('B', 300)
except struct.error as e:
    m = str(e)
### time spent
import time
start = time.perf_counter()
x = sum(range(1000))
took = time.perf_counter() - start
r = took >= 0, isinstance(time.time(), float), time.strftime('%Y', time.gmtime(0))
del start, took
### wait
import time
time.sleep(0)
r = 1
### unicode data
import unicodedata
r = unicodedata.name('é'), unicodedata.normalize('NFD', 'é').encode(), unicodedata.category('A'), unicodedata.lookup('SNOWMAN'), unicodedata.numeric('½'), ''.join(c for c in unicodedata.normalize('NFD', 'àé') if not unicodedata.combining(c))
### context manager by generator
from contextlib import contextmanager, suppress, nullcontext, ExitStack, closing
out = []
@contextmanager
def tag(name):
    out.append(f'<{name}>')
    try:
        yield name
    finally:
        out.append(f'</{name}>')
with tag('a') as t: out.append(t)
with suppress(KeyError): {}['x']
with nullcontext(5) as n: out.append(n)
with ExitStack() as s:
    s.enter_context(tag('b'))
    s.callback(out.append, 'bye')
out
### redirected output
import io
from contextlib import ExitStack, redirect_stdout
f = io.StringIO()
with redirect_stdout(f):
    print('hidden')
    with redirect_stdout(io.StringIO()) as g: print('inner')
    print('outer', end='')
s = f.getvalue(), g.getvalue()
with ExitStack() as stack:
    stack.enter_context(redirect_stdout(f))
    print('more')
t = f.getvalue()
print('seen')
### base64
import base64
r = base64.b64encode(b'hello'), base64.b64decode('aGk='), base64.urlsafe_b64encode(b'\xff\xfe'), base64.b32encode(b'a'), base64.b16encode(b'\xab')
### text in memory
from io import StringIO
f = StringIO()
f.write('a\nb\n')
print('c', file=f)
f.seek(0)
r = f.readline(), f.read(), f.getvalue(), [l.strip() for l in StringIO('1\n2')]
with StringIO('a') as g: s = g.read()
try:
    g.read()
except ValueError as e:
    m = str(e)
### bytes in memory
from io import BytesIO
b = BytesIO(b'xy')
r = b.read(1), b.getvalue()
### plain namespace
from types import SimpleNamespace
n = SimpleNamespace(x=1, data=[2])
n.y = 3
r = n, n.x, n.data, n == SimpleNamespace(x=1, data=[2], y=3)
### kinds of functions
from types import FunctionType, GeneratorType
def f(): yield
r = isinstance(f, FunctionType), isinstance(f(), GeneratorType), isinstance(3, FunctionType)
### abstract classes
from abc import ABC, abstractmethod
class Shape(ABC):
    @property
    @abstractmethod
    def area(self): ...
class Sq(Shape):
    area = 4
try:
    Shape()
except TypeError as e:
    m = str(e)
r = Sq().area, issubclass(Sq, Shape)
### abstract by a metaclass
from abc import ABCMeta, abstractmethod
class A(metaclass=ABCMeta):
    @abstractmethod
    def f(self): pass
try:
    A()
except TypeError as e:
    m = str(e)
### kinds of collections
from collections.abc import Iterable, Mapping, Sequence, Callable, Hashable, MutableMapping
r = [isinstance([], k) for k in (Iterable, Mapping, Sequence, Callable, Hashable)]
class Lower(MutableMapping):
    def __init__(self): self._d = {}
    def __getitem__(self, k): return self._d[k.lower()]
    def __setitem__(self, k, v): self._d[k.lower()] = v
    def __delitem__(self, k): del self._d[k.lower()]
    def __iter__(self): return iter(self._d)
    def __len__(self): return len(self._d)
l = Lower()
l['Ab'] = 1
s = l['aB'], 'AB' in l, list(l.items()), l.setdefault('x', 2), l.pop('AB')
### statistics
import statistics as st
r = st.mean([1, 2, 3, 4]), st.median([5, 1, 3]), st.mode('aab'), st.stdev([1, 2, 3]), st.pvariance([1, 2]), st.quantiles([1, 2, 3, 4]), st.multimode('aabb')
try:
    st.mean([])
except st.StatisticsError as e:
    m = str(e)
### hashes
import hashlib
r = hashlib.sha256(b'a').hexdigest()[:12], hashlib.md5('é'.encode()).hexdigest(), hashlib.sha1(b'').digest()[:3]
### numbers
import numbers
r = isinstance(1, numbers.Number), isinstance(1.5, numbers.Integral), isinstance(1j, numbers.Real)
### complex mathematics
import cmath
r = cmath.sqrt(-1), cmath.phase(-1), cmath.polar(1j)
### the system's limits
import sys
r = sys.maxsize > 2 ** 31, sys.float_info.epsilon, sys.version_info >= (3, 8), sys.version_info[0], sys.byteorder
### deeper recursion
import sys
sys.setrecursionlimit(3000)
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
r = depth(2000)
### classes and what they inherit from
class A: pass
class B(A, ValueError): pass
names = [kind.__name__ for kind in B.__mro__]
same = B.mro() == list(B.__mro__)
bases = [kind.__name__ for kind in B.__bases__]
error = [kind.__name__ for kind in type(KeyError('a')).mro()]
first = type(B()).__mro__[1].__name__
### a word of a program's own that classes have, too
class Road:
    def __init__(self): self.mro = 3
    def more(self): self.mro += 1
r = Road()
r.more()
value = r.mro
### the module of things
class A: pass
def f(): pass
a, b, c, d = A.__module__, A().__module__, f.__module__, int.__module__
### arrays, printed with few digits
import numpy as np
np.set_printoptions(precision=2, suppress=True)
print(np.array([1.23456, 1e-9]))
with np.printoptions(precision=4):
    print(np.array([1.23456]))
print(np.array([1.23456]))
np.set_printoptions(precision=8, suppress=False)
### how many digits, said by numpy
import numpy as np
np.set_printoptions(precision=np.int64(2))
print(np.array([1.23456]))
np.set_printoptions(precision=8)
### divisions by zero that are expected
import numpy as np
with np.errstate(divide='ignore', invalid='ignore'):
    a = np.array([1.0, 0.0]) / 0
try:
    with np.errstate(all='raise'):
        np.array([1.0]) / 0
except FloatingPointError as e:
    m = str(e)
b = [str(v) for v in a]
### a log before it is configured
import logging
log = logging.getLogger('a.b')
log.info('not said')
log.warning('%s of %d', 'one', 2)
logging.error('said with its name')
### a log that is configured
import logging
logging.basicConfig(level=logging.INFO, format='%(levelname)s %(name)s: %(message)s')
log = logging.getLogger(__name__)
log.debug('not said')
log.info('said')
log.setLevel('ERROR')
log.warning('not said')
logging.info('said by the root')
on = log.isEnabledFor(logging.INFO)
### a log that tells where it is written
import logging
def f(): logging.info("picking")
logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(filename)s:%(lineno)d %(funcName)s %(message)s")
f()
### a log that hands nothing on, and one that is turned off
import logging
log = logging.getLogger('a')
log.propagate = False
print(log.hasHandlers(), logging.root.hasHandlers(), logging.root.name)
logging.basicConfig(level=logging.DEBUG)
log.warning('plain')
log.info('not said')
log.getChild('b').error('plain too')
print(log.hasHandlers(), logging.getLogger('c').hasHandlers(), log.propagate)
logging.disable(logging.INFO)
logging.info('not said')
logging.warning('said')
on = logging.root.isEnabledFor(20), logging.getLogger('c').isEnabledFor(30)
logging.disable()
logging.critical('not said')
logging.disable(logging.NOTSET)
logging.debug('said again')
### a log of an exception where there is none
import logging
logging.exception('nothing wrong')
logging.getLogger('a').exception('nor here')
### a log beside what is redirected
import contextlib, io, logging
logging.basicConfig(level=logging.INFO)
b = io.StringIO()
with contextlib.redirect_stdout(b):
    logging.info("inside")
    logging.getLogger('a').error("inside too")
    print("into it")
c = b.getvalue()
### the module of what decorators made
import contextlib, functools
@functools.lru_cache
def f(): pass
@functools.lru_cache(maxsize=3, typed=True)
def g(x): return x
@contextlib.contextmanager
def h(): yield
class A:
    @functools.lru_cache(typed=True)
    def m(self, x): return x + 1
print(f.__module__ == g.__module__ == h.__module__ == '__main__', g.__name__, A.m.__name__)
print(repr(g).split(' at ')[0], g(1), g(1.0), g(True), g(1), g.cache_info(), g.cache_parameters())
a = A()
print(a.m(2), a.m(x=2), A.m(a, 2), A.m.cache_info(), g.__wrapped__(3))
g.cache_clear()
print(g.cache_info())
h.calls = 1
setattr(h, 'calls', h.calls + 1)
print(h.calls)
### arrays printed by functions of the program
import numpy as np
np.set_printoptions(formatter={'float': '{: 0.3f}'.format, 'int': lambda n: f'<{n}>'})
print(np.array([1.0, 2.5]), np.array([1, 2]))
with np.printoptions(precision=1): print(np.array([1.0, 2.25]))
print(np.array([[0.5]]), sorted(np.get_printoptions()['formatter']))
np.set_printoptions()
print(np.array([1.0, 2.5]))
### a log in braces
import logging
logging.basicConfig(level=logging.INFO, format="{levelname}: {message}", style="{")
logging.info("picking")
### a log with dollar signs
import logging
logging.basicConfig(level=logging.INFO, format="$levelname: ${message}", style="$")
logging.info("picking")
### a log configured twice
import logging
logging.basicConfig(level=logging.WARNING)
logging.basicConfig(level=logging.DEBUG, format="x")
logging.debug("should not show")
logging.error("e")
print(logging.getLevelName(20), logging.getLevelName("INFO"), logging.getLevelName(7), logging.getLevelName("X"), logging.getLevelName(0), logging.getLevelName("NOTSET"))
### a log of no style
import logging
try: logging.basicConfig(style="x")
except ValueError as e: print(e)
### printed elsewhere, and to the error output
import contextlib, sys, io
with contextlib.redirect_stdout(sys.stderr): print("a")
with contextlib.redirect_stdout(sys.stdout): print("b")
b = io.StringIO()
with contextlib.redirect_stdout(b):
    print("c"); print("d", file=sys.stderr); sys.stdout.write("e"); print("f", file=sys.stdout)
    with contextlib.redirect_stdout(sys.stderr): print("g")
    with contextlib.redirect_stdout(sys.stdout): print("h")
    with contextlib.redirect_stdout(None): print("i")
print(repr(b.getvalue()))
### written to both outputs
import sys
sys.stdout.write('one\n')
n = sys.stderr.write('two\n')
print('three', file=sys.stderr, flush=True)
### printed to the error output
import sys
print('careful', file=sys.stderr)
r = 1
### end by sys
import sys
def main(): sys.exit(3)
main()
### import in a function
def f(xs):
    import statistics
    from math import sqrt as root
    return root(statistics.mean(xs))
r = f([16, 16])
### import if it is there
try:
    import json as parser
except ImportError:
    parser = None
r = parser.loads('[1]')
### a module that is not there
try:
    import surely_not_there
except ModuleNotFoundError as e:
    m = str(e)
### strides of its own
class Layer:
    strides = 1
    def __init__(self, strides):
        self.strides = strides
one = Layer((1, 2))
one.strides += (3,)
setattr(one, 'strides', one.strides + (4,))
Layer.strides = 5
r = [one.strides]
del one.strides
r.append(one.strides)
### a module of another's that may be there
try:
    import surely_not_there
except (ModuleNotFoundError, KeyError):
    surely_not_there = None
try:
    from surely_not_there.either import thing
except ModuleNotFoundError as e:
    thing = isinstance(e, ImportError)
r = surely_not_there, thing
### a name that a module does not have
import math
math.squareroot(4)
### a module handed over
import math, random
def area(lib, x): return lib.floor(x)
r = area(math, 2.5), {'m': math}['m'].ceil(1.2)
### warnings
import warnings
warnings.warn('old')
r = 1
### environment
import os
home = os.environ.get('HOME')
### path of files
from pathlib import Path
r = Path('a') / 'b.txt'
### processes
import subprocess
subprocess.run(['true'])
### threads
import threading
t = threading.Thread(target=print)
t.start()
### uuid
import uuid
u = str(uuid.uuid4())
### colour conversion
import colorsys
r = colorsys.rgb_to_hsv(1, 0, 0), colorsys.hsv_to_rgb(0.5, 1, 1)
### pretty printing
from pprint import pprint, pformat
pprint({'b': 1, 'a': [1, 2]})
r = pformat([1])
### checksum
import zlib
r = zlib.crc32(b'hello'), zlib.adler32(b'a')
### difference of texts
import difflib
r = difflib.get_close_matches('appel', ['ape', 'apple']), difflib.SequenceMatcher(None, 'abcd', 'bcde').ratio()
### topological order
from graphlib import TopologicalSorter
r = list(TopologicalSorter({'b': ['a'], 'c': ['b']}).static_order())
### commas and quotes
import csv, io
rows = list(csv.reader(io.StringIO('a,"b,c"\n1,2\n')))
### simulation of dice
import random
from collections import Counter
random.seed(3)
rolls = Counter(random.randint(1, 6) + random.randint(1, 6) for _ in range(200))
r = rolls.most_common(3)
### inventory
from dataclasses import dataclass, field
from typing import Dict, List
@dataclass
class Product:
    name: str
    price: float
    stock: int = 0
@dataclass
class Shop:
    _products: Dict[str, Product] = field(default_factory=dict)
    log: List[str] = field(default_factory=list)
    def add(self, p: Product) -> None:
        self._products[p.name] = p
        self.log.append(f'added {p.name}')
    def buy(self, name: str, n: int) -> float:
        p = self._products[name]
        if p.stock < n: raise ValueError(f'only {p.stock} {name} left')
        p.stock -= n
        return round(p.price * n, 2)
s = Shop()
s.add(Product('nut', 0.25, 10))
r = s.buy('nut', 4), s.log
try:
    s.buy('nut', 40)
except ValueError as e:
    m = str(e)
### least recently used
from collections import OrderedDict
class LRU:
    def __init__(self, size):
        self._size, self._data = size, OrderedDict()
    def get(self, k):
        if k not in self._data: return -1
        self._data.move_to_end(k)
        return self._data[k]
    def put(self, k, v):
        self._data[k] = v
        self._data.move_to_end(k)
        if len(self._data) > self._size: self._data.popitem(last=False)
c = LRU(2)
c.put(1, 'a'); c.put(2, 'b'); c.get(1); c.put(3, 'c')
r = c.get(1), c.get(2), c.get(3)
### trie
class Trie:
    def __init__(self): self._root = {}
    def insert(self, w):
        node = self._root
        for ch in w: node = node.setdefault(ch, {})
        node['$'] = True
    def __contains__(self, w):
        node = self._root
        for ch in w:
            if ch not in node: return False
            node = node[ch]
        return '$' in node
t = Trie()
t.insert('car'); t.insert('cart')
r = 'car' in t, 'ca' in t, 'cart' in t
### visitors
class Num:
    def __init__(self, v): self.v = v
    def accept(self, visitor): return getattr(visitor, 'visit_' + type(self).__name__.lower())(self)
class Add(Num):
    def __init__(self, a, b): self.a, self.b = a, b
class Eval:
    def visit_num(self, n): return n.v
    def visit_add(self, n): return n.a.accept(self) + n.b.accept(self)
r = Add(Num(1), Add(Num(2), Num(3))).accept(Eval())
"""

_NAMES = r'''
### frozen data class sets its own fields
from dataclasses import dataclass
@dataclass(frozen=True)
class V:
    x: float
    y: float
    norm: float = 0.0
    _n: int = 0
    def __post_init__(self):
        object.__setattr__(self, "norm", (self.x ** 2 + self.y ** 2) ** 0.5)
        object.__setattr__(self, "_n", 3)
v = V(3, 4)
print(v, v._n, hash(v) == hash(V(3, 4)))
try: v.x = 1
except Exception as e: print(type(e).__name__, e)
### object made anew by its own init
class A:
    def __init__(self, x=0):
        object.__init__(self)
        self.x = x
    def reset(self):
        self.__init__()
a = A(3)
a.reset()
print(a.x)
### decorator by hand keeps name and text
from functools import wraps
def deco(f):
    def inner(*a):
        "in"
        return f(*a)
    inner.__name__ = f.__name__
    inner.__doc__ = f.__doc__
    inner.__qualname__ = f.__qualname__
    return inner
@deco
def g(x):
    "gdoc"
    return x
print(g.__name__, g.__doc__, g(3), g.__qualname__)
try: g.__name__ = 3
except TypeError as e: print(e)
g.__doc__ += "!"
print(g.__doc__)
g.__doc__, g.__name__ = "a", "b"
print(g.__doc__, g.__name__)
### class decorator gives special methods
def rep(cls):
    def r(self): return f"{cls.__name__}({', '.join(f'{k}={getattr(self, k)}' for k in cls.show)})"
    cls.__repr__ = r
    cls.__eq__ = lambda self, o: self.x == o.x
    setattr(cls, "__len__", lambda self: 7)
    return cls
@rep
class P:
    show = ("x",)
    def __init__(self): self.x = 1
print(P(), P() == P(), len(P()))
### class decorator wraps the init
def log(cls):
    original = cls.__init__
    def init(self, *a, **k):
        print("making", cls.__name__, a, k)
        original(self, *a, **k)
    cls.__init__ = init
    return cls
@log
class Q:
    def __init__(self, a, b=2): self.a, self._b = a, b
q = Q(1, b=5)
print(q.a, q._b)
### names that a module says of itself
"""Text of the module."""
__version__ = "1.0"
__all__ = ["f"]
__author__ = "me"
print(__doc__, __version__, __all__)
__doc__ = "x"
print(__doc__)
### no text of the module
print(__doc__)
### names of two underscores that are no attributes
class A:
    def f(self, __x, *, __y=2):
        __tmp = __x + __y
        def g(): return __tmp
        return g()
    def h(self): return self.f(1, __y=5)
print(A().f(1), A().h())
def top(__a): return __a
print(top(__a=3))
__t = 5
print(__t)
for __ in range(2): pass
print(__)
### attributes of underscores alone
class A:
    def __init__(self): self._ = 5; self.__ = 6
    def _(self): return 1
a = A()
print(a._, a.__, A._(a))
### callable object with a function's name
class Cached:
    def __init__(self, f):
        self.f = f; self.__name__ = f.__name__; self.__doc__ = f.__doc__
    def __call__(self, x): return self.f(x)
@Cached
def sq(x):
    "Square."
    return x * x
print(sq.__name__, sq.__doc__, sq(3))
### init of a subclass's object, and another name for a class
class Base:
    def __init__(self): self.v = 1
class K(Base):
    pass
k = K(); k.v = 3; k.__init__(); print(k.v)
K.__init__(k)
Base.__name__ = "Other"
print(Base.__name__, k.__class__.__name__)
### cause bound by hand
class E(Exception):
    def __init__(self, a): super().__init__(a); self.a = a
try:
    try: raise KeyError("k")
    except KeyError as e:
        x = E("a"); x.__cause__ = e; raise x
except E as e: print(repr(e.__cause__), e)
### frozen data class sets by super
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    x: int
    def __post_init__(self): super().__setattr__("y", self.x * 2)
print(A(2).y)
### special method of a class given later
class C:
    pass
c = C()
C.__call__ = lambda self: 5
C.__doc__ = "doc"
print(c(), C.__doc__)
class D:
    """d"""
    __doc__ = "e"
print(D.__doc__)
### function below a decorator
import functools
def twice(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a) * 2
    return inner
@twice
def g(x): return x + 1
@functools.lru_cache
def h(x): return x
r = g(1), g.__wrapped__(1), h.__wrapped__(3), h(3), h.cache_info().misses
### hints looked up by a decorator
def typed(f):
    hints = f.__annotations__
    def inner(*args):
        for (name, kind), value in zip(hints.items(), args):
            if not isinstance(value, kind):
                raise TypeError(f'{name} must be {kind.__name__}')
        return f(*args)
    return inner
@typed
def area(w: int, h: float): return w * h
class A:
    x: int = 1
    _y: 'str' = ''
a = area(2, 1.5), A.__annotations__
try:
    area(2, 'b')
except TypeError as e:
    m = str(e)
### members of an enumeration with other names of some
from enum import Enum
class C(Enum):
    RED = 1
    CRIMSON = 1
    _own = 3
r = list(C.__members__), C.__members__['CRIMSON'], [*C], C.__members__
### decorator that is a class
import functools
class Counted:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.calls = f, 0
    def __call__(self, *a):
        self.calls += 1
        return self.f(*a)
@Counted
def double(x):
    'Twice as much.'
    return 2 * x
r = double(2), double(3), double.calls, double.__name__, double.__doc__, double.__wrapped__(4)
### dictionary of an object, read and written
import copy
import json
class A:
    def __init__(self, **more):
        self.x, self._y, self.__z, self.data = 1, 2, 3, 4
        self.__dict__.update(more)
    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"
    def __eq__(self, other):
        return self.__dict__ == other.__dict__
a = A(q=5, _r=6)
d = a.__dict__
a.later = 7
r = repr(a), a == A(q=5), a == A(q=5, _r=6), a._r, d, d['later'], len(d), [*d], {**d}, '_y' in d
d['_y'] = 20
d.pop('x')
d |= {'data': 40}
s = a._y, a.data, hasattr(a, 'x'), sorted(vars(a)), json.dumps(d), type(d), isinstance(d, dict)
c, e = copy.copy(d), copy.deepcopy(d)
c['_y'] = e['_y'] = 0
del d['q']
t = a._y, type(c).__name__, c == e, d.get('q', 'no'), d.setdefault('q', 8), a.q, dict(d) == d
for name in list(d):
    del d[name]
u = d, vars(a), a
try:
    a._y
except AttributeError as error:
    m = str(error)
### objects without a dictionary
class S:
    __slots__ = ('x',)
s = S()
try:
    vars(s)
except TypeError as e:
    m = str(e)
try:
    s.__dict__
except AttributeError as e:
    n = str(e)
### record by its attributes
from dataclasses import dataclass
@dataclass
class R:
    a: int = 1
    _b: int = 2
r = R()
d = dict(vars(r)), {k: v for k, v in r.__dict__.items() if not k.startswith('_')}
class B:
    def __init__(self, d): self.__dict__.update(d)
    def __iter__(self): return iter(self.__dict__.items())
e = dict(B({'p': 1, '_q': 2})), B({'_q': 2})._q
### function below a decorator, by its name
import functools
def plain(x): return x
@functools.wraps(plain)
def wrapped(x): return plain(x) + 1
found = [getattr(f, '__wrapped__', f) for f in (plain, wrapped)]
r = [f(1) for f in found], hasattr(wrapped, '__wrapped__'), getattr(len, '__wrapped__', None)
name = '__dict__'
class A:
    def __init__(self): self._x = 1
d = getattr(A(), name), getattr(A(), name, 'none'), getattr(5, name, 'none')
### class methods chosen by the class of an argument
from functools import singledispatchmethod
class A:
    @singledispatchmethod
    @classmethod
    def make(cls, x): return cls.__name__, x
    @make.register
    @classmethod
    def _(cls, x: list): return cls.__name__, len(x)
r = A.make(3), A.make([1, 2])
### namespace by position
import types
try:
    types.SimpleNamespace(3)
except TypeError as e:
    m = str(e)
### text of a cached property
from functools import cached_property
class A:
    @cached_property
    def x(self):
        'The x.'
        return 1
    @cached_property
    def y(self): return 2
r = A.x.__doc__, A.y.__doc__, A().x
'''


_LIBRARY_AGAIN = r"""
### deep copy by a method that notes itself
import copy
class Node:
    def __init__(self, name):
        self.name, self.links = name, []
    def __deepcopy__(self, memo):
        if id(self) in memo: return memo[id(self)]
        made = Node(self.name)
        memo[id(self)] = made
        made.links = copy.deepcopy(self.links, memo)
        return made
a, b = Node('a'), Node('b')
a.links.append(b)
b.links.append(a)
c = copy.deepcopy(a)
r = c.links[0].links[0] is c, c is a, c.links[0].name
### deep copies that share
import copy
class A:
    def __init__(self, x): self.x = x
shared = A(1)
memo = {}
p, q = copy.deepcopy(shared, memo), copy.deepcopy([shared], memo)
r = p is q[0], p is shared, copy.deepcopy({'a': shared, 'b': shared})['a'] is shared
del memo
### deep copies of every kind
import copy
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from types import SimpleNamespace
from fractions import Fraction
class Slots:
    __slots__ = ('a', '_b')
    def __init__(self): self.a, self._b = [1], {2}
class Mine(ValueError):
    def __init__(self, x):
        super().__init__(x)
        self.x = [x]
s, e = copy.deepcopy(Slots()), copy.deepcopy(Mine(3))
loop = [1]
loop.append(loop)
copied = copy.deepcopy(loop)
table = (loop, 2)
loop.append(table)
n = copy.deepcopy(SimpleNamespace(a=[1]))
r = [s.a, s._b, e.args, e.x, copied[1] is copied, copy.deepcopy(table)[0][2][1], n]
t = copy.deepcopy([Counter('aab'), OrderedDict(a=[1]), deque([[1]], 3), Fraction(1, 2), (1, [2])])
d = copy.deepcopy(defaultdict(list, a=[1]))
u = d['a'], d['b'], copy.deepcopy(partial(max, [1]))([2]), copy.deepcopy(range(3)), copy.deepcopy({1: {2}})
def f(): pass
v = copy.deepcopy(f) is f, copy.deepcopy(int) is int, copy.deepcopy(s.a.append)(2), s.a
### copies of builtins
import copy
r = [copy.copy(x) is x for x in (print, getattr, type, len)]
d = copy.deepcopy({'key': print, 'kinds': [getattr, type]})
s = d['key'] is print, d['kinds'][1] is type
### records are copied with what they hold
from dataclasses import dataclass, asdict, astuple, field
class Box:
    def __init__(self): self.items = [1]
@dataclass
class R:
    box: Box
    rows: list = field(default_factory=list)
box = Box()
d = asdict(R(box, [[1]]))
r = d['box'] is box, d['box'].items, d['rows'], astuple(R(box))[1]
### function chosen by class, in a class
from functools import singledispatch
class A:
    @singledispatch
    def f(self, x=0):
        'Says.'
        return 'any', x
    @f.register(int)
    def g(self, x=0): return 'int'
a = A()
r = a.f(1), a.f.__name__, A.f.__doc__, type(A.f).__name__, len(A.f.registry), A.f.dispatch(bool) is A.g
### ambiguous choice of a function
from functools import singledispatch
from collections.abc import Sized, Container
@singledispatch
def f(x): return 0
f.register(Sized, len)
f.register(Container, len)
class Both:
    def __len__(self): return 1
    def __contains__(self, x): return False
try: f(Both())
except RuntimeError as e: m = str(e)
### cache by class
from functools import lru_cache
calls = []
@lru_cache(maxsize=4, typed=True)
def f(x, *, y=0):
    'Says.'
    calls.append(x)
    return x
r = f(1), f(1.0), f(1), f(True), f(1, y=1), f(1, y=1.0), calls
i = f.cache_info(), f.cache_parameters(), f.__name__, f.__doc__
f.cache_clear()
j = f.cache_info().misses
@lru_cache
def g(x): return x
k = g(1), g(1.0), g.cache_info().hits
### attribute called format, added to
class A:
    format = 'a'
a = A()
a.format += 'b'
A.format += 'c'
r = a.format, A.format
try: 'a'.format += 1
except TypeError as e: m = type(e).__name__
### text of a data class
from dataclasses import dataclass, field
@dataclass
class A:
    _x: int
    y: list = field(default_factory=list)
@dataclass(init=False)
class B: pass
@dataclass
class C:
    'Says.'
    x: int = 1
@dataclass
class D:
    x: int
    def __init__(self, z: str = 'a') -> None: pass
r = A.__doc__, B.__doc__, C.__doc__, D.__doc__
### data class with hints that are texts
from __future__ import annotations
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from typing import ClassVar
import dataclasses
@dataclass
class A:
    x: int
    n: InitVar[int]
    k: ClassVar[int] = 0
    m: dataclasses.InitVar[int] = 3
    _: KW_ONLY
    z: list[int] = field(default_factory=list)
    def __post_init__(self, n, m): self.x += n + m
a = A(1, 2, z=[1])
r = repr(a), [f.name for f in fields(A)]
try: A(1, 2, 3, [4])
except TypeError as e: m = str(e)
del annotations
### separators of their own kind
class Sep(str):
    def join(self, parts): return 'lies'
class Word(str):
    def __str__(self): return 'word'
print(1, 2, Word('a'), sep=Sep(', '), end=Sep('!\n'))
### output sent elsewhere, one in the other
from contextlib import redirect_stdout
from io import StringIO
a, b = StringIO(), StringIO()
out = redirect_stdout(a)
with out:
    with out: print('in')
    print('mid', file=None)
    with redirect_stdout(b): print('inner')
print('after')
with redirect_stdout(None): print('nowhere')
r = a.getvalue(), b.getvalue()
### output in pieces to an object
class Log:
    def __init__(self): self.parts = []
    def write(self, text): self.parts.append(text)
    def flush(self): self.parts.append('flushed')
log = Log()
print('a', 1, file=log)
print(file=log, end='', flush=True)
r = log.parts
### streams in memory
import io
s, b = io.StringIO('a\nb'), io.BytesIO(b'abc')
room = bytearray(2)
r = b.readinto(room), room, s.newlines, s.encoding, s.errors
s.close()
try:
    with s: pass
except ValueError as e: m = str(e)
### method bound by hand
from types import MethodType
class A:
    def __init__(self): self.x = 3
a = A()
a.tell = MethodType(lambda self, y: (self.x, y), a)
r = a.tell(2), isinstance(a.tell, MethodType)
### encoder of one's own
import json
class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, set): return sorted(o)
        return super().default(o)
r = json.dumps({'a': {2, 1}}, cls=Encoder), Encoder(indent=1).encode([1])
try: json.dumps(object, cls=Encoder)
except TypeError as e: m = str(e)
### typed dictionary
from typing import List, TypedDict
class Item(TypedDict):
    name: str
    sizes: List[int]
class More(Item):
    x: int
a = Item(name='a', sizes=[1])
b: More = {'name': 'b', 'sizes': [], 'x': 1}
r = a['name'], type(a) is dict, More(x=2), More.__name__
try: isinstance(a, Item)
except TypeError as e: m = str(e)
### numbers from a place in bytes
import struct
r = struct.unpack_from('<h', bytes(range(8)), 2)
### hint with notes
from typing import Annotated
r = repr(Annotated[int, 'x', 3])
### module that may be missing
try:
    import no_such_module
except ImportError:
    no_such_module = None
try:
    from no_such_package.inner import thing
except (ImportError): thing = 1
r = no_such_module, thing
### call that does not fit, caught
def f(a): return a
try: f()
except TypeError as e: m = str(e)
### class of a value in a template
class A:
    def __init__(self): self._x = 1
    def __repr__(self): return '{0.__class__.__name__}({0._x!r:>{1}}, {b.__class__})'.format(self, 3, b=2)
r = repr(A()), '{}{.__class__.__name__:>5}{a[0]}'.format(1, 'x', a=[2])
t = '{a.__class__.__qualname__}'
s = t.format_map({'a': 1.5})
### flags without a bit
from enum import Flag
class F(Flag):
    NONE = 0
E = F('E', {'A': 1, 'B': 2})
r = E.A | E.B, [*E], F(0)
"""


def _programs(*tables: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in tables:
        for entry in table.split("\n### ")[1:]:
            name, _, source = entry.partition("\n")
            assert name not in found, f"two programs are called {name!r}"
            found[name] = source.rstrip("\n") + "\n"
    return found


PROGRAMS = _programs(
    _CLASSES, _EXCEPTIONS, _FUNCTIONS, _TEXT, _DATA, _LIBRARY, _NAMES, _LIBRARY_AGAIN
)
"""Every program by its name."""


REFUSED: dict[str, tuple[str, str]] = {
    "array": ("CAP102", "an item's `__index__` may shrink the array that it is being put into"),
    "a class made by a call of type": ("CAP111", "data could give a class special methods"),
    "attribute on demand": ("CAP110", "numpy asks any object for its memory by attributes"),
    "object made by new": ("CAP110", "it makes objects of any class"),
    "metaclass": ("CAP110", "it takes part in making classes"),
    "descriptor": ("CAP110", "it takes part in every look at an attribute"),
    "coroutine": ("CAP101", "nothing here waits for another: robot calls wait by themselves"),
    "names of the moment": ("CAP105", "a frame's own dictionary"),
    "execution of a text": ("CAP105", "statements that no check saw"),
    "reading a file": ("CAP105", "a program has no files"),
    "asking a person": ("CAP105", "a program has no terminal"),
    "memory view": ("CAP105", "raw memory"),
    "wait": ("CAP109", "it would wait by the machine's clock; no answer needs it"),
    "a name that a module does not have": ("CAP109", "told before anything moves"),
    "warnings": ("CAP102", "filters and output of the whole process"),
    "environment": ("CAP102", "the system"),
    "path of files": ("CAP102", "files"),
    "processes": ("CAP102", "processes"),
    "threads": ("CAP102", "threads"),
    "uuid": ("CAP102", "it asks the system for its address and for chance without a seed"),
}
"""Programs that are refused under both policies: the rule, and why that is right."""
_CLOCK = "the machine's clock is not the robot's time: a simulation's runs apart from it"
REFUSED_FOR_ROBOTS: dict[str, tuple[str, str]] = {
    "wait": ("CAP102", _CLOCK),
    "time spent": ("CAP102", _CLOCK),
    "dates": ("CAP102", _CLOCK),
    "a date that is not": ("CAP102", _CLOCK),
    "calendar": ("CAP102", _CLOCK),
    "evaluation of a text": ("CAP105", "nobody sees what it will do before it moves"),
}
"""Those that are refused to robots besides."""
