import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { Desk, gone, isAlive, seen } from "./harness.ts";
import { LINGER, SharedClient } from "./shared-client.ts";
import { SERVER } from "./small-server.ts";

// Each hub continues for a while after its last client. The tests run concurrently, each in a separate folder.
const ASKING = `import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: "asking", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "who", inputSchema: { type: "object" } },
    { name: "hang", inputSchema: { type: "object" } }] }),
};
let call;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "tools/call" && params.name === "who") { call = id;
    return say({ id: "q", method: "elicitation/create",
    params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } } }); }
  if (method === "tools/call") return writeFileSync("hanging", "");
  if (id === "q") return say({ id: call, result: { content: [{ type: "text", text: result.content.name }] } });
  if (id !== undefined) say({ id, result: answers[method]?.(params) ?? {} });
});
`;

const TOML = `[logging]
level = "info"
[mcp.stdio_servers.small]
command = ["node", "server.mjs"]
env = { KEY = "\${THE_KEY:-none}" }
[mcp.stdio_servers.asking]
command = ["node", "asking.mjs"]
`;

const FILES = { "server.mjs": SERVER, "asking.mjs": ASKING, "toolyard.toml": TOML };

const shared = (desk: Desk): string => desk.path("home/toolyard/data/shared");

describe("serve --stdio --shared", () => {
  test.concurrent("clients that start together share one hub and its children, and continue when others end", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const clients = await Promise.all(Array.from({ length: 4 }, () => SharedClient.open(desk)));
    const hubs = await Promise.all(clients.map((client) => client.hub()));
    expect(new Set(hubs).size).toBe(1);
    const children = new Set(await Promise.all(clients.map((client) => client.call("small__pid"))));
    expect(children.size).toBe(1);
    const [first, second, ...others] = clients;
    expect(await first!.close()).toBe(0);
    second!.child.kill("SIGKILL");
    await gone(second!.child.pid!);
    for (const client of others) expect(await client.call("small__pid")).toBe([...children][0]);
    await Promise.all(others.map((client) => client.close()));
    await gone(hubs[0]!);
    await gone(Number([...children][0]));
    expect(readdirSync(shared(desk)).filter((name) => !name.endsWith(".log"))).toEqual([]);
  });

  test.concurrent("only the current user can access the socket and its folder", async ({ expect }) => {
    if (process.platform === "win32") return expect(true).toBe(true);
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk);
    const socket = readdirSync(shared(desk)).find((name) => name.endsWith(".sock"))!;
    expect(statSync(join(shared(desk), socket)).mode & 0o777).toBe(0o600);
    expect(statSync(shared(desk)).mode & 0o777).toBe(0o700);
    await client.close();
    await gone(await client.hub());
  });

  test.concurrent("uses a socket in another folder for a data folder with a long path", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const env = { TOOLYARD_HOME: desk.path(`home/${"deep/".repeat(30)}`) };
    const clients = await Promise.all([SharedClient.open(desk, { env }), SharedClient.open(desk, { env })]);
    expect(await clients[0].call("small__pid")).toBe(await clients[1].call("small__pid"));
    await Promise.all(clients.map((client) => client.close()));
    await gone(await clients[0].hub());
  });

  test.concurrent("uses each client's own mode, and answers each client's server requests separately", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const plain = await SharedClient.open(desk);
    const finding = await SharedClient.open(desk, { words: [...LINGER, "--tool-mode", "discovery"] });
    const person = await SharedClient.open(desk, { capabilities: { elicitation: {} } });
    expect(await plain.hub()).toBe(await finding.hub());
    expect(await plain.tools()).toContain("small__echo");
    expect((await finding.tools()).toSorted()).toEqual(["execute_tool", "tool_search"]);
    const question = person.next(({ method }) => method === "elicitation/create");
    const answer = person.call("asking__who");
    const { id, params } = await question;
    expect(params).toMatchObject({ message: "Who?" });
    person.send({ jsonrpc: "2.0", id, result: { action: "accept", content: { name: "Ada" } } });
    expect(await answer).toBe("Ada");
    expect(plain.messages.some(({ method }) => method === "elicitation/create")).toBe(false);
    await Promise.all([plain, finding, person].map((client) => client.close()));
    await gone(await plain.hub());
  });

  test.concurrent("each client uses the era that its command line names", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const [both, legacy] = await Promise.all([
      SharedClient.open(desk),
      SharedClient.open(desk, { words: [...LINGER, "--era", "legacy"] }),
    ]);
    expect(await both.hub()).toBe(await legacy.hub());
    const prefix = "io.modelcontextprotocol/";
    const _meta = { [`${prefix}protocolVersion`]: "2026-07-28", [`${prefix}clientCapabilities`]: {} };
    expect(await both.ask("server/discover", { _meta })).toMatchObject({ result: { resultType: "complete" } });
    expect(await legacy.ask("server/discover", { _meta })).toMatchObject({ error: { code: -32601 } });
    expect(await legacy.tools()).toContain("small__echo");
    await Promise.all([both, legacy].map((client) => client.close()));
    await gone(await both.hub());
  });

  test.concurrent("relative paths start at the configuration's folder, for clients in any folder", async ({
    expect,
  }) => {
    await using desk = await Desk.create({ ...FILES, "elsewhere/x": "" });
    const words = [...LINGER, "--config", "../toolyard.toml"];
    const client = await SharedClient.open(desk, { words, cwd: desk.path("elsewhere") });
    expect(await client.call("small__cwd")).toBe(desk.folder);
    const other = await SharedClient.open(desk);
    expect(await other.hub()).toBe(await client.hub());
    await Promise.all([client.close(), other.close()]);
    await gone(await client.hub());
  });

  test.concurrent("starts a separate hub for different values of the configuration's variables, and logs it", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const first = await SharedClient.open(desk, { env: { THE_KEY: "one" } });
    const other = await SharedClient.open(desk, { env: { THE_KEY: "two" } });
    await other.said(/the values of its variables, differ\. This client gets a separate hub/);
    expect(await other.call("small__pid")).not.toBe(await first.call("small__pid"));
    const own = Number(await other.call("small__pid"));
    await other.close();
    await gone(own);
    expect(await first.call("small__echo", { text: "still" })).toBe("still");
    await first.close();
    await gone(await first.hub());
  });

  test.concurrent("applies a changed file before the next client joins, and notifies every client", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const first = await SharedClient.open(desk);
    await first.tools();
    const told = first.next(({ method }) => method === "notifications/tools/list_changed");
    await desk.write("toolyard.toml", TOML.replace("stdio_servers.small", "stdio_servers.tiny"));
    const second = await SharedClient.open(desk);
    expect(await second.hub()).toBe(await first.hub());
    expect(await second.tools()).toContain("tiny__echo");
    await told;
    expect(await first.tools()).toContain("tiny__echo");
    await Promise.all([first.close(), second.close()]);
    await gone(await first.hub());
  });

  test.concurrent("ends immediately if the configuration cannot be read, as without sharing", async ({ expect }) => {
    await using desk = await Desk.create({ "toolyard.toml": "[server]\nprot = 1\n" });
    expect(await desk.run(["serve", "--stdio", "--shared"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("did you mean `port`?"),
    });
    expect(existsSync(shared(desk))).toBe(false);
  });

  test.concurrent("starts a separate hub if no socket can be used, and logs the reason", async ({ expect }) => {
    if (process.platform === "win32") return expect(true).toBe(true);
    await using desk = await Desk.create(FILES);
    await desk.write("home/toolyard/data/shared", "no folder");
    const client = await SharedClient.open(desk);
    await client.said(/This client gets a separate hub/);
    expect(await client.call("small__echo", { text: "hi" })).toBe("hi");
    await client.close();
  });
});

describe("a crash of the shared hub", () => {
  test.concurrent("clients continue with one new hub; a call that was running gets one clear error", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const [busy, idle] = await Promise.all([SharedClient.open(desk), SharedClient.open(desk)]);
    await busy.tools();
    const hub = await busy.hub();
    const running = busy.ask("tools/call", { name: "asking__hang", arguments: {} });
    await expect.poll(() => existsSync(desk.path("hanging"))).toBe(true);
    const changed = [busy, idle].map((client) =>
      client.next(({ method }) => method === "notifications/tools/list_changed"),
    );
    process.kill(hub, "SIGKILL");
    expect(await running).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringMatching(/^The hub ended while this was running/) }] },
    });
    await Promise.all(changed);
    expect(await idle.call("small__echo", { text: "on" })).toBe("on");
    expect(await busy.call("small__echo", { text: "on" })).toBe("on");
    expect(await busy.call("small__pid")).toBe(await idle.call("small__pid"));
    const hubs = (client: SharedClient) =>
      [...client.stderr.matchAll(/shares a hub\. pid=(\d+)/g)].map(([, pid]) => pid);
    await expect.poll(() => hubs(busy).length).toBe(2);
    expect(hubs(busy)[1]).not.toBe(String(hub));
    expect(hubs(idle)[1]).toBe(hubs(busy)[1]);
    await Promise.all([busy.close(), idle.close()]);
    await gone(Number(hubs(busy)[1]));
  });

  test.concurrent("repeats requests without side effects, so that clients only notice a delay", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk);
    process.kill(await client.hub(), "SIGSTOP");
    const asked = client.ask("tools/list");
    process.kill(await client.hub(), "SIGKILL");
    expect(await asked).toMatchObject({
      result: { tools: expect.arrayContaining([expect.objectContaining({ name: "small__echo" })]) },
    });
    await client.close();
    const [, last] = [...client.stderr.matchAll(/shares a hub\. pid=(\d+)/g)].map(([, pid]) => Number(pid));
    await gone(last!);
  });

  test.concurrent("while no hub is available, refuses requests with the reason, and serves them afterwards", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk);
    const hub = await client.hub();
    await desk.write("toolyard.toml", "[server]\nprot = 1\n");
    process.kill(hub, "SIGKILL");
    await client.said(/There is no hub\. The next request of the client starts one/);
    expect(await client.call("small__echo", { text: "x" })).toMatch(
      /There is no hub to serve this: server\.prot: unknown key/,
    );
    await desk.write("toolyard.toml", TOML);
    await expect.poll(() => client.call("small__echo", { text: "back" }), { timeout: 60_000 }).toBe("back");
    await client.close();
    const [, last] = [...client.stderr.matchAll(/shares a hub\. pid=(\d+)/g)].map(([, pid]) => Number(pid));
    await gone(last!);
  });
});

test.concurrent("clients join a hub that serves HTTP, and it stays after they disconnect", async ({ expect }) => {
  await using desk = await Desk.create(FILES);
  const hub = desk.start(["serve", "--port", "0", "--json"]);
  const { pid } = JSON.parse((await seen(hub.stdout!, /^\{.*\}$/m))[0]) as { pid: number };
  const socket = (): boolean =>
    existsSync(shared(desk)) && readdirSync(shared(desk)).some((name) => name.endsWith(".sock"));
  await expect.poll(socket).toBe(true);
  const client = await SharedClient.open(desk);
  expect(await client.hub()).toBe(pid);
  expect(await client.call("small__echo", { text: "hi" })).toBe("hi");
  expect(await client.close()).toBe(0);
  expect(isAlive(pid)).toBe(true);
  expect(await desk.run(["serve", "--shared"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Another hub of this configuration runs"),
  });
});

test.concurrent("clients join a hub without file watching, which keeps the configuration that it read last", async ({
  expect,
}) => {
  await using desk = await Desk.create(FILES);
  const hub = desk.start(["serve", "--port", "0", "--json", "--no-watch"]);
  const { pid } = JSON.parse((await seen(hub.stdout!, /^\{.*\}$/m))[0]) as { pid: number };
  const socket = (): boolean =>
    existsSync(shared(desk)) && readdirSync(shared(desk)).some((name) => name.endsWith(".sock"));
  await expect.poll(socket).toBe(true);
  await desk.write("toolyard.toml", TOML.replace("stdio_servers.small", "stdio_servers.tiny"));
  const own = await SharedClient.open(desk);
  await own.said(/its configuration, or the values of its variables, differ/);
  const taken = seen(hub.stderr!, /The configuration was applied/);
  process.kill(pid, "SIGHUP");
  await taken;
  const client = await SharedClient.open(desk);
  expect(await client.hub()).toBe(pid);
  await Promise.all([own.close(), client.close()]);
});

test.concurrent("a running call is completed even if its client disconnects", async ({ expect }) => {
  await using desk = await Desk.create(FILES);
  const keeper = await SharedClient.open(desk);
  const { stdout, code } = await desk.run(["serve", "--stdio", "--shared", ...LINGER], {
    stdin:
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n' +
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' +
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"small__echo","arguments":{"text":"last"}}}\n',
  });
  expect(code).toBe(0);
  expect(stdout).toContain('"text":"last"');
  await keeper.close();
  await gone(await keeper.hub());
});
