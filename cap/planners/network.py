"""Can and Pay as a small network (torch, extra `torch`), in place of the linear models.

Each word of a step's features has a vector; their sum goes through one hidden layer to two numbers:
whether the step can be done, and what it pays. Words get their rows by a checksum, weights come
from a seed, and one thread learns, so that the same rows give the same numbers.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from cap.planners.learned import LEAST, LabelledStep, PlanContext, TrainedScores, features

ROWS = 1 << 16
"""Vectors of words; those that share one are not told apart."""
SIZE = 32
"""Numbers of a vector, and of the hidden layer."""
EPOCHS = 12
BATCH = 64
RATE = 0.01
SEED = 0


def learned_by_network(
    rows: Sequence[LabelledStep], kept: Sequence[int], held: Sequence[int]
) -> TrainedScores:
    """Learn Can and Pay from the rows of some numbers, calibrated on others."""
    torch: Any = importlib.import_module("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _learned(torch, rows, kept, held)
    finally:
        torch.set_num_threads(threads)


def _learned(
    torch: Any, rows: Sequence[LabelledStep], kept: Sequence[int], held: Sequence[int]
) -> TrainedScores:
    words = [
        numbers
        for context, together in groupby(rows, key=lambda row: row.context)
        for numbers in _numbers(context, [row.step for row in together])
    ]
    can_labels = torch.tensor([float(row.can) for row in rows])
    scored = _trained(torch, words, can_labels, torch.tensor([row.pay for row in rows]), kept)
    notes: list[str] = []
    constant = _constant([rows[n].can for n in kept], notes)
    slope, shift, brier = 1.0, 0.0, None
    labels = can_labels[torch.tensor(held)] if held else torch.zeros(0)
    if constant is None and 0 < float(labels.sum()) < len(labels):
        with torch.no_grad():
            margins = scored([words[n] for n in held])[:, 0]
        slope, shift = _calibrated(torch, margins, labels)
        brier = float((((slope * margins + shift).sigmoid() - labels) ** 2).mean())
    elif constant is None:
        notes.append("too few trajectories to calibrate on")

    def can(context: PlanContext, steps: Sequence[str]) -> list[float]:
        if constant is not None or not steps:
            return [constant or LEAST] * len(steps)
        with torch.no_grad():
            chances = (slope * scored(_numbers(context, steps))[:, 0] + shift).sigmoid()
        return [max(LEAST, value) for value in chances.tolist()]

    def pay(context: PlanContext, steps: Sequence[str]) -> list[float]:
        if not steps:
            return []
        with torch.no_grad():
            found = scored(_numbers(context, steps))[:, 1].sigmoid()
        return [max(LEAST, value) for value in found.tolist()]

    return TrainedScores(can, pay, len(rows), brier, tuple(notes))


def _trained(
    torch: Any, words: Sequence[Sequence[int]], can: Any, pay: Any, kept: Sequence[int]
) -> Callable[[Sequence[Sequence[int]]], Any]:
    """Return the network that has learned the rows' labels: of steps' words, both numbers."""
    generator = torch.Generator().manual_seed(SEED)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        vectors = torch.nn.EmbeddingBag(ROWS, SIZE, mode="sum", sparse=True)
        torch.nn.init.normal_(vectors.weight, std=0.1)
        layers = torch.nn.Sequential(
            torch.nn.ReLU(), torch.nn.Linear(SIZE, SIZE), torch.nn.ReLU(), torch.nn.Linear(SIZE, 2)
        )
    ways = [torch.optim.SparseAdam(list(vectors.parameters()), lr=RATE),
            torch.optim.Adam(layers.parameters(), lr=RATE)]  # fmt: skip

    def scored(numbers: Sequence[Sequence[int]]) -> Any:
        starts, total = [], 0
        for each in numbers:
            starts.append(total)
            total += len(each)
        flat = torch.tensor([number for each in numbers for number in each])
        return layers(vectors(flat, torch.tensor(starts)))

    chosen = torch.tensor(kept)
    for _ in range(EPOCHS):
        order = chosen[torch.randperm(len(kept), generator=generator)]
        for batch in order.split(BATCH):
            found = scored([words[n] for n in batch.tolist()])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(found[:, 0], can[batch])
            loss = loss + 4 * torch.nn.functional.mse_loss(found[:, 1].sigmoid(), pay[batch])
            for way in ways:
                way.zero_grad()
            loss.backward()
            for way in ways:
                way.step()
    return scored


def _numbers(context: PlanContext, steps: Sequence[str]) -> list[list[int]]:
    """Return the rows of each step's words."""
    return [[zlib.crc32(word.encode()) % ROWS for word in words] for words in
            features(context, steps)]  # fmt: skip


def _constant(labels: Sequence[bool], notes: list[str]) -> float | None:
    """Return what Can always is where all labels are alike, with a note; None where they differ."""
    if len(set(labels)) > 1:
        return None
    notes.append(f"every step it learned from {'can' if labels[0] else 'cannot'} be done")
    return max(LEAST, float(labels[0]))


def _calibrated(torch: Any, margins: Any, labels: Any) -> tuple[float, float]:
    """Return the slope and the shift with which margins are probabilities of labels."""
    values = torch.tensor([1.0, 0.0], requires_grad=True)
    way = torch.optim.LBFGS([values], max_iter=50, line_search_fn="strong_wolfe")
    start = values.detach().clone()

    def loss() -> Any:
        way.zero_grad()
        found = torch.nn.functional.binary_cross_entropy_with_logits(
            values[0] * margins + values[1], labels
        )
        found = found + 1e-3 * ((values - start) ** 2).sum()  # where labels are parted, it ends
        found.backward()
        return found

    way.step(loss)
    slope, shift = values.detach().tolist()
    return slope, shift
