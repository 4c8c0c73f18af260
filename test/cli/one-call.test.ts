import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Desk, ROOT } from "./harness.ts";

const FIXTURE = join(ROOT, "test/fixtures/upstreams/modern.mjs");

const LEGACY = join(ROOT, "test/fixtures/upstreams/legacy.mjs");

function server(...faults: readonly string[]): string {
  return `[mcp.stdio_servers.there]\ncommand = ${JSON.stringify([process.execPath, FIXTURE, ...faults])}\n`;
}

test("for a server without a stored list, `call` waits longer than `list`", async () => {
  await using at = await Desk.create({ "toolyard.toml": server("slow-start-ms=3300") });
  const ran = await at.run(["call", "there__echo", "{}"]);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toContain("echo");
});

test("a call waits for a name without a prefix too, and converts its pairs by the schema", async () => {
  await using at = await Desk.create();
  const config =
    `[catalog]\ncold_wait = "1ms"\n[mcp.stdio_servers.there]\n` +
    `command = ${JSON.stringify([process.execPath, LEGACY, `start-file=${at.path("start")}`])}\n`;
  await at.write("toolyard.toml", config);
  const running = at.run(["call", "echo", "a=2"]);
  await at.write("start", "");
  expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining('"a"'), stderr: "" });
});

test("list and search name the servers that are starting, and wait no longer than cold_wait", async () => {
  await using at = await Desk.create();
  const config =
    `[catalog]\ncold_wait = "1ms"\n[mcp.stdio_servers.there]\n` +
    `command = ${JSON.stringify([process.execPath, LEGACY, "never-starts"])}\n`;
  await at.write("toolyard.toml", config);
  for (const command of ["list", "search"]) {
    expect(await at.run([command])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Still starting, so what they offer is missing here: there."),
    });
    expect(await at.run([command, "--json"])).toMatchObject({ code: 0, stderr: "" });
  }
});

test("lists the stored tools of a starting server, and does not report them as missing", async () => {
  await using at = await Desk.create({ start: "" });
  const command = JSON.stringify([process.execPath, LEGACY, `start-file=${at.path("start")}`]);
  await at.write("toolyard.toml", `[mcp.stdio_servers.there]\ncommand = ${command}\n`);
  expect(await at.run(["check"])).toMatchObject({ code: 0 });
  await rm(at.path("start"));
  for (const words of [["list"], ["search", "echo"]])
    expect(await at.run(words)).toMatchObject({ code: 0, stdout: expect.stringContaining("there__echo"), stderr: "" });
});

test("execute_tool and tool_search reach tools of servers, too", async () => {
  await using at = await Desk.create({ "toolyard.toml": server() });
  const called = await at.run(["call", "execute_tool", '{"name": "there__echo"}']);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("echo") });
  const found = await at.run(["call", "tool_search", '{"query": "there echo"}']);
  expect(found.stdout).toContain("there__echo");
});

test("reports an unknown name once every server has answered", async () => {
  await using at = await Desk.create({ "toolyard.toml": server() });
  expect(await at.run(["call", "there__nothing", "{}"])).toMatchObject({ code: 3 });
});

test("`call --out` refuses a target that cannot be written before it calls the tool", async () => {
  await using at = await Desk.create({
    "kite.txt": "old",
    "toolyard.toml": '[scripts]\ntools_path = "tools"\n',
    "tools/draw/tool.toml": 'name = "draw"\ndescription = "Draws"\nscript = "draw.mjs"\n',
    "tools/draw/draw.mjs": 'import { appendFileSync } from "node:fs"; appendFileSync(process.env.DRAWN, "once");',
  });
  const draw = (out: string) =>
    at.run(["call", "draw", "{}", "--out", out, "--yes"], { env: { DRAWN: at.path("drawn") } });
  expect(await draw("kite.txt")).toMatchObject({ code: 2, stderr: expect.stringContaining("of that name already") });
  expect(existsSync(at.path("drawn"))).toBe(false);
});

test("gives a server time to save before the command exits", async () => {
  await using at = await Desk.create();
  const command = [
    process.execPath,
    join(ROOT, "test/fixtures/upstreams/saving.mjs"),
    at.path("journal"),
    "saves-ms=700",
  ];
  await at.write("toolyard.toml", `[mcp.stdio_servers.there]\ncommand = ${JSON.stringify(command)}\n`);
  expect(await at.run(["call", "there__loaded", "{}"])).toMatchObject({ code: 0, stdout: "nothing\n" });
  const events = (await readFile(at.path("journal"), "utf8")).trim().split("\n");
  expect(events.map((line) => line.slice(line.indexOf(" ") + 1))).toEqual(["started", "input ended", "saved"]);
});
