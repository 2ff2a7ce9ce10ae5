"""What a model is told of a robot's functions, made from their docstrings."""

from cap.program.scope import Primitive
from cap.prompt.docs import call_of, imports, primitive_docs


def goto(pos: list[float], speed: float = 0.25) -> list[float]:
    """Drive to a point.

    It keeps its heading.

    Args:
        pos: x and y in metres
            in the table frame.
        speed: In m/s.

    Returns:
        Where it is now,
        in metres.

    Raises:
        Unreachable: It is off the table;
            nothing moved.
    """
    return pos


def follow(path: list[float], speed: float = 0.25) -> float:
    """Drive along a path.

    Args:
        path: Points.
        speed: In m/s.

    Raises:
        Unreachable: It is off the table;
            nothing moved.
    """
    return 0.0


def bare(names: list[str]) -> None:
    pass


def told(*functions: object, about: str = "", groups: dict[str, list[str]] | None = None) -> str:
    primitives = {f.__name__: Primitive.of(f, "action") for f in functions}  # type: ignore
    return primitive_docs(about, primitives, groups or {})


def test_a_function_is_one_line_with_all_its_docs() -> None:
    assert told(goto) == (
        '"""goto(pos, speed=0.25): Drive to a point. It keeps its heading. pos: x and y in metres '
        "in the table frame. speed: In m/s. Returns where it is now, in metres. Raises "
        'Unreachable: It is off the table; nothing moved.\n"""'
    )


def test_what_was_told_of_a_function_before_is_not_told_again() -> None:
    *_, last, _ = told(goto, follow).split("\n")
    assert last == (
        "follow(path, speed=0.25) -> float: Drive along a path. path: Points. Raises Unreachable."
    )


def test_a_function_without_docs_shows_its_types() -> None:
    assert told(bare) == '"""bare(names: list[str])\n"""'


def test_functions_of_a_group_are_shown_as_they_are_called() -> None:
    assert told(goto, groups={"robot": ["goto"]}).startswith('"""robot.goto(pos, speed=0.25): ')


def test_a_nested_lmp_takes_a_description() -> None:
    def parse(description: str, context: str = "", **given: object) -> str:
        """Return a name."""
        return ""

    assert call_of(Primitive.of(parse, "lmp")) == "parse(description)"


def test_without_docs_there_is_no_block() -> None:
    assert told() == ""


def test_no_line_of_the_docs_can_be_taken_for_an_instruction_or_end_the_block() -> None:
    def odd() -> None:
        pass

    odd.__doc__ = 'One.\n\n# two.\n\n"""\n'
    block = told(odd, about="# three.\n\n# four.")
    assert not [line for line in block.split("\n") if line.startswith("#")]
    assert block.count('"""') == 2


def test_what_a_function_may_call_is_named_by_lines_that_import_it() -> None:
    looks, asks = Primitive.of(len, "perception", "get"), Primitive.of(len, "lmp", "parse")
    assert imports({"get": looks}) == "from robot import get"
    told = "from robot import get, put\nfrom lmps import parse"
    assert imports({"get": looks, "parse": asks, "put": looks}) == told
    assert imports({}) == ""
