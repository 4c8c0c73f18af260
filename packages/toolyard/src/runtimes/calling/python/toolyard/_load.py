"""Loads a module file under its dotted name, so that relative imports and imports from its root folder work."""

import importlib.machinery
import importlib.util
import os
import sys
import sysconfig

MAX_FILES = 1000


def load(path, root):
    """Loads a module. `root` is the configured folder: the module `<root>/export/mcp.py` becomes `<root's
    name>.export.mcp`, and its folders become packages."""
    folder = os.path.dirname(path)
    # A file in the folder that is named like a module of the standard library must not replace it. Installed packages
    # come after the folder, and its parent folders come last.
    sys.path.insert(_after_library(), folder)
    sys.path.extend(place for place in dict.fromkeys((root, os.path.dirname(root))) if place not in sys.path)
    way = os.path.relpath(folder, root)
    steps = [os.path.basename(root), *([] if way == "." else way.split(os.sep))]
    name = ""
    place = os.path.dirname(root)
    for step in steps:
        place = os.path.join(place, step)
        name = _name(name, step)
        if name not in sys.modules:
            _package(name, place)
    name = _name(name, os.path.splitext(os.path.basename(path))[0])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _after_library():
    """Returns the position in `sys.path` after the standard library."""
    paths = sysconfig.get_paths()
    library = {os.path.realpath(paths[name]) for name in ("stdlib", "platstdlib")}
    library.update(os.path.join(path, "lib-dynload") for path in list(library))
    places = [at for at, path in enumerate(sys.path) if os.path.realpath(path) in library]
    return places[-1] + 1 if places else 0


def _name(before, step):
    word = "".join(char if char.isalnum() or char == "_" else "_" for char in step)
    if before:
        return before + "." + word
    # A folder named like a module of Python must not hide it.
    return word + "_" if word in sys.modules or word in getattr(sys, "stdlib_module_names", ()) else word


def _package(name, folder):
    """Creates a package: from its `__init__.py` if there is one, else a namespace package."""
    init = os.path.join(folder, "__init__.py")
    if os.path.isfile(init):
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[folder])
    else:
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [folder]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if spec.loader:
        spec.loader.exec_module(module)
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def own_files(root):
    """Returns the files below the root folder that this process has imported."""
    start = os.path.join(os.path.realpath(root), "")
    found = set()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.realpath(file).startswith(start):
            found.add(os.path.realpath(file))
    return sorted(found)[:MAX_FILES]
