import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { Desk, exitOf, gone, seen } from "./harness.ts";

const MODULE = `export function registerTools(hub) {
  const page = { type: "object", properties: { page: { type: "integer" } }, required: ["page"] };
  hub.registerTool("records.page", ({ page }) => Array.from({ length: 3 }, (_, at) => page * 3 + at), page,
    "One page of the records");
  hub.registerTool("records.fail", () => Promise.reject(new Error("The record is locked.")), {}, "Fails");
}`;
const TOML = '[modules]\npaths = ["modules"]\n';

const SUM_PY = `import asyncio, sys
print("begun for", inputs["year"])
print("be patient", file=sys.stderr)
pages = await asyncio.gather(*[tools.records.page(page=page) for page in range(4)])
sum(sum(page) for page in pages) + inputs["year"]
`;
const SUM_TS = `interface Totals { readonly total: number }
const pages: number[][] = await Promise.all([0, 1, 2, 3].map((page) => tools.records.page({ page })));
console.log("begun for", inputs.year);
const totals: Totals = { total: pages.flat().reduce((sum, each) => sum + each, 0) };
return totals;
`;

function desk(files: Readonly<Record<string, string>> = {}): Promise<Desk> {
  return Desk.create({
    "toolyard.toml": TOML,
    "modules/records/mcp.mjs": MODULE,
    "sum.py": SUM_PY,
    "sum.ts": SUM_TS,
    ...files,
  });
}

describe("toolyard run", () => {
  test("0: Python runs with the tools; prints each stream unchanged, and the result last", async () => {
    await using at = await desk();
    expect(await at.run(["run", "sum.py", "--input", "year:=2026"])).toEqual({
      code: 0,
      stdout: "begun for 2026\n2092\n",
      stderr: "be patient\n",
    });
  });

  test("runs TypeScript; accepts one JSON object as inputs, and prints a result as JSON", async () => {
    await using at = await desk();
    expect(await at.run(["run", "sum.ts", "--input", '{"year": "2026"}'])).toEqual({
      code: 0,
      stdout: 'begun for 2026\n{\n  "total": 66\n}\n',
      stderr: "",
    });
  });

  test("--json prints one object", async () => {
    await using at = await desk();
    const ran = await at.run(["run", "sum.ts", "--input", "year=1", "--json"]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    const answer = JSON.parse(ran.stdout) as { tool_calls: { made: number } };
    expect(answer).toMatchObject({
      ok: true,
      result: { total: 66 },
      stdout: "begun for 1\n",
      error: null,
      engine: "embedded",
    });
    expect(answer.tool_calls).toMatchObject({ made: 4, failed: 0, failures: [], slowest: { length: 3 } });
  });

  test("`-` reads code from standard input, prints a text result unchanged, and nothing without one", async () => {
    await using at = await desk();
    expect(await at.run(["run", "-", "--language", "javascript"], { stdin: "'plain'" })).toEqual({
      code: 0,
      stdout: "plain\n",
      stderr: "",
    });
    expect(await at.run(["run", "-", "-l", "javascript"], { stdin: "console.log(1)" })).toEqual({
      code: 0,
      stdout: "1\n",
      stderr: "",
    });
  });

  test("prints output while the code runs; Ctrl+C ends it, its calls and its sandbox: 130", async () => {
    await using at = await desk({
      "wait.js": 'console.log("waiting"); for (;;) await new Promise((done) => setTimeout(done, 20));',
    });
    const child = at.start(["run", "wait.js"]);
    await seen(child.stdout!, /waiting\n/);
    const below = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
      .trim()
      .split(/\s+/)
      .filter(Boolean)
      .map(Number);
    expect(below.length).toBeGreaterThan(0);
    const cancelled = seen(child.stderr!, /cancelled: /);
    child.kill("SIGINT");
    await cancelled;
    expect(await exitOf(child)).toBe(130);
    await Promise.all(below.map(gone));
  });

  test("works even if callers may not run code", async () => {
    await using at = await desk({ "toolyard.toml": `${TOML}[builtin]\nexecute_code = false\n` });
    expect(await at.run(["run", "sum.py", "--input", "year:=0"])).toMatchObject({
      code: 0,
      stdout: "begun for 0\n66\n",
    });
  });

  test("code cannot call execute_code", async () => {
    await using at = await desk({
      "nested.js":
        "let kind; try { await tools.execute_code({ language: 'javascript', code: '1' }) } catch (error) { " +
        "kind = error.kind }\nkind",
    });
    expect(await at.run(["run", "nested.js"])).toMatchObject({ code: 0, stdout: "denied\n" });
  });

  test("--url: runs the code locally with the tools of the remote hub", async () => {
    await using at = await desk();
    const hub = await createHub({
      config: at.path("toolyard.toml"),
      settings: { server: { port: 0 } },
      variables: { ...process.env, TOOLYARD_HOME: at.path("served") },
      logger: SILENT_LOGGER,
    });
    try {
      const { endpoint } = await hub.serve();
      await at.write("elsewhere/sum.py", SUM_PY);
      await at.write("elsewhere/find.js", "(await search('page of the records')).map((hit) => hit.signature)");
      const cwd = at.path("elsewhere");
      expect(await at.run(["run", "sum.py", "--input", "year:=1", "--url", endpoint], { cwd })).toMatchObject({
        code: 0,
        stdout: "begun for 1\n67\n",
      });
      expect((await at.run(["run", "find.js", "--url", endpoint], { cwd })).stdout).toContain(
        "tools.records.page(args: { page: number })",
      );
    } finally {
      await hub.close();
    }
    expect(await at.run(["run", "sum.py", "--url", "http://127.0.0.1:9/mcp"])).toMatchObject({ code: 4, stdout: "" });
  });
});

test("--url: repeats a call after a rate limit of the remote hub", async () => {
  await using at = await desk({
    "toolyard.toml": `${TOML}[limits]\nrate_per_minute = 120\n`,
    "many.js":
      "let done = 0; for (let page = 0; page < 123; page += 1) { " +
      "await tools.records.page({ page }); done += 1; }\ndone",
  });
  const hub = await createHub({
    config: at.path("toolyard.toml"),
    settings: { server: { port: 0 } },
    variables: { ...process.env, TOOLYARD_HOME: at.path("served") },
    logger: SILENT_LOGGER,
  });
  try {
    const { endpoint } = await hub.serve();
    await at.write("elsewhere/x", "");
    const ran = await at.run(["run", "../many.js", "--timeout", "5m", "--url", endpoint], {
      cwd: at.path("elsewhere"),
    });
    expect(ran).toMatchObject({ code: 0, stdout: "123\n" });
  } finally {
    await hub.close();
  }
});

describe("files", () => {
  const COPY =
    "import os\nfor path in sorted(inputs['paths']):\n    os.makedirs('out', exist_ok=True)\n" +
    "    open('out/' + os.path.basename(path), 'w').write(open(path).read().upper())\n";

  test("are inputs under their local names or given ones, and results are written to the folder of --out", async () => {
    await using at = await desk({ "copy.py": COPY, "data/a.csv": "a", "elsewhere/b.csv": "b" });
    const ran = await at.run([
      "run",
      "copy.py",
      "--file",
      "data/a.csv",
      "--file",
      at.path("elsewhere/b.csv"),
      "--file",
      "c.csv=elsewhere/b.csv",
      "--input",
      '{"paths": ["data/a.csv", "b.csv", "c.csv"]}',
      "--out",
      "made",
    ]);
    expect(ran).toEqual({
      code: 0,
      stdout: "",
      stderr: "Wrote out/a.csv (1 B).\nWrote out/b.csv (1 B).\nWrote out/c.csv (1 B).\n",
    });
    expect(["a", "b", "c"].map((name) => readFileSync(at.path(`made/out/${name}.csv`), "utf8"))).toEqual([
      "A",
      "B",
      "B",
    ]);
  });

  test("are named but not written without --out", async () => {
    await using at = await desk({ "make.js": "files.write('a.txt', 'x')" });
    expect(await at.run(["run", "make.js"])).toMatchObject({
      code: 0,
      stderr: "The code made a.txt (1 B). Name a folder with --out to keep its files.\n",
    });
    expect(existsSync(at.path("a.txt"))).toBe(false);
  });

  test("do not follow a link in the folder of --out", async () => {
    await using at = await desk({ "make.js": "files.write('link/a.txt', 'x')", "made/x": "", "outside/x": "" });
    symlinkSync(at.path("outside"), at.path("made/link"));
    expect(await at.run(["run", "make.js", "--out", "made"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--out") as string,
    });
    expect(existsSync(at.path("outside/a.txt"))).toBe(false);
  });

  test("are readable for the code only if the command line passes them", async () => {
    await using at = await desk({ "read.py": "open('sum.py').read()" });
    expect(await at.run(["run", "read.py"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("FileNotFoundError") as string,
    });
  });
});

describe("exit codes", () => {
  test.each([
    [
      "1: the code failed, and says where",
      "x = 1\nraise ValueError('broken')",
      [],
      1,
      /line 2[^]*tool_error: ValueError: broken/,
    ],
    [
      "1: a tool failed and nobody caught it",
      "await tools.records.fail()",
      [],
      1,
      /tool_error: ToolError: .*The record is locked/,
    ],
    ["5: the code took too long", "while True: pass", ["--timeout", "500ms"], 5, /timeout: /],
  ])("%s", async (_what, code, args, exit, words) => {
    await using at = await desk({ "code.py": code });
    expect(await at.run(["run", "code.py", ...args])).toMatchObject({
      code: exit,
      stdout: "",
      stderr: expect.stringMatching(words) as string,
    });
  });

  test("prints a failure with --json as the error object, with all output", async () => {
    await using at = await desk({ "code.py": "print('first')\nraise ValueError('broken')" });
    const ran = await at.run(["run", "code.py", "--json"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(ran.stderr)).toMatchObject({
      error: {
        kind: "tool_error",
        message: "ValueError: broken",
        result: { ok: false, stdout: "first\n", error: { type: "ValueError" } },
      },
    });
  });

  test("2: refuses invalid input before anything starts", async () => {
    await using at = await desk({
      "code.rb": "1",
      "big.bin": "x".repeat(2048),
      "small.toml": `${TOML}[sandbox]\nfile_bytes = "1KiB"\n`,
    });
    const refused: [readonly string[], RegExp][] = [
      [["run"], /file/],
      [["run", "none.py"], /none\.py cannot be read \(ENOENT\)/],
      [["run", "modules"], /language of modules/],
      [["run", "modules", "-l", "python"], /cannot be read \(EISDIR\)/],
      [["run", "code.rb"], /--language/],
      [["run", "code.rb", "-l", "ruby"], /ruby/],
      [["run", "-"], /--language/],
      [["run", "-", "-l", "python", "--input", "-"], /not both/],
      [["run", "sum.py", "--input", "nonsense"], /nonsense/],
      [["run", "sum.py", "--file", "none.csv"], /none\.csv cannot be read/],
      [["run", "sum.py", "--file", "big.bin", "--config", "small.toml"], /2 kB; 1 kB are left/],
      [["run", "sum.py", "--file", "../x=sum.py"], /not a valid path/],
      [["run", "sum.py", "--timeout", "3"], /unit/],
      [["run", "sum.py", "--timeout", "30h"], /24h/],
    ];
    for (const [args, words] of refused)
      expect([args, await at.run(args)]).toEqual([
        args,
        { code: 2, stdout: "", stderr: expect.stringMatching(words) as string },
      ]);
  });
});
