"""`python -m cap`: the same as the `cap` command."""

from cap.cli import main

main()
