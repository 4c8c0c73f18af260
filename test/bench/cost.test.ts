// The limits are ten times wider than the goals of bench/README.md, so only changes by an order of magnitude fail. CPU
// time is measured where other load would change the duration.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cli, legacyClient, withHub, type Client, type RunningHub } from "../../bench/lib/hub.mjs";
import { cpuMs, least, memoryMb, timed } from "../../bench/lib/measure.mjs";
import { startServer, type Server } from "../../bench/lib/servers.mjs";
import { emptyYard, kindsYard, modulesYard, scriptsYard } from "../../bench/lib/yards.mjs";

// The CPU time of a process is in /proc, which only Linux has; the other tests run on every system.
const onLinux = test.runIf(process.platform === "linux");

let scratch: string;
let folders = 0;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "toolyard-cost-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const folder = (): Promise<string> => mkdtemp(join(scratch, `${(folders += 1)}-`));

async function served<T>(
  yard: (folder: string) => string,
  work: (hub: RunningHub, client: Client) => Promise<T>,
): Promise<T> {
  return withHub(yard(await folder()), { home: await folder() }, work);
}

async function cpuOf(hub: RunningHub, work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs(hub.pid);
  await work();
  return cpuMs(hub.pid) - before;
}

onLinux("an empty hub answers its first list within 3 s of CPU and takes less than 140 MB", async () => {
  await served(emptyYard, async (hub, client) => {
    expect((await client.list()).tools.map(({ name }) => name)).toEqual(["execute_code"]);
    expect(cpuMs(hub.pid)).toBeLessThan(3000);
    expect(memoryMb(hub.pid).resident).toBeLessThan(140);
  });
});

onLinux(
  "1000 script tools: a warm list is cheaper than the first one, and shows a tool that was just removed as gone",
  async () => {
    const at = await folder();
    const { config, tools } = scriptsYard(at, 1000);
    await withHub(config, { home: await folder() }, async (hub, client) => {
      const first = await cpuOf(hub, () => client.list());
      const warm: number[] = [];
      for (let round = 0; round < 8; round += 1) warm.push(await cpuOf(hub, () => client.list()));
      expect(least(warm)).toBeLessThan(first / 2);
      await rm(join(tools, "tool_00500"), { recursive: true });
      const names = (await client.list()).tools.map(({ name }) => name);
      expect(names).toContain("tool_00499");
      expect(names).not.toContain("tool_00500");
    });
  },
);

onLinux("10000 catalogued tools: a list costs less from the second time on, at most 100 ms of CPU", async () => {
  await served(
    (at) => modulesYard(at, 10_000),
    async (hub, client) => {
      const first = await cpuOf(hub, () => client.list());
      const warm: number[] = [];
      for (let round = 0; round < 8; round += 1) warm.push(await cpuOf(hub, () => client.list()));
      expect(least(warm)).toBeLessThan(first);
      expect(least(warm)).toBeLessThan(100);
    },
  );
});

test("calls a local script from the shell within 4 s", async () => {
  const { config } = scriptsYard(await folder(), 1);
  const env = { ...process.env, TOOLYARD_HOME: await folder() };
  const took: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    took.push(
      await timed(() =>
        promisify(execFile)(process.execPath, [cli, "call", "tool_00000", '{"text":"hello"}', "--config", config], {
          env,
        }),
      ),
    );
  }
  expect(least(took)).toBeLessThan(4000);
});

test("a command that prints its version loads neither the hub nor a configuration", async () => {
  const [version, list] = await Promise.all([
    loadedFiles(["--version"]),
    loadedFiles(["list", "--config", emptyYard(await folder())]),
  ]);
  expect(version.filter((path) => /\/(?:hub|config|catalog|endpoints|providers|pipeline)\//.test(path))).toEqual([]);
  expect(version.filter((path) => /\/cli\/[\w-]+-rows?\.js$/.test(path)).length).toBeLessThanOrEqual(1);
  expect(list.some((path) => path.includes("/catalog/"))).toBe(true);
});

test("a hub without upstreams loads none of the heavy packages", async () => {
  const loaded = await loadedFiles(["list", "--config", emptyYard(await folder())]);
  const packages = ["undici", "ai", "@ai-sdk\\/[^/]+", "ajv", "ajv-formats", "chokidar", "sucrase", "jsonc-parser"];
  // Python's engine is no module: `dist/sandbox/` below has the files that load it.
  const engines = ["quickjs-wasi"];
  const library = ["unpdf", "@orama\\/[^/]+", "mdast-util-[^/]+", "htmlparser2", "franc-min", "libsql", "pg"];
  const entries = ["options", "services", "kind", "names", "remote-name", "service-outage", "command-words"];
  // The files that describe a source kind are small; they load the rest when a source needs it.
  const parts = [
    "dist\\/sandbox\\/(?!options|service\\.|sandbox\\.|create-engine\\.)",
    "dist\\/(?:upstream|process|runtimes\\/scripts)\\/",
    "dist\\/models\\/(?:image|text|language)-model",
    "dist\\/pipeline\\/(?!options|late-pipeline)",
    "dist\\/servers\\/",
    "dist\\/cli\\/(?:gnn|library|core|setup|sign-in)-row",
    "dist\\/websearch\\/(?!options)",
    `dist\\/providers\\/(?:stdio|http|scripts|folders|modules|defaults)\\/(?!${entries.join("|")})`,
  ];
  const heavy = new RegExp(
    `/node_modules/(?:${[...packages, ...engines, ...library].join("|")})/|/(?:${parts.join("|")})`,
  );
  expect(loaded.filter((path) => heavy.test(path))).toEqual([]);
  expect(loaded.some((path) => path.includes("/providers/builtin/"))).toBe(true);
});

test("loads the table of token vectors at the first search, not before", async () => {
  const config = emptyYard(await folder());
  const table = /\/dist\/(?:models\/table|catalog\/search\/likeness)\//;
  const [list, search] = await Promise.all([
    loadedFiles(["list", "--config", config]),
    loadedFiles(["search", "is it alive", "--config", config]),
  ]);
  expect(list.filter((path) => table.test(path))).toEqual([]);
  expect(search.some((path) => path.endsWith("/dist/models/table/token-table.js"))).toBe(true);
});

/** Returns the paths of the modules that a command line loads. */
async function loadedFiles(args: readonly string[]): Promise<string[]> {
  const hook = new URL("../../bench/lib/trace-loads.mjs", import.meta.url).href;
  const env = { ...process.env, TOOLYARD_HOME: await folder(), NODE_NO_WARNINGS: "1" };
  const { stderr } = await promisify(execFile)(process.execPath, ["--import", hook, cli, ...args], { env });
  return stderr.split("\n").filter((line) => line.startsWith("loads file:"));
}

onLinux("a call costs least in process (at most 1.5 ms of CPU), more in a child, and most in a new child", async () => {
  await withEcho(async (remote) => {
    await served(
      (at) => kindsYard(at, remote.url),
      async (hub, modern) => {
        const legacy = await legacyClient(hub.url);
        try {
          for (const client of [modern, legacy]) {
            const [builtin, stdio, http, script] = await perCall(hub, [
              [60, () => client.call("meta.ping", {})],
              [60, () => client.call("child__echo", { text: "hello" })],
              [60, () => client.call("web__echo", { text: "hello" })],
              [3, () => client.call("tool_00000", { text: "hello" })],
            ]);
            expect(builtin).toBeLessThan(1.5);
            expect(builtin).toBeLessThan(stdio);
            expect(stdio).toBeLessThan(script);
            expect(http).toBeLessThan(script);
          }
        } finally {
          legacy.close();
        }
      },
    );
  });
});

type Kind = readonly [count: number, call: () => Promise<unknown>];

/**
 * Returns the hub's CPU time for one call of each kind: the minimum of several rounds. The kinds take turns, so that
 * warm-up and other load affect all of them equally.
 */
async function perCall<const Kinds extends readonly Kind[]>(
  hub: RunningHub,
  kinds: Kinds,
): Promise<{ [At in keyof Kinds]: number }> {
  const used = kinds.map((): number[] => []);
  for (let round = 0; round < 10; round += 1) {
    for (const [at, [count, call]] of kinds.entries()) {
      const spent = await cpuOf(hub, async () => {
        for (let turn = 0; turn < count; turn += 1) await call();
      });
      used[at]!.push(spent / count);
    }
  }
  return used.map(least) as { [At in keyof Kinds]: number };
}

test("answers a call within 2 s after the child crashed, and serves the next call", async () => {
  await withEcho(async (remote) => {
    await served(
      (at) => kindsYard(at, remote.url),
      async (_hub, client) => {
        await client.call("child__echo", { text: "up" });
        const took = await timed(async () =>
          expect(await client.call("child__die", {})).toMatchObject({ isError: true }),
        );
        expect(took).toBeLessThan(2000);
        expect(await client.call("child__echo", { text: "again" })).toMatchObject({
          content: [{ type: "text", text: "again" }],
        });
      },
    );
  });
});

async function withEcho(work: (server: Server) => Promise<void>): Promise<void> {
  const server = await startServer("echo-http.mjs");
  try {
    await work(server);
  } finally {
    server.stop();
  }
}
