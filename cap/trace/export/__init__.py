"""A run as something to look at or to share: a page, a zip, a video, a dataset."""

FORMATS = ("html", "md", "zip", "gif", "mp4", "rrd", "lerobot")
