import { afterAll, expect, test } from "vitest";
import { PythonWorker } from "../../../../../test/support/python-worker.ts";

const python = new PythonWorker();
afterAll(() => python[Symbol.asyncDispose]());

const csv = { path: "data/in.csv", bytes: Buffer.from("a,b\n1,2\n3,4\n") };

test("puts given files into the working folder, and returns only changed ones as artifacts", async () => {
  const code = "import csv, os\n[os.getcwd(), sum(int(row['a']) for row in csv.DictReader(open('data/in.csv')))]";
  expect(await python.run(code, { files: [csv] })).toMatchObject({ value: ["/work", 4], files: {} });
  expect((await python.run("open('data/in.csv', 'a').write('5,6\\n')\nNone", { files: [csv] })).files).toEqual({
    "data/in.csv": "a,b\n1,2\n3,4\n5,6\n",
  });
});

test("returns new files as artifacts, but not removed ones or those of the temporary folder", async () => {
  const code = `
import os, pathlib, json, tempfile, zipfile
os.makedirs("out/deep", exist_ok=True)
pathlib.Path("out/deep/x.json").write_text(json.dumps({"a": 1}))
open("gone.txt", "w").close(); os.remove("gone.txt")
with open("kept.txt", "w") as f: f.write("abc"); f.seek(1); f.write("X"); f.truncate(2)
os.rename("kept.txt", "renamed.txt")
with tempfile.TemporaryFile() as f: f.write(b"x")
open("/tmp/t", "w").write("t")
made = sorted(str(p) for p in pathlib.Path("out").rglob("*"))
sorted(os.listdir(".")), os.path.getsize("renamed.txt"), os.path.exists("gone.txt"), made`;
  const run = await python.run(code);
  expect(run.value).toEqual([["data", "out", "renamed.txt"], 2, false, ["out/deep", "out/deep/x.json"]]);
  expect(run.files).toEqual({ "out/deep/x.json": '{"a": 1}', "renamed.txt": "aX" });
});

test("imports a module next to the code, and shows its lines in tracebacks", async () => {
  const files = [{ path: "helper.py", bytes: Buffer.from("def fail():\n    raise ValueError('here')\n") }];
  const run = await python.run("import helper\nhelper.fail()", { files });
  expect(run.error!.traceback).toContain('File "helper.py", line 2, in fail\n    raise ValueError');
});

test.each([
  ["bytes", "f = open('big', 'wb')\nwhile True: f.write(b'x' * 100_000)", 28],
  ["a hole", "f = open('big', 'wb')\nf.seek(10**12)\nf.write(b'x')\nf.flush()", 28],
  ["files", "for i in range(100): open(f'f{i}', 'w').close()", 28],
  ["folders", "import os\nfor i in range(200): os.mkdir(f'd{i}')", 28],
  ["descriptors", "kept = []\nwhile True: kept.append(open('f0', 'r+'))", 24],
  ["a long name", "open('n' * 300, 'w')", 36],
])("raises an OSError for %s above their limit, and continues", async (_, code, errno) => {
  await using own = new PythonWorker();
  const run = await own.run(
    `open('f0', 'w').close()\ntry:\n    exec(${JSON.stringify(code)})\nexcept OSError as e:\n    return e.strerror`,
  );
  expect(run).toMatchObject({
    end: "finished",
    value: ({ 28: "No space left on device", 24: "No file descriptors available", 36: "Filename too long" } as const)[
      errno
    ],
  });
});

test("counts the bytes of an open file whose name was removed", async () => {
  const code = `
import os
kept = []
try:
    for i in range(10):
        f = open("x", "wb"); f.write(b"x" * 300_000); f.flush(); os.remove("x"); kept.append(f)
except OSError as e:
    count = len(kept)
for f in kept: f.close()
open("y", "wb").write(b"x" * 900_000); os.remove("y")
count`;
  await using own = new PythonWorker();
  expect((await own.run(code)).value).toBe(3);
});
