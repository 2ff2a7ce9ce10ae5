"""What every UR controller has, whatever drives it: modes by number, dashboard, script port."""

from __future__ import annotations

import socket

from robots.tabletop.driver import Mode, Safety

SCRIPT_PORT = 30002
DASHBOARD_PORT = 29999

ROBOT_MODES: dict[int, Mode] = {
    -1: "disconnected",
    0: "disconnected",
    3: "power_off",
    4: "idle",
    5: "idle",
    7: "running",
}
"""Robot modes; 1, 2, 6, 8 (confirm safety, booting, backdrive, update) are `unknown`."""

SAFETY_MODES: dict[int, Safety] = {
    1: "normal",
    2: "reduced",
    3: "protective_stop",
    4: "fault",
    5: "safeguard_stop",
    6: "emergency_stop",
    7: "emergency_stop",
    8: "fault",
    9: "fault",
    12: "safeguard_stop",
    13: "safeguard_stop",
}
"""Safety modes; recovery (4) and violation (8) are faults, for they bar motion until repaired."""


def ask_dashboard(host: str, question: str, *, timeout_s: float = 0.5) -> str | None:
    """Ask the dashboard one thing; None where there is none, or it does not answer in time."""
    try:
        with socket.create_connection((host, DASHBOARD_PORT), timeout_s) as talk:
            talk.settimeout(timeout_s)
            with talk.makefile("rw", encoding="utf-8", newline="\n") as lines:
                lines.readline()
                lines.write(f"{question}\n")
                lines.flush()
                return lines.readline().strip() or None
    except OSError:
        return None


def remote_control(host: str) -> bool | None:
    """Return whether remote control is on; None where the software does not know the question."""
    answer = ask_dashboard(host, "is in remote control")
    return {"true": True, "false": False}.get((answer or "").lower())


def brake(host: str, *, timeout_s: float = 0.5) -> None:
    """Brake by a connection of its own: for when the one in use is gone and the arm may move.

    Raises:
        OSError: The controller does not listen.
    """
    with socket.create_connection((host, SCRIPT_PORT), timeout_s) as once:
        once.settimeout(timeout_s)
        once.sendall(b"stopl(1.5)\n")
        # A connection closed with its states unread may lose what was sent.
        once.recv(4096)
