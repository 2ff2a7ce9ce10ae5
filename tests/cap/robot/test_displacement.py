from cap.robot.observation import MOVED_M, moved


def test_only_what_went_further_than_settling_moved() -> None:
    before = {"settled": (0.0, 0.0, 0.0), "pushed": (0.0, 0.0, 0.0), "gone": (1.0, 1.0, 1.0)}
    after = {"settled": (MOVED_M, 0.0, 0.0), "pushed": (0.0, 0.0, 0.02), "new": (0.0, 0.0, 0.0)}
    assert moved(before, after) == {"pushed": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.02))}
