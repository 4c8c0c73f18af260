// `toolyard top` at a URL, with a token, and on the hub that clients share.
import { describe, expect, onTestFinished, test } from "vitest";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { Desk } from "./harness.ts";
import { SharedClient } from "./shared-client.ts";
import { SERVER } from "./small-server.ts";

async function served(settings: HubConfig = {}): Promise<{ readonly hub: LibraryHub; readonly url: string }> {
  const hub = await createHub({
    variables: {},
    settings: { logging: { level: "error" }, ...settings, server: { port: 0, ...settings.server } },
    registerTools: (own) => {
      own.registerTool("echo", ({ text }) => text, { type: "object" }, "Echoes a text");
      own.registerTool(
        "break",
        () => {
          throw new Error("broken");
        },
        { type: "object" },
        "Fails",
      );
    },
  });
  onTestFinished(() => hub.close());
  return { hub, url: (await hub.serve()).endpoint };
}

describe("with --url", () => {
  test("prints the busiest and failing tools as JSON and as text", async () => {
    await using desk = await Desk.create();
    const { hub, url } = await served();
    for (let index = 0; index < 3; index += 1) await hub.call("echo", { text: "hi" });
    await hub.call("break");
    await hub.call("nothing");
    const [json, text] = await Promise.all([
      desk.run(["top", "--once", "--json", "--url", url]),
      desk.run(["top", "--once", "--url", url]),
    ]);
    expect(json).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({
      calls: 5,
      failed: 2,
      busiest: [{ name: "echo", calls: 3, failed: 0 }, { calls: 1 }, { calls: 1 }],
      failing: expect.arrayContaining([
        expect.objectContaining({ name: "break", failed: 1, failure: "tool_error" }),
        expect.objectContaining({ name: "tools/call (not found)", failed: 1, failure: "unknown_tool" }),
      ]),
    });
    expect(text.stdout).toMatch(/Busiest tools\n.*\n.*\necho +\S+ +3 /);
  });

  test("counts tools beyond `max_tools` together, and counts calls that code makes separately", async () => {
    const { hub, url } = await served({ telemetry: { max_tools: 1 } });
    await hub.call("execute_tool", { name: "echo", arguments: { text: "hi" } });
    const body = (await (await fetch(url.replace("/mcp", "/status/calls"))).json()) as { rows: { tool: string }[] };
    expect(body.rows.map(({ tool }) => tool).toSorted()).toEqual(["echo", "other"]);
  });

  test("is refused without a token and with narrowed rights", async () => {
    await using desk = await Desk.create();
    const tokens = {
      all: { token: "token-with-all-rights" },
      some: { token: "token-with-few-rights", allow: ["echo"] },
    };
    const { url } = await served({ server: { tokens } });
    const line = ["top", "--once", "--url", url];
    expect(await desk.run(line)).toMatchObject({ code: 4, stdout: "" });
    const env = { FEW: tokens.some.token, ALL: tokens.all.token };
    const few = await desk.run([...line, "--token-env", "FEW"], { env });
    expect([few.code, few.stderr]).toEqual([1, expect.stringContaining("shows its counts of calls to a token with")]);
    expect((await desk.run([...line, "--token-env", "ALL"], { env })).code).toBe(0);
  });

  test.each([
    [["--json"], /Add --once/],
    [["--limit", "0"], /--limit must be a whole number from 1 to 100/],
    [["--limit", "x"], /--limit must be/],
    [["--interval", "10ms"], /--interval must be from 500ms to 1m/],
  ])("refuses %j", async (words, message) => {
    await using desk = await Desk.create();
    expect(await desk.run(["top", ...words])).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });
});

test("reads the shared hub of the configuration in this folder", async () => {
  const toml = '[server]\nport = 9\n[mcp.stdio_servers.small]\ncommand = ["node", "server.mjs"]\n';
  await using desk = await Desk.create({ "server.mjs": SERVER, "toolyard.toml": toml });
  const client = await SharedClient.open(desk, { words: ["--linger", "1m"] });
  const pid = await client.hub();
  await client.call("small__pid");
  const { code, stdout } = await desk.run(["top", "--once", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    shared: { pid, clients: 1 },
    busiest: [{ source: "small", name: "small__pid", calls: 1 }],
  });
  expect((await desk.run(["stop"])).code).toBe(0);
  await client.close();
});
