"""Run the notebooks and store them with what they show: `python -m tests.notebooks [NAME...]`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def executed(path: Path) -> Any:
    """Return a notebook with what it shows when it is run from a clean kernel."""
    with warnings.catch_warnings():
        # Of the kernel's own libraries; the notebook's code runs in another process.
        warnings.simplefilter("ignore")
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(path, as_version=4)
        resources = {"metadata": {"path": str(path.parent)}}
        client = NotebookClient(
            notebook, timeout=60, resources=resources, record_timing=False, coalesce_streams=True
        )
        client.execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/jpeg", None)  # the same picture as a PNG is there
    return notebook


def store(path: Path) -> None:
    """Run a notebook and write it back with its outputs."""
    import nbformat

    notebook = executed(path)
    notebook.metadata.pop("language_info", None)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")):
        print(name)
        store(NOTEBOOKS / f"{name}.ipynb")
