"""Robots from a file: `robot.py` with a `create` function, its prompts in the folder beside it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from cap.errors import CapError, UsageError, stop_in


def is_file(name: str) -> bool:
    """Tell whether a robot's name is a path."""
    return name.endswith(".py")


def path_of(name: str) -> Path | None:
    """Return the absolute path of a robot's file; None of a registered robot."""
    return Path(name).expanduser().resolve() if is_file(name) else None


def within(name: str, file: str) -> str:
    """Return a sentence that points to a file in a folder of that name, if it is there; else ""."""
    path = Path(name) / file
    return f" That is a folder; for what is in it, say {path}." if path.is_file() else ""


def load_module(path: Path) -> ModuleType:
    """Execute a Python file as a module of its own name; the same one within a process.

    Raises:
        UsageError: There is no such file, or it does not import.
    """
    path = path.resolve()
    name = f"cap_file_{path.stem}_{abs(hash(str(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise UsageError(f"no file {path}; `cap robots new NAME` writes a robot to begin with")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except CapError:
        del sys.modules[name]
        raise
    except BaseException as error:  # a person's file may fail in any way, also by leaving
        del sys.modules[name]
        if (stop := stop_in(error)) is not None:
            raise stop from None
        raise UsageError(f"{path} does not load: {type(error).__name__}: {error}") from None
    return module


def factory(path: Path) -> Callable[..., Any]:
    """Return the `create` function of a robot's file.

    Raises:
        UsageError: It does not load, or has none.
    """
    found = getattr(load_module(path), "create", None)
    if not callable(found):
        raise UsageError(f"{path} has no function 'create'; it makes the robot")
    made: Callable[..., Any] = found
    return made


def prompts_of(path: Path) -> Path:
    """Return the folder of a robot file's prompts."""
    return path.resolve().parent / "prompts"
