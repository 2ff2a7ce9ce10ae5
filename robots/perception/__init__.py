"""Seeing: camera frames become named objects in the robot's frame.

A `Camera` gives frames (colour and depth); a `Detector` names what is in one. Both are protocols:
a simulated and a real camera, a colour segmentation and a trained detector are interchangeable.
"""

from robots.perception.frames import Camera, Detection, Detector, Frame

__all__ = ["Camera", "Detection", "Detector", "Frame"]
