// The reference servers behave the same through the hub as directly, compared message by message with equal
// capabilities on both sides.
import { mkdir, mkdtemp, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL, fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { childEnvironment } from "../../packages/toolyard/src/process/environment.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { PipeWire } from "../fixtures/raw/pipe-wire.ts";
import { RawClient, type ServerRequestSeen, type RawClientOptions } from "../fixtures/raw/raw-client.ts";
import { serveHub, startChildServer, type EndpointName } from "../fixtures/served-hub.ts";
import { PIXEL } from "../fixtures/upstreams/rich-offers.mjs";
import { EVERYTHING_STEPS } from "./everything-steps.ts";
import { filesystemSteps, MEMORY_STEPS, THINKING_STEPS } from "./other-steps.ts";
import { openingOf, play, type PlayedStep, type Replacements, type Step } from "./transcript.ts";

const bin = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

/** One server in one run, with its own values. */
interface Subject {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Address of a server on HTTP. */
  readonly url?: string;
  /** The server's own folder, which its answers contain. */
  readonly folder?: string;
  readonly roots?: string;
  close?(): Promise<void>;
}

/** Parts of one server that are compared. */
interface Comparison {
  readonly endpoints: readonly EndpointName[];
  start(): Promise<Subject>;
  steps(folder: string): readonly Step[];
  /** Tool that shows whether the server has its roots. */
  readonly tellsRoots?: string;
}

/** Values that differ between any two runs of the same server, hub or not. */
const COMMON: Replacements = [
  // Times of day and dates that the servers put into their answers.
  [/\d{1,2}:\d\d:\d\d [AP]M/g, "<time>"],
  [/\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4} \([^)]*\)/g, "<date>"],
  // Random ids of server-everything, and the ids of HTTP sessions that it returns.
  [/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>"],
  // The hub identifies its children by this variable; one of server-everything's tools prints its whole environment.
  [/,\\n {2}\\"TOOLYARD_CHILD_ID\\": \\"<uuid>\\"/g, ""],
];

const EVERYTHING = { steps: () => EVERYTHING_STEPS, tellsRoots: "get-roots-list" };
const BOTH_ENDPOINTS = ["HTTP", "stdio"] as const;

const SERVERS: Readonly<Record<string, Comparison>> = {
  "server-everything on stdio": {
    ...EVERYTHING,
    endpoints: BOTH_ENDPOINTS,
    start: async () => ({ command: [process.execPath, bin("everything")], roots: "/home/ada" }),
  },
  "server-everything on HTTP": { ...EVERYTHING, endpoints: ["HTTP"], start: startEverythingOnHttp },
  "server-filesystem": {
    endpoints: BOTH_ENDPOINTS,
    tellsRoots: "list_allowed_directories",
    steps: filesystemSteps,
    start: async () => {
      const folder = await filesFolder();
      return {
        command: [process.execPath, bin("filesystem")],
        roots: folder,
        folder,
        close: () => rm(folder, { recursive: true, force: true }),
      };
    },
  },
  "server-memory": {
    endpoints: BOTH_ENDPOINTS,
    steps: () => MEMORY_STEPS,
    start: async () => {
      const folder = await mkdtemp(join(tmpdir(), "toolyard-memory-"));
      return {
        command: [process.execPath, bin("memory")],
        env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
        folder,
        close: () => rm(folder, { recursive: true, force: true }),
      };
    },
  },
  "server-sequential-thinking": {
    endpoints: BOTH_ENDPOINTS,
    steps: () => THINKING_STEPS,
    start: async () => ({ command: [process.execPath, bin("sequential-thinking")] }),
  },
};

async function startEverythingOnHttp(): Promise<Subject> {
  const preload = new URL("../fixtures/tell-port.mjs", import.meta.url).href;
  const urlOf = (line: string): string | undefined =>
    line.replace(/^listening on (\d+)$|^.*$/, (_all, port: string | undefined) =>
      port === undefined ? "" : `http://127.0.0.1:${port}/mcp`,
    ) || undefined;
  const server = await startChildServer(
    [process.execPath, "--import", preload, bin("everything"), "streamableHttp"],
    { PORT: "0" },
    urlOf,
  );
  return { command: [], url: server.url, roots: "/home/ada", close: async () => server[Symbol.asyncDispose]() };
}

async function filesFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-files-")));
  await mkdir(join(folder, "b"));
  await writeFile(join(folder, "a.txt"), "one\ntwo\nthree\n");
  await writeFile(join(folder, "b", "c.md"), "# c\n");
  await writeFile(join(folder, "pixel.png"), Buffer.from(PIXEL, "base64"));
  await utimes(join(folder, "a.txt"), 1_700_000_000, 1_700_000_000);
  return folder;
}

function clientOf({ roots }: Subject): RawClientOptions {
  const answers: Readonly<Record<string, JsonObject>> = {
    "roots/list": { roots: roots === undefined ? [] : [{ uri: pathToFileURL(roots).href }] },
    "sampling/createMessage": {
      role: "assistant",
      model: "some-model",
      stopReason: "endTurn",
      content: { type: "text", text: "sampled" },
    },
    "elicitation/create": { action: "accept", content: { name: "Ada", check: true, email: "ada@example.test" } },
  };
  return {
    era: "legacy",
    answer: ({ method }: ServerRequestSeen) =>
      answers[method] ?? { error: { code: -32601, message: "Method not found" } },
  };
}

type Play = { readonly opening: unknown; readonly played: readonly PlayedStep[] };

/**
 * Runs the steps against the server itself, in the environment that the hub gives to a child, since one of its tools
 * prints the environment.
 */
async function playDirectly(comparison: Comparison): Promise<Play> {
  const subject = await comparison.start();
  try {
    const wire =
      subject.url === undefined
        ? new PipeWire({ command: subject.command, env: childEnvironment({ own: subject.env ?? {} }) })
        : new HttpWire(subject.url, "legacy");
    await using client = await RawClient.open(wire, clientOf(subject));
    return await playAll(client, subject, comparison);
  } finally {
    await subject.close?.();
  }
}

/**
 * Runs the steps through a hub, with names without a prefix and the client's roots, which a shared server receives at
 * its start.
 */
async function playThroughHub(comparison: Comparison, endpoint: EndpointName): Promise<Play> {
  const subject = await comparison.start();
  const { command, env, roots, url } = subject;
  const options = { namespace: "", ...(roots !== undefined && { roots: [roots] }) };
  const mcp =
    url === undefined
      ? { stdio_servers: { real: { command, ...options, ...(env && { env }) } } }
      : { remote_servers: [{ alias: "real", url, ...options }] };
  try {
    await using hub = await serveHub({ mcp } as HubConfig, endpoint);
    return await playAll(await hub.connect(clientOf(subject)), subject, comparison);
  } finally {
    await subject.close?.();
  }
}

async function playAll(
  client: RawClient,
  { folder, roots }: Subject,
  { steps, tellsRoots }: Comparison,
): Promise<Play> {
  const replacements: Replacements = folder === undefined ? COMMON : [...COMMON, [folder, FOLDER]];
  if (tellsRoots !== undefined && roots !== undefined) await haveRoots(client, tellsRoots, roots);
  const played: PlayedStep[] = [];
  for (const step of steps(folder ?? "")) {
    try {
      played.push(await play(client, step, replacements));
    } catch (error) {
      throw new Error(`At ${step.title}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  return { opening: openingOf(client, replacements), played };
}

/**
 * Waits until the server has its roots. Servers request roots at their start or later. The hub answers that itself,
 * since no call of a client is running, so the comparison starts afterwards.
 */
async function haveRoots(client: RawClient, tellsRoots: string, roots: string): Promise<void> {
  const look = async (): Promise<void> => expect(JSON.stringify(await client.tool(tellsRoots))).toContain(roots);
  await vi.waitFor(look, { timeout: 30_000, interval: 50 });
}

const FOLDER = "<folder>";

describe.each(Object.entries(SERVERS))("%s", (name, comparison) => {
  let own: Play;
  let hubs: Map<EndpointName, Play>;
  beforeAll(async () => {
    const throughHubs = comparison.endpoints.map(
      async (endpoint) => [endpoint, await playThroughHub(comparison, endpoint)] as const,
    );
    const [directly, ...through] = await Promise.all([playDirectly(comparison), ...throughHubs]);
    own = directly;
    hubs = new Map(through);
  });

  describe.each(comparison.endpoints)("through a hub on %s, as directly", (endpoint) => {
    test(`${name}, hub on ${endpoint}: capabilities and instructions`, () => {
      expect(hubs.get(endpoint)!.opening).toEqual(own.opening);
    });

    test.each(comparison.steps(FOLDER).map(({ title }, at) => [at, title] as const))(
      `${name}, hub on ${endpoint}: %i. %s`,
      (at) => {
        const received = hubs.get(endpoint)!.played[at];
        expect(received).toBeDefined();
        expect(received).toEqual(own.played[at]);
      },
    );
  });
});
