"""The script itself: how it makes its environment, and what it says when it cannot."""

from __future__ import annotations

import base64
import importlib.machinery
import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def desk() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("desk", str(ROOT / "desk"))
    spec = importlib.util.spec_from_loader("desk", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Steps:
    """An environment whose steps are noted instead of run; `python` is there afterwards."""

    def __init__(self, desk: ModuleType, folder: Path) -> None:
        self.venv = desk.Venv(folder / "venv")
        self.packages = folder / "venv" / "lib" / "python3.11" / "site-packages"
        self.commands: list[list[str]] = []
        self.venv._run = self.run
        self.venv.pip_config = lambda: ""

    def run(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.commands.append(command)
        if "venv" in command:
            self.venv.python.parent.mkdir(parents=True)
            self.venv.python.symlink_to(sys.executable)
        if "sync" in command:
            for name in ("django", "django-5.2.dist-info", "celery"):
                (self.packages / name).mkdir(parents=True, exist_ok=True)

    def words(self) -> str:
        return "\n".join(" ".join(command) for command in self.commands)


@pytest.fixture
def steps(desk: ModuleType, tmp_path: Path) -> Steps:
    return Steps(desk, tmp_path)


def test_first_run_makes_the_environment_from_the_lock_file(steps: Steps) -> None:
    steps.venv.prepare("requirements.lock")

    words = steps.words()
    assert "-m venv" in words
    assert f"install --quiet --require-hashes -r {ROOT}/requirements-uv.lock" in words
    assert f"--require-hashes {ROOT}/requirements.lock" in words


def test_second_run_does_nothing(steps: Steps) -> None:
    steps.venv.prepare("requirements.lock")
    steps.commands.clear()

    steps.venv.prepare("requirements.lock")

    assert steps.commands == []


def test_a_changed_lock_file_is_installed_into_the_same_environment(
    steps: Steps, desk: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-uv.lock"):
        (tmp_path / name).write_text("one\n")
    monkeypatch.setattr(desk, "ROOT", tmp_path)
    steps.venv.prepare("requirements.lock")
    steps.commands.clear()
    (tmp_path / "requirements.lock").write_text("two\n")
    monkeypatch.setattr(steps.venv, "_works", lambda: True)

    steps.venv.prepare("requirements.lock")

    assert "-m venv" not in steps.words()
    assert "pip sync" in steps.words()


def test_an_environment_for_tests_serves_the_product_and_stays_one(
    steps: Steps, desk: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-uv.lock"):
        (tmp_path / name).write_text("one\n")
    monkeypatch.setattr(desk, "ROOT", tmp_path)
    steps.venv.prepare("requirements-dev.lock")
    steps.commands.clear()

    steps.venv.prepare("requirements.lock")
    assert steps.commands == []

    (tmp_path / "requirements.lock").write_text("two\n")
    steps.venv.prepare("requirements.lock")
    assert f"{tmp_path}/requirements-dev.lock" in steps.words()


def test_a_half_made_environment_is_made_again(steps: Steps) -> None:
    python = steps.venv.python
    python.parent.mkdir(parents=True)
    python.write_text("not a program")
    python.chmod(0o755)

    steps.venv.prepare("requirements.lock")

    assert "-m venv" in steps.words()
    assert python.is_symlink()


def test_an_environment_whose_python_went_away_is_made_again(steps: Steps) -> None:
    steps.venv.prepare("requirements.lock")
    steps.commands.clear()
    steps.venv.python.unlink()
    steps.venv.python.symlink_to("/nowhere/python3.11")

    steps.venv.prepare("requirements.lock")

    assert "-m venv" in steps.words()


def test_an_environment_that_lost_a_package_is_made_again(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its metadata stays, by which uv would leave it as it is."""
    monkeypatch.setattr(steps.venv, "_works", steps.venv.python.exists)
    steps.venv.prepare("requirements.lock")
    steps.commands.clear()
    shutil.rmtree(steps.packages / "django")

    steps.venv.prepare("requirements.lock")

    assert "-m venv" in steps.words()
    assert "django is missing from" in capsys.readouterr().err
    assert (steps.packages / "django").is_dir()
    steps.commands.clear()
    steps.venv.prepare("requirements.lock")
    assert steps.commands == []


def test_what_was_added_to_an_environment_stays(steps: Steps) -> None:
    steps.venv.prepare("requirements.lock")
    steps.commands.clear()
    (steps.packages / "ipython").mkdir()

    steps.venv.prepare("requirements.lock")

    assert steps.commands == []


def test_removing_a_broken_environment_is_taken_up_again(
    steps: Steps, desk: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in between, it must not count as whole."""
    monkeypatch.setattr(steps.venv, "_works", steps.venv.python.exists)
    steps.venv.prepare("requirements.lock")
    shutil.rmtree(steps.packages / "celery")
    with monkeypatch.context() as within:

        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        within.setattr(desk.shutil, "rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            steps.venv.prepare("requirements.lock")
    steps.commands.clear()

    steps.venv.prepare("requirements.lock")

    assert "-m venv" in steps.words()
    assert (steps.packages / "celery").is_dir()


def test_an_install_that_fails_leaves_no_stamp(steps: Steps, desk: ModuleType) -> None:
    def fail(command: list[str], environment: dict[str, str] | None = None) -> None:
        if "sync" in command:
            raise desk.Trouble("no registry")
        steps.run(command)

    steps.venv._run = fail

    with pytest.raises(desk.Trouble):
        steps.venv.prepare("requirements.lock")

    assert not steps.venv.has("requirements.lock")


def test_a_missing_ensurepip_names_the_package(
    steps: Steps, desk: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.importlib.util, "find_spec", lambda name: None)

    version = "{}.{}".format(*sys.version_info)
    with pytest.raises(desk.Trouble, match=f"apt-get install python{version}-venv"):
        steps.venv.prepare("requirements.lock")


def test_without_a_registry_it_says_what_to_do(desk: ModuleType, tmp_path: Path) -> None:
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": ""}
    code = (
        "import runpy; from pathlib import Path; "
        f"desk = runpy.run_path({str(ROOT / 'desk')!r}, run_name='desk')\n"
        f"try: desk['Venv'](Path({str(tmp_path / 'venv')!r})).prepare('requirements.lock')\n"
        "except desk['Trouble'] as trouble: print(trouble)"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "could not be fetched" in answer.stdout
    assert "PIP_INDEX_URL=" in answer.stdout
    assert "install.log" in answer.stdout


@pytest.mark.parametrize(
    ("output", "says"),
    [
        pytest.param("error: No space left on device", "the disk is full", id="full disk"),
        pytest.param(
            "THESE PACKAGES DO NOT MATCH THE HASHES: hashes mismatch", "was refused", id="hash"
        ),
        pytest.param("Permission denied (os error 13)", "cannot be written", id="no permission"),
        pytest.param("connection refused", "package registry", id="no network"),
    ],
)
def test_a_failed_install_is_explained(
    desk: ModuleType, tmp_path: Path, output: str, says: str
) -> None:
    assert says in desk.explain(output, tmp_path / "install.log")


def test_registries_of_pip_are_passed_on(desk: ModuleType) -> None:
    config = "\n".join(
        [
            ":env:.index-url='https://from.environment/simple'",
            "global.cert='/etc/ssl/own.crt'",
            "global.extra-index-url='https://b.example/simple\\nhttps://c.example/simple'",
            "global.find-links='/wheels /more'",
            "global.index-url='https://from.global/simple'",
            "install.index-url='https://from.install/simple'",
            "install.trusted-host='b.example'",
            "freeze.timeout='10'",
        ]
    )

    settings = desk.uv_settings(config)

    assert settings["UV_DEFAULT_INDEX"] == "https://from.environment/simple"
    assert settings["UV_INDEX"].split() == ["https://b.example/simple", "https://c.example/simple"]
    assert settings["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert settings["UV_FIND_LINKS"] == "/wheels,/more"
    assert settings["UV_INSECURE_HOST"] == "b.example"
    assert settings["SSL_CERT_FILE"] == "/etc/ssl/own.crt"
    assert "UV_HTTP_TIMEOUT" not in settings


def test_a_section_for_installing_wins_over_the_global_one(desk: ModuleType) -> None:
    config = "install.index-url='https://i.example'\nglobal.index-url='https://g.example'"

    assert desk.uv_settings(config)["UV_DEFAULT_INDEX"] == "https://i.example"


def test_nothing_set_changes_nothing(desk: ModuleType) -> None:
    assert set(desk.uv_settings("")) <= {"UV_CACHE_DIR"}


def test_an_old_python_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))

    with pytest.raises(SystemExit, match="needs Python 3"):
        runpy.run_path(str(ROOT / "desk"), run_name="desk")


def test_alone_it_lists_every_command(desk: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk.main([]) == 0

    printed = capsys.readouterr().out
    for name in (*desk.COMMANDS, *desk.OWN):
        assert f"./desk {name}" in printed


@pytest.mark.parametrize("name", ["up", "check", "mask", "backup", "restore"])
def test_the_list_names_every_option(desk: ModuleType, tmp_path: Path, name: str) -> None:
    command = desk.command_line(desk.Venv(tmp_path), name, ["--help"])
    answer = subprocess.run(
        [sys.executable, *command[1:]],
        env=desk.own_environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    options = set(re.findall(r"(?<![\w-])--[a-z]+", answer.stdout)) - {"--help"}
    assert set(re.findall(r"--[a-z]+", desk.COMMANDS[name][2])) == options


def test_every_command_leads_somewhere(desk: ModuleType) -> None:
    from django.core.management import get_commands

    for _, target, _, _ in desk.COMMANDS.values():
        words = target.split()
        if words[:1] == ["-m"]:
            assert importlib.util.find_spec(words[1]), target
        elif words:
            assert words[0] in get_commands(), target


def test_an_unknown_command_is_refused(
    desk: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.main(["upp"]) == 2

    assert "no command upp" in capsys.readouterr().err


def test_a_new_key_is_32_bytes(desk: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    desk.main(["key"])
    first = capsys.readouterr().out.strip()
    desk.main(["key"])

    assert len(base64.urlsafe_b64decode(first + "=")) == 32
    assert capsys.readouterr().out.strip() != first


def test_the_folder_one_stands_in_shadows_no_module(desk: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    command = desk.command_line(desk.Venv(tmp_path), "mask", ["--help"])

    answer = subprocess.run(
        [sys.executable, *command[1:]],
        cwd=tmp_path,
        env=desk.own_environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert "shadowed" not in answer.stderr
