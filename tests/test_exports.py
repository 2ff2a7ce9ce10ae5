"""What `from cap import ...` promises."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cap


def test_every_promised_name_is_there() -> None:
    for name in cap.__all__:
        assert getattr(cap, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cap.nothing


def test_check_is_the_function_whatever_was_imported_before() -> None:
    code = "import cap.session.session; from cap import check; assert check('x') == []"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_sandbox_checks_and_runs() -> None:
    with cap.Sandbox(cap.Scope(variables={"x": 2}), limits=cap.Limits(program_s=2)) as sandbox:
        assert sandbox.run("import numpy as np\ny = np.square(x)", returns="y").value == 4
        kinds = [sandbox.run(source).failure for source in ("x = (", "import os", "z", "1 / 0")]
    assert [failure and failure.kind for failure in kinds] == [
        "syntax",
        "violation",
        "undefined",
        "raised",
    ]
