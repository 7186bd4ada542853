"""Memory that nobody uses goes back."""

import subprocess
import sys

import pytest

# Blocks too small to be mapped one by one, and the last of them kept: the top is not free.
FREE_AND_TELL = """
import ctypes, platform
from gossamer.base.garbage import give_back

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [libc.malloc(60_000) for _ in range(2_000)]
for block in blocks:
    ctypes.memset(block, 1, 60_000)
for block in blocks[:-1]:
    libc.free(block)
before = resident()
give_back()
print(platform.libc_ver()[0], before - resident())
"""


def test_what_c_code_has_freed_is_given_back() -> None:
    told = subprocess.run(
        [sys.executable, "-c", FREE_AND_TELL], capture_output=True, text=True, check=True
    )

    library, freed = told.stdout.split() if " " in told.stdout.strip() else ("", told.stdout)
    assert library != "glibc" or int(freed) > 100_000_000


# After a large block was freed, the library would take the next ones from among the small.
LARGE_AMONG_SMALL = """
import ctypes, platform, sys
from gossamer.base.garbage import allocate_large_separately

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

if sys.argv[1] == "apart":
    allocate_large_separately()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
libc.free(libc.malloc(20_000_000))
large, small = [], []
for _ in range(10):
    large.append(libc.malloc(4_000_000))
    small.append(libc.malloc(100_000))
    ctypes.memset(large[-1], 1, 4_000_000)
before = resident()
for block in large:
    libc.free(block)
print(platform.libc_ver()[0], before - resident())
"""


@pytest.mark.parametrize("is_apart", [True, False])
def test_what_is_large_leaves_no_holes(is_apart: bool) -> None:
    told = subprocess.run(
        [sys.executable, "-c", LARGE_AMONG_SMALL, "apart" if is_apart else ""],
        capture_output=True,
        text=True,
        check=True,
    )

    library, _, freed = told.stdout.strip().rpartition(" ")
    if library != "glibc":
        pytest.skip("only glibc can be told to")
    assert (int(freed) > 38_000_000) == is_apart


# What `ctypes.CDLL(None)` says on Windows.
AS_ON_WINDOWS = """
import ctypes
from gossamer.base.garbage import give_back, return_freed_memory, allocate_large_separately

def refuse(name):
    raise TypeError("argument of type 'NoneType' is not iterable")

ctypes.CDLL = refuse
give_back()
return_freed_memory()
allocate_large_separately()
"""


def test_where_nothing_can_be_given_back_nothing_happens() -> None:
    subprocess.run([sys.executable, "-c", AS_ON_WINDOWS], check=True)
