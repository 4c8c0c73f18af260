import { expect, test } from "vitest";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { Desk } from "./harness.ts";
import { SCRIPTS, SCRIPTS_TOML } from "./files.ts";

const TOKEN = "a-token-that-is-long-enough";

async function serve(desk: Desk, token?: string): Promise<AsyncDisposable & { url: string }> {
  const config = await desk.write("toolyard.toml", `${SCRIPTS_TOML}\n[modules]\npaths = ["modules"]\n`);
  await desk.write(
    "modules/notes/mcp.mjs",
    `export function registerTools(hub) {
      hub.registerTool("notes.slow", async (_args, { progress, signal }) => { progress(1, 2, "half");
        await new Promise((_, gone) => signal.addEventListener("abort", () => gone(signal.reason))); }, {},
        "Never ends", { visibility: "ondemand" });
      hub.registerTool("notes.fast", async (_args, { progress }) => { progress(1, 2, "half"); return "done"; }, {},
        "Ends at once");
      hub.registerResource("notes://all", () => "all notes", "All notes");
      hub.registerPrompt("notes.write", ({ about }) => "Write about " + about,
        { arguments: [{ name: "about", required: true }] });
    }`,
  );
  const variables = { ...process.env, TOOLYARD_HOME: desk.path("served") };
  const hub = await createHub({
    config,
    settings: { server: { port: 0, ...(token === undefined ? {} : { token }) } },
    variables,
    logger: SILENT_LOGGER,
  });
  const { endpoint } = await hub.serve();
  return { url: endpoint, [Symbol.asyncDispose]: () => hub.close() };
}

test("--url: every command shows the running hub", async () => {
  await using desk = await Desk.create(SCRIPTS);
  await using hub = await serve(desk);
  const at = ["--url", hub.url];
  const cwd = desk.path("home");
  await desk.write("home/x", "");
  const run = (...args: string[]) => desk.run([...args, ...at], { cwd });
  const [list, show, search, call, resources, resource, prompt, status] = await Promise.all([
    run("list"),
    run("show", "notes.slow"),
    run("search", "never"),
    run("call", "work", "how=well", "count=3", "--json"),
    run("list", "--resources"),
    run("resource", "notes://all"),
    run("prompt", "notes.write", "about=tea"),
    run("status", "--json"),
  ]);
  expect(list.stdout).toMatch(/^work +Works, fails or waits$/m);
  expect(list.stdout).toMatch(/^notes\.slow +Never ends$/m);
  expect(show).toMatchObject({ code: 0, stdout: expect.stringContaining(`call notes.slow --url ${hub.url}`) });
  expect(search.stdout).toContain("notes.slow");
  expect(JSON.parse(call.stdout)).toMatchObject({ structuredContent: { how: "well" } });
  expect(resources.stdout).toMatch(/^notes:\/\/all +All notes$/m);
  expect(resource).toEqual({ code: 0, stdout: "all notes\n", stderr: "" });
  expect(prompt).toMatchObject({ code: 0, stdout: "user: Write about tea\n" });
  expect(JSON.parse(status.stdout)).toMatchObject({
    sources: expect.arrayContaining([expect.objectContaining({ id: "scripts", state: "ready", tools: 1 })]),
  });
});

test("--url: prints progress of a running call, and failures keep their exit codes", async () => {
  await using desk = await Desk.create(SCRIPTS);
  await using hub = await serve(desk);
  const at = ["--url", hub.url];
  const [fast, slow, failed, unknown, wrong] = await Promise.all([
    desk.run(["call", "notes.fast", ...at]),
    desk.run(["call", "notes.slow", "--timeout", "1s", ...at]),
    desk.run(["call", "work", "how=fail", ...at]),
    desk.run(["call", "nothing", ...at]),
    desk.run(["call", "work", "how=nonsense", ...at]),
  ]);
  expect(fast).toMatchObject({ code: 0, stdout: "done\n", stderr: "progress: 1 of 2 half\n" });
  expect(slow.code).toBe(5);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("It broke.") });
  expect(unknown.code).toBe(3);
  expect(wrong.code).toBe(2);
});

test("C3: --url: accepts every spelling that the hub knows; others are unknown", async () => {
  await using desk = await Desk.create(SCRIPTS);
  await using hub = await serve(desk);
  const at = ["--url", hub.url];
  const [plain, prefixed, unknown] = await Promise.all([
    desk.run(["call", "work", '{"how":"well","count":3}', ...at]),
    desk.run(["call", "mcp__toolyard__work", '{"how":"well","count":3}', ...at]),
    desk.run(["call", "files::work", ...at]),
  ]);
  expect([plain.code, prefixed.code, unknown.code]).toEqual([0, 0, 3]);
  expect(prefixed.stdout).toBe(plain.stdout);
  expect(unknown.stderr).toMatch(/unknown_tool: Unknown tool: files::work/);
});

test("--url: uses a hub's token from --token-env or TOOLYARD_TOKEN, and fails without one", async () => {
  await using desk = await Desk.create(SCRIPTS);
  await using hub = await serve(desk, TOKEN);
  const at = ["--url", hub.url];
  const [named, known, none, wrong, status, statusNone] = await Promise.all([
    desk.run(["call", "work", "how=well", ...at, "--token-env", "MINE"], { env: { MINE: TOKEN } }),
    desk.run(["list", ...at], { env: { TOOLYARD_TOKEN: TOKEN } }),
    desk.run(["list", ...at]),
    desk.run(["list", ...at, "--json"], { env: { TOOLYARD_TOKEN: "a-token-of-someone-else" } }),
    desk.run(["status", ...at, "--token-env", "MINE"], { env: { MINE: TOKEN } }),
    desk.run(["status", ...at]),
  ]);
  expect(named).toMatchObject({ code: 0, stderr: "" });
  expect(known).toMatchObject({ code: 0, stdout: expect.stringContaining("work") });
  expect(none).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("requires a token") });
  expect(wrong).toMatchObject({ code: 4, stdout: "" });
  expect(JSON.parse(wrong.stderr)).toMatchObject({
    error: { kind: "needs_authorisation", message: expect.stringContaining("does not know the token") },
  });
  expect(wrong.stderr).not.toContain("someone-else");
  expect(status.code).toBe(0);
  expect(statusNone).toMatchObject({ code: 4, stderr: expect.stringContaining("--token-env") });
});
