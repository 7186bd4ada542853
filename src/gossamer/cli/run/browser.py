"""Open a page in a browser.

Only for a user at this machine: a terminal, a display, no ssh, no CI. A text browser would take
over the terminal, so it is used only if `BROWSER` names it.
"""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Mapping
from typing import Final

_REMOTE: Final = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def has_screen(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether the user can see a window of this machine."""
    if environment.get("CI") or any(environment.get(name) for name in _REMOTE):
        return False
    needs_display = platform not in ("win32", "darwin")
    is_named = bool(environment.get("BROWSER"))
    return is_named or not needs_display or any(environment.get(name) for name in _DISPLAYS)


def open_page(url: str, environment: Mapping[str, str]) -> bool:
    """Open a page in the background; return False if there is no browser."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if type(browser) is webbrowser.GenericBrowser and not environment.get("BROWSER"):
        return False
    threading.Thread(target=browser.open, args=(url,), daemon=True, name="browser").start()
    return True
