import { CONTAINED, javascriptTries, python, pythonTries, type Attack } from "./attack.ts";

// Access to files, environment, network and processes of the machine.

const NAMESPACE = {
  "bwrap-python": "programs may be run there: in namespaces of their own, which hold nothing of this machine",
} as const;
const OWN_FILES = {
  "bwrap-python":
    "it reads the system's own files that are bound to be read, and its own `/proc`; no file of the user is there",
} as const;

const FILES: readonly Attack[] = [
  pythonTries("files/open", "opens a secret by its path", "return open('{{file}}').read()"),
  pythonTries("files/passwd", "opens the password file", "return open('/etc/passwd').read()"),
  pythonTries("files/climb", "climbs out of the working folder", "return open('../' * 40 + '{{file}}').read()"),
  pythonTries(
    "files/descriptors",
    "reads from every descriptor",
    "import os\nfor fd in range(4, 200):\n    try:\n        if os.read(fd, 1) : return fd\n" +
      "    except OSError: pass\nraise OSError",
    {
      gainsOn: {
        "bwrap-python": "descriptor 3 is its own pipe to the engine",
        bwrap: "as embedded, with other numbers",
      },
    },
  ),
  pythonTries(
    "files/openat",
    "opens a path relative to a folder's descriptor",
    "import os\nreturn os.open('../..{{file}}', os.O_RDONLY, dir_fd=3)",
  ),
  pythonTries(
    "files/symlink",
    "follows a link that it created",
    "import os\nos.symlink('{{file}}', 'link')\nreturn open('link').read()",
  ),
  pythonTries(
    "files/hardlink",
    "links the file to itself",
    "import os\nos.link('{{file}}', 'link')\nreturn open('link').read()",
  ),
  pythonTries(
    "files/walk",
    "looks for it everywhere",
    "import os\nhits = [os.path.join(at, name) for at, _, names in os.walk('/') for name in names if name in " +
      "('secret.txt', 'secret_module.py')]\nif not hits: raise LookupError\nreturn hits",
  ),
  pythonTries(
    "files/environ",
    "reads processes as files",
    "return open('/proc/self/environ').read() or open('/proc/1/cmdline').read()",
    { gainsOn: OWN_FILES },
  ),
  pythonTries(
    "files/sqlite",
    "opens it as a database",
    "import sqlite3\nreturn sqlite3.connect('file:{{file}}?mode=ro', uri=True).execute('select * from " +
      "sqlite_master').fetchall()",
  ),
  pythonTries(
    "files/import",
    "imports a module next to it",
    "import sys\nsys.path.insert(0, '{{folder}}')\nimport secret_module\nreturn secret_module.SECRET",
  ),
  pythonTries(
    "files/linecache",
    "reads it line by line",
    "import linecache\nlines = linecache.getlines('{{file}}')\nif not lines: raise LookupError\nreturn lines",
  ),
  pythonTries("files/copy", "copies it into its own folder", "import shutil\nreturn shutil.copy('{{file}}', 'mine')"),
  pythonTries(
    "files/map",
    "maps it into memory",
    "import mmap, os\nreturn mmap.mmap(os.open('{{file}}', os.O_RDONLY), 0)[:]",
  ),
  python(
    "files/write",
    "writes next to the secret",
    "import os\ntry:\n    os.makedirs('{{folder}}', exist_ok=True)\n" +
      "    open('{{folder}}/escaped', 'w').write('x')\nexcept OSError: pass",
    CONTAINED,
  ),
  python(
    "files/artifact",
    "returns files with paths outside the folder",
    "import os\nfor name in ('../up', '/abs', '..', 'a/../../b', 'con:stream', 'a\\\\..\\\\b', '.', 'x' * " +
      "255):\n    try: open(name, 'w').write('x')\n    except OSError: pass",
    CONTAINED,
  ),
  javascriptTries("files/js-read", "reads a secret by its path", "return files.read('{{file}}')"),
  javascriptTries("files/js-climb", "climbs out of the working folder", "return files.read('../../..{{file}}')"),
  javascriptTries(
    "files/js-prototype",
    "reads what every object has",
    "return files.read('__proto__') + files.read('constructor')",
  ),
  javascriptTries("files/js-nul", "hides a path behind a NUL", "return files.read('{{file}}\\0.txt')"),
  javascriptTries(
    "files/js-write",
    "writes next to the secret",
    "files.write('../../..{{folder}}/escaped', 'x'); return 'written'",
  ),
  javascriptTries(
    "files/js-require",
    "loads the module of files",
    "return require('fs').readFileSync('{{file}}', 'utf8')",
  ),
  javascriptTries(
    "files/js-import",
    "imports it as JSON",
    "return (await import('file://{{json}}', { with: { type: 'json' } })).default.secret",
  ),
  javascriptTries(
    "files/js-engine",
    "asks the interpreter's own library",
    "const std = await import('std'); return std.loadFile('{{file}}')",
  ),
  javascriptTries("files/js-others", "asks other runtimes' globals", "return Deno.readTextFileSync('{{file}}')"),
  {
    ...javascriptTries(
      "files/ts-import",
      "imports it in TypeScript",
      "const read = (await import('node:fs' as string)) as any; return read.readFileSync('{{file}}')",
    ),
    language: "typescript",
  },
];

const ENVIRONMENT: readonly Attack[] = [
  pythonTries("environment/variable", "asks for a variable", "import os\nreturn os.environ['{{variable}}']"),
  pythonTries(
    "environment/all",
    "lists all variables that hold anything of the hub",
    "import os, posix\nall = {**os.environ, **{str(k): str(v) for k, v in posix.environ.items()}}\n" +
      "found = [k for k in all if k not in ('PATH', 'PWD', 'LANG', 'LC_ALL', 'LC_CTYPE', 'HOME', 'TMPDIR')]\n" +
      "if not found: raise LookupError\nreturn found",
  ),
  pythonTries(
    "environment/host",
    "asks for the name of the machine",
    "import os, platform, socket\nname = os.uname().nodename\n" +
      "if name in ('', '(none)', 'sandbox'): raise LookupError\nreturn name",
  ),
  pythonTries("environment/user", "asks who runs it", "import getpass\nreturn getpass.getuser()"),
  javascriptTries("environment/js-process", "asks the process", "return process.env['{{variable}}']"),
  javascriptTries("environment/js-meta", "asks where the code lies", "return eval('import.meta.url')"),
  javascriptTries(
    "environment/js-walk",
    "searches all reachable objects for host objects",
    "const seen = new Set(); const hits = []; const walk = (value, depth) => { if (value === null || (typeof " +
      "value !== 'object' && typeof value !== 'function') || seen.has(value) || depth > 6) { if (typeof value " +
      "=== 'string' && /node_modules|file:\\/\\/\\/|\\/home\\/|dist\\//.test(value)) hits.push(value); " +
      "return } seen.add(value); for (const key of Reflect.ownKeys(value)) { const at = " +
      "Reflect.getOwnPropertyDescriptor(value, key); for (const part of [at.value, at.get, at.set]) walk(part, " +
      "depth + 1) } walk(Object.getPrototypeOf(value), depth + 1) }; walk(globalThis, 0); " +
      "if (hits.length === 0) throw new Error('nothing'); return hits",
  ),
];

const NETWORK: readonly Attack[] = [
  pythonTries(
    "network/tcp",
    "connects to a port",
    "import socket\nreturn socket.create_connection(('127.0.0.1', {{port}}), 1)",
  ),
  pythonTries(
    "network/raw",
    "connects below the library",
    "import _socket\ns = _socket.socket()\ns.connect(('127.0.0.1', {{port}}))\nreturn 'connected'",
  ),
  pythonTries(
    "network/udp",
    "sends a packet",
    "import socket\nreturn socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {{udp}}))",
    {
      gainsOn: { "bwrap-python": "a packet to a private loopback without a listener" },
    },
  ),
  pythonTries(
    "network/local",
    "connects to a socket in the file system",
    "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('{{socket}}')\nreturn 'connected'",
  ),
  pythonTries(
    "network/http",
    "asks a server",
    "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:{{http}}/urllib', timeout=1).read()",
  ),
  pythonTries(
    "network/client",
    "asks a server below that",
    "import http.client\nc = http.client.HTTPConnection('127.0.0.1', {{http}}, timeout=1)\n" +
      "c.request('GET', '/client')\nreturn c.getresponse().read()",
  ),
  pythonTries(
    "network/asyncio",
    "opens a stream",
    "import asyncio\nreturn asyncio.run(asyncio.wait_for(asyncio.open_connection('127.0.0.1', {{port}}), 1))",
  ),
  pythonTries("network/name", "asks for an address", "import socket\nreturn socket.gethostbyname('localhost')", {
    gainsOn: { "bwrap-python": "its own loopback" },
  }),
  pythonTries(
    "network/listen",
    "listens itself",
    "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nreturn s.getsockname()",
    { gainsOn: { "bwrap-python": "on a private loopback" } },
  ),
  pythonTries(
    "network/curl",
    "has a program ask",
    "import os\ncode = os.system('curl -s http://127.0.0.1:{{http}}/curl')\nif code != 0: raise OSError\nreturn code",
  ),
  pythonTries("network/mail", "sends mail", "import smtplib\nreturn smtplib.SMTP('127.0.0.1', {{port}}, timeout=1)"),
  javascriptTries("network/js-fetch", "fetches", "return (await fetch('http://127.0.0.1:{{http}}/fetch')).status"),
  javascriptTries(
    "network/js-import",
    "imports from a server",
    "return await import('http://127.0.0.1:{{http}}/module.js')",
  ),
  javascriptTries(
    "network/js-others",
    "uses what browsers and runtimes have",
    "const ways = [() => new WebSocket('ws://127.0.0.1:{{http}}'), () => new " +
      "EventSource('http://127.0.0.1:{{http}}'), () => new XMLHttpRequest(), () => new " +
      "Worker('http://127.0.0.1:{{http}}/w.js'), () => navigator.sendBeacon('http://127.0.0.1:{{http}}'), () => " +
      "Deno.connect({ port: {{port}} }), () => require('net').connect({{port}})]; " +
      "for (const way of ways) { try { return String(await way()) } catch {} } throw new Error('none')",
  ),
];

const TOUCH = "touch {{folder}}/escaped";

const PROCESSES: readonly Attack[] = [
  pythonTries(
    "processes/subprocess",
    "starts a program",
    `import subprocess\nreturn subprocess.run(['sh', '-c', '${TOUCH}'], check=True).returncode`,
  ),
  pythonTries(
    "processes/system",
    "starts a shell",
    `import os\ncode = os.system('${TOUCH}')\nif code != 0: raise OSError\nreturn code`,
  ),
  pythonTries(
    "processes/popen",
    "starts a shell and reads it",
    "import os\nsaid = os.popen('id').read()\nif not said: raise OSError\nreturn said",
    { gainsOn: NAMESPACE },
  ),
  pythonTries(
    "processes/fork",
    "forks",
    "import os\npid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)\nreturn pid",
    { gainsOn: NAMESPACE },
  ),
  pythonTries("processes/exec", "becomes another program", `import os\nos.execv('/bin/sh', ['sh', '-c', '${TOUCH}'])`, {
    gainsOn: NAMESPACE,
  }),
  pythonTries(
    "processes/spawn",
    "spawns below the library",
    `import os\nos.posix_spawn('/bin/sh', ['sh', '-c', '${TOUCH}'], {})\nreturn 1`,
    { gainsOn: NAMESPACE },
  ),
  pythonTries(
    "processes/inner",
    "uses the library's own way",
    "import _posixsubprocess\nreturn _posixsubprocess.fork_exec",
    { gainsOn: NAMESPACE },
  ),
  pythonTries(
    "processes/multi",
    "starts a pool",
    "import multiprocessing\nwith multiprocessing.Pool(1) as pool: return pool.map(abs, [1])",
    { gainsOn: NAMESPACE },
  ),
  pythonTries(
    "processes/ctypes",
    "calls the C library",
    `import ctypes\ncode = ctypes.CDLL(None).system(b'${TOUCH}')\nif code != 0: raise OSError\nreturn code`,
  ),
  pythonTries(
    "processes/kill",
    "signals its parent and all processes",
    "import os, signal\nos.kill(os.getppid(), signal.SIGTERM)\nos.kill(-1, signal.SIGKILL)\nreturn 'sent'",
    { gainsOn: NAMESPACE },
  ),
  pythonTries(
    "processes/thread",
    "starts a thread",
    "import threading\nt = threading.Thread(target=print)\nt.start()\nreturn 'started'",
    { gainsOn: NAMESPACE },
  ),
  python(
    "processes/signal",
    "sets handlers and alarms",
    "import signal\ntry: signal.signal(signal.SIGTERM, signal.SIG_IGN)\nexcept Exception: pass\n" +
      "try: signal.alarm(1)\nexcept Exception: pass",
    CONTAINED,
  ),
  javascriptTries("processes/js-child", "starts a program", `return require('child_process').execSync('${TOUCH}')`),
  javascriptTries("processes/js-kill", "signals and leaves", "process.kill(process.ppid); process.exit(1)"),
  javascriptTries(
    "processes/js-main",
    "finds the module that runs it",
    `return new Function('return process')().mainModule.require('child_process').execSync('${TOUCH}')`,
  ),
  javascriptTries("processes/js-binding", "asks Node's inside", "return process.binding('spawn_sync')"),
];

export const REACHING_OUT: readonly Attack[] = [...FILES, ...ENVIRONMENT, ...NETWORK, ...PROCESSES];
