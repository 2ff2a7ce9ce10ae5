"""A scripted model: the answers to each question in order, the last again and again."""

from cap import Completion, Request

PUT = "put_first_on_second('red block', 'blue bowl')\n"
ANSWERS = {
    "# put the red block in the blue bowl.": [PUT],
    "# put it where it belongs.": ["put_first_on_second('red block', 'blue bow1')\n", PUT],
    "# put it there.": ["put_first_on_second('zebra', 'blue bowl')\n"],
    "# tidy up.": [
        PUT,
        "put_first_on_second('red block', 'yellow bowl')\n",
        PUT,
    ],
    "# sort the blocks.": [
        "for name in objects:\n"
        "    if is_block(name):\n"
        "        put_first_on_second(name, bowl_of(name))\n"
    ],
    "# answer.": ["ret_val = 6 * 7\nprint(ret_val)\n"],
    "# leave.": ["import os\nos.getcwd()\n"],
    "# say nothing.": [""],
}
FUNCTIONS = {
    "is_block": "def is_block(name):\n    return 'block' in name\n",
    "bowl_of": "def bowl_of(name):\n    return name.replace('block', 'bowl')\n",
}


class Scripted:
    name = "scripted"

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    def complete(self, request: Request) -> Completion:
        last = request.prompt.rstrip().rpartition("\n")[2]
        known = ANSWERS.get(last)
        if known is None:
            known = [source for name, source in FUNCTIONS.items() if f"{name}(" in last] or [
                "pass\n"
            ]
        number = self.asked[last] = self.asked.get(last, -1) + 1
        return Completion(known[min(number, len(known) - 1)], self.name, 10, 5, cost_usd=0.001)


def create() -> Scripted:
    return Scripted()
