"""The trained detector's loading and what becomes of its boxes; its weights here are random."""

from __future__ import annotations

import json
import string
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.errors import MissingExtra, UsageError
from robots.perception import Frame
from robots.perception.open_vocabulary import Box, OpenVocabularyDetector
from robots.ravens import create

NAMES = ["red block", "blue bowl"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A detector of the OWL-ViT kind, a few thousand random weights, in a folder."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    made = tmp_path_factory.mktemp("detector")
    letters = string.ascii_lowercase
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (made / "vocab.json").write_text(json.dumps({word: k for k, word in enumerate(words)}))
    (made / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(
        str(made / "vocab.json"), str(made / "merges.txt"), model_max_length=16
    )
    images = transformers.models.owlvit.OwlViTImageProcessorPil(
        size={"height": 64, "width": 64}, crop_size={"height": 64, "width": 64}
    )
    size = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    ends = {"bos_token_id": len(words) - 2, "eos_token_id": len(words) - 1, "pad_token_id": 0}
    torch.manual_seed(0)
    config = transformers.OwlViTConfig(
        text_config={**size, **ends, "vocab_size": len(words), "max_position_embeddings": 16},
        vision_config={**size, "image_size": 64, "patch_size": 16},
        projection_dim=16,
    )
    transformers.OwlViTForObjectDetection(config).save_pretrained(made)
    transformers.OwlViTProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(made)
    return made


def table(size: int = 48) -> Frame:
    """A camera 1 m above the middle of a table, over a block 40 mm high."""
    depth = np.ones((size, size))
    depth[20:28, 30:38] = 0.96
    focal = float(size)
    matrix = np.array([[focal, 0, size / 2], [0, focal, size / 2], [0, 0, 1.0]])
    pose = np.array([[1.0, 0, 0, 0], [0, -1, 0, -0.5], [0, 0, -1, 1], [0, 0, 0, 1]])
    return Frame(np.zeros((size, size, 3), dtype=np.uint8), depth, matrix, pose)


def test_a_detector_in_a_folder_loads_and_sees_each_name_asked_for_once(folder: Path) -> None:
    detector = OpenVocabularyDetector(NAMES, folder, threshold=0.0)
    boxes = detector.boxes(table())
    assert boxes
    assert {box.name for box in boxes} <= set(NAMES)
    assert all(0 <= box.score <= 1 for box in boxes)
    names = [one.name for one in detector.detect(table())]
    assert len(names) == len(set(names))
    assert OpenVocabularyDetector(NAMES, folder, threshold=1.0).detect(table()) == ()


def test_a_box_becomes_a_place_in_the_robots_frame_unless_it_shows_only_the_table(
    folder: Path, monkeypatch: Any
) -> None:
    detector = OpenVocabularyDetector(NAMES, folder)
    bare, outside = (0, 0, 9, 9), (-30, -30, -5, -5)
    boxes = [
        Box("red block", 0.4, bare),
        Box("red block", 0.9, (29.2, 19.5, 39, 29)),
        Box("blue bowl", 0.8, outside),
    ]
    monkeypatch.setattr(detector, "boxes", lambda frame: boxes)
    (seen,) = detector.detect(table())
    # The block spans pixels 30 to 38 and 20 to 28 of a lens of 48 pixels, 0.96 m away.
    assert seen.position == pytest.approx((0.2, -0.5, 0.02), abs=0.002)
    assert seen.pixels == 64
    assert seen.size_m == pytest.approx((0.14, 0.14, 0.04), abs=0.001)
    boxes = [Box("red block", 0.9, bare), Box("blue bowl", 0.8, outside)]
    assert detector.detect(table()) == ()


def test_the_robot_sees_through_it(folder: Path) -> None:
    pytest.importorskip("mujoco")
    robot = create(perception="camera", detector=str(folder))
    assert set(robot.get_obj_names()) <= set(robot.positions())
    robot.close()


def test_a_folder_that_holds_no_detector_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="cannot load the detector"):
        OpenVocabularyDetector(NAMES, tmp_path)


def test_no_names_is_an_error() -> None:
    with pytest.raises(UsageError, match="no names"):
        OpenVocabularyDetector([], "anything")


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match="detect"):
        OpenVocabularyDetector(NAMES, "anything")
