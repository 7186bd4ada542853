"""Join codes: what a person copies is read back, and a wrong one is refused."""

import pytest

from gossamer.errors import UsageError
from gossamer.fleet.join_code import JoinCode, pin_of, read_code

# A self-signed certificate, made once with openssl.
PEM = """-----BEGIN CERTIFICATE-----
MIIBbjCCARWgAwIBAgIUYm9vdHN0cmFwIGNlcnRpZmljYXRlMAoGCCqGSM49BAMC
-----END CERTIFICATE-----
"""


def test_a_code_is_read_back_from_what_a_person_copies() -> None:
    code = JoinCode(bytes(range(16)), pin_of(PEM))

    assert read_code(code.text()) == code
    assert read_code(code.text().lower().replace("-", "  ")) == code
    assert read_code(JoinCode(b"\xff" * 16).text()) == JoinCode(b"\xff" * 16)


def test_a_code_fits_the_authority_that_it_pins_and_no_other() -> None:
    code = JoinCode(bytes(16), pin_of(PEM))

    assert code.fits(PEM)
    assert not code.fits(PEM.replace("MIIB", "MIIC"))
    assert not code.fits("no certificate")
    assert not JoinCode(bytes(16)).fits(PEM)


@pytest.mark.parametrize("text", ["", "ABCD", "?" * 52, "A" * 51, "A" * 53])
def test_a_text_that_is_not_a_code_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(UsageError, match="gossamer hub invite"):
        read_code(text)
