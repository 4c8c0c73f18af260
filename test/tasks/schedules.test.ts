import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { TaskHub } from "./task-hub.ts";

const LONG = { timeout: 120_000 };
const CONFIG = `
[schedules.greeting]
cron = "0 0 1 1 *"
tool = "greet"
arguments = { name = "Ada" }

[schedules.slow]
cron = "@yearly"
tool = "wait_for_file"

[schedules.often]
cron = "* * * * * *"
tool = "greet"
arguments = { name = "Tick" }

[server]
token = "owner"

[server.tokens.narrow]
token = "narrow"
allow = ["greet"]
`;

const OWNER = { headers: { authorization: "Bearer owner" } };

async function read(hub: TaskHub, path: string, init: RequestInit = OWNER) {
  const response = await fetch(new URL(`/status/schedules${path}`, hub.url), init);
  return { status: response.status, body: (await response.json()) as JsonObject };
}

test("schedules run at their times and by command, and their results are read", LONG, async () => {
  await using hub = await TaskHub.start(CONFIG);
  const run = (...args: string[]) =>
    hub.desk.run([...args, "--url", hub.url, "--token-env", "TOKEN"], { env: { TOKEN: "owner" } });
  const started = await run("schedules", "run", "greeting");
  expect([started.code, started.stdout.trim()]).toEqual([0, expect.stringMatching(/^[\w-]{22}$/)]);
  await expect.poll(async () => (await run("schedules", "show", "greeting")).stdout).toContain('"Hello, Ada"');
  await expect
    .poll(async () => (await read(hub, "/often")).body["runs"], { timeout: 10_000 })
    .toContainEqual(expect.objectContaining({ status: "completed", tool: "greet" }));
  const table = (await run("schedules", "list")).stdout;
  expect(table).toMatch(/greeting\s+0 0 1 1 \*\s+greet\s+\d{4}-/);
  expect((await run("schedules", "run", "none")).stderr).toContain('There is no schedule "none"');
});

test("another run is refused while one is unfinished, and a crash keeps the runs", LONG, async () => {
  await using hub = await TaskHub.start(CONFIG);
  const post = { method: "POST", ...OWNER };
  const first = await read(hub, "/slow", post);
  expect(first).toMatchObject({ status: 200, body: { status: "working", tool: "wait_for_file" } });
  expect(await read(hub, "/slow", post)).toMatchObject({
    status: 429,
    body: { error: { message: expect.stringContaining("is unfinished") } },
  });
  expect(await read(hub, "/slow", { method: "DELETE", ...OWNER })).toMatchObject({ body: { cancelled: 1 } });
  expect(await read(hub, "/slow", post)).toMatchObject({ status: 200 });
  await hub.kill();
  await hub.restart();
  const { runs } = (await read(hub, "/slow")).body as { runs: JsonObject[] };
  expect(runs).toMatchObject([{ status: "failed" }, { id: first.body["id"], status: "cancelled" }]);
});

test("callers with narrowed rights and without a token are refused", LONG, async () => {
  await using hub = await TaskHub.start(CONFIG);
  const narrow = { headers: { authorization: "Bearer narrow" } };
  expect((await read(hub, "", narrow)).status).toBe(403);
  expect((await read(hub, "/greeting", { method: "POST", ...narrow })).status).toBe(403);
  expect((await read(hub, "", {})).status).toBe(401);
  expect((await read(hub, "")).status).toBe(200);
});

test("a hub with an invalid pattern does not start, and the error names the field", LONG, async () => {
  await using hub = await TaskHub.start("");
  await hub.desk.write("toolyard.toml", '[schedules.x]\ncron = "61 * * * *"\ntool = "greet"\n');
  const { code, stderr } = await hub.desk.run(["check"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain('`schedules.x.cron` has an invalid minute, got "61"');
});
