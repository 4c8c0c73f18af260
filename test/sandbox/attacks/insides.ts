import { CONTAINED, python, pythonTries, restrictedTries, SHORT, type Attack } from "./attack.ts";

// Internals of Python: import tricks, and ways around the rules of the restricted profile.

const IMPORTS: readonly Attack[] = [
  pythonTries(
    "imports/engine",
    "finds the engine's own modules and its line to the host, and has them read a file",
    "import sys\nlink = sys.modules['yard.link']\nreturn open(link.__file__.replace('link.py', " +
      "'../../../../..{{file}}')).read()",
    { notOn: { "bwrap-python": "has other modules", deno: "no Python" } },
  ),
  pythonTries(
    "imports/machinery",
    "loads by hand",
    "import importlib.util\ns = importlib.util.spec_from_file_location('x', '{{folder}}/secret_module.py')\n" +
      "m = importlib.util.module_from_spec(s)\ns.loader.exec_module(m)\nreturn m.SECRET",
  ),
  pythonTries(
    "imports/bytecode",
    "runs code that it made itself",
    "import marshal, types\nc = marshal.loads(marshal.dumps(compile('open(\"{{file}}\").read()', 'x', " +
      "'eval')))\nreturn eval(c)",
  ),
  pythonTries(
    "imports/pickle",
    "has a pickle call",
    "import pickle\nclass A:\n    def __reduce__(self): return (eval, ('open(\"{{file}}\").read()',))\n" +
      "return pickle.loads(pickle.dumps(A()))",
  ),
  pythonTries(
    "imports/objects",
    "walks all objects for what opens files",
    "import gc, io\nfor o in gc.get_objects():\n    if isinstance(o, type) and issubclass(o, io.RawIOBase):\n" +
      "        try: return o('{{file}}').read()\n        except Exception: pass\nraise LookupError",
  ),
  pythonTries(
    "imports/subclasses",
    "climbs from a tuple",
    "for c in ().__class__.__base__.__subclasses__():\n    g = getattr(getattr(c, '__init__', None), " +
      "'__globals__', {})\n    for m in list(g.values()):\n" +
      "        if getattr(m, '__name__', '') in ('os', 'posix', 'io', '_io'):\n" +
      "            try: return m.open('{{file}}', 0) and 1\n            except Exception: pass\n" +
      "raise LookupError",
  ),
  pythonTries(
    "imports/frames",
    "climbs the stack frames of its runner",
    "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\n" +
      "return f.f_globals['__builtins__'].open('{{file}}').read()",
  ),
  pythonTries(
    "imports/site",
    "leaves something for the next interpreter",
    "import sys, os\nopen('/site/yard/main.py', 'w').write('x')\nreturn 'written'",
    { notOn: { "bwrap-python": "its library is bound to be read only; see files/write" } },
  ),
  python(
    "imports/code",
    "runs bytecode that makes no sense",
    "def f(): pass\nf.__code__ = f.__code__.replace(co_code=bytes([100, 255] * 50), co_stacksize=1, co_consts=())\nf()",
    CONTAINED,
    { limits: { wallMs: 1500, cpuMs: 1000 } },
  ),
  python(
    "imports/unload",
    "throws every module away",
    "import sys\nfor name in list(sys.modules): del sys.modules[name]\n1",
    CONTAINED,
    { limits: { wallMs: 2000 } },
  ),
  python(
    "imports/replace",
    "replaces modules of the engine",
    "import sys\nfor name in ('json', 'os', 'io', 'traceback', 'asyncio', 'yard.link', 'yard.values', " +
      "'yard.errors'): sys.modules[name] = None\nsys.meta_path.clear()\n1",
    CONTAINED,
    { limits: { wallMs: 2000 } },
  ),
  python("imports/exit", "ends the interpreter under itself", "import os\nos._exit(0)", { ends: ["error", "crashed"] }),
  python("imports/abort", "aborts the interpreter", "import os\nos.abort()", { ends: ["error", "crashed"] }),
  python(
    "imports/fault",
    "writes over the interpreter",
    "import sys\nsys.setswitchinterval(1e-9)\nclass A:\n    def __eq__(self, o):\n        l.clear()\n" +
      "        return False\nl = [A() for _ in range(1000)]\ntry: l.index(A())\nexcept Exception: pass\n" +
      "memoryview(bytearray(10)).cast('q') if False else 1",
    CONTAINED,
    { limits: SHORT },
  ),
];

const RULES: readonly Attack[] = [
  restrictedTries("rules/module", "imports a module outside the list", "import os\nreturn os.listdir('/')"),
  restrictedTries(
    "rules/getattr",
    "asks for an inner attribute by name",
    "return getattr(getattr(1, '__cl' + 'ass__'), '__ba' + 'se__').__subclasses__",
  ),
  restrictedTries(
    "rules/inner",
    "finds the function behind checked attributes",
    "a = globals()['__builtins__']['__yard_attribute__']\nreturn str(a(lambda: 0, '__globals__'))",
  ),
  restrictedTries("rules/format", "has a text format an inner attribute", "return '{0.__globals__}'.format(lambda: 0)"),
  restrictedTries(
    "rules/format-super",
    "does so as its own ancestor",
    "class S(str):\n    def f(self, *a): return super().format(*a)\nreturn S('{0.__globals__}').f(lambda: 0)",
  ),
  restrictedTries(
    "rules/formatter",
    "has the library's formatter look",
    "import string\nreturn len(string.Formatter().get_field('0.__dict__', (type,), {})[0]['__subclasses__'](object))",
  ),
  restrictedTries(
    "rules/formatter-super",
    "has its ancestor look",
    "import string\nclass F(string.Formatter):\n    def look(self): return super(string.Formatter, " +
      "self).get_field('0.__globals__', (lambda: 0,), {})\nreturn str(F().look())",
  ),
  restrictedTries(
    "rules/formatter-class",
    "has the ancestor look by name",
    "import string\nclass F(string.Formatter):\n    def look(self): return super().get_field('0.__globals__', " +
      "(lambda: 0,), {})\nreturn str(F().look())",
  ),
  restrictedTries(
    "rules/enum",
    "makes an enumeration of a module's inside",
    "import enum\nreturn str(getattr(enum.Enum, '_conv' + 'ert_')('X', 'os', lambda n: n == 'sys').sys.value)",
  ),
  restrictedTries(
    "rules/enum-global",
    "writes its members over a rule",
    "import enum\nclass G(enum.Enum):\n    __module__ = 'yard.guard'\n    is_refused = 1\n" +
      "    def __call__(self, n): return False\nenum.global_enum(G)\n" +
      "return str(getattr(lambda: 0, '__globals__'))",
  ),
  restrictedTries(
    "rules/redirect",
    "redirects more than a stream",
    "import contextlib\nclass R(contextlib.redirect_stdout):\n    _stream = 'modules'\nr = R({})\n" +
      "with r: return len(r._old_targets[-1])",
  ),
  restrictedTries(
    "rules/dataclass",
    "names a field as code of another module",
    "import dataclasses\nclass C:\n    def __lt__(self, o):\n        global got\n        got = o\n" +
      "        return False\n    def __eq__(self, o): return True\nclass A:\n    __module__ = 'os'\n" +
      "    x = C()\nA.__annotations__ = {'x<sys,self.x': int}\n" +
      "A = dataclasses.dataclass(A, init=False, repr=False)\nA() == A()\nreturn str(got)",
  ),
  restrictedTries(
    "rules/dataclass-inner",
    "names a field as an inner attribute",
    "import dataclasses\nclass C:\n    def __gt__(self, o):\n        global got\n        got = o\n" +
      "        return False\n    def __eq__(self, o): return True\nclass A:\n    x = lambda: 0\n    y = C()\n" +
      "A.__annotations__ = {'x.__globals__<self.y,self.y': int}\n" +
      "A = dataclasses.dataclass(A, init=False, repr=False)\nA() == A()\nreturn str(got)",
  ),
  restrictedTries(
    "rules/dataclass-renamed",
    "renames a field once it is checked",
    "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 1\n" +
      "dataclasses.fields(A)[0].name = 'x=print(1)#'\n@dataclasses.dataclass\nclass " +
      "B(A):\n    y: int = 2\nreturn B",
  ),
  restrictedTries(
    "rules/dataclass-replace",
    "has a copy read an inner attribute",
    "import dataclasses\n@dataclasses.dataclass(init=False)\nclass A:\n    x: int = 1\n" +
      "    def __init__(self, **k): self.k = k\na = A()\ndataclasses.fields(A)[0].name = '__reduce_ex__'\n" +
      "return dataclasses.replace(a).k",
  ),
  restrictedTries(
    "rules/builtins",
    "throws the built-in names away, for others to come back",
    "import dataclasses\nglobals().pop('__builtins__')\n@dataclasses.dataclass\nclass A:\n    x: int = 1\n" +
      "return str(globals()['__builtins__'])",
  ),
  restrictedTries(
    "rules/alias",
    "has a type's alias read a frame",
    "import typing\nkind = type(typing.List[int])\nframe = kind((i for i in [1]), (int,), " +
      "name='X').__getattr__('gi_frame')\nreturn str(frame)",
  ),
  restrictedTries(
    "rules/generator",
    "takes a generator's frame",
    "return getattr((i for i in [1]), 'gi_' + 'frame').f_globals",
  ),
  restrictedTries(
    "rules/coroutine",
    "takes a coroutine's frame",
    "async def f(): pass\nreturn getattr(f(), 'cr_frame')",
  ),
  restrictedTries(
    "rules/traceback",
    "takes an error's frame",
    "try: 1 / 0\nexcept Exception as e: return getattr(e, '__traceback__').tb_frame",
  ),
  restrictedTries(
    "rules/exit",
    "is given an error's traceback, and takes its frame",
    "class C:\n    def __enter__(self): return self\n    def __exit__(self, a, b, tb):\n" +
      "        self.frame = getattr(tb, 'tb_' + 'frame')\n        return True\nwith C() as c: 1 / 0\n" +
      "return c.frame",
  ),
  restrictedTries(
    "rules/closure",
    "takes a closure apart",
    "def f():\n    x = 1\n    return lambda: x\nreturn getattr(f(), '__closure__')",
  ),
  restrictedTries(
    "rules/type",
    "makes a class with a method that may not be written",
    "T = type('T', (), {'__getattribute__': lambda s, n: n})\nreturn object.__getattribute__(T, '__subclasses__')",
  ),
  restrictedTries(
    "rules/copy",
    "has a copy set an inner attribute",
    "import copy\ndef f(): pass\nclass A:\n    def __reduce_ex__(self, n): return (lambda: f, (), (None, " +
      "{'__code__': 1}))\nreturn copy.copy(A())",
  ),
  restrictedTries(
    "rules/loop",
    "reaches the machine through an event loop",
    "import asyncio\nasync def f():\n    loop = asyncio.Event()._get_loop()\n" +
      "    return await loop.subprocess_shell(lambda: None, 'touch {{folder}}/escaped')\n" +
      "return asyncio.run(f())",
  ),
  restrictedTries("rules/encoder", "makes the engine write forged frames", "import json\nreturn tools.a()"),
  restrictedTries("rules/eval", "evaluates source that is refused", "return eval('().__class__.__base__')"),
  restrictedTries("rules/exec", "runs source with chosen globals", "exec('import os', {'__builtins__': {}})\nreturn 1"),
  restrictedTries("rules/open", "opens a file", "return open('{{file}}').read()"),
  restrictedTries(
    "rules/subclass",
    "names an attribute by a text that lies",
    "class S(str):\n    def startswith(self, *a): return False\n    def endswith(self, *a): return False\n" +
      "    def __eq__(self, o): return False\n    def __hash__(self): return 1\n" +
      "return getattr(1, S('__class__')).__name__ and getattr(int, S('__subclasses__'))",
  ),
  restrictedTries("rules/match", "matches an inner attribute", "return eval('1') if False else getattr(int, 'mro')()"),
  restrictedTries("rules/wide", "writes an inner name in other letters", "return getattr(1, '__ｃlass__')"),
];

export const INSIDES: readonly Attack[] = [...IMPORTS, ...RULES];
