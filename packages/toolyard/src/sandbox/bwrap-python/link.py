"""Frames between this interpreter and the hub, over one pipe. Limits are enforced here, and again by the hub."""

import binascii
import collections
import io
import json
import os
import resource
import select
import stat
import struct
import sys
import time

WORK = "/work"
_FD = 3
_PREFIX = struct.Struct(">II")
_MAX_QUERY = 4096
_MAX_RESULTS = 100
_TOLD_WAIT_SECONDS = 0.005
_HARD_ADDRESS_BYTES = resource.getrlimit(resource.RLIMIT_AS)[1]

_answers = collections.deque()


class _Capped(io.RawIOBase):
    """A file object that writes to a descriptor up to the limit of a run, and drops the rest."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def write(self, data):
        view = memoryview(data).cast("B")
        size = len(view)
        if size > _run.output_left:
            _run.truncated = True
        part = view[:_run.output_left]
        _run.output_left -= len(part)
        while len(part):
            part = part[os.write(self._descriptor, part):]
        return size


class _Run:
    """The state of the running job."""

    def __init__(self, limits):
        self.limits = limits
        self.calls = 0
        self.running = set()
        self.queue = collections.deque()
        self.output_left = limits["outputBytes"]
        self.truncated = False
        self.files = {}


_run = _Run({"outputBytes": 1 << 16})
for _name, _descriptor in (("stdout", 1), ("stderr", 2)):
    setattr(
        sys,
        _name,
        io.TextIOWrapper(
            io.BufferedWriter(_Capped(_descriptor), 8192),
            encoding="utf-8",
            errors="backslashreplace",
            line_buffering=True,
        ),
    )
sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr


def send(op, **fields):
    _OPERATIONS[op](**fields)


def receive():
    return _answers.popleft() if _answers else None


def _boot():
    _answers.append(("plain", ""))


def _next():
    _write({"type": "ready"})
    head, body = _read()
    while head["type"] != "job":
        head, body = _read()
    _begin(head["job"], head["files"], body)


def _begin(job, heads, body):
    global _run
    limits = job["limits"]
    _run = _Run(limits)
    _limit_memory(limits["memoryBytes"])
    at = 0
    for head in heads:
        path = os.path.join(WORK, head["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(body[at:at + head["size"]])
        at += head["size"]
    _run.files = dict(_walk())
    _answers.append(
        (
            "job",
            json.dumps(
                {
                    "code": job["code"],
                    "inputs": job["inputs"],
                    "profile": job["profile"],
                    "resultBytes": limits["resultBytes"],
                }
            ),
        )
    )


def _limit_memory(memory_bytes):
    with open("/proc/self/statm", "rb") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    bound = mapped + memory_bytes
    if _HARD_ADDRESS_BYTES != resource.RLIM_INFINITY:
        bound = min(bound, _HARD_ADDRESS_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (bound, _HARD_ADDRESS_BYTES))


def _call(id, path, json):
    if len(json.encode("utf-8", "replace")) > _run.limits["toolBytes"]:
        return _refuse(
            id,
            "too_large",
            f"The arguments of `{path}` are larger than {_run.limits['toolBytes']} bytes (`sandbox.tool_bytes`). "
            "Pass less, or pass it in pieces.",
        )
    _ask(id, {"type": "call", "id": id, "path": path, "json": json})


def _search(id, query, limit):
    _ask(id, {"type": "search", "id": id, "query": query[:_MAX_QUERY], "limit": min(limit, _MAX_RESULTS)})


def _ask(number, message):
    _run.calls += 1
    if _run.calls > _run.limits["toolCalls"]:
        return _refuse(
            number,
            "limited",
            f"The code made more than {_run.limits['toolCalls']} tool calls (`sandbox.tool_calls`). "
            "Ask for more at once, or in several runs.",
        )
    if len(_run.running) >= _run.limits["concurrentToolCalls"]:
        _run.queue.append((number, message))
        return
    _run.running.add(number)
    _write(message)


def _wait(ms):
    if _answers:
        return
    if not _run.running and ms is None:
        raise OSError(22, "nothing can come")
    seconds = None if ms is None else ms / 1000
    if _readable(0):
        return _take()
    told = seconds is None or seconds >= _TOLD_WAIT_SECONDS
    if told:
        _write({"type": "waiting", "waits": True})
    is_there = _readable(seconds)
    if told:
        _write({"type": "waiting", "waits": False})
    if is_there:
        _take()


def _take():
    while _readable(0):
        head, _ = _read()
        if head["type"] == "reply":
            _replied(head)


def _replied(reply):
    number = reply["id"]
    if number not in _run.running:
        return
    _run.running.discard(number)
    _answers.append((f"reply {number} {1 if reply['ok'] else 0}", reply["json"]))
    if _run.queue:
        number, message = _run.queue.popleft()
        _run.running.add(number)
        _write(message)


def _refuse(number, kind, message):
    _answers.append((f"reply {number} 0", json.dumps({"kind": kind, "message": message, "retryable": False})))


def _zone(key):
    """Returns this machine's own time zone data, for a name that is not a path."""
    text = ""
    try:
        if not any(step in ("", ".", "..") for step in key.split("/")):
            with open(f"/usr/share/zoneinfo/{key}", "rb") as file:
                text = binascii.b2a_base64(file.read(), newline=False).decode("ascii")
    except OSError:
        pass
    _answers.append(("zone", text))


def _done(end, result=None, error=None):
    done = {"end": end, "truncated": _run.truncated}
    if result is not None:
        done["resultJson"] = result
    if error is not None:
        done["error"] = error
    artifacts = _artifacts()
    limits = _run.limits
    if len(artifacts) > limits["files"] or sum(len(data) for _, data in artifacts) > limits["fileBytes"]:
        artifacts = []
        message = (
            f"The code left too many or too large files: at most {limits['files']} of together "
            f"{limits['fileBytes']} bytes are kept. Leave fewer or smaller ones."
        )
        done = {
            "end": "limit",
            "truncated": _run.truncated,
            "error": {"type": "FilesTooLarge", "message": message, "traceback": ""},
        }
    _answers.clear()
    _write(
        {"type": "done", "done": done, "files": [{"path": path, "size": len(data)} for path, data in artifacts]},
        [data for _, data in artifacts],
    )


def _walk():
    """Returns the files of the run, each with a stamp that changes with the file. Symbolic links are not followed."""
    for folder, folders, names in os.walk(WORK):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                yield path[len(WORK) + 1:], (status.st_ino, status.st_size, status.st_mtime_ns)


def _artifacts():
    artifacts, left = [], _run.limits["fileBytes"]
    for path, state in _walk():
        if _run.files.get(path) == state or "\\" in path or len(path) > 255:
            continue
        # If a limit is exceeded, the run fails without reading the files that would be omitted.
        if state[1] > left or len(artifacts) > _run.limits["files"]:
            return [("", b"")] * (_run.limits["files"] + 1)
        with open(os.path.join(WORK, path), "rb") as file:
            data = file.read(left + 1)
        left -= len(data)
        artifacts.append((path, data))
    return artifacts


def _readable(seconds):
    return bool(select.select([_FD], [], [], seconds)[0])


def _write(head, blobs=()):
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    data = b"".join((_PREFIX.pack(len(text), sum(map(len, blobs))), text, *blobs))
    view = memoryview(data)
    while view:
        view = view[os.write(_FD, view):]


def _read():
    head_bytes, body_bytes = _PREFIX.unpack(_exactly(_PREFIX.size))
    return json.loads(_exactly(head_bytes)), _exactly(body_bytes)


def _exactly(size):
    parts = []
    while size:
        part = os.read(_FD, min(size, 1 << 20))
        if not part:
            # The hub has exited, so no process waits for an answer.
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


_OPERATIONS = {
    "boot": _boot,
    "next": _next,
    "call": _call,
    "search": _search,
    "wait": _wait,
    "zone": _zone,
    "done": _done,
}
