"""The wheel and the source distribution, built once and looked into."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.architecture.rooms import CLIENT, DAEMON, ROOT

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both distributions; the wheel is built from the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (file,) = built.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that has the wheel, and else only what it depends on.

    The dependencies are those of the running environment, so that no network is needed; the
    wheel's own code comes first, and the checkout is not on the path.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index",
        "--quiet", wheel, cwd=folder)  # fmt: skip
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    pth = Path(site.strip()) / "dependencies.pth"
    pth.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


def expected(package: Path, under: str) -> set[str]:
    return {
        f"{under}/{file.relative_to(package)}"
        for suffix in ("*.py", "*.pyi", "py.typed")
        for file in package.rglob(suffix)
    }


def test_the_wheel_holds_both_packages(wheel: Path) -> None:
    """Client, daemon, generated code and type markers are all in the one wheel."""
    names = set(zipfile.ZipFile(wheel).namelist())

    assert set() == (expected(CLIENT, "twolane") | expected(DAEMON, "twolaned")) - names
    assert {"twolane/py.typed", "twolaned/py.typed"} <= names


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    """No tests, samples or benchmarks are installed beside the packages."""
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert {"twolane", "twolaned"} == {top for top in tops if not top.endswith(".dist-info")}


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_the_wheel_holds_the_units(wheel: Path, kind: str) -> None:
    """Service units that the repository has are installed, where `twolane service` finds them."""
    units = {
        f"twolane/_units/{kind}/{file.relative_to(ROOT / kind)}"
        for file in (ROOT / kind).rglob("*")
        if file.is_file()
    }

    assert units <= set(zipfile.ZipFile(wheel).namelist())


def test_the_source_distribution_holds_what_builds_it(built: Path) -> None:
    """The source distribution carries the API's files, the licence and the documents."""
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "pyproject.toml",
        "proto/twolane/v1/search_service.proto",
    } <= names


@pytest.mark.parametrize("program", ["twolane", "twolaned"])
def test_the_installed_programs_start(installed: Path, tmp_path: Path, program: str) -> None:
    """Both entry points run from the installed wheel, with no checkout about."""
    assert "usage" in run(installed / program, "--help", cwd=tmp_path).lower()


def test_the_installed_code_is_the_wheels(installed: Path, tmp_path: Path) -> None:
    """The environment under test does not fall back to the checkout."""
    code = "import twolane.v1, twolaned; print(twolane.v1.__file__, twolaned.__file__)"
    client, daemon = run(installed / "python", "-c", code, cwd=tmp_path).split()

    assert str(installed.parent) in client
    assert str(installed.parent) in daemon
