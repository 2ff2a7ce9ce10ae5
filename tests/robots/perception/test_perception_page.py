"""What the page on perception shows is what the code reads."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

from robots.perception import SceneFile
from robots.perception.calibration.file import load
from robots.perception.calibration.pairs import load_pairs

PAGE = Path(__file__).parents[3] / "docs" / "perception.md"


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert found
    return [str(block) for block in found]


def test_the_files_shown_are_read() -> None:
    scene, camera, pairs = (Path(name) for name in ("scene.toml", "camera.toml", "pairs.toml"))
    for path, text in zip((scene, camera, pairs), blocks("toml"), strict=True):
        path.write_text(text, encoding="utf-8")
    assert [seen.name for seen in SceneFile(scene).observe()] == ["red block"]
    assert load(camera).serial == "832112070255"
    assert len(load_pairs(pairs).pairs) == 1


def test_the_programs_shown_name_only_what_exists() -> None:
    for name in re.findall(r"\]\((walks/\w+\.py)\)", PAGE.read_text(encoding="utf-8")):
        tree = ast.parse((PAGE.parent / name).read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert imports
        exec(compile(ast.Module(imports, []), str(PAGE), "exec"), {})
        named = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        bound = {node.id for node in named if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
        bound |= {alias.asname or alias.name for node in imports for alias in node.names}
        assert {node.id for node in named} <= bound
