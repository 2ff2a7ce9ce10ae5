"""What the tests of several simulated robots share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["instant", "physics"])
def mode(request: pytest.FixtureRequest) -> str:
    """Each mode of a simulated robot; physics where MuJoCo is installed."""
    if request.param == "physics":
        pytest.importorskip("mujoco")
    return str(request.param)
