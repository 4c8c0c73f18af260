import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { Desk, exitOf, gone, seen, textOf } from "./harness.ts";
import { SCRIPTS, SCRIPTS_TOML } from "./files.ts";

/** A desk with one script tool, one server that cannot start and one name shared by two servers. */
function desk(): Promise<Desk> {
  return Desk.create({
    ...SCRIPTS,
    "toolyard.toml": `${SCRIPTS_TOML}\n[mcp.stdio_servers.gone]\ncommand = ["no-such-program"]\n`,
    "open.toml": "[server\n",
  });
}

describe("exit codes", () => {
  test("0: a successful call prints only its result on standard output", async () => {
    await using at = await desk();
    const ran = await at.run(["call", "work", "how=well", "text=5"]);
    expect(ran).toEqual({ code: 0, stdout: '{"text":"5","how":"well"}\n', stderr: "" });
  });

  test("1: the tool failed", async () => {
    await using at = await desk();
    const ran = await at.run(["call", "work", "how=fail"]);
    expect(ran).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("It broke.") });
  });

  test.each([
    ["an argument that the schema refuses", ["call", "work", "how=nonsense"]],
    ["arguments that are no JSON", ["call", "work", '{"how":']],
    ["an argument that is neither", ["call", "work", "nonsense"]],
    ["an argument given twice", ["call", "work", "how=well", "how=fail"]],
    ["a missing argument of the command", ["call"]],
    ["an unknown command", ["cal"]],
    ["an unknown option", ["list", "--jsn"]],
    ["a choice that there is not", ["list", "--mode", "some"]],
    ["a time without a unit", ["call", "work", "how=well", "--timeout", "3"]],
    ["a broken configuration", ["list", "--config", "open.toml"]],
    ["a configuration that is not there", ["list", "--config", "none.toml"]],
    ["an address that is none", ["list", "--url", "here"]],
    ["a variable that is not set", ["list", "--url", "http://127.0.0.1:9/mcp", "--token-env", "NOT_SET"]],
    ["a port that is none", ["serve", "--port", "http"]],
    ["a file that cannot be written", ["init", "--output", "open.toml/toolyard.toml"]],
  ])("2: %s", async (_what, args) => {
    await using at = await desk();
    const ran = await at.run(args);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).not.toBe("");
    const json = await at.run([...args, "--json"]);
    expect(json).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(json.stderr)).toEqual({
      error: expect.objectContaining({ kind: "invalid_params", retryable: false }),
    });
  });

  test("3: unknown tool, with a suggested name", async () => {
    await using at = await desk();
    expect(await at.run(["call", "wrok", "how=well"])).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("Did you mean work?"),
    });
    expect(await at.run(["resource", "no://where"])).toMatchObject({ code: 3, stdout: "" });
    expect(await at.run(["prompt", "nothing"])).toMatchObject({ code: 3, stdout: "" });
  });

  test("4: a server or a hub does not answer", async () => {
    await using at = await desk();
    expect(await at.run(["check"])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining("`no-such-program` was not found"),
    });
    expect(await at.run(["status", "--url", "http://127.0.0.1:9/mcp"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("Start one with `toolyard serve`"),
    });
    expect(await at.run(["call", "work", "--url", "http://127.0.0.1:9/mcp"])).toMatchObject({ code: 4, stdout: "" });
    expect(await at.run(["list", "--url", "http://127.0.0.1:9/mcp"])).toMatchObject({ code: 4, stdout: "" });
  });

  test("5: timeout, and the script has ended", async () => {
    await using at = await desk();
    const ran = await at.run(["call", "work", "how=wait", "--timeout", "4s"], { env: { PID_FILE: at.path("pid") } });
    expect(ran).toMatchObject({ code: 5, stdout: "" });
    await gone(Number(await readFile(at.path("pid"), "utf8")));
  });

  test("70: an internal error reports its id, and where to find the details", async () => {
    await using at = await desk();
    const fault = {
      NODE_OPTIONS: '--import "data:text/javascript,process.report.getReport = () => { throw new Error(`bug`) }"',
    };
    expect(await at.run(["doctor"], { env: fault })).toMatchObject({
      code: 70,
      stdout: "",
      stderr: "internal: bug\nThis is a fault of toolyard; TOOLYARD_DEBUG=1 shows where.\n",
    });
    expect((await at.run(["doctor"], { env: { ...fault, TOOLYARD_DEBUG: "1" } })).stderr).toMatch(/doctor\.js:\d+/);
    const json = await at.run(["doctor", "--json"], { env: fault });
    expect(json).toMatchObject({ code: 70, stdout: "" });
    expect(JSON.parse(json.stderr)).toEqual({ error: { kind: "internal", message: "bug", retryable: false } });
  });

  test.each(["SIGINT", "SIGTERM"] as const)("130: %s during a call ends it and leaves no child", async (signal) => {
    await using at = await desk();
    const child = at.start(["call", "work", "how=wait"], { env: { PID_FILE: at.path("pid") } });
    const stderr = textOf(child.stderr!);
    const pid = await fileText(at.path("pid"));
    child.kill(signal);
    expect(await exitOf(child)).toBe(130);
    expect(await stderr).toContain("cancelled");
    await gone(Number(pid));
  });

  test("130: Ctrl+C during the start of a server, and while reading arguments from standard input", async () => {
    await using at = await desk();
    await at.write(
      "slow.toml",
      `[mcp.stdio_servers.slow]\ncommand = ["node", "-e", "require('fs').writeFileSync('pid', ` +
        `String(process.pid)); setInterval(() => {}, 1000)"]\n`,
    );
    const list = at.start(["check", "--config", "slow.toml"]);
    const pid = await fileText(at.path("pid"));
    list.kill("SIGINT");
    expect(await exitOf(list)).toBe(130);
    await gone(Number(pid));
    const call = at.start(["call", "work", "-", "--verbose"]);
    // A test cannot detect when a program reads its standard input. A signal before that must end the program as well.
    call.kill("SIGINT");
    expect([130, null]).toContain(await exitOf(call));
  });
});

describe("serve ends on a signal", () => {
  async function serving(at: Desk): Promise<{ child: ReturnType<Desk["start"]>; pid: number; log: Promise<string> }> {
    const child = at.start(["serve", "--port", "0", "--json"], { env: { PID_FILE: at.path("pid") } });
    const log = textOf(child.stderr!);
    const [, url] = await seen(child.stdout!, /"url":"([^"]+)"/);
    at.start(["call", "work", "how=wait", "--url", url!]);
    return { child, pid: Number(await fileText(at.path("pid"))), log };
  }

  test("a signal that the terminal and npm both send counts once: running calls keep their grace time", async () => {
    await using at = await desk();
    await at.write("toolyard.toml", `${SCRIPTS_TOML}\n[server]\nshutdown_grace = "1500ms"\n`);
    const { child, pid } = await serving(at);
    const from = performance.now();
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
    expect(performance.now() - from).toBeGreaterThan(1000);
    await gone(pid);
  });

  test("130: a later second signal ends the hub without waiting, and leaves no child", async () => {
    await using at = await desk();
    await at.write("toolyard.toml", `${SCRIPTS_TOML}\n[server]\nshutdown_grace = "1m"\n`);
    const { child, pid } = await serving(at);
    // A signal shortly after the first counts as the same one, so it is repeated until it has an effect.
    const again = setInterval(() => child.kill("SIGINT"), 100);
    expect(await exitOf(child)).toBe(130);
    clearInterval(again);
    await gone(pid);
  });
});

/** Resolves with the text of a file once it exists. */
async function fileText(path: string): Promise<string> {
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text !== "") return text;
    await new Promise((done) => void setTimeout(done, 10));
  }
}

describe("with --json, every output is JSON", () => {
  test("prints a failure as one object on standard error, with the tool's result", async () => {
    await using at = await desk();
    const { code, stdout, stderr } = await at.run(["call", "work", "how=fail", "--json"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        kind: "tool_error",
        message: expect.stringContaining("It broke."),
        retryable: false,
        result: { isError: true },
      },
    });
  });

  test("prints a timeout as the only output", async () => {
    await using at = await desk();
    const { stderr } = await at.run(["call", "work", "how=wait", "--timeout", "300ms", "--json"]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "timeout" } });
  });

  test("prints results as JSON on standard output, and nothing else", async () => {
    await using at = await desk();
    const ran = await at.run(["call", "work", "how=well", "--json"]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toMatchObject({ structuredContent: { how: "well" } });
  });
});

test("`list | head`: a reader that closes the pipe causes no error", async () => {
  await using at = await desk();
  const child = at.start(["list", "--json"]);
  const stderr = textOf(child.stderr!);
  child.stdout!.destroy();
  expect(await exitOf(child)).toBe(0);
  expect(await stderr).not.toContain("EPIPE");
});

test("a hub that cannot listen names the port in use", async () => {
  await using at = await desk();
  const first = at.start(["serve", "--port", "0", "--json"]);
  const [, port] = await seen(first.stdout!, /:(\d+)\/mcp/);
  const ran = await at.run(["serve", "--port", port!]);
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toContain(port);
});
