import { access, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { test, type ExpectStatic } from "vitest";
import type { Provider } from "../../packages/toolyard/src/core/sources/provider.ts";
import { npxFolder } from "../../packages/toolyard/src/providers/stdio/install/npx.ts";
import { resolveStdioServer, type StdioServerConfig } from "../../packages/toolyard/src/providers/stdio/options.ts";
import { createStdioProvider } from "../../packages/toolyard/src/providers/stdio/stdio-provider.ts";
import { NpmRegistry, serverPackages } from "../fixtures/installs/npm-registry.ts";
import { Lines, SOURCE } from "../fixtures/upstreams/harness.ts";
import { seen } from "../cli/harness.ts";
import { InstallYard, LONG } from "./yard.ts";

interface Source extends AsyncDisposable {
  readonly provider: Provider;
  readonly lines: Lines;
}

/** Configures `npx -y <name>` as a source of a hub, with the home of the yard. */
function npx(yard: InstallYard, name: string, config: Partial<StdioServerConfig> = {}): Source {
  const lines = new Lines();
  const options = resolveStdioServer({ command: `npx -y ${name}`, env: { HOME: yard.home }, ...config });
  const provider = createStdioProvider({ source: SOURCE, options, logger: lines, installsFolder: yard.books });
  provider.open();
  return { provider, lines, [Symbol.asyncDispose]: () => provider.close() };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly message?: string };
}

/** Collects the JSON-RPC messages of a stream, one per line. */
function messagesOf(stream: NodeJS.ReadableStream): readonly Message[] {
  const messages: Message[] = [];
  createInterface({ input: stream }).on("line", (line) => void messages.push(JSON.parse(line) as Message));
  return messages;
}

// These tests mostly wait: for a held download, or for a time limit. They run concurrently, each with a separate home
// and registry.
const SLOW = { timeout: 500_000 };

async function ready({ provider }: Source, expect: ExpectStatic): Promise<void> {
  await expect.poll(() => provider.status().state, SLOW).toBe("ready");
}

async function installing({ provider }: Source, expect: ExpectStatic): Promise<void> {
  await expect.poll(() => provider.status().installing?.pid, SLOW).toBeGreaterThan(0);
}

test.concurrent(
  "waits for a download that takes longer than connect_timeout, and reports it as running",
  LONG,
  async ({ expect }) => {
    await using registry = await NpmRegistry.start(serverPackages("slow-server"));
    await using yard = await InstallYard.create(registry.npmrc());
    registry.hold();
    await using source = npx(yard, "slow-server", { connect_timeout: "15s" });
    await installing(source, expect);
    await pause(15_500);
    expect(source.provider.status()).toMatchObject({
      state: "starting",
      installing: { package: "npx slow-server", waitsFor: expect.stringMatching(/./) as string },
    });
    expect(source.lines.all.map(({ message }) => message)).toContain("Still downloading.");
    registry.release();
    await ready(source, expect);
    expect(source.provider.status().installing).toBeUndefined();
    expect(source.provider.status().restarts).toBe(0);
    expect(source.provider.status().stderr?.filter((line) => line.startsWith("npm error")) ?? []).toEqual([]);
  },
);

test.concurrent("a call that times out during a download reports the download", LONG, async ({ expect }) => {
  await using registry = await NpmRegistry.start(serverPackages("awaited-server"));
  await using yard = await InstallYard.create(registry.npmrc());
  await yard.configure({ awaited: "npx -y awaited-server" });
  registry.hold();
  const called = async (): Promise<string> => {
    const args = ["call", "-y", "awaited__pid", "--timeout", "5s"];
    return (await yard.desk.run(args, { env: yard.env })).stderr;
  };
  await expect
    .poll(called, SLOW)
    .toMatch(/awaited is installing: `npx awaited-server` has been downloading for \d+.* Try again in a moment/);
  registry.release();
  expect(await yard.check()).toMatchObject({ awaited: { state: "ready" } });
});

test.concurrent(
  "a call that waits for a download reports progress, tool_search and the status name the download",
  LONG,
  async ({ expect }) => {
    await using registry = await NpmRegistry.start(serverPackages("slow-server"));
    await using yard = await InstallYard.create(registry.npmrc());
    await yard.configure({ awaited: "npx -y slow-server" });
    registry.hold();
    const hub = yard.desk.start(["serve", "--stdio", "--yes"], { env: yard.env });
    const messages = messagesOf(hub.stdout!);
    const call = (id: number, name: string, args: object, meta = {}): void => {
      const params = { name, arguments: args, _meta: meta };
      hub.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    };
    hub.stdin!.write(`${JSON.stringify(INITIALIZE)}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`);
    call(2, "awaited__pid", {}, { progressToken: "wait" });
    const progress = (): string[] =>
      messages.flatMap(({ method, params }) => (method === "notifications/progress" ? [String(params?.message)] : []));
    await expect
      .poll(progress, SLOW)
      .toContainEqual(expect.stringMatching(/^Waiting for the source awaited: `npx slow-server` has been downloading/));
    call(3, "tool_search", { query: "anything" });
    const answer = (id: number): string => JSON.stringify(messages.find((one) => one.id === id) ?? null);
    await expect.poll(() => answer(3), SLOW).toMatch(/installing: awaited, \d+ s/);
    registry.release();
    await expect.poll(() => answer(2), SLOW).toContain('"result"');
  },
);

test.concurrent(
  "a hub that ends leaves its download running, and the next start waits for it",
  LONG,
  async ({ expect }) => {
    await using registry = await NpmRegistry.start(serverPackages("left-server"));
    await using yard = await InstallYard.create(registry.npmrc());
    registry.hold();
    {
      await using first = npx(yard, "left-server");
      await installing(first, expect);
      await expect.poll(() => registry.downloads.length, SLOW).toBeGreaterThan(0);
    }
    const [pid] = await yard.downloading();
    expect(pid).toBeGreaterThan(0);
    await using second = npx(yard, "left-server");
    await expect.poll(() => second.provider.status().installing, SLOW).toMatchObject({ pid });
    registry.release();
    await ready(second, expect);
    expect(registry.downloads.toSorted()).toEqual(["left-server", "left-server-needs"]);
  },
);

test.concurrent("killing a hub during a download leaves no broken folder behind", LONG, async ({ expect }) => {
  await using registry = await NpmRegistry.start(serverPackages("killed-server"));
  await using yard = await InstallYard.create(registry.npmrc());
  await yard.configure({ killed: "npx -y killed-server" });
  registry.hold();
  const hub = yard.desk.start(["check", "--yes"], { env: yard.env });
  hub.stdout!.resume();
  const said = await seen(hub.stderr!, /killed: installing, \d+ s: .+/);
  expect(said[0]).toContain("installing");
  await expect.poll(() => registry.downloads.length, SLOW).toBeGreaterThan(0);
  hub.kill("SIGKILL");
  registry.release();
  expect(await yard.check()).toMatchObject({ killed: { state: "ready", tools: 3 } });
  expect(registry.downloads.toSorted()).toEqual(["killed-server", "killed-server-needs"]);
});

test.concurrent("two hubs that start concurrently download once", LONG, async ({ expect }) => {
  await using registry = await NpmRegistry.start(serverPackages("both-server"));
  await using yard = await InstallYard.create(registry.npmrc());
  registry.hold();
  await using first = npx(yard, "both-server");
  await using second = npx(yard, "both-server");
  await yard.configure({ third: "npx -y both-server" });
  const third = yard.check();
  await Promise.all([installing(first, expect), installing(second, expect)]);
  registry.release();
  await Promise.all([ready(first, expect), ready(second, expect)]);
  expect(await third).toMatchObject({ third: { state: "ready" } });
  expect(registry.downloads.toSorted()).toEqual(["both-server", "both-server-needs"]);
});

test.concurrent(
  "reports a broken _npx folder; `check --yes` repairs it, and the server starts",
  LONG,
  async ({ expect }) => {
    await using registry = await NpmRegistry.start(serverPackages("torn-server"));
    await using yard = await InstallYard.create(registry.npmrc());
    await yard.configure({ torn: "npx -y torn-server" });
    expect(await yard.check()).toMatchObject({ torn: { state: "ready" } });
    const folder = join(yard.home, ".npm", "_npx", npxFolder(["torn-server"]));
    const lost = join(folder, "node_modules", "torn-server-needs", "lib", "there.mjs");
    await rm(lost);
    await using source = npx(yard, "torn-server");
    await expect
      .poll(() => source.provider.status().broken, SLOW)
      .toEqual({
        package: "npx torn-server",
        folders: [folder],
        mended: false,
      });
    expect(source.provider.status().lastError).toContain("toolyard check --yes");
    expect(await yard.check()).toMatchObject({ torn: { state: "ready", tools: 3 } });
    await access(lost);
  },
);

test.concurrent(
  "repairs a package with a missing dependency once, and then reports the package",
  LONG,
  async ({ expect }) => {
    const files = { "main.mjs": '#!/usr/bin/env node\nimport "nobody-brings-this";\n' };
    await using registry = await NpmRegistry.start([{ name: "faulty-server", bin: "main.mjs", files }]);
    await using yard = await InstallYard.create(registry.npmrc());
    await yard.configure({ faulty: "npx -y faulty-server" });
    const { faulty } = await yard.check();
    expect(faulty).toMatchObject({ state: "down", broken: { mended: true } });
    expect(faulty?.lastError).toContain("the package itself is incomplete");
    const before = await readdir(join(yard.home, ".npm", "_npx"));
    expect((await yard.check())["faulty"]?.lastError).toContain("the package itself is incomplete");
    expect(await readdir(join(yard.home, ".npm", "_npx"))).toEqual(before);
  },
);

test.concurrent("reports a missing package and an unreachable registry with advice", LONG, async ({ expect }) => {
  await using registry = await NpmRegistry.start([]);
  await using yard = await InstallYard.create(registry.npmrc());
  await yard.configure({ nobody: "npx -y nobody-made-this" });
  expect((await yard.check())["nobody"]?.lastError).toMatch(/E404.*There is no such package/);
  await using elsewhere = await InstallYard.create("registry=http://127.0.0.1:9\nfetch-retries=0\n");
  await elsewhere.configure({ nobody: "npx -y nobody-made-this" });
  expect((await elsewhere.check())["nobody"]?.lastError).toMatch(/ECONNREFUSED.*The registry cannot be reached/);
});

test.concurrent("ends a stalled download after install_timeout, with its processes", LONG, async ({ expect }) => {
  await using registry = await NpmRegistry.start(serverPackages("stalled-server"));
  await using yard = await InstallYard.create(registry.npmrc());
  registry.hold();
  await using source = npx(yard, "stalled-server", { install_timeout: "20s" });
  await installing(source, expect);
  await expect.poll(() => source.provider.status().lastError, SLOW).toMatch(/within 20 s \(`install_timeout`\)/);
  expect(await yard.downloading()).toEqual([]);
});

/** Runs `check` after the yard's registry was stopped. */
async function checkedOffline(yard: InstallYard, registry: NpmRegistry) {
  await registry[Symbol.asyncDispose]();
  return yard.check();
}

test.concurrent("starts a cached server while the registry cannot be reached", LONG, async ({ expect }) => {
  const registry = await NpmRegistry.start([...serverPackages("kept-server"), ...serverPackages("pinned-server")]);
  await using yard = await InstallYard.create(registry.npmrc());
  await yard.configure({
    kept: "npx -y kept-server",
    latest: "npx -y kept-server@latest",
    pinned: "npx -y pinned-server@1.0.0",
  });
  const ready = { kept: { state: "ready" }, latest: { state: "ready" }, pinned: { state: "ready" } };
  expect(await yard.check()).toMatchObject(ready);
  expect(await checkedOffline(yard, registry)).toMatchObject(ready);
  // Tests a missing record of the download, as after running `npx` manually, and an old record.
  await rm(yard.books, { recursive: true });
  expect(await yard.check()).toMatchObject(ready);
});

test.concurrent("uses the registry in the environment of the hub", LONG, async ({ expect }) => {
  await using registry = await NpmRegistry.start(serverPackages("private-server"));
  await using yard = await InstallYard.create();
  await yard.configure({ private: "npx -y private-server" });
  const env = { ...yard.env, npm_config_registry: /^registry=(.+)$/m.exec(registry.npmrc())![1]! };
  const { stdout } = await yard.desk.run(["check", "--yes", "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    sources: expect.arrayContaining([expect.objectContaining({ id: "private", state: "ready" })]) as object,
  });
});
