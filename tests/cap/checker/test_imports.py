"""An import of what is in scope already is taken out, and only such a one; lines stay put."""

import ast

import pytest

from cap.checker.checker import examine
from cap.program.program import Program
from cap.program.scope import Primitive, Scope


def say(text: str) -> None:
    pass


SCOPE = Scope(primitives={"say": Primitive.of(say, "action")}, groups={"robot": ("say",)})
REMOVED = {
    "alias": ("import numpy as np\nx = 1", "\nx = 1"),
    "plain": ("import math\nx = 1", "\nx = 1"),
    "several": ("import math, numpy as np\nx = 1", "\nx = 1"),
    "from": ("from shapely.geometry import Point, Polygon\nx = 1", "\nx = 1"),
    "a primitive, from anywhere": ("from robot import say\nsay('a')", "\nsay('a')"),
    "a group": ("import robot\nrobot.say('a')", "\nrobot.say('a')"),
    "parentheses": ("from typing import (\n    List,\n    Dict,\n)\nx = 1", "\n\n\n\nx = 1"),
    "backslash": ("from typing import List, \\\n    Dict\nx = 1", "\n\nx = 1"),
    "between semicolons": ("x = 1; import math; y = 2", "x = 1; pass; y = 2"),
    "two on a line": ("import math; import numpy\nx = 1", "pass; pass\nx = 1"),
    "in a block": ("if True:\n    import math\nx = 1", "if True:\n    pass\nx = 1"),
    "on the block's line": ("if True: import math", "if True: pass"),
    "after unicode": ("é = '红'; import math; y = 2", "é = '红'; pass; y = 2"),
    "before a comment": ("import math  # for pi\nx = 1", "pass  # for pi\nx = 1"),
    "CRLF": ("import math\r\nx = 1\r\n", "\nx = 1\n"),
    "last line": ("x = 1\nimport math", "x = 1\n"),
    "submodule": ("import numpy.linalg\nx = 1", "\nx = 1"),
}


@pytest.mark.parametrize(("source", "expected"), REMOVED.values(), ids=REMOVED)
def test_an_import_of_what_is_in_scope_is_removed(source: str, expected: str) -> None:
    examined = examine(Program.parse(source), SCOPE)
    assert examined.program.source == expected
    assert examined.program.notes[-1].startswith("removed, already in scope: ")
    assert examined.violations == ()


REFUSED = (
    "import os",
    "import math, os",
    "from os import path",
    "import os as np",
    "from os import path as np",
    "from math import sqrt as say",
    "import numpy as robot",
    "from numpy import *",
    "from numpy import say",
    "from robot import say as tell",
    "from robot import other as say",
    "import os as robot",
    "from shapely import wkb as Point",
)


@pytest.mark.parametrize("source", REFUSED)
def test_an_import_of_another_thing_is_refused_whatever_its_name(source: str) -> None:
    program = Program.parse(source)
    examined = examine(program, SCOPE)
    assert examined.program is program
    assert {violation.rule for violation in examined.violations} & {"CAP102", "CAP106"}


MEANT = (
    "from math import *",
    "from math import sqrt",
    "import numpy.linalg as la",
    "from math import sqrt as root",
    "import numpy as number",
    "from numpy import sum",
    "from numpy import max, min",
    "from shapely import box as rectangle",
)


@pytest.mark.parametrize("source", MEANT)
def test_an_import_that_binds_another_name_stays_and_means_what_it_says(source: str) -> None:
    program = Program.parse(source)
    examined = examine(program, SCOPE)
    assert (examined.program, examined.violations) == (program, ())


@pytest.mark.parametrize("source", ["x = 'import math'", "# import math\nx = 1"])
def test_words_are_no_import(source: str) -> None:
    program = Program.parse(source)
    assert examine(program, SCOPE).program is program


def test_every_other_statement_keeps_its_line() -> None:
    source = "import numpy as np\nfrom typing import (\n    List,\n)\n\nx = 1\ny = open('a')\n"
    (violation,) = examine(Program.parse(source)).violations
    assert (violation.rule, violation.line) == ("CAP105", 7)
    assert ast.parse(source).body[-1].lineno == 7
