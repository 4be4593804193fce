"""The table of rules names tests that exist and flips that still fit, and the page is what it generates."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rule_table", ROOT / "tests" / "mutants" / "rule_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rule_table"] = module
    spec.loader.exec_module(module)
    return module


table = _load()
RULES = table.load()


@cache
def _functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def test_every_id_of_the_rules_is_in_the_table_once(shared: Path) -> None:
    text = (shared / "rules.md").read_text().partition("## A. ")[0]
    wanted = re.findall(r"^\| ((?:SHOE|BJS|BJ7|BAC|ERR|PAY)-S?\d+) \|", text, re.MULTILINE)
    assert [rule.id for rule in RULES] == wanted


def test_every_rule_says_what_guards_it_or_why_nothing_does() -> None:
    for rule in RULES:
        assert rule.status in table.STATUSES, rule.id
        assert rule.text, rule.id
        if rule.status == "enforced":
            assert rule.guards, f"{rule.id} has no guard"
            assert bool(rule.mutants) != bool(rule.why), f"{rule.id}: mutants, or why there are none"
        else:
            assert rule.why, f"{rule.id}: why is it {rule.status}?"
        assert rule.guards or not rule.mutants, rule.id


def test_every_guard_is_a_test() -> None:
    missing = []
    for rule in RULES:
        for guard in rule.guards:
            file, _, name = guard.partition("::")
            path = ROOT / file
            if not (name.startswith("test_") and path.is_file() and name in _functions(path)):
                missing.append(f"{rule.id}: {guard}")
    assert missing == []


def test_every_flip_fits_its_file_once() -> None:
    wrong = []
    for rule in RULES:
        assert len({(m.file, m.old, m.new) for m in rule.mutants}) == len(rule.mutants), rule.id
        for mutant in rule.mutants:
            text = (ROOT / mutant.file).read_text()
            if text.count(mutant.old) != 1:
                wrong.append(f"{mutant.name}: {text.count(mutant.old)} times in {mutant.file}: {mutant.old!r}")
                continue
            flipped = ast.parse(text.replace(mutant.old, mutant.new))
            if ast.dump(flipped) == ast.dump(ast.parse(text)):
                wrong.append(f"{mutant.name} changes nothing")
    assert wrong == []


def test_the_figures_are_of_these_mutants() -> None:
    run = table.figures()
    names = [mutant.name for rule in RULES for mutant in rule.mutants]
    assert run["mutants"] == len(names), "the table has changed: python tests/mutants/run.py --record"
    assert run["killed"] + len(run["survived"]) + len(run["broken"]) == len(names)
    assert {*run["survived"], *run["broken"], *run["timed_out"]} <= set(names)


def test_the_page_is_the_table() -> None:
    assert table.PAGE.read_text() == table.page(RULES, table.figures()), (
        "docs/rules.md is not what python tests/mutants/rule_table.py writes"
    )
