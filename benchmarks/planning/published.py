"""The papers' own values beside our tables, in percent; other models, other robots, none is ours.

SayCan, tables 4 and 5: PaLM 540B and FLAN 137B on a real robot, plan and execution rates by family;
the language-based simulator by the number of examples. Inner Monologue, table 3: its kitchen.
Language Models as Zero-Shot Planners, table 1 and its ablation. SayCanPay, tables 3, 5, 6 and 11.
"""

from __future__ import annotations

from collections.abc import Mapping

SC4: Mapping[str, tuple[int, int, int, int]] = {
    "NL single": (100, 100, 67, 67),
    "NL nouns": (67, 47, 60, 53),
    "NL verbs": (100, 93, 80, 67),
    "Structured language": (93, 87, 100, 87),
    "Embodiment": (64, 55, 64, 55),
    "Crowd sourced": (87, 87, 73, 67),
    "Long horizon": (73, 47, 47, 33),
    "total": (84, 74, 70, 61),
}
"""Plan and execution with PaLM, then with FLAN."""
SC5: Mapping[int, tuple[int, int]] = {
    0: (10, 52),
    1: (64, 74),
    2: (68, 76),
    4: (82, 84),
    8: (80, 80),
    17: (88, 88),
}
"""By number of examples: the plan with its end, and without; its text says 54 for 52."""
NL1: Mapping[str, float] = {
    "zero-shot": 78.57,
    "- translation": 31.49,
    "- dynamic": 50.86,
    "- correction": 55.19,
    "vanilla": 18.07,
}
"""Executability, Codex 12B in VirtualHome. The paper's text at hand has only 79 and 18: these are
from records, and are labelled so. Its longest common subsequences could not be checked at all."""
SP3: Mapping[str, tuple[int, ...]] = {
    "hanoi test": (45, 48, 48, 50, 54, 68, 70),
    "blocks test": (30, 51, 52, 54, 52, 52, 56),
    "babyai test": (59, 62, 81, 88, 72, 94, 94),
    "household test": (0, 32, 49, 52, 48, 52, 53),
    "hanoi generalise": (32, 30, 18, 18, 27, 34, 34),
    "blocks generalise": (8, 30, 10, 6, 30, 10, 6),
    "babyai generalise": (0, 1, 4, 12, 9, 12, 10),
    "household generalise": (0, 10, 15, 15, 25, 25, 25),
}
"""Planning success with Vicuna 13B: Greedy-Token; Greedy-Action, then Beam-Action, each by say,
can and pay. Its household is VirtualHome; there generalising has 20 episodes. Its table of optimal
plans compares each with another episode's expert, and is left out."""
SP6: Mapping[str, tuple[int, int, int]] = {
    "hanoi test": (50, 66, 70),
    "blocks test": (54, 58, 56),
    "babyai test": (88, 90, 94),
    "household test": (52, 52, 53),
    "hanoi generalise": (18, 36, 34),
    "blocks generalise": (6, 2, 6),
    "babyai generalise": (12, 12, 10),
    "household generalise": (15, 20, 25),
}
"""With one, two and three beams; of generalising as well."""
SP11: Mapping[str, tuple[int, int, int, int]] = {
    "hanoi test": (48, 88, 50, 92),
    "blocks test": (52, 70, 54, 75),
    "babyai test": (81, 90, 88, 92),
    "household test": (49, 60, 52, 64),
}
"""Greedy SayCan with the language model and with Perfect Say, then SayCanPay with both."""
IM3: Mapping[str, tuple[float, float, float]] = {
    "manipulation calm": (50.0, 62.5, 75.0),
    "mobile manipulation calm": (50.0, 50.0, 75.0),
    "drawers calm": (83.3, 83.3, 100.0),
    "manipulation disturbed": (12.5, 25.0, 33.3),
    "mobile manipulation disturbed": (0.0, 25.0, 75.0),
    "drawers disturbed": (0.0, 44.4, 44.4),
    "total": (30.8, 48.7, 60.4),
}
"""SayCan, with success, with objects and success."""
