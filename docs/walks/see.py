"""Print what the colour detector sees by a RealSense camera in the arm's hand."""

from robots.perception import choose_detector, see
from robots.perception.hand_eye import load
from robots.perception.realsense import RealSenseCamera
from robots.ravens.observation import SHAPES
from robots.table.object_names import ALL_NAMES
from robots.tabletop import arm_driver

driver = arm_driver("ur_rtde", "192.168.0.10")  # whose hand holds the camera
driver.connect()
place = load("camera.toml")  # docs/perception.md
camera = RealSenseCamera(place.pose_source(driver.tcp_pose), serial=place.serial)
for seen in see(camera, choose_detector("color", SHAPES, ALL_NAMES)):
    print(seen.name, seen.position)  # metres, in the robot's frame
camera.close()
