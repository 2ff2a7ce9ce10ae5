#!/usr/bin/env bash
# A student, after `make demo` and `. .venv/bin/activate`: five commands, no key.
set -euo pipefail
cap robots show ravens                                                     # what the robot can do
cap run "put the red block in the blue bowl" "undo that" --mode instant --out first   # say it
cap trace show first                                                       # what happened, step by step
echo "put_first_on_second('green block', 'top left corner')" > mine.py     # the program written by hand
cap check mine.py                                                          # what the check says of it
cap exec mine.py --mode instant                                            # run it the same way
