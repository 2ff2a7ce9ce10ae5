"""RoboCodeGen: functions a robot's programs need, to be written from their header alone.

The problems, in four TOML files, are this project's own, in the families of the paper's.
"""
