"""Adds the standard library to a CPython for WASI, as compiled modules in a custom section of the WebAssembly file.

    add-library.py PYTHON_WASM LIB_FOLDER SYSCONFIG_DATA OUTPUT

README.md describes the section. The result is the same for the same input: files are sorted, and compiled modules have
a hash of their source instead of a time.
"""

import importlib.util
import marshal
import sys
from _imp import source_hash
from pathlib import Path

SECTION = b"python-library"
LIBRARY = "usr/local/lib/python3.13"
# Folders and files that cannot work without threads, processes, a screen, a network or an installation, and tests.
LEFT_OUT = {
    "__phello__",
    "ctypes",
    "curses",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "lzma.py",
    "multiprocessing",
    "pydoc_data",
    "ssl.py",
    "test",
    "tests",
    "tkinter",
    "turtle.py",
    "turtledemo",
    "venv",
}
LEFT_OUT_PATHS = {"concurrent/futures/process.py", "concurrent/futures/thread.py"}
CUSTOM = 0


def leb(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def compiled(source: bytes, path: str) -> bytes:
    """Returns the content of a `.pyc` file that is valid whatever the time of its source is."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=0)
    flags = (0b01).to_bytes(4, "little")
    digest = source_hash(importlib.util._RAW_MAGIC_NUMBER, source)
    return importlib.util.MAGIC_NUMBER + flags + digest + marshal.dumps(code)


def modules(folder: Path) -> list[Path]:
    """Returns the modules of the standard library that the interpreter can use."""
    files = (file.relative_to(folder) for file in folder.rglob("*.py"))
    kept = (file for file in files if file.as_posix() not in LEFT_OUT_PATHS and not LEFT_OUT.intersection(file.parts))
    return sorted(folder / file for file in kept)


def library(folder: Path, sysconfig: Path) -> dict[str, bytes]:
    """Returns the compiled modules by their path in the interpreter's file tree."""
    found = {file.relative_to(folder).as_posix(): file for file in modules(folder)}
    found[sysconfig.name] = sysconfig
    return {
        f"{LIBRARY}/{name}c": compiled(file.read_bytes(), f"/{LIBRARY}/{name}") for name, file in sorted(found.items())
    }


def section(files: dict[str, bytes]) -> bytes:
    content = leb(len(SECTION)) + SECTION
    for path, data in files.items():
        name = path.encode()
        content += leb(len(name)) + name + leb(len(data)) + data
    return bytes([CUSTOM]) + leb(len(content)) + content


def main() -> None:
    wasm, folder, sysconfig, output = map(Path, sys.argv[1:])
    output.write_bytes(wasm.read_bytes() + section(library(folder, sysconfig)))


main()
