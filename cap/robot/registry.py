"""Finding robots and prompts: entry points, package data and files, never the current folder.

A robot's file is a `robot.py` with a `create` function; its prompts are in the folder beside it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from cap.checker.library_arguments import require
from cap.errors import CapError, PromptError, RobotError, UsageError, did_you_mean, stop_in
from cap.prompt import prompt as prompts
from cap.prompt import released
from cap.prompt.prompt import Prompt
from cap.robot.protocol import BringUp, Robot

ROBOT_GROUP = "cap.robots"
EVERY_ROBOT = ("seed", "mode", "objects")
"""Options that every robot's factory takes."""
_KINDS: Mapping[str, Any] = {"seed": int, "objects": Sequence[str] | None}
METHODS = ("primitives", "context", "positions", "stop", "close")
"""What every robot can do."""
_ROOT = Path(__file__).resolve().parents[1]


def registered_factory(entry: EntryPoint) -> Callable[..., Robot]:
    """Import a registered robot's factory.

    Raises:
        UsageError: It does not import, or another package of the same name hides it.
    """
    module = entry.module.split(".")[0]
    if (hidden := shadowed(module)) is not None:
        raise UsageError(f"package '{module}' is hidden by {hidden}; rename it or move away")
    try:
        loaded: Callable[..., Robot] = entry.load()
    except CapError:
        raise
    except Exception as error:  # a plug-in may fail in any way
        reason = _in_words(error)
        raise UsageError(f"robot '{entry.name}' ({entry.value}) does not load: {reason}") from None
    return loaded


def shadowed(module: str) -> str | None:
    """Return the path that hides one of this distribution's own packages, or None."""
    if module not in ("robots", "benchmarks"):
        return None
    if (spec := importlib.util.find_spec(module)) is None:
        return None
    origin = spec.origin or next(iter(spec.submodule_search_locations or ()))
    found, ours = Path(origin).resolve(), _ROOT.parent / module
    return None if ours in (found, found.parent) else origin


@cache
def robots() -> dict[str, EntryPoint]:
    """Return every registered robot by name, sorted; looked up once, which takes a while."""
    return dict(sorted((entry.name, entry) for entry in entry_points(group=ROBOT_GROUP)))


def make_robot(name: str, **options: Any) -> Robot:
    """Build a robot by its registered name, or from a file with a `create` function.

    Raises:
        UsageError: Unknown robot, an option it does not take, or what is made is no robot.
        RobotError: It could not be made.
    """
    for option, kind in _KINDS.items():
        if option in options:
            require(option, options[option], kind)
    factory: Callable[..., Robot]
    if is_file(name):
        factory = factory_in(Path(name))
    else:
        known = robots()
        if name not in known:
            listed = ", ".join(known) or "none; is the package installed?"
            hint = within(name, "robot.py") or did_you_mean(name, known)
            raise UsageError(f"unknown robot '{name}'.{hint} Known: {listed}")
        factory = registered_factory(known[name])
    _check_options(name, factory, options)
    try:
        robot = factory(**options)
    except CapError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"robot '{name}': create() failed: {_in_words(error)}") from None
    except Exception as error:  # a person's file, and a machine, may fail in any way
        raise RobotError(f"robot '{name}': create() failed: {_in_words(error)}") from None
    lacking = [f"attribute '{one}'" for one in ("name", "simulated") if not hasattr(robot, one)]
    lacking += [f"method '{one}'" for one in METHODS if not callable(getattr(robot, one, None))]
    if lacking:
        raise UsageError(f"robot '{name}' has no {', no '.join(lacking)}; see cap.robot.protocol")
    return robot


def bring_up(name: str, options: Mapping[str, Any]) -> BringUp:
    """Return the checklist of a real robot, not connected: its module's `bring_up`.

    Raises:
        UsageError: Unknown robot, it has none, or an option it does not take.
    """
    entry = robots().get(name)
    made = getattr(importlib.import_module(entry.module), "bring_up", None) if entry else None
    if made is None:
        raise UsageError(
            f"robot '{name}' has no bring-up: leave -R out, or name one that has, such as tabletop"
        )
    _check_options(name, made, options)
    checklist: BringUp = made(**options)
    return checklist


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def own_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that are a robot's own.

    Raises:
        UsageError: One is of every robot, and is said in another way, or they have no names.
    """
    require("robot_options", given, Mapping[str, Any])
    if others := [name for name in EVERY_ROBOT if name in given]:
        raise UsageError(
            f"{others[0]!r} is no option of the robot's own; say it with --{others[0]}, in a "
            f"batch file or in Python with the session's own {others[0]!r}"
        )
    return dict(given)


def takes(name: str, option: str) -> bool:
    """Return whether a registered robot has an option of its own of that name."""
    entry = robots().get(name)
    return entry is not None and option in inspect.signature(registered_factory(entry)).parameters


def _check_options(name: str, factory: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse options a factory does not take, before it connects to anything.

    Raises:
        UsageError: There is one.
    """
    parameters = inspect.signature(factory).parameters.values()
    if any(entry.kind is entry.VAR_KEYWORD for entry in parameters):
        return
    taken = [entry.name for entry in parameters]
    for option in options:
        if option not in taken:
            own = [known for known in taken if known not in EVERY_ROBOT]
            hint = did_you_mean(option, own) or f" It takes: {', '.join(own) or 'none'}."
            if option in EVERY_ROBOT:
                hint = f" Every robot's create() takes {', '.join(EVERY_ROBOT)}."
            raise UsageError(f"robot '{name}' has no option {option!r}.{hint}")


def prompts_path() -> Path:
    """Return the folder of shipped prompts, in a wheel or in a checkout."""
    for folder in (_ROOT / "_prompts", _ROOT.parent / "prompts"):
        if folder.is_dir():
            return folder
    raise PromptError("the shipped prompts are missing; reinstall code-as-policies")


def load_prompts(folder: Path, robot: str = "") -> Mapping[str, Prompt]:
    """Load the prompt files of a folder, by the names of their LMPs.

    Args:
        folder: Where they are.
        robot: Whose they are to be, in a folder that has those of several (`cap.prompt.released`).

    Raises:
        PromptError: No such folder, no prompts in it, or one that cannot be used.
    """
    if not folder.is_dir():
        raise PromptError(
            f"no prompt folder at {folder}; make it (`cap robots new NAME` shows one), or use a "
            "shipped one by its name: --prompts ravens, or PROMPTS = 'ravens' in the robot's file"
        )
    files = released.files(folder)
    if not files:
        kinds = ", ".join(f"*{kind}" for kind in released.SUFFIXES)
        raise PromptError(f"no prompt files ({kinds}) in {folder}")
    serving = released.served(files, robot)
    return {name: replace(prompts.load(files[stem]), name=name) for name, stem in serving.items()}


def robot_prompts(robot: str, folder: Path | None = None) -> Mapping[str, Prompt]:
    """Load a robot's prompts: from `folder`, those beside its file, or those shipped for it.

    Those shipped are in a folder of its name, or of the name its module says in `PROMPTS`; a folder
    that is not there may be the name of a shipped one.
    """
    if folder is None and is_file(robot):
        folder = prompts_of(Path(robot))
        if not folder.is_dir():
            named = getattr(load_module(Path(robot)), "PROMPTS", None)
            folder = folder if named is None else prompts_path() / str(named)
    if folder is not None and not folder.is_dir() and len(folder.parts) == 1:
        shipped = prompts_path() / folder
        folder = shipped if shipped.is_dir() else folder
    if folder is None:
        folder = prompts_path() / robot
        if not folder.is_dir() and (entry := robots().get(robot)) is not None:
            module = importlib.import_module(entry.module)
            folder = prompts_path() / str(getattr(module, "PROMPTS", robot))
    return load_prompts(folder, robot)


def function_prompt() -> Prompt:
    """Load the prompt that asks for one function."""
    return prompts.load(prompts_path() / "functions" / "define.py")


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


def factory_in(path: Path) -> Callable[..., Any]:
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
