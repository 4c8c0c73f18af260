"""Starts the interpreter's side of a run in a Python of this machine: the same prelude as in WebAssembly, with this
link instead of its own."""

import importlib.machinery
import importlib.util
import os
import sys

_ENVIRONMENT = {}


def _package(name, folder):
    spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [folder]
    sys.modules[name] = importlib.util.module_from_spec(spec)


def start(driver, prelude):
    os.environ.clear()
    sys.argv[:] = [""]
    _package("yard", prelude)
    spec = importlib.util.spec_from_file_location("yard.link", os.path.join(driver, "link.py"))
    link = sys.modules["yard.link"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(link)
    sys.modules["yard"].link = link
    # The prelude's event loop waits for the hub's answers, so this interpreter must use that loop too.
    from yard import main
    main.run()


start(sys.argv[1], sys.argv[2])
