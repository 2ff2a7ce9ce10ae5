"""What the tests of several simulated robots share."""

from __future__ import annotations

import pytest

from tests.robots import steps


@pytest.fixture(params=["instant", "physics"])
def mode(request: pytest.FixtureRequest) -> str:
    """Each mode of a simulated robot; physics where MuJoCo is installed."""
    if request.param == "physics":
        pytest.importorskip("mujoco")
    return str(request.param)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test of steps its rows."""
    if metafunc.function.__module__ == steps.__name__:
        steps.generate(metafunc)
