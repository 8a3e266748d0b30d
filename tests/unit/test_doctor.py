"""`footfall doctor`: what is here, what is missing, and what is broken."""

import json
import os

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from footfall.cli import doctor
from footfall.cli.main import app


def diagnosed(*arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    result = CliRunner().invoke(app, ["doctor", "--json", *arguments])
    return result.exit_code, {finding["name"]: finding for finding in json.loads(result.stdout)}


def test_says_what_is_here_and_that_a_run_can_go():
    status, found = diagnosed()
    assert status == 0 and not [f for f in found.values() if f["state"] == "broken"]
    assert found["jax"]["state"] == found["C++"]["state"] == found["plots"]["state"] == "ok"
    assert "right numbers" in found["a kernel"]["found"]
    assert set(doctor.EXTRAS) <= set(found)


def test_table_wraps_and_ends_with_a_sentence():
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert result.stdout.strip().endswith("Everything that a run needs is here.")


@pytest.mark.parametrize(
    ("needed", "found"),
    [("numpy<2.0", "not <2.0"), ("no-such-package>=1", "missing")],
)
def test_a_package_that_is_missing_or_too_old_is_broken_and_named(monkeypatch, needed, found):
    known = doctor._requirements

    def requirements(extra: str) -> list[Requirement]:
        return known(extra) if extra else [Requirement(needed)]

    monkeypatch.setattr(doctor, "_requirements", requirements)
    status, findings = diagnosed()
    broken = findings[Requirement(needed).name]
    assert status == 1 and broken["state"] == "broken"
    assert found in broken["found"] and f'pip install "{needed}"' == broken["advice"]


def test_every_optional_package_of_the_distribution_is_of_a_group_with_a_purpose():
    names = {
        requirement.name for extra in doctor.EXTRAS for requirement in doctor._requirements(extra)
    }
    everything = {requirement.name for requirement in doctor._requirements("all")}
    assert everything == names
    assert not names & {requirement.name for requirement in doctor._requirements("")}


def test_without_a_compiler_it_says_what_is_slow(monkeypatch):
    monkeypatch.setenv("FOOTFALL_CXX", "none")
    status, found = diagnosed()
    assert status == 0 and found["C++"]["state"] == "without" and "a kernel" not in found
    assert "slower" in found["C++"]["advice"]


@pytest.mark.skipif(os.name != "posix", reason="a path below a file")
def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOOTFALL_CACHE", str(tmp_path / "file" / "cache"))
    status, found = diagnosed()
    assert status == 0 and found["kept programs"]["state"] == "without"
    assert "FOOTFALL_CACHE" in found["kept programs"]["advice"]
