"""Messages for modules that do not exist, and for functions that need the network."""

import sys

_NUMBERS = (
    "There is no package installer here: only Python's standard library. "
    "Use statistics, math, decimal, fractions, csv, json, sqlite3 or itertools instead"
)
_NETWORK = "There is no network here. Call a tool instead, where tools are offered: tools.<source>.<name>(...)"
_MACHINE = "There are no processes, threads or system libraries here"
_LEFT_OUT = "It belongs to Python's standard library, and is left out of this build"
_THREADS = "There are no threads here. `await asyncio.gather(...)` runs tool calls side by side"
_KNOWN = {
    **dict.fromkeys(
        ("concurrent.futures.thread", "concurrent.futures.process", "multiprocessing.pool", "multiprocessing.dummy"),
        _THREADS,
    ),
    **dict.fromkeys(
        (
            "numpy",
            "pandas",
            "scipy",
            "sklearn",
            "matplotlib",
            "seaborn",
            "plotly",
            "torch",
            "tensorflow",
            "polars",
            "sympy",
            "networkx",
            "statsmodels",
        ),
        _NUMBERS,
    ),
    **dict.fromkeys(
        (
            "requests",
            "httpx",
            "urllib3",
            "aiohttp",
            "websockets",
            "ssl",
            "_ssl",
            "bs4",
            "selenium",
            "playwright",
            "boto3",
            "openai",
        ),
        _NETWORK,
    ),
    **dict.fromkeys(
        (
            "ctypes",
            "_ctypes",
            "multiprocessing",
            "_multiprocessing",
            "resource",
            "fcntl",
            "pwd",
            "grp",
            "psutil",
            "tkinter",
            "_posixsubprocess",
        ),
        _MACHINE,
    ),
    # Some are listed in `LEFT_OUT` of packages/python-wasi/add-library.py. The others are modules in C that do not
    # exist for WASI, and modules of other systems.
    **dict.fromkeys(
        (
            "_curses",
            "_curses_panel",
            "_dbm",
            "_gdbm",
            "_lzma",
            "_tkinter",
            "_winapi",
            "curses",
            "ensurepip",
            "idlelib",
            "lib2to3",
            "lzma",
            "mmap",
            "msvcrt",
            "pydoc_data",
            "readline",
            "syslog",
            "termios",
            "test",
            "turtle",
            "turtledemo",
            "venv",
            "winreg",
            "winsound",
        ),
        _LEFT_OUT,
    ),
}
_OTHERS = (
    "There is no package installer here: only Python's standard library, and modules that are files next to the code"
)


class Finder:
    """The last finder that is asked for a module."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if "." in name and name not in _KNOWN:
            return None
        raise ModuleNotFoundError(f"No module named {name!r}. {_KNOWN.get(name, _OTHERS)}.", name=name)


# Functions that modules such as `http.client` and `smtplib` use first, and this build does not have.
_LOOKUPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo")


def _refuse_network(*_, **__):
    raise OSError(f"{_NETWORK}.")


def install():
    sys.meta_path.append(Finder)
    # Both are loaded: `asyncio` needs them. `socket` has copies of the names of `_socket`.
    for name in ("_socket", "socket"):
        for function in _LOOKUPS:
            if not hasattr(sys.modules[name], function):
                setattr(sys.modules[name], function, _refuse_network)
