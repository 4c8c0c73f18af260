// `status`, `stop` and `log` for the hub that the clients of one user share.
import { appendFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { Desk, exitOf, gone, seen } from "./harness.ts";
import { SharedClient } from "./shared-client.ts";
import { SERVER } from "./small-server.ts";

// No hub listens at this address, so only the shared hub can answer.
const TOML = `[server]
port = 9
[logging]
level = "info"
[mcp.stdio_servers.small]
command = ["node", "server.mjs"]
`;
const FILES = { "server.mjs": SERVER, "toolyard.toml": TOML, "elsewhere/x": "" };
/** The hub continues for a minute after its last client, so only `stop` ends it in time. */
const words = ["--linger", "1m"];

const shared = (desk: Desk): string => desk.path("home/toolyard/data/shared");

function logFile(desk: Desk): string {
  return join(
    shared(desk),
    readdirSync(shared(desk)).find((name) => name.endsWith(".log"))!,
  );
}

describe("status without --url", () => {
  test.concurrent("shows the shared hub of the configuration in this folder", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk, { words });
    const pid = await client.hub();
    await client.call("small__pid");
    const [text, json] = await Promise.all([desk.run(["status"]), desk.run(["status", "--json"])]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toContain(`shared by 1 client, process ${pid}, ${desk.path("toolyard.toml")}`);
    expect(text.stdout).toMatch(/small +stdio .*ready/);
    expect(JSON.parse(json.stdout)).toMatchObject({
      sources: expect.arrayContaining([expect.objectContaining({ id: "small", state: "ready" })]),
      shared: { pid, clients: 1, isBesideHttp: false, files: [desk.path("toolyard.toml")] },
    });
    expect((await desk.run(["stop"])).code).toBe(0);
    await client.close();
  });

  test.concurrent("shows the only shared hub from another folder, but not with another --config", async ({
    expect,
  }) => {
    await using desk = await Desk.create({ ...FILES, "other.toml": "[server]\nport = 9\n" });
    const client = await SharedClient.open(desk, { words });
    const env = { TOOLYARD_SERVER_PORT: "9" };
    const there = await desk.run(["status"], { cwd: desk.path("elsewhere"), env });
    expect(there.stdout).toContain(`process ${await client.hub()}`);
    for (const command of ["status", "stop"])
      expect(await desk.run([command, "--config", "other.toml"])).toMatchObject({ code: 4, stdout: "" });
    expect(await desk.run(["stop"], { cwd: desk.path("elsewhere") })).toMatchObject({ code: 0 });
    await client.close();
  });

  test.concurrent("fails if no hub runs", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    expect(await desk.run(["status"])).toMatchObject({
      code: 4,
      stdout: "",
      stderr: expect.stringContaining("No hub answers at http://127.0.0.1:9"),
    });
  });
});

describe("stop", () => {
  test.concurrent("ends the hub and its servers; a client starts a new hub with its next request", async ({
    expect,
  }) => {
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk, { words });
    const [hub, server] = [await client.hub(), Number(await client.call("small__pid"))];
    const { code, stdout, stderr } = await desk.run(["stop"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`The shared hub has ended (process ${hub}, ${desk.path("toolyard.toml")}).`);
    expect(stdout).toContain("1 client is still open");
    await gone(hub);
    await gone(server);
    await client.said(/The hub was stopped\. The next request of the client starts a new one\./);
    expect((await desk.run(["stop"])).code).toBe(4);
    expect(Number(await client.call("small__pid"))).not.toBe(server);
    expect(JSON.parse((await desk.run(["stop", "--json"])).stdout)).toMatchObject({ stopped: true, clients: 1 });
    expect(await client.close()).toBe(0);
    expect(client.messages.some(({ method }) => String(method).includes("stopped"))).toBe(false);
  });

  test.concurrent("ends `toolyard serve` that clients share", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const child = desk.start(["serve", "--port", "0", "--json"]);
    await seen(child.stdout!, /"url"/);
    // The socket opens after the address is printed.
    while ((await desk.run(["status"])).code !== 0);
    const stopped = await desk.run(["stop"]);
    expect(stopped.stdout).toContain("The hub of `toolyard serve`, which clients shared, has ended");
    expect(await exitOf(child)).toBe(0);
  });

  test.concurrent("requires --config if the configuration has no hub and several others run", async ({ expect }) => {
    await using desk = await Desk.create({ ...FILES, "two.toml": TOML });
    const clients = await Promise.all([
      SharedClient.open(desk, { words }),
      SharedClient.open(desk, { words: [...words, "--config", "two.toml"] }),
    ]);
    await Promise.all(clients.map((client) => client.hub()));
    const refused = await desk.run(["stop"], { cwd: desk.path("elsewhere") });
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("with --config") });
    for (const name of ["toolyard.toml", "two.toml"]) expect(refused.stderr).toContain(desk.path(name));
    for (const name of ["toolyard.toml", "two.toml"])
      expect(await desk.run(["stop", "--config", name])).toMatchObject({ code: 0 });
    await Promise.all(clients.map((client) => client.close()));
  });

  test.concurrent("fails with a message if no hub runs", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const stderr = expect.stringContaining("No shared hub of yours runs");
    expect(await desk.run(["stop"])).toMatchObject({ code: 4, stdout: "", stderr });
    const { error } = JSON.parse((await desk.run(["stop", "--json"])).stderr) as { error: object };
    expect(error).toMatchObject({ kind: "unavailable" });
  });
});

describe("log", () => {
  test.concurrent("prints the last lines, also after the hub has ended and from another folder", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk, { words });
    await client.hub();
    await desk.run(["stop"]);
    await client.close();
    const all = await desk.run(["log"]);
    expect(all).toMatchObject({ code: 0, stderr: `Log: ${logFile(desk)}\n` });
    expect(all.stdout).toContain("`toolyard stop` ends this hub.");
    const last = JSON.parse((await desk.run(["log", "--lines", "2", "--json"])).stdout) as { lines: string[] };
    expect(last.lines).toEqual(all.stdout.trimEnd().split("\n").slice(-2));
    expect((await desk.run(["log"], { cwd: desk.path("elsewhere") })).stdout).toBe(all.stdout);
    expect((await desk.run(["log", "--lines", "0"])).stdout).toBe("");
  });

  test.concurrent("--follow prints further lines, also of a file that was replaced or emptied", async ({ expect }) => {
    await using desk = await Desk.create(FILES);
    const client = await SharedClient.open(desk, { words });
    await client.hub();
    await desk.run(["stop"]);
    await client.close();
    const log = logFile(desk);
    writeFileSync(log, "first\nsecond\n");
    const follower = desk.start(["log", "--follow", "--lines", "1"]);
    await seen(follower.stdout!, /^second\n$/);
    const third = seen(follower.stdout!, /^third é\n$/);
    appendFileSync(log, "third é\n");
    await third;
    const fourth = seen(follower.stdout!, /^fourth\n$/);
    renameSync(log, `${log}.old`);
    writeFileSync(log, "fourth\n");
    await fourth;
    const fifth = seen(follower.stdout!, /^5\n$/);
    writeFileSync(log, "5\n");
    await fifth;
    follower.kill("SIGINT");
    expect(await exitOf(follower)).toBe(0);
  });

  test.concurrent.for([
    [["log"], 4, "There is no log of a shared hub at "],
    [["log", "--lines", "-1"], 2, "--lines must be a whole number from 0 to 10000"],
    [["log", "--lines", "10001"], 2, 'got "10001"'],
    [["log", "--follow", "--json"], 2, "Leave one out"],
  ] as const)("%j fails with code %i", async ([args, code, text], { expect }) => {
    await using desk = await Desk.create(FILES);
    const ran = await desk.run(args);
    expect(ran).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(text) });
  });
});
