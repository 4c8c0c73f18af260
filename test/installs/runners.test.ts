import type { ChildProcess } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exitOf, gone, isAlive, seen, textOf } from "../cli/harness.ts";
import { SERVER } from "../cli/small-server.ts";
import { InstallYard, LONG } from "./yard.ts";

const NODE = dirname(process.execPath);

const TEN = {
  a: "uvx server-a",
  b: "uvx --from server-b run-b",
  c: "uvx server-c@latest",
  d: "docker run -i --rm -e TOKEN image-d",
  e: "docker run --rm -i image-e stdio",
  f: "bunx server-f",
  g: "pipx run server-g",
  h: "pipx run --spec server-h app-h",
  i: "pnpm dlx server-i",
  j: "yarn dlx server-j",
};

test(
  "starts ten servers without cached packages at the first check, and downloads nothing at the second",
  LONG,
  async () => {
    await using yard = await InstallYard.create();
    await yard.configure(TEN);
    const first = await yard.check();
    expect(Object.values(first).map(({ state, lastError }) => lastError ?? state)).toEqual(
      Object.values(first).map(() => "ready"),
    );
    const once = await yard.downloads();
    expect(once).toHaveLength(10);
    const second = await yard.check();
    expect(Object.values(second).filter(({ state }) => state === "ready")).toHaveLength(11);
    expect(await yard.downloads()).toEqual(once);
  },
);

test("two servers of one image download it once, and report that they wait", LONG, async () => {
  await using yard = await InstallYard.create();
  await yard.configure({ one: "docker run --rm -i image-x", two: "docker run --rm -i image-x" });
  await yard.slowDown();
  const hub = yard.desk.start(["check", "--yes"], { env: yard.env });
  hub.stdout!.resume();
  await seen(
    hub.stderr!,
    /one: installing, \d+ s: Downloading image-x[\s\S]*two: installing, \d+ s: Downloading image-x/,
  );
  hub.stderr!.resume();
  await yard.quicken();
  expect(await yard.check()).toMatchObject({ one: { state: "ready" }, two: { state: "ready" } });
  expect(await yard.downloads()).toEqual(["docker image-x"]);
});

test(
  "a server start that downloads packages itself outlives its hub, and the next start waits for it",
  LONG,
  async () => {
    await using yard = await InstallYard.create();
    // An unknown flag may take the next word as its value, so that word is not downloaded.
    await yard.configure({ own: "bunx --unheard own-server" });
    await yard.slowDown();
    const hub = yard.desk.start(["check", "--yes"], { env: yard.env });
    hub.stdout!.resume();
    await seen(hub.stderr!, /own: installing, \d+ s: .+/);
    hub.kill("SIGTERM");
    await exitOf(hub);
    expect(await yard.downloading()).toHaveLength(1);
    const next = yard.desk.start(["check", "--yes", "--json"], { env: yard.env });
    const found = textOf(next.stdout!);
    next.stderr!.resume();
    await yard.quicken();
    expect(JSON.parse(await found)).toMatchObject({
      sources: expect.arrayContaining([expect.objectContaining({ id: "own", state: "ready" })]) as unknown,
    });
    expect(await yard.downloads()).toEqual(["bunx own-server"]);
  },
);

/** Starts a hub in which `bunx` downloads the package itself; returns its process too. */
async function downloadingByItself(yard: InstallYard, more = ""): Promise<{ hub: ChildProcess; pid: number }> {
  await yard.configure({ own: "bunx --unheard own-server" }, more);
  await yard.slowDown();
  const hub = yard.desk.start(["check", "--yes"], { env: yard.env });
  hub.stdout!.resume();
  await seen(hub.stderr!, /own: installing, \d+ s: .+/);
  const [pid] = await yard.downloading();
  return { hub, pid: pid! };
}

test.each(["SIGKILL", "SIGHUP"] as const)(
  "a server start that downloads packages itself finishes after its hub ended by %s",
  LONG,
  async (signal) => {
    await using yard = await InstallYard.create();
    const { hub, pid } = await downloadingByItself(yard);
    hub.kill(signal);
    await exitOf(hub);
    expect(isAlive(pid)).toBe(true);
    expect(await yard.downloading()).toHaveLength(1);
    await yard.quicken();
    expect(await yard.check()).toMatchObject({ own: { state: "ready" } });
    expect(await yard.downloads()).toEqual(["bunx own-server"]);
  },
);

test(
  "a server start that downloads packages itself ends at its time limit, even if its hub was killed",
  LONG,
  async () => {
    await using yard = await InstallYard.create();
    const { hub, pid } = await downloadingByItself(yard, 'install_timeout = "8s"\n');
    hub.kill("SIGKILL");
    await exitOf(hub);
    await gone(pid);
    await expect.poll(() => yard.downloading(), LONG).toEqual([]);
  },
);

test("reports a missing package with the program's message and advice; the others start", LONG, async () => {
  await using yard = await InstallYard.create();
  await yard.configure({ none: "uvx none-such", good: "uvx good-one" });
  const { none, good } = await yard.check();
  expect(good).toMatchObject({ state: "ready" });
  expect(none?.state).toBe("down");
  expect(none?.lastError).toMatch(/`uvx none-such` could not be downloaded \(exit code 1\).*none-such was not found/);
  expect(none?.lastError).toContain("There is no such package");
});

test("names a missing program immediately, while other servers still download", LONG, async () => {
  await using yard = await InstallYard.create();
  await yard.slowDown();
  // Configures as many servers as downloads may run concurrently.
  await yard.configure({
    gone: "uvx some-server",
    one: "docker run --rm -i image-1",
    two: "docker run --rm -i image-2",
    three: "docker run --rm -i image-3",
    four: "docker run --rm -i image-4",
  });
  await rm(yard.desk.path("bin/uvx"));
  const hub = yard.desk.start(["check", "--yes"], { env: { ...yard.env, PATH: `${yard.desk.path("bin")}:${NODE}` } });
  hub.stdout!.resume();
  const [said] = await seen(hub.stderr!, /[^]*gone: down[^\n]*/);
  expect(said).toMatch(/Command `uvx` was not found/);
  expect(said).not.toContain("gone: installing");
  hub.stderr!.resume();
  await yard.quicken();
  await exitOf(hub);
});

test("names and repairs a broken folder of uv", LONG, async () => {
  await using yard = await InstallYard.create();
  await yard.configure({ torn: "uvx torn-server" });
  const folder = join(yard.home, ".cache", "uv", "archive-v0", "a1b2c3d4e5");
  await mkdir(folder, { recursive: true });
  const traceback = `File "${folder}/lib/python3.12/site-packages/mcp/__init__.py", line 1`;
  const torn = `import { existsSync } from "node:fs";
if (existsSync(${JSON.stringify(folder)})) {
  console.error(${JSON.stringify(`${traceback}\nModuleNotFoundError: No module named 'anyio'`)});
  process.exit(1);
}
await import("./whole.mjs");`;
  await writeFile(join(yard.home, "whole.mjs"), SERVER);
  await writeFile(join(yard.home, "server.mjs"), torn);
  expect(await yard.check()).toMatchObject({ torn: { state: "ready" } });
});
