import { createServer } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { PythonWorker } from "../../../../../test/support/python-worker.ts";

const python = new PythonWorker();
afterAll(() => python[Symbol.asyncDispose]());

/** Returns code that runs the given code; the result is the exception's name, or the value. */
const attempt = (code: string): string =>
  `try:\n${code.replace(/^/gmu, "    ")}\nexcept BaseException as e:\n` +
  "    if type(e).__name__ == 'Returned': raise\n    return 'refused ' + type(e).__name__";

describe("the guest has no access to the machine", () => {
  test.each([
    ["a file of the machine", "return open('/etc/passwd').read()"],
    ["the way up", "return open('../../../../../../etc/passwd').read()"],
    ["processes as files", "return open('/proc/self/environ').read()"],
    ["a link out", "import os\nos.symlink('/etc/passwd', 'l')\nreturn open('l').read()"],
    ["a hard link", "import os\nopen('a','w').close()\nos.link('a', 'b')\nreturn 'linked'"],
    ["a shell", "import os\nreturn os.system('id')"],
    ["a process", "import subprocess\nreturn subprocess.run(['id'], capture_output=True).stdout"],
    ["a fork", "import os\nreturn os.fork()"],
    ["exec", "import os\nos.execv('/bin/sh', ['sh'])"],
    ["a system library", "import ctypes\nreturn str(ctypes.CDLL(None))"],
    ["many processes", "import multiprocessing\nreturn str(multiprocessing.Pool(2))"],
    ["a name on the network", "import socket\nreturn socket.gethostbyname('localhost')"],
    ["a signal to another process", "import os, signal\nos.kill(1, signal.SIGTERM)\nreturn 'sent'"],
    ["a bridge to JavaScript", "import js\nreturn str(js)"],
    ["a pipe", "import os\nreturn str(os.pipe())"],
    ["the prelude's files, to write", "open('/site/yard/main.py', 'w').write('x')\nreturn 'written'"],
    ["the prelude's files, to remove", "import os\nos.remove('/site/yard/main.py')\nreturn 'removed'"],
    [
      "a package from the network",
      "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:9/').read()",
    ],
    ["a request to nobody's descriptor", "import os\nreturn os.read(99, 1)"],
  ])("%s", async (_, code) => {
    expect(String((await python.run(attempt(code))).value)).toMatch(/^refused /u);
  });

  test("has no environment, no arguments and no names of the host", async () => {
    const run = await python.run("import os, sys\n[dict(os.environ), sys.argv, os.listdir('/'), os.name]");
    expect(run.value).toEqual([{}, ["-c"], ["site", "usr", "work", "tmp"], "posix"]);
  });

  test("cannot connect to a listener on this machine", async () => {
    let heard = 0;
    const server = createServer(() => (heard += 1));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const code = `import socket\ns = socket.create_connection(('127.0.0.1', ${port}), 1)\nreturn 'connected'`;
    expect(String((await python.run(attempt(code))).value)).toMatch(/^refused /u);
    const raw = `import _socket\ns = _socket.socket()\ns.connect(('127.0.0.1', ${port}))\nreturn 'connected'`;
    expect(String((await python.run(attempt(raw))).value)).toMatch(/^refused /u);
    await new Promise((resolve) => server.close(resolve));
    expect(heard).toBe(0);
  });
});

describe("a guest that sends its own messages to the thread", () => {
  const frame = (body: string): string =>
    attempt(`import os\nfd = os.open('/.rpc', os.O_RDWR)\nreturn os.write(fd, ${body})`);
  test.each([
    ["no JSON", "b'junk'"],
    ["no object", "b'[1]'"],
    ["an unknown request", `b'{"op":"format_disk"}'`],
    ["a prototype", `b'{"__proto__":{"op":"done"}}'`],
    ["an id that is no number", `b'{"op":"call","id":"1","path":"a","json":"{}"}'`],
    ["an id below zero", `b'{"op":"call","id":-1,"path":"a","json":"{}"}'`],
    ["a path that never ends", `b'{"op":"call","id":1,"json":"{}","path":"' + b'a' * 5000 + b'"}'`],
    ["a request larger than any", "b'x' * 5_000_000"],
    ["another job", `b'{"op":"next"}'`],
    ["waiting for nothing for ever", `b'{"op":"wait","ms":null}'`],
  ])("is refused %s, and nothing reaches the host", async (_, body) => {
    expect(await python.run(frame(body))).toMatchObject({
      end: "finished",
      value: expect.stringMatching(/^refused (?:OS|Permission)Error$/u),
      calls: [],
    });
  });

  test("crashes only its own run with an invalid end message", async () => {
    const forge = (done: string): string =>
      `import os\nos.write(os.open('/.rpc', os.O_RDWR), b'{"op":"done",${done}}')\nos._exit(0)`;
    await using own = new PythonWorker();
    expect(await own.run(forge('"end":"finished","result":"{not json"'))).toMatchObject({ end: "crashed" });
    expect(await own.run(forge('"end":"cancelled"'))).toMatchObject({ end: "crashed" });
    expect(await own.run(forge('"end":"finished","result":"[1]"'))).toMatchObject({ end: "finished", value: [1] });
  });
});

test("truncates a flood of output at its limit, and reports that", async () => {
  const run = await python.run("for i in range(20_000): print('x' * 50)");
  expect(run).toMatchObject({ end: "finished", truncated: true });
  expect(run.stdout).toHaveLength(20_000);
  expect(await python.run("print('x')")).toMatchObject({ truncated: false });
});

test("shows invalid UTF-8 with replacement characters", async () => {
  expect((await python.run("import sys\nsys.stdout.buffer.write(b'a\\xffb')\nsys.stdout.flush()")).stdout).toBe(
    "a\uFFFDb",
  );
});
