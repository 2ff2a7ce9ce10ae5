"""What programs find at level `process`, where no kernel layer holds: listed names only."""

from __future__ import annotations

import builtins
import importlib
import math
import types
from typing import Any

from cap.checker.policy import PROCESS


def modules() -> dict[str, types.ModuleType]:
    """Return a view of each listed module: a new module with the listed names."""
    views = {"math": _view(math, dir(math))}
    for name, listed in PROCESS["modules"].items():
        views[name] = _view(importlib.import_module(name), listed.split())
    for name, view in views.items():
        top, _, last = name.rpartition(".")
        if top in views:
            setattr(views[top], last, view)
    return views


def _view(module: types.ModuleType, names: list[str]) -> types.ModuleType:
    view = types.ModuleType(module.__name__)
    vars(view).update({name: getattr(module, name) for name in names if hasattr(module, name)})
    return view


def safe_builtins() -> dict[str, Any]:
    """Return the listed builtins, with what Python itself calls for a class statement."""
    listed = [*PROCESS["builtins"].split(), "__build_class__"]
    return {name: getattr(builtins, name) for name in listed}
