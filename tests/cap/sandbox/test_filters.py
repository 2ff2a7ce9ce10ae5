"""The seccomp filters of both architectures and the Landlock rulesets, by their bytes."""

import struct

import pytest

from cap.sandbox.kernel import landlock
from cap.sandbox.kernel.seccomp import MACHINES, Machine, filter_for
from tests.rows import table

KILL, EPERM, ALLOW = 0x80000000, 0x00050001, 0x7FFF0000
PROT_EXEC = 4
FORBIDDEN = table(__file__, "forbidden calls")


def verdict(machine: Machine, audit: int, number: int, first: int = 0, third: int = 0) -> int:
    """Run a filter as the kernel does, over its description of one call."""
    call = struct.pack("=iIQ6Q", number - (number >> 31 << 32), audit, 0, first, 0, third, 0, 0, 0)
    steps = list(struct.iter_unpack("=HBBI", filter_for(machine)))
    loaded = at = 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", call, operand)
            continue
        holds = {
            0x15: loaded == operand,
            0x35: loaded >= operand,
            0x45: bool(loaded & operand),
        }[code]
        at += if_true if holds else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_what_reaches_out_is_refused(machine: str) -> None:
    entry = MACHINES[machine]
    for name, number in FORBIDDEN[machine].items():
        assert verdict(entry, entry.audit, number) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_is_given_unless_it_is_to_be_executed(machine: str) -> None:
    entry = MACHINES[machine]
    for name, number in entry.never_executable.items():
        assert verdict(entry, entry.audit, number, third=3) == ALLOW, name
        assert verdict(entry, entry.audit, number, third=3 | PROT_EXEC) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_a_worker_moves_itself_and_nobody_else(machine: str) -> None:
    entry = MACHINES[machine]
    for name, number in entry.own.items():
        assert verdict(entry, entry.audit, number, first=0) == ALLOW, name
        for other in (1, 0xFFFFFFFF):
            assert verdict(entry, entry.audit, number, first=other) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_listed_numbers_pass(machine: str) -> None:
    entry = MACHINES[machine]
    passed = {number for number in range(1024) if verdict(entry, entry.audit, number) == ALLOW}
    listed = (entry.allowed, entry.never_executable, entry.own)
    assert passed == {number for table in listed for number in table.values()}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("audit", [0x40000003, 0x40000028, 0xC000003E, 0xC00000B7, 0])
def test_another_architectures_call_kills(machine: str, audit: int) -> None:
    entry = MACHINES[machine]
    if audit != entry.audit:
        assert verdict(entry, audit, entry.allowed["read"]) == KILL


@pytest.mark.parametrize("number", [0x40000000, 0x40000001, 0x7FFFFFFF, 0xFFFFFFFF])
def test_the_second_table_of_x86_kills(number: int) -> None:
    entry = MACHINES["x86_64"]
    assert verdict(entry, entry.audit, number) == KILL


@pytest.mark.parametrize(
    ("version", "files", "network", "scoped", "size"),
    [
        (1, 13, 0, 0, 8),
        (2, 14, 0, 0, 8),
        (3, 15, 0, 0, 8),
        (4, 15, 3, 0, 16),
        (5, 16, 3, 0, 16),
        (6, 16, 3, 3, 24),
    ],
)
def test_landlock_handles_what_its_version_knows(
    version: int, files: int, network: int, scoped: int, size: int
) -> None:
    attributes, length = landlock.ruleset(version)
    assert attributes.files == (1 << files) - 1
    assert (attributes.network, attributes.scoped, length) == (network, scoped, size)
