import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError, OptionError } from "../core/errors.ts";
import { SILENT_LOGGER, type Logger } from "../core/ports/ports.ts";
import type { ModuleHub } from "../providers/modules/api.ts";
import { createHub, type CreateHubOptions, type LibraryHub } from "./create-hub.ts";

let folder: string;
const hubs: LibraryHub[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-hub-"));
});
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()));
  await rm(folder, { recursive: true, force: true });
});

async function open(options: CreateHubOptions): Promise<LibraryHub> {
  const hub = await createHub({
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: folder },
    logger: SILENT_LOGGER,
    ...options,
  });
  hubs.push(hub);
  return hub;
}

async function script(name: string, visibility = "native"): Promise<void> {
  await mkdir(join(folder, "tools", name), { recursive: true });
  await writeFile(join(folder, "tools", name, "run.sh"), "cat\n");
  await writeFile(
    join(folder, "tools", name, "tool.toml"),
    `name = "${name}"\ndescription = "Hands back what it is given"\nscript = "run.sh"\n` +
      `visibility = "${visibility}"\n[parameters.text]\ntype = "string"\nrequired = true\n`,
  );
}

const names = async (hub: LibraryHub, mode?: "normal" | "discovery" | "all") =>
  (await hub.list(mode ? { mode } : {})).map(({ name }) => name);

describe("hub in a program", () => {
  test("lists, searches and calls the sources in its settings", async () => {
    await script("parrot");
    const hub = await open({ settings: { scripts: { tools_path: join(folder, "tools") } } });
    expect(await names(hub)).toEqual(["execute_code", "parrot"]);
    expect((await hub.search("hands back")).hits.map(({ name }) => name)).toContain("parrot");
    expect(await hub.call("parrot", { text: "hello" })).toMatchObject({
      ok: true,
      result: { structuredContent: { text: "hello" } },
    });
  });

  test("returns a failure with similar names for an unknown tool, without throwing", async () => {
    await script("parrot");
    const hub = await open({ settings: { scripts: { tools_path: join(folder, "tools") } } });
    expect(await hub.call("parot")).toMatchObject({ ok: false, kind: "unknown_tool", details: { near: ["parrot"] } });
  });

  test("returns a failure that names the missing arguments", async () => {
    await script("parrot");
    const hub = await open({ settings: { scripts: { tools_path: join(folder, "tools") } } });
    expect(await hub.call("parrot", {})).toMatchObject({
      ok: false,
      kind: "invalid_params",
      message: expect.stringContaining("text"),
    });
  });

  test("T21, T22: lists the two discovery tools if a tool is ondemand, and does not list that tool", async () => {
    await script("parrot");
    const hub = await open({
      settings: { builtin: { execute_code: false }, scripts: { tools_path: join(folder, "tools") } },
    });
    expect(await names(hub)).toEqual(["parrot"]);
    await script("hidden", "ondemand");
    expect(await names(hub)).toEqual(["execute_tool", "parrot", "tool_search"]);
    expect(await names(hub, "discovery")).toEqual(["execute_tool", "tool_search"]);
  });

  test("a call that exceeds its own time limit fails as timeout", async () => {
    await script("sleeper");
    await writeFile(join(folder, "tools", "sleeper", "run.sh"), "sleep 30\n");
    const hub = await open({ settings: { scripts: { tools_path: join(folder, "tools") } } });
    expect(await hub.call("sleeper", { text: "" }, { timeoutMs: 200 })).toMatchObject({ ok: false, kind: "timeout" });
  });

  test("serves on a free port, and closes the endpoint with the hub", async () => {
    const hub = await open({ settings: { server: { port: 0 } } });
    const { address, endpoint } = await hub.serve();
    expect(endpoint).toBe(`${address.url}/mcp`);
    expect((await fetch(`${address.url}/healthz`)).status).toBe(200);
    await hub.close();
    await expect(fetch(`${address.url}/healthz`)).rejects.toThrow("fetch failed");
  });

  test("reports a change of [server] that the open endpoint does not apply, and no change of a source", async () => {
    const config = join(folder, "toolyard.toml");
    const warnings: string[] = [];
    const logger: Logger = { ...SILENT_LOGGER, warning: (message) => void warnings.push(message), with: () => logger };
    await writeFile(config, '[server]\nport = 0\ntoken = "first"\n');
    const hub = await open({ config, watch: true, logger });
    await hub.serve();
    await writeFile(
      config,
      '[server]\nport = 0\ntoken = "first"\n[builtin]\nexecute_code = false\nmeta_tools = false\n',
    );
    await expect.poll(() => hub.sources()[0]?.tools).toBe(2);
    expect(warnings).toEqual([]);
    await writeFile(config, '[server]\nport = 0\ntoken = "second"\n');
    await expect.poll(() => warnings).toEqual([expect.stringContaining("[server] or [rest] has changed")]);
  });

  test("S9: runs no code while an endpoint without tokens is open to the network", async () => {
    const config = join(folder, "toolyard.toml");
    const warnings: string[] = [];
    const logger: Logger = { ...SILENT_LOGGER, warning: (message) => void warnings.push(message), with: () => logger };
    await writeFile(config, '[server]\nport = 0\nhost = "0.0.0.0"\ninsecure = true\n');
    const hub = await open({ config, watch: true, logger });
    const everybodys = await hub.serve();
    await writeFile(
      config,
      '[server]\nport = 0\nhost = "0.0.0.0"\ntoken = "a-long-enough-token"\n[builtin]\nexecute_code = true\n',
    );
    await expect.poll(() => warnings).toContainEqual(expect.stringContaining("[server] or [rest] has changed"));
    expect(await names(hub)).toEqual([]);
    await everybodys.close();
    await hub.serve();
    expect(await names(hub)).toEqual(["execute_code"]);
  });

  test("permits a program more than 600 calls per minute", async () => {
    const hub = await open({});
    const outcomes = await Promise.all(Array.from({ length: 700 }, () => hub.call("meta.ping")));
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("limits a program to the configured calls per minute", async () => {
    const hub = await open({ settings: { limits: { rate_per_minute: 5 } } });
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => hub.call("meta.ping")));
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([
      expect.objectContaining({ kind: "limited", retryAfterMs: expect.any(Number) }),
    ]);
  });

  test("closes at the end of its `await using` block", async () => {
    await script("parrot");
    const call = async (): Promise<LibraryHub> => {
      await using hub = await open({ settings: { scripts: { tools_path: join(folder, "tools") } } });
      expect(await hub.call("parrot", { text: "hello" })).toMatchObject({ ok: true });
      return hub;
    };
    expect(await (await call()).call("parrot", { text: "hello" })).toMatchObject({ ok: false, kind: "unavailable" });
  });

  test("a call after close is unavailable", async () => {
    const hub = await open({});
    await hub.close();
    expect(await hub.call("meta.ping")).toMatchObject({ ok: false, kind: "unavailable" });
  });
});

describe("endpoints", () => {
  const transports = async (hub: LibraryHub) => {
    const outcome = await hub.call("meta.get_server_status");
    return outcome.ok ? JSON.stringify(outcome.result["structuredContent"]) : outcome.message;
  };

  test("a hub with two endpoints is served until both are closed", async () => {
    const hub = await open({ settings: { server: { port: 0 } } });
    const [first, second] = [await hub.serve(), await hub.serve()];
    await first.close();
    expect(await transports(hub)).toContain('"http"');
    await second.close();
    expect(await transports(hub)).not.toContain('"http"');
  });

  test("an endpoint that cannot be opened leaves no listener", async () => {
    const taken = await open({ settings: { server: { port: 0 } } });
    const { address } = await taken.serve();
    const hub = await open({ settings: { server: { port: address.port } } });
    const before = Object.values(hub.port.events).map((event) => event.size);
    await expect(hub.serve()).rejects.toThrow(String(address.port));
    expect(Object.values(hub.port.events).map((event) => event.size)).toEqual(before);
  });
});

describe("invalid settings", () => {
  test("refuses a misspelled key with a suggestion", async () => {
    await expect(open({ settings: { sever: {} } as object })).rejects.toThrow(ConfigError);
    await expect(open({ settings: { sever: {} } as object })).rejects.toThrow("did you mean `server`?");
  });

  test("the error of an invalid server option contains the server's name", async () => {
    const settings = { mcp: { remote_servers: [{ namespace: "x", url: "ftp://example.com" }] } };
    await expect(open({ settings })).rejects.toThrow(OptionError);
    await expect(open({ settings })).rejects.toThrow(
      "mcp.remote_servers[0]: `url` must begin with http:// or https://",
    );
  });

  test("S1: refuses to listen on an open address without a token", async () => {
    const hub = await open({ settings: { server: { host: "0.0.0.0", port: 0 } } });
    await expect(hub.serve()).rejects.toThrow("token");
  });
});

describe("servers added and removed while the hub runs", () => {
  const echo = { command: [process.execPath, join(import.meta.dirname, "../../../../bench/servers/echo-stdio.mjs")] };

  test("L54: the next list contains an added server, and not a removed one, which has exited", async () => {
    const hub = await open({});
    await hub.addServer("late", echo);
    expect(await names(hub)).toContain("late__echo");
    expect(await hub.call("late::echo", { text: "hi" })).toMatchObject({ ok: true });
    const { pid } = hub.sources().find(({ source }) => source.id === "late")!.status;
    expect(await hub.removeServer("late")).toBe(true);
    expect(await names(hub)).not.toContain("late__echo");
    expect(() => process.kill(pid!, 0)).toThrow("ESRCH");
  });

  test("a call to a server that is starting waits for it", async () => {
    const hub = await open({});
    await hub.addServer("late", echo);
    expect(await hub.call("late__echo", { text: "hi" })).toMatchObject({ ok: true });
  });

  test("a call to a server that never starts reports it as unavailable", async () => {
    const hub = await open({});
    await hub.addServer("never", { command: "no-such-program-anywhere" });
    expect(await hub.call("never__echo", { text: "hi" })).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("never"),
    });
  });

  test("L54: refuses invalid settings and changes nothing", async () => {
    const hub = await open({});
    await hub.addServer("good", echo);
    await expect(hub.addServer("bad", { command: "" })).rejects.toThrow("command");
    await expect(hub.addServer("bad", { url: "nonsense" })).rejects.toThrow("url");
    expect(hub.sources().map(({ source }) => source.id)).toEqual(["builtin", "good"]);
    expect(await hub.removeServer("bad")).toBe(false);
  });
});

describe("tools of the program itself", () => {
  test("are in the first list, can be added and removed at any time, and are removed with the hub", async () => {
    let own: ModuleHub | undefined;
    const closed: string[] = [];
    const hub = await open({
      settings: { builtin: { execute_code: false } },
      registerTools: (given) => {
        own = given;
        given.registerTool(
          "add",
          ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
          { a: { type: "number" }, b: { type: "number" } },
          "Adds",
        );
        given.onClose(() => void closed.push("program"));
      },
    });
    expect(await names(hub)).toEqual(["add"]);
    expect(await hub.call("add", { a: 2, b: 3 })).toMatchObject({
      ok: true,
      result: { structuredContent: { sum: 5 } },
    });
    const later = own!.registerTool("later", () => "here", {}, "Comes later");
    expect(await names(hub)).toEqual(["add", "later"]);
    later.unregister();
    expect(await hub.call("later")).toMatchObject({ ok: false, kind: "unknown_tool" });
    await hub.close();
    expect(closed).toEqual(["program"]);
  });

  test("an error during registration rejects, and everything that was started is closed", async () => {
    const closed: string[] = [];
    const making = open({
      registerTools: (own) => {
        own.onClose(() => void closed.push("program"));
        throw new OptionError("no");
      },
    });
    await expect(making).rejects.toThrow(OptionError);
    expect(closed).toEqual(["program"]);
  });
});
