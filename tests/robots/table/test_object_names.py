import pytest

from cap.errors import NotFound, UsageError
from robots.ravens import create
from robots.table.object_names import find


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (["red blok"], "Did you mean 'red block'"),
        (["white block"], "colours: blue, red"),
        (["red block", "the red_block"], "given twice"),
    ],
)
def test_bad_object_lists_are_refused(objects: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create(mode="instant", objects=objects)


def test_unknown_name_lists_the_nearest() -> None:
    with pytest.raises(NotFound, match="Did you mean 'red block'"):
        find("red blocks", ["red block", "blue bowl"])


@pytest.mark.parametrize(
    "text", ["red block", "Red Block", "the red block", "a red block", "red_block"]
)
def test_names_are_matched_leniently(text: str) -> None:
    assert find(text, ["red block"]) == "red block"
