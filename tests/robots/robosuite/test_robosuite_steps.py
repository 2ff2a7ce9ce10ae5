"""Calls step by step, in robosuite's environments: the rows of `steps.jsonl`."""

import pytest

from tests.robots.steps import test_each_step_does_what_is_written

pytest.importorskip("robosuite", reason="the extra robosuite has an environment of its own")
pytestmark = pytest.mark.timeout(600)

__all__ = ["test_each_step_does_what_is_written"]
