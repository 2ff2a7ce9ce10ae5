"""Names that are meant to be others."""

import pytest

from cap.checker.undefined import near_miss

KNOWN = ["get_obj_pos", "put_first_on_second", "say", "get_robot_pos", "goto_loc"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("get_obj_position", "get_obj_pos"),
        ("get_object_position", "get_obj_pos"),
        ("getObjPos", "get_obj_pos"),
        ("get_obj_poss", "get_obj_pos"),
        ("get_ojb_pos", "get_obj_pos"),
        ("put_first_on_secnd", "put_first_on_second"),
        ("goto_location", "goto_loc"),
        ("goto_lok", "goto_loc"),
    ],
)
def test_one_edit_or_the_same_words(name: str, meant: str) -> None:
    assert near_miss(name, KNOWN) == meant


@pytest.mark.parametrize(
    "name",
    [
        "get_obj_positions",
        "get_obj_pos_3d",
        "pay",
        "get_pos",
        "put_second_on_first",
        "sort_by_size",
    ],
)
def test_a_name_of_its_own(name: str) -> None:
    assert near_miss(name, KNOWN) is None
