"""A process that runs trials, one at a time: a line in, a line out.

`python -m benchmarks.worker` reads the settings, then trials, and answers each with its outcome.
If it dies, that costs one trial.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, replace

import msgspec

from benchmarks.models import account_of
from benchmarks.results import UNPAID
from benchmarks.suite import Outcome, Settings, Trial, raised_at, suite
from cap.errors import stop_in
from cap.result import plain


def run_trial(trial: Trial, settings: Settings) -> Outcome:
    """Run one trial; what is wrong with the settings, or with the suite, is an outcome as well."""
    account = account_of(settings.options)
    if account is not None:
        account.refused = ""
    begun_s = time.perf_counter()
    try:
        outcome = suite(settings.suite, settings.options).run(trial, settings)
        outcome = replace(outcome, seconds=time.perf_counter() - begun_s)
    except BaseException as error:  # one trial's fault must not end the others, nor its sys.exit
        if (stop := stop_in(error)) is not None:
            raise stop from None
        outcome = broken(f"{type(error).__name__}: {error}{raised_at(error)}")
    if account is not None and account.refused:
        return replace(broken(account.refused), cause=UNPAID)
    return outcome


def broken(why: str) -> Outcome:
    """Return the outcome of a trial that nobody could carry out."""
    return Outcome(False, "infrastructure", "", "", why, 0, 0, 0, 0, None, 0.0, {})


def main() -> None:
    """Serve until standard input ends; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    lines = iter(sys.stdin)
    settings = msgspec.json.decode(next(lines, '{"suite": "", "model": ""}'), type=Settings)
    for line in lines:
        outcome = run_trial(msgspec.json.decode(line, type=Trial), settings)
        try:
            answers.write(json.dumps(plain(asdict(outcome))) + "\n")
            answers.flush()
        except BrokenPipeError:  # the caller was killed; it is run again on resuming
            break
    os._exit(0)  # no exit hook of a library can hold it back


if __name__ == "__main__":
    main()
