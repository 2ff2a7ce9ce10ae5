"""Who is to blame for a failure, and the exit code it gives."""

import pytest

from cap import errors
from cap.engine.repair import failure_of
from cap.errors import MissingExtra
from cap.result import Failure


@pytest.mark.parametrize("error", [errors.EndpointFailed, errors.ModelUnreachable])
def test_an_endpoint_that_fails_is_no_fault_of_the_model(error: type[Exception]) -> None:
    assert Failure("model", error.__name__, "").cause == "infrastructure"
    assert Failure("model", errors.EmptyCompletion.__name__, "").cause == "model"


def test_who_asks_for_what_is_not_there_is_the_program() -> None:
    for error in (errors.NotFound, errors.Unreachable):
        cause = Failure("raised", error.__name__, "", robot=True).cause
        assert cause == ("program" if error is errors.NotFound else "robot")


def test_what_a_person_has_to_install_is_their_own_mistake() -> None:
    error = MissingExtra("a SOCKS proxy needs the package socksio")
    assert failure_of(error).exit_code == error.exit_code == 2
