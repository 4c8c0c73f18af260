import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { PythonWorker, type PythonRun } from "../../../../../test/support/python-worker.ts";

const python = new PythonWorker();
afterAll(() => python[Symbol.asyncDispose]());
const run = (code: string): Promise<PythonRun> => python.run(code, { profile: "restricted" });

describe("restricted code", () => {
  test("C24: runs classes, generators, dataclasses, modules and exceptions in the restricted profile", async () => {
    const code = readFileSync(new URL("../../../../../test/fixtures/sandbox/first-things.py", import.meta.url), "utf8");
    const done = await run(code);
    expect(done.error).toBeUndefined();
    expect(done).toMatchObject({ end: "finished", value: "all of it" });
  });

  test.each([
    [
      "fields with defaults",
      "@dataclass\nclass A:\n    x: int\n    y: list = field(default_factory=list)\nrepr(A(1))",
      "A(x=1, y=[])",
    ],
    [
      "frozen",
      "@dataclass(frozen=True)\nclass A:\n    x: int\ntry:\n    A(1).x = 2\n" +
        "except FrozenInstanceError as e:\n    got = str(e)\ngot",
      "cannot assign to field 'x'",
    ],
    [
      "order and hash",
      "@dataclass(order=True, frozen=True)\nclass A:\n    x: int\n[A(1) < A(2), len({A(1), A(1)})]",
      [true, 1],
    ],
    [
      "slots and keywords",
      "@dataclass(slots=True, kw_only=True)\nclass A:\n    x: int\n    y: int = 2\nasdict(A(x=1))",
      { x: 1, y: 2 },
    ],
    ["a field named self", "@dataclass\nclass A:\n    self: int\nrepr(A(1))", "A(self=1)"],
    [
      "values after creation",
      "@dataclass\nclass A:\n    x: InitVar[int]\n    y: int = field(init=False)\n" +
        "    def __post_init__(self, x):\n        self.y = x + 1\nA(1).y",
      2,
    ],
    ["a recursive repr", "@dataclass\nclass A:\n    x: list\na = A([])\na.x.append(a)\nrepr(a)", "A(x=[...])"],
    ["no fields", "@dataclass(init=False, repr=False, eq=False)\nclass A: pass\nlen(fields(A))", 0],
  ])("dataclass: %s", async (_, code, value) => {
    const imports = "from dataclasses import FrozenInstanceError, InitVar, asdict, dataclass, field, fields\n";
    const done = await run(imports + code);
    expect(done.error).toBeUndefined();
    expect(done.value).toEqual(value);
  });

  test.each([
    "math",
    "json",
    "re",
    "datetime",
    "statistics",
    "csv",
    "dataclasses",
    "collections",
    "collections.abc",
    "itertools",
    "functools",
    "random",
    "string",
    "textwrap",
    "decimal",
    "fractions",
    "typing",
    "enum",
    "abc",
    "copy",
    "heapq",
    "bisect",
    "operator",
    "time",
    "calendar",
    "uuid",
    "hashlib",
    "base64",
    "io",
    "pprint",
    "zoneinfo",
    "urllib.parse",
    "contextlib",
    "types",
    "asyncio",
    "sys",
    "traceback",
  ])("imports %s", async (name) => {
    expect(await run(`import ${name}\nname = ${name}.__name__\nfrom ${name} import *\nname`)).toMatchObject({
      end: "finished",
      value: name,
    });
  });
});

describe("S9: refuses imports outside the allow-list, and internal attributes", () => {
  test.each([
    "os",
    "subprocess",
    "socket",
    "ctypes",
    "importlib",
    "inspect",
    "gc",
    "builtins",
    "pickle",
    "pathlib",
    "shutil",
    "threading",
    "sqlite3",
    "code",
    "yard",
    "yard.link",
    "_io",
    "posix",
    "numpy",
    "os.path",
    "__main__",
  ])("import %s", async (name) => {
    expect(await run(`import ${name}`)).toMatchObject({
      end: "error",
      error: { type: "ModuleNotFoundError", message: expect.stringContaining("cannot be imported here. These can: ") },
    });
    expect(await run(`__import__(${JSON.stringify(name)}, fromlist=['x'])`)).toMatchObject({ end: "error" });
  });

  test.each([
    "().__class__.__bases__",
    "().__class__.__mro__",
    "int.mro()",
    "object.__subclasses__()",
    "(lambda: 0).__globals__",
    "(lambda: 0).__code__",
    "print.__self__",
    "getattr(print, '__self__')",
    "getattr(1, '__cl' + 'ass__').__base__",
    "hasattr(1, '__subclasses__')",
    "[].__reduce_ex__(2)",
    "object.__getattribute__([], '__reduce__')",
    "type.__dict__['mro']",
    "vars(type)['__subclasses__']",
    "__builtins__",
    "__loader__",
    "'{0.__class__.__mro__}'.format(1)",
    "str.format('{0.__class__.__mro__}', 1)",
    "'{x.__globals__}'.format_map({'x': print})",
    "'{:{0.__mro__}}'.format(int)",
    "eval('().__class__.__base__')",
    "exec('import os')",
    "exec('import os', {})",
    "exec('x', {'__builtins__': {}}) or os",
    "compile('1', 'x', 'eval')",
    "open('x')",
    "open('/etc/passwd')",
    "breakpoint()",
    "help()",
    "(i for i in []).gi_frame",
    "(i for i in []).gi_code",
    "__yard_attribute__(1, '__class__')",
    "globals()['__yard_attribute__']",
    "import sys\nsys.modules",
    "import sys\nsys._getframe()",
    "import sys\nsys.stdout.buffer",
    "import json\njson.codecs",
    "import re\nre.enum.sys",
    "import random\nrandom._os",
    "import dataclasses\ndataclasses.sys",
    "import collections\ncollections._sys",
    "from random import _os",
    "import contextlib, io\ncontextlib.redirect_stdout(io.StringIO())._sys",
    "import operator\noperator.attrgetter('__class__.__mro__')(1)",
    "import operator\noperator.attrgetter('format')('{0.__class__}')",
    "import operator\noperator.methodcaller('__subclasses__')(object)",
    "import functools\nfunctools.update_wrapper(int, print, ['__self__'])",
    "import functools\nfunctools.singledispatch",
    "import string\nstring.Formatter().get_field('0.__mro__', (int,), {})",
    "import string\nstring.Formatter.mro()",
    "import typing\ntyping.get_type_hints",
    "import typing\ntyping.get_args(typing.List['1'])[0]._evaluate({}, {}, frozenset())",
    "import io\nio.open('x')",
    "import io\nio.FileIO('x')",
    "import base64\nbase64.main",
    "import uuid\nuuid.getnode()",
    "try:\n    1/0\nexcept Exception as e:\n    e.__traceback__.tb_frame",
    "match 1:\n    case int(__dict__=d): pass",
    "class S(str):\n    def startswith(self, *a): return False\ngetattr(1, S('__class__'))",
    "class F(str):\n    def __str__(self): return ''\nF('{0.__class__.__mro__}').format(1)",
    "class M(type):\n    def __getattribute__(cls, n): return 1",
    "import dataclasses\nclass A: pass\nA.__annotations__ = {'x=print(1) #': int}\ndataclasses.dataclass(A)",
    "import dataclasses\ndataclasses.make_dataclass('A', [('x=__import__(\"os\")', int)])",
    "tools.a.b()",
    "search('x')",
    "ToolError",
    "input()",
  ])("%s", async (code) => {
    const done = await run(code);
    expect(done).toMatchObject({ end: "error", calls: [] });
    expect(done.error!.message).not.toBe("");
  });

  test.each([
    "x, *, y=got.append(().__class__), z",
    "x=got.append(().__class__), y",
    "x)->got.append(().__class__):#",
    "x: got.append(().__class__), y",
    "x[T: got.append(().__class__)](y",
    "x, *y",
    "x\n): pass\n#",
  ])("refuses a dataclass after a field was renamed to %j, and does not run its code", async (name) => {
    const code = `
import dataclasses as d
@d.dataclass
class C:
    a: int = d.field(init=False, repr=False, compare=False, hash=False)
got = []
d.fields(C)[0].name = ${JSON.stringify(name)}
error = ""
try:
    @d.dataclass
    class D(C): pass
except Exception as e:
    error = type(e).__name__
[error != "", len(got)]`;
    expect((await run(code)).value).toEqual([true, 0]);
  });

  test("L40: names the refused line", async () => {
    const { error } = await run("x = 1\ny = x.__subclasses__");
    expect(error).toMatchObject({
      type: "SyntaxError",
      message: expect.stringContaining("'__subclasses__' is not allowed"),
    });
    expect(error!.traceback).toContain("line 2\n    y = x.__subclasses__");
  });

  test("the thread refuses tools to restricted code that has changed the interpreter's own rules", async () => {
    const done = await run("x = 1");
    expect(done.calls).toEqual([]);
    expect((await python.run("'tools' in globals(), 'x' in globals()")).value).toEqual([true, false]);
  });
});
