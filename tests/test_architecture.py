"""What a tool can check of the architecture: layers, sizes, the diagram of the phases."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from controller.table.machine import diagram

ROOT = Path(__file__).parents[1]
PACKAGES = ("controller", "drivers", "vision", "calibration")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MAX_MODULE = 420
MAX_FUNCTION = 62


@pytest.mark.timeout(120)
def test_the_layers_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_modules_and_functions_are_small() -> None:
    long = []
    for path in MODULES:
        text = path.read_text()
        if text.count("\n") > MAX_MODULE:
            long.append(f"{path}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION:
                    long.append(f"{path}:{node.lineno} {node.name}: {length} lines")
    assert long == []


def test_every_package_says_what_it_is_for() -> None:
    silent = [str(path) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_the_diagram_in_the_docs_is_the_machine() -> None:
    assert f"```mermaid\n{diagram()}```" in (ROOT / "docs" / "phases.md").read_text(), (
        "docs/phases.md is not what controller.table.machine.diagram() prints"
    )
