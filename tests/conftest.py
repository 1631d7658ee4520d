"""What every test starts from: its own home and no settings, and a say in missing tools."""

from __future__ import annotations

import os
import shutil

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "needs(*tools): runs where these programs are on PATH; elsewhere it is skipped, which "
        "fails with TWOLANE_CI=1",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    tools = [tool for mark in item.iter_markers("needs") for tool in mark.args]
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if not missing:
        return
    reason = f"{', '.join(missing)} not on PATH"
    if os.environ.get("TWOLANE_CI") == "1":
        pytest.fail(f"{reason}, and CI must not leave a test out", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test reads or writes the person's own archive, configuration or socket."""
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    for name in list(os.environ):
        if name.startswith("TWOLANE_") and name != "TWOLANE_CI":
            monkeypatch.delenv(name)
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
        "VOYAGE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
