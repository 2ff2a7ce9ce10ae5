"""From free words to the steps there are."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cap.errors import MissingExtra, UsageError
from cap.planners import zero_shot
from cap.planners.zero_shot import Embedding, LetterPieces, edit_distance, plain, translator
from tests.rows import rows, table

STEPS = ["walk to the kitchen", "switch on the light", "grab the cup", "put the cup in the sink"]


DISTANCES = table(__file__, "edit distances")
MEANT = table(__file__, "translations")


@rows(("first", "second", "expected"), DISTANCES.values(), DISTANCES)
def test_letters_are_put_in_taken_out_or_changed(first: str, second: str, expected: int) -> None:
    assert edit_distance(first, second) == edit_distance(second, first) == expected


@rows(("kind", "said", "meant"), MEANT.values(), MEANT)
def test_the_nearest_step_is_the_one_that_is_meant(kind: str, said: str, meant: int) -> None:
    number, likeness = translator(kind, STEPS, {"turn on": "switch on"}).nearest(said)
    assert number == meant
    assert 0.3 < likeness <= 1 + 1e-9


def test_the_same_words_are_fully_alike_and_strange_ones_not_at_all() -> None:
    found = LetterPieces(STEPS)
    assert found.nearest("grab the cup") == (2, pytest.approx(1))
    assert found.nearest("ÿÿÿ") == (0, 0.0)


def test_usual_words_stand_in_place_of_others() -> None:
    assert plain("Turn ON a Tv!", {"turn on": "switch on", "tv": "television"}) == (
        "switch on television"
    )


def test_embeddings_are_compared_by_cosine() -> None:
    def encode(texts: Sequence[str]) -> np.ndarray:
        rows = np.array([[float("cup" in t), float("light" in t), 0.1] for t in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    assert Embedding(STEPS, encode).nearest("a lamp or light")[0] == 1


def test_what_is_no_translator_or_not_installed_has_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UsageError, match="use one of: tfidf, edit"):
        translator("magic", STEPS, {})
    for said in ("tfidf:x", "embedding:"):
        with pytest.raises(UsageError, match="takes a model, such as embedding:FOLDER"):
            translator(said, STEPS, {})
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="embed"):
        zero_shot.sentence_encoder("x")


SMALL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "walk", "to", "the", "kitchen", "switch",
         "on", "light", "grab", "cup", "put", "in", "sink", "a", "into", "turn")  # fmt: skip


def small_encoder(folder: Path) -> str:
    """Make a sentence-transformers model of random weights, with these words."""
    pytest.importorskip("torch", reason="torch is not installed (extra embed)")
    name = "sentence_transformers"
    library = pytest.importorskip(name, reason="sentence-transformers is not installed (embed)")
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    words, inner = folder / "vocab.txt", folder / "bert"
    words.write_text("\n".join(SMALL))
    config = transformers.BertConfig(
        vocab_size=len(SMALL), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(inner)
    tokenizer = transformers.BertTokenizer(vocab={w: n for n, w in enumerate(SMALL)})
    tokenizer.save_pretrained(inner)
    parts = importlib.import_module("sentence_transformers.models")
    bert = parts.Transformer(str(inner))
    pooling = parts.Pooling(16)
    library.SentenceTransformer(modules=[bert, pooling], device="cpu").save(str(folder / "small"))
    return str(folder / "small")


@pytest.mark.filterwarnings("default")
def test_a_real_encoder_of_random_weights_finds_the_same_words(tmp_path: Path) -> None:
    name = small_encoder(tmp_path)
    found = translator(f"embedding:{name}", STEPS, {})
    for number, step in enumerate(STEPS):
        nearest, likeness = found.nearest(step)
        assert nearest == number
        assert likeness == pytest.approx(1, abs=1e-4)
    assert found.nearest("grab a cup")[0] in (2, 3)
    with pytest.raises(UsageError, match=r"no encoder .*nowhere.*folder"):
        translator(f"embedding:{tmp_path / 'nowhere'}", STEPS, {})
