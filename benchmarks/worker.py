"""A process that runs trials, one at a time: a line in, a line out.

`python -m benchmarks.worker` reads `{"trial": ..., "settings": ...}` and answers with the outcome.
If it dies, that costs one trial.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from benchmarks.suites import Outcome, Settings, Trial, suite
from cap.errors import CapError
from cap.trace import plain


def run_trial(trial: Trial, settings: Settings) -> Outcome:
    """Run one trial; what is wrong with the settings is an outcome as well."""
    try:
        return suite(settings.suite, settings.options).run(trial, settings)
    except CapError as error:
        return broken(f"{type(error).__name__}: {error}")


def broken(why: str) -> Outcome:
    """Return the outcome of a trial that nobody could carry out."""
    return Outcome(False, "infrastructure", "", "", why, 0, 0, 0, 0, None, 0.0, {})


def main() -> None:
    """Serve until standard input ends; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        outcome = run_trial(Trial(**request["trial"]), Settings(**request["settings"]))
        answers.write(json.dumps(plain(asdict(outcome))) + "\n")
        answers.flush()
    os._exit(0)  # no exit hook of a library can hold it back


if __name__ == "__main__":
    main()
