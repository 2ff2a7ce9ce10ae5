#!/usr/bin/env bash
# An evaluator runs a suite, is killed, resumes, and compares two models. The second stands in for a
# language model: it is right in half of its answers, and asked again after one that failed. For a
# real one say -m openai/NAME, with its key.
set -euo pipefail
suite() {
    cap bench run tabletop --split SA-SI --tasks pick-and-place,nth-block -n 6 --mode instant \
        --jobs 2 --quiet "$@"
}
suite -m nearest --out nearest &
run=$!
until [ -s nearest/trials.jsonl ] || ! kill -0 "$run" 2>/dev/null; do sleep 0.05; done
kill -KILL "$run" 2>/dev/null && echo "killed"
wait "$run" || true
suite -m nearest --out nearest --resume                 # goes on with what was written down
suite -m noisy-oracle:0.5 --out other
cap bench report nearest
cap bench compare nearest other                         # trials both have, McNemar's p
