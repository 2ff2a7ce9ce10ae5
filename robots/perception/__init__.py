"""Seeing: camera frames become named objects in the robot's frame.

A `Camera` gives frames (colour and depth) and a `Detector` names what is in one; both are
protocols. `see(camera, detector)` looks once; `listed(path)` reads what a file lists instead.

Cameras: `RayCamera` in a simulation, `RealSenseCamera` on hardware (extra `realsense`), on a
stand or in the hand; `hand_eye` says where such a camera is. Detectors: `ColorDepthDetector` for
blocks and bowls of known colours and sizes, `OpenVocabularyDetector` for anything with a name
(extra `detect`); `choose_detector` makes the one that was asked for.
"""

from robots.perception.camera import Camera, Detection, Detector, Frame
from robots.perception.looking import choose_detector, listed, see

__all__ = [
    "Camera",
    "Detection",
    "Detector",
    "Frame",
    "choose_detector",
    "listed",
    "see",
]
