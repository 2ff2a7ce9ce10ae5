"""What programs know as `logging`, and as `sys.stdout` and `sys.stderr`: all of it is printed.

A program has one output. What Python would send to its error stream stands in it in order.
A log's time is always the same: the machine's clock is not the robot's.
"""

from __future__ import annotations

import string
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cap.sandbox.worker.builtin_function import (
    BuiltinFunction,
    program_frame,
    program_print,
    shown_as,
    undirected,
)
from cap.sandbox.worker.templates import Formats

LEVELS: Mapping[str, int] = {
    "NOTSET": 0,
    "DEBUG": 10,
    "INFO": 20,
    "WARNING": 30,
    "ERROR": 40,
    "CRITICAL": 50,
}
_NAMES = {number: name for name, number in LEVELS.items()}
_FORMATS = {
    "%": "%(levelname)s:%(name)s:%(message)s",
    "{": "{levelname}:{name}:{message}",
    "$": "${levelname}:${name}:${message}",
}
"""By the sign of their style."""
_DATE = "%Y-%m-%d %H:%M:%S,000"
_settings: dict[str, str] = {}
"""What the program configured; a worker runs one program."""
_disabled: dict[str, int] = {"up to": 0}
_loggers: dict[str, Logger] = {}


class TextOutput:
    """Stands for `sys.stdout` and `sys.stderr`."""

    __slots__ = ("name",)
    name: str
    encoding = "utf-8"
    closed = False

    def __init__(self, name: str) -> None:
        """Make one of them."""
        object.__setattr__(self, "name", name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to become another."""
        raise AttributeError("'sys' is provided; keep yours in a name of your own")

    def write(self, text: str) -> int:
        """Print a text as it is."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        out = program_print()._function
        if self is STREAMS["stderr"]:  # whatever `print` is redirected to
            out = undirected(out)
        out(text, end="")
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Print texts as they are."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: what is printed is kept to the end."""

    def isatty(self) -> bool:
        """Say that nobody types here."""
        return False

    def __repr__(self) -> str:
        """Return what it stands for."""
        return f"<_io.TextIOWrapper name='{self.name}' mode='w' encoding='utf-8'>"


class Logger:
    """Stands for a logger."""

    __slots__ = ("level", "name", "propagate")

    def __init__(self, name: str) -> None:
        """Make one; its level is that of the one above it."""
        self.name = name
        self.level = LEVELS["WARNING"] if name == "root" else 0
        self.propagate: Any = True

    def setLevel(self, level: Any) -> None:  # noqa: N802 programs know it by this name
        """Say nothing below a level."""
        self.level = _number(level)

    def getEffectiveLevel(self) -> int:  # noqa: N802 programs know it by this name
        """Return its own level, or the first one above it."""
        if self.level or self.name == "root":
            return self.level
        return self._above().getEffectiveLevel()

    def _above(self) -> Logger:
        above = self.name.rpartition(".")[0]
        while above and above not in _loggers:
            above = above.rpartition(".")[0]
        return get_logger(above)

    def hasHandlers(self) -> bool:  # noqa: N802 programs know it by this name
        """Tell whether what the program configured lays out its messages."""
        if self.name == "root":
            return bool(_settings)
        return bool(self.propagate) and self._above().hasHandlers()

    def isEnabledFor(self, level: Any) -> bool:  # noqa: N802 programs know it by this name
        """Tell whether something of that level is said."""
        return max(_disabled["up to"] + 1, self.getEffectiveLevel()) <= _number(level)

    def getChild(self, name: str) -> Logger:  # noqa: N802 programs know it by this name
        """Return one below it."""
        return get_logger(name if self.name == "root" else f"{self.name}.{name}")

    def log(self, level: Any, message: Any, /, *args: Any, **_: Any) -> None:
        """Print a message of a level."""
        level = _number(level)
        configured = self.hasHandlers()
        if not self.isEnabledFor(level) or not (configured or level >= LEVELS["WARNING"]):
            return
        try:
            text = str(message)
            if args:
                one = len(args) == 1 and isinstance(args[0], dict) and args[0]
                text %= args[0] if one else args
            fields = {"levelno": level, "name": self.name, "message": text}
            line = _laid_out(fields) if configured else text
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # as in Python, which goes on
            line = f"--- Logging error ---\n{type(error).__name__}: {error}"
        _say(line)

    def debug(self, message: Any, /, *args: Any, **_: Any) -> None:
        """Print what helps to find a fault."""
        self.log(10, message, *args)

    def info(self, message: Any, /, *args: Any, **_: Any) -> None:
        """Print what happens."""
        self.log(20, message, *args)

    def warning(self, message: Any, /, *args: Any, **_: Any) -> None:
        """Print what may go wrong."""
        self.log(30, message, *args)

    warn = warning

    def error(self, message: Any, /, *args: Any, **_: Any) -> None:
        """Print what went wrong."""
        self.log(40, message, *args)

    def critical(self, message: Any, /, *args: Any, **_: Any) -> None:
        """Print what ends everything."""
        self.log(50, message, *args)

    def exception(self, message: Any, /, *args: Any, **_: Any) -> None:
        """Print what went wrong, with the exception that is being handled."""
        self.log(40, message, *args)
        error = sys.exc_info()[1]
        if self.isEnabledFor(40):
            _say(f"{type(error).__name__}: {error}")

    def __repr__(self) -> str:
        """Return what Python would show."""
        level = self.getEffectiveLevel()
        return f"<Logger {self.name} ({get_level_name(level)})>"


def _say(line: str) -> None:
    """Print what Python would send to its error stream, whatever `print` is redirected to."""
    undirected(program_print()._function)(line)


def _laid_out(fields: dict[str, Any]) -> str:
    """Return the line of a message, as the program configured it."""
    frame, date = program_frame(), _settings.get("datefmt") or _DATE
    fields |= {
        "levelname": get_level_name(fields["levelno"]),
        "asctime": time.strftime(date, time.gmtime(0)),
        **dict.fromkeys(("created", "msecs", "relativeCreated"), 0.0),
        **dict.fromkeys(("filename", "pathname", "module"), "<program>"),
        **{"lineno": frame.f_lineno, "funcName": frame.f_code.co_name},
        **{"process": 1, "processName": "MainProcess"},
        **{"thread": 1, "threadName": "MainThread", "taskName": None},
    }
    form, style = _settings.get("format", "%(message)s"), _settings.get("style", "%")
    try:
        if style == "%":
            return form % fields
        if style == "{":
            laid_out: str = Formats(form).format(**fields)
            return laid_out
        return string.Template(form).substitute(fields)
    except KeyError as error:
        raise ValueError(f"Formatting field not found in record: {error}") from None


def get_level_name(level: Any) -> Any:
    """Stand in for `logging.getLevelName`."""
    return _NAMES.get(level) or LEVELS.get(level, f"Level {level}")


def _number(level: Any) -> int:
    if type(level) is str and level in LEVELS:
        return LEVELS[level]
    if type(level) is int:
        return level
    raise ValueError(f"Unknown level: {level!r}")


def get_logger(name: str | None = None) -> Logger:
    """Stand in for `logging.getLogger`."""
    name = name or "root"
    if type(name) is not str:
        raise TypeError("A logger name must be a string")
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def disable(level: Any = LEVELS["CRITICAL"]) -> None:
    """Stand in for `logging.disable`."""
    _disabled["up to"] = _number(level)


def basic_config(
    *,
    level: Any = None,
    format: Any = None,
    datefmt: Any = None,
    style: Any = "%",
    force: Any = False,
    **_: Any,
) -> None:
    """Stand in for `logging.basicConfig`: the first counts; where it is printed is fixed."""
    if _settings and not force:
        return
    if type(style) is not str or style not in _FORMATS:
        raise ValueError(f"Style must be one of: {','.join(_FORMATS)}")
    form, date = _FORMATS[style] if format is None else format, datefmt or ""
    if type(form) is not str or type(date) is not str:
        raise TypeError("format and datefmt are texts")
    if level is not None:
        get_logger().setLevel(level)
    _settings.update(format=form, datefmt=date, style=style)


def _of_root(name: str) -> BuiltinFunction:
    """Return a function of the module: that of the root logger, which is configured by it."""

    def call(*args: Any, **named: Any) -> None:
        basic_config()
        method: Callable[..., None] = getattr(get_logger(), name)
        method(*args, **named)

    return BuiltinFunction(name, call)


for _kind, _module, _shown in (
    (Logger, "logging", "Logger"),
    (TextOutput, "_io", "TextIOWrapper"),
    (get_logger, "logging", "getLogger"),
    (basic_config, "logging", "basicConfig"),
    (get_level_name, "logging", "getLevelName"),
    (disable, "logging", "disable"),
):
    shown_as(_kind, _module, _shown)
STREAMS: Mapping[str, Any] = {name: TextOutput(f"<{name}>") for name in ("stdout", "stderr")}
LOGGING: Mapping[str, Any] = {
    **LEVELS,
    "basicConfig": BuiltinFunction("basicConfig", basic_config),
    "disable": BuiltinFunction("disable", disable),
    "root": get_logger(),
    "getLevelName": BuiltinFunction("getLevelName", get_level_name),
    "getLogger": BuiltinFunction("getLogger", get_logger),
    **{
        name: _of_root(name)
        for name in (
            *("critical", "debug", "error", "exception", "info", "log", "warn", "warning"),
        )
    },
}
"""Everything of `logging` that programs may use."""
