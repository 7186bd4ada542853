"""Certificates of a hub: made once, renewed in time, for its names, with keys of mode 0600."""

import ssl
import stat
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock
from gossamer.errors import UsageError
from gossamer.fleet.hub.secure.certificates import ServerFiles, own_files, server_context

DAY_US = 86_400 * 1_000_000
NOW_US = ManualClock().wall_us()


def test_certificates_are_kept_until_names_change_or_the_end_is_near(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    names = ("hub.example", "127.0.0.1", "::1")
    files = own_files(tmp_path, names, NOW_US)
    assert files.authority is not None
    authority, first = files.authority.read_bytes(), files.certificate.read_bytes()

    own_files(tmp_path, names, NOW_US + 300 * DAY_US)
    assert files.certificate.read_bytes() == first
    own_files(tmp_path, names, NOW_US + 370 * DAY_US)
    renewed = files.certificate.read_bytes()
    assert renewed != first
    own_files(tmp_path, ("other.example",), NOW_US + 370 * DAY_US)
    assert files.certificate.read_bytes() != renewed
    assert files.authority.read_bytes() == authority
    for key in (files.key, files.authority.with_suffix(".key")):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_damaged_certificate_is_made_again_and_a_given_one_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    files = own_files(tmp_path, ("localhost",), NOW_US)
    files.certificate.write_text("damaged")
    own_files(tmp_path, ("localhost",), NOW_US)
    assert isinstance(server_context(files, asks_clients=True), ssl.SSLContext)

    broken = ServerFiles(tmp_path / "none.pem", tmp_path / "none.key", None)
    with pytest.raises(UsageError, match="cannot use the certificate"):
        server_context(broken, asks_clients=False)
    public = ServerFiles(files.certificate, files.key, None)
    with pytest.raises(UsageError, match="own authority"):
        server_context(public, asks_clients=True)
