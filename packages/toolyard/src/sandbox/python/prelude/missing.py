"""Messages of `import` for packages that do not exist."""

import sys

_NUMBERS = (
    "There is no package installer here: only Python's standard library. "
    "Use statistics, math, decimal, fractions, csv, json, sqlite3 or itertools instead"
)
_NETWORK = "There is no network here. Call a tool instead, where tools are offered: tools.<source>.<name>(...)"
_MACHINE = "There are no processes, threads or system libraries here"
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


def install():
    sys.meta_path.append(Finder)
