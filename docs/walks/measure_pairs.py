"""Write pairs.toml: poses of the arm's TCP, and the marker that the camera sees at each."""

from pathlib import Path

import numpy as np

from robots.arm.rotations import pose_of_tcp
from robots.perception.hand_eye import Pair, Pairs, find_marker, pairs_text
from robots.perception.realsense import RealSenseCamera
from robots.tabletop import arm_driver

driver = arm_driver("ur_rtde", "192.168.0.10")
driver.connect()
camera, pairs = RealSenseCamera(lambda: np.eye(4)), []
while input("move the arm, let it rest, then Enter; q ends: ") != "q":
    marker = find_marker(camera.capture(), (220, 40, 200))
    pairs.append(Pair(pose_of_tcp(driver.tcp_pose()), marker))
Path("pairs.toml").write_text(pairs_text(Pairs("hand", tuple(pairs))))
