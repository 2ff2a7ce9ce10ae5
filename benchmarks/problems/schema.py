"""The problem file's format, in words and as a file that works: `cap bench problems --schema`."""

from __future__ import annotations

SCHEMA = '''\
# A problem file: TOML, any number of problems. What is Python in it runs in the sandbox alone; it
# may use what every program may: numpy as np, math, shapely's geometry, affinity and operations.
#
# Of each problem a model sees one line, `# define function: RESULT = NAME(PARAMETERS).`, and the
# examples of its prompt. A solution is right if every one of its results is.
#
# A problem needs a header, a reference, and cases or `random`; all else may be left out.
#
# Results: None, truth values, numbers, text, lists, tuples and arrays of them, dictionaries with
# text or integers for keys, shapely geometries. Lists, tuples and arrays are one kind; a truth
# value is no number; shapes must agree; NaN and infinity are right only where the reference has
# them. Anything else is wrong whatever it says of itself: generators, objects of own classes.
# A solution gets a fresh copy of its arguments with every call, and must leave them as they were.

format = 1

# Optional, here or in a problem. Definitions that `cases` and `random` share.
setup = """
def some_points(rng):
    return rng.uniform(-1, 1, (int(rng.integers(2, 9)), 2))
"""

# Optional, here or in a problem. Functions a solution may call; its prompt has their names.
# They may read `scene`, which is the first entry of every case, is not an argument, and is out of a
# solution's reach.
# given = """
# def get_names():
#     return list(scene)
# """

[[problem]]
# One line: a name and parameters, such as `def f(points, radius=0.5):`. A case may leave
# out those with a default; they are then called by name, as the model sees it: `radius=0.5`.
header = "def get_highest_point(points):"
result = "highest"                         # what the value is called, or its parts: "left, right"
family = "numpy"                           # the group it is reported in; any word
# How the problem goes beyond the examples of the prompts, and why:
#   systematicity       known parts, in a new combination
#   productivity        longer, or deeper, than any example
#   substitutivity      other words for the same
#   localism            a known part in the service of something else
#   overgeneralisation  functions of a library that no example uses
generalisation = "localism"
reason = "an extreme by distance is shown; here it is by height"
# A definition, or a lambda: reference = "lambda points: max(points, key=lambda point: point[1])"
reference = """
def get_highest_point(points):
    points = np.asarray(points)
    return points[np.argmax(points[:, 1])]
"""
# [arguments] or [arguments, result], each as in Python, or a table: { arguments = "...",
# result = "...", scene = "...", tolerance = {} }; results worked out by hand test the reference,
# and a tolerance of its own is how far off that result may be.
cases = [
    ["[[0, 0], [1, 2], [5, 1]]", "[1, 2]"],
    ["np.array([[3.0, -1.0]])"],
]
# Optional. Makes one more input from a numpy generator that is seeded for the trial.
random = """
def arguments(rng):
    return [some_points(rng)]
"""
random_cases = 10                          # optional; that many of those
# Optional: how far off a number may be, `abs` plus `rel` times what is expected; for geometry `abs`
# in metres. These are used where none is stated, and two integers must then be equal.
tolerance = { abs = 1e-6, rel = 1e-6 }

# None, or four or more wrong solutions that the cases must tell from a right one.
[[problem.mutants]]
what = "the lowest"
source = "def get_highest_point(points): return min(points, key=lambda point: point[1])"
[[problem.mutants]]
what = "the farthest to the right"
source = "def get_highest_point(points): return max(points, key=lambda point: point[0])"
[[problem.mutants]]
what = "the first"
source = "def get_highest_point(points): return points[0]"
[[problem.mutants]]
what = "its height alone"
source = "def get_highest_point(points): return np.max(np.asarray(points)[:, 1])"
'''
