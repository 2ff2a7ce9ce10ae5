"""`make record` and `make record-check`: write down what the product does, or compare with it."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Sequence

from tests.record import record
from tests.record.parts import PARTS


def main() -> int:
    """Run the parts, then write or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.add_argument("action", choices=["write", "check", "list"])
    parser.add_argument("parts", nargs="*", metavar="PART", help="only these; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--shuffle", type=int, metavar="SEED", help="try the cases in another order"
    )
    given = parser.parse_args()
    if unknown := sorted({*given.parts} - {*PARTS}):
        parser.error(f"no part {', '.join(unknown)}; parts: {', '.join(PARTS)}")
    chosen = [PARTS[name] for name in given.parts or PARTS]
    if given.action == "list":
        print("\n".join(part.name for part in chosen))
        return 0
    start_s = time.monotonic()
    found = record.run([part.name for part in chosen], given.jobs, given.shuffle)
    changed, remarks = record.changes(chosen, found)
    cases = sum(len(part.seen) for part in found.values())
    print(f"{cases} cases of {len(chosen)} parts in {time.monotonic() - start_s:.0f} s")
    for remark in dict.fromkeys(remarks):
        print(f"note: {remark}")
    for change in changed:
        mark = "" if change.kind in record.COMPARED else " (shown, not compared)"
        for line in change.lines:
            print(f"{change.part}: {change.kind}{mark}: {change.key}: {line}")
    compared = [change for change in changed if change.kind in record.COMPARED]
    if given.action == "write":
        return write(chosen, found, compared)
    if compared:
        print(f"{len(compared)} values changed; see CONTRIBUTING, 'The record of behaviour'")
    else:
        print("as recorded")
    return 1 if compared else 0


def write(
    chosen: Sequence[record.Part],
    found: dict[str, record.Found],
    changed: Sequence[record.Change],
) -> int:
    """Write what was found, if CHANGES has a reason for all that was recorded otherwise."""
    text = record.CHANGES.read_text(encoding="utf-8")
    given = record.reasons(text)
    used: Counter[str] = Counter()
    lacking: Counter[str] = Counter()
    for change in changed:
        line = record.accepted(change, given)
        if line is not None:
            used[line] += 1
        elif not change.new:
            lacking[change.part] += 1
    if lacking:
        counted = ", ".join(f"{part} ({count})" for part, count in sorted(lacking.items()))
        print(f"nothing written: {record.CHANGES} gives no reason for changes in {counted}")
        return 1
    for part in chosen:
        for kind in record.KINDS:
            path = record.path_of(part, kind)
            kept = {
                key: value
                for key, value in record.read(path).items()
                if key in found[part.name].skipped
            }
            record.write(path, {**kept, **found[part.name].values(kind)})
    for line, count in used.items():
        text = text.replace(line, f"{line.rstrip()} {record.ALL}{count}]")
    record.CHANGES.write_text(text, encoding="utf-8")
    print(f"written: {record.DATA}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
