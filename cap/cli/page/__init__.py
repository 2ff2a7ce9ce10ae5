"""The live page: a session in a browser, with the robot in three dimensions."""
