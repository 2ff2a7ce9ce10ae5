"""An import of what is in scope already is taken out, and only such a one; lines stay put."""

import ast

import pytest

from cap.checker.checker import examine
from cap.program.program import Program
from cap.program.scope import Primitive, Scope
from tests.rows import table


def say(text: str) -> None:
    pass


SCOPE = Scope(primitives={"say": Primitive.of(say, "action")}, groups={"robot": ("say",)})
REMOVED = table(__file__, "REMOVED")


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
