import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { parse as parseToml, stringify } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENTS, type ClientKind } from "../../packages/toolyard/src/config/connect/clients.ts";
import { readClientDocument } from "../../packages/toolyard/src/config/connect/client-document.ts";
import { serversOf } from "../../packages/toolyard/src/config/edit/sources.ts";
import { matchesGlob } from "../../packages/toolyard/src/core/text/glob.ts";
import { CONFIG_SCHEMA } from "../../packages/toolyard/src/hub/schema.ts";
import { run as connect } from "../../packages/toolyard/src/cli/commands/connect.ts";
import { run as disconnect } from "../../packages/toolyard/src/cli/commands/disconnect.ts";
import { fileOf } from "../../packages/toolyard/src/cli/input/named-client.ts";
import type { Io } from "../../packages/toolyard/src/cli/output/io.ts";
import type { ConnectOptions } from "../../packages/toolyard/src/cli/connecting/options.ts";

const FIVE = ["claude", "cursor", "vscode", "codex", "roo"].map((id) => CLIENTS.find((one) => one.id === id)!);
const FIVE_CLIENTS = FIVE.length;
let home = "";
let count = 0;
beforeAll(async () => void (home = await mkdtemp(join(tmpdir(), "toolyard-five-"))));
afterAll(() => rm(home, { recursive: true, force: true }));

/** A machine with five clients, on which the commands run in this process. */
class Machine {
  readonly folder = join(home, String((count += 1)));
  readonly asked: string[] = [];
  stdout = "";
  stderr = "";

  get io(): Io {
    const sink = (add: (text: string) => void) =>
      new Writable({
        write: (chunk, _encoding, done) => {
          add(String(chunk));
          done();
        },
      });
    const { folder } = this;
    return {
      stdout: sink((text) => (this.stdout += text)),
      stderr: sink((text) => (this.stderr += text)),
      env: { HOME: folder, USERPROFILE: folder, TOOLYARD_HOME: join(folder, "hub"), PATH: process.env["PATH"] },
      cwd: folder,
      color: false,
      interrupted: new AbortController().signal,
      readStdin: () => Promise.resolve(""),
      ask: (question: string) => {
        this.asked.push(question);
        return Promise.resolve(true);
      },
    } as Io;
  }

  connect(name: string | undefined, options: ConnectOptions = {}): Promise<number> {
    return connect(name === undefined ? [] : [name], { yes: true, mode: "normal", ...options }, this.io);
  }

  disconnect(name?: string): Promise<number> {
    return disconnect(name === undefined ? [] : [name], {}, this.io);
  }

  path(client: ClientKind): string {
    return fileOf(client, this.io);
  }

  async write(client: ClientKind, text: string): Promise<void> {
    await mkdir(dirname(this.path(client)), { recursive: true });
    await writeFile(this.path(client), text);
  }

  async text(client: ClientKind): Promise<string | undefined> {
    return existsSync(this.path(client)) ? readFile(this.path(client), "utf8") : undefined;
  }

  async servers(client: ClientKind): Promise<Record<string, unknown>> {
    return plain((await readClientDocument(client, this.path(client))).servers);
  }

  async hub(): Promise<Map<string, Record<string, unknown>>> {
    const file = join(this.folder, "hub", "toolyard.toml");
    if (!existsSync(file)) return new Map();
    const tree = parseToml(await readFile(file, "utf8"));
    return new Map(serversOf(tree, CONFIG_SCHEMA).map(({ name, options }) => [name, plain(options)]));
  }
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const SECRET = "value-of-a-variable";
/** Entries that all five clients accept. */
const ENTRIES = [
  { command: "alpha", args: ["--one"] },
  { command: "alpha", args: ["--one"], disabled: true },
  { command: "alpha", args: ["--one"], disabledTools: ["delete"] },
  { command: "alpha", args: ["--one"], env: { TOKEN: SECRET } },
  { command: "beta", args: [] },
  { command: "beta", args: [], cwd: "/srv" },
  { command: "gamma", args: ["x"], autoApprove: ["read"] },
  { command: "gamma", args: ["x"] },
] as const;
const NAMES = ["a", "b", "c"] as const;

function written(client: ClientKind, servers: object): string {
  const tree = { other: 1, [client.table]: servers };
  return client.form === "toml" ? `# mine\n${stringify(tree)}` : `${JSON.stringify(tree, null, 2)}\n`;
}

const anyEntry = fc.integer({ min: 0, max: ENTRIES.length - 1 });
const anyStart = fc.array(fc.dictionary(fc.constantFrom(...NAMES), anyEntry, { maxKeys: 2 }), {
  minLength: FIVE_CLIENTS,
  maxLength: FIVE_CLIENTS,
});

type Step =
  | { readonly do: "connect"; readonly client: number | undefined; readonly keep: boolean }
  | { readonly do: "disconnect"; readonly client: number | undefined }
  | { readonly do: "put"; readonly client: number; readonly name: string; readonly entry: number }
  | { readonly do: "drop"; readonly client: number; readonly name: string };

const anyClient = fc.integer({ min: 0, max: FIVE.length - 1 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("connect" as const),
      client: fc.option(anyClient, { nil: undefined }),
      keep: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("disconnect" as const), client: fc.option(anyClient, { nil: undefined }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      client: anyClient,
      name: fc.constantFrom(...NAMES),
      entry: anyEntry,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("drop" as const), client: anyClient, name: fc.constantFrom(...NAMES) }),
  },
);

/** Servers that a user added to the file of one client. */
interface ClientServers {
  readonly servers: Map<string, object>;
  /** The file as last written by the user while it did not contain the hub. */
  untouched: string | undefined;
  /** The user has edited the file while it contained the hub. */
  isEdited: boolean;
}

class Model {
  readonly machine = new Machine();
  readonly own = new Map<ClientKind, ClientServers>();

  /** Starts with the entries of this number at each client, by name. */
  async start(first: readonly Readonly<Record<string, number>>[]): Promise<void> {
    for (const [at, client] of FIVE.entries()) {
      const servers = new Map(Object.entries(first[at] ?? {}).map(([name, entry]) => [name, ENTRIES[entry]!]));
      await this.machine.write(client, written(client, Object.fromEntries(servers)));
      this.own.set(client, { servers, untouched: await this.machine.text(client), isEdited: false });
    }
  }

  async edit(client: ClientKind, change: (servers: Record<string, unknown>) => void): Promise<void> {
    const servers = await this.machine.servers(client);
    const isConnected = "toolyard" in servers;
    change(servers);
    await this.machine.write(client, written(client, servers));
    const own = this.own.get(client)!;
    if (isConnected) own.isEdited = true;
    else own.untouched = await this.machine.text(client);
  }

  async apply(step: Step): Promise<void> {
    const named = step.client === undefined ? undefined : FIVE[step.client]!;
    if (step.do === "connect") {
      await this.machine.connect(named?.id, { keep: step.keep });
      return this.assertKept();
    }
    if (step.do === "disconnect") {
      await this.machine.disconnect(named?.id).catch((error: unknown) => {
        if (!String(error).includes("No client is connected")) throw error;
      });
      return this.assertRestored(named ? [named] : FIVE);
    }
    const client = named!;
    const { servers } = this.own.get(client)!;
    if (step.do === "put") {
      servers.set(step.name, ENTRIES[step.entry]!);
      return this.edit(client, (table) => (table[step.name] = ENTRIES[step.entry]!));
    }
    const isThere = step.name in (await this.machine.servers(client));
    if (isThere) servers.delete(step.name);
    return isThere ? this.edit(client, (table) => delete table[step.name]) : undefined;
  }

  /**
   * Asserts that every server of every client is in the client's file or in the hub, and that no client gets a server
   * that its file disables.
   */
  async assertKept(): Promise<void> {
    const hub = await this.machine.hub();
    for (const [client, { servers }] of this.own) {
      const file = await this.machine.servers(client);
      const entry = file["toolyard"] as { args?: string[] } | undefined;
      if (entry) {
        const denied = (entry.args ?? []).filter((_, at, all) => all[at - 1] === "--deny");
        const shown = [...hub].filter(([name]) => !denied.some((pattern) => matchesGlob(pattern, `${name}__tool`)));
        for (const [name, one] of servers) {
          const isServed = shown.some(([, options]) => isSame(one, options));
          expect(name in file || isServed, `${client.id} lost ${name}`).toBe(true);
        }
        for (const [name, options] of shown) assertNotWider({ client, name, options }, [...servers.values()]);
      }
    }
  }

  async assertRestored(clients: readonly ClientKind[]): Promise<void> {
    for (const client of clients) {
      const own = this.own.get(client)!;
      expect(await this.machine.servers(client)).toEqual(Object.fromEntries(own.servers));
      if (!own.isEdited) expect(await this.machine.text(client)).toBe(own.untouched);
      own.untouched = await this.machine.text(client);
      own.isEdited = false;
    }
  }
}

interface ShownServer {
  readonly client: ClientKind;
  readonly name: string;
  readonly options: Record<string, unknown>;
}

/** Asserts that the client gets no server with fewer restrictions than its own entry for the same command has. */
function assertNotWider({ client, name, options }: ShownServer, own: readonly object[]): void {
  const related = own.filter((one) => (one as { command: string }).command === options["command"]);
  const isLimited = related.some((one) => "disabled" in one || "disabledTools" in one);
  const isOwn = related.some((one) => isSame(one, options));
  expect(!isLimited || isOwn, `${client.id} now gets ${name}: ${JSON.stringify(options)}`).toBe(true);
}

function isSame(entry: object, { args = [], enabled = true, exclude = [], ...hub }: Record<string, unknown>): boolean {
  const { disabled = false, disabledTools = [], args: own = [], ...client } = entry as Record<string, unknown>;
  const [here, there] = [
    { ...client, own, disabledTools, on: !disabled },
    { ...hub, own: args, disabledTools: exclude, on: enabled },
  ];
  return isDeepStrictEqual(here, there);
}

describe("any sequence of connect, edit and disconnect over five clients", () => {
  test("loses no server, exposes none to further clients, and restores unedited files byte by byte", async () => {
    await fc.assert(
      fc.asyncProperty(anyStart, fc.array(anyStep, { minLength: 1, maxLength: 7 }), async (first, steps) => {
        const model = new Model();
        await model.start(first);
        for (const step of steps) await model.apply(step);
        await model.apply({ do: "disconnect", client: undefined });
        await model.assertRestored(FIVE);
        await rm(model.machine.folder, { recursive: true, force: true });
      }),
      { numRuns: 30, seed: 33 },
    );
  });
});

const client = (id: string): ClientKind => CLIENTS.find((one) => one.id === id)!;

async function machineWith(files: Readonly<Record<string, object>>): Promise<Machine> {
  const machine = new Machine();
  for (const [id, servers] of Object.entries(files)) await machine.write(client(id), written(client(id), servers));
  return machine;
}

async function deniedTo(machine: Machine, id: string): Promise<readonly string[]> {
  const entry = (await machine.servers(client(id)))["toolyard"] as { args: string[] };
  return entry.args.filter((_, at, all) => all[at - 1] === "--deny");
}

const ALPHA = { command: "alpha", args: ["--one"] };

describe("a client with a file that withholds a server", () => {
  test.each([
    ["switched off", { disabled: true }],
    ["with fewer tools", { disabledTools: ["delete"] }],
    ["in another folder", { cwd: "/srv" }],
    ["with other variables", { env: { TOKEN: SECRET } }],
    ["with another time limit", { timeout: 5 }],
    ["with approvals", { autoApprove: ["read"] }],
  ])("keeps a server that is in the hub and %s, and does not get the server of the hub", async (_what, setting) => {
    const machine = await machineWith({ claude: { a: ALPHA }, cursor: { a: { ...ALPHA, ...setting } } });
    expect(await machine.connect(undefined)).toBe(0);
    expect(Object.keys(await machine.servers(client("claude")))).toEqual(["toolyard"]);
    expect(Object.keys(await machine.servers(client("cursor")))).toEqual(["a", "toolyard"]);
    expect([await deniedTo(machine, "claude"), await deniedTo(machine, "cursor")]).toEqual([[], ["a__*", "a+*"]]);
    expect(machine.stdout).toMatch(/a stays with Cursor: .+\n.*The hub's a is hidden from Cursor, which has it with/s);
    expect(machine.stdout).not.toContain(SECRET);
  });

  test("does not get that server under another name, in any order of connecting clients", async () => {
    const files = { claude: { b: ALPHA }, cursor: { a: { ...ALPHA, disabled: true } } };
    for (const order of [
      ["claude", "cursor"],
      ["cursor", "claude"],
    ]) {
      const machine = await machineWith(files);
      for (const id of order) await machine.connect(id);
      expect(await deniedTo(machine, "cursor")).toEqual(["b__*", "b+*"]);
      expect(await deniedTo(machine, "claude")).toEqual([]);
      await machine.connect("cursor");
      expect(await deniedTo(machine, "cursor")).toEqual(["b__*", "b+*"]);
    }
  });

  test("gets every server from its own file, with several accounts of one program", async () => {
    const own = { work: { ...ALPHA, env: { TOKEN: "w" } }, home: { ...ALPHA, env: { TOKEN: "h" }, disabled: true } };
    const machine = await machineWith({ cursor: own });
    await machine.connect("cursor");
    expect(Object.keys(await machine.servers(client("cursor")))).toEqual(["toolyard"]);
    expect(await deniedTo(machine, "cursor")).toEqual([]);
  });

  test("is not connected by address unless settings are equal, because an address cannot hide servers", async () => {
    const machine = await machineWith({ claude: { a: ALPHA }, cursor: { a: { ...ALPHA, disabled: true } } });
    await machine.connect("claude");
    await expect(machine.connect("cursor", { http: true })).rejects.toThrow(/Leave --http out/);
    await machine.write(client("cursor"), written(client("cursor"), { a: ALPHA }));
    expect(await machine.connect("cursor", { http: true })).toBe(0);
  });

  test("keeps its own server that has the hub's name, and its file is not changed", async () => {
    const machine = await machineWith({ cursor: { toolyard: ALPHA } });
    await expect(machine.connect("cursor")).rejects.toThrow(/already has a server with the name `toolyard`/);
    expect(await machine.servers(client("cursor"))).toEqual({ toolyard: ALPHA });
  });
});

describe("disconnect", () => {
  test("restores and names the servers of every connect, in reverse order", async () => {
    const machine = await machineWith({ cursor: { a: ALPHA } });
    await machine.connect("cursor");
    const cursor = client("cursor");
    const servers = await machine.servers(cursor);
    await machine.write(cursor, written(cursor, { ...servers, b: { command: "beta", args: [] } }));
    await machine.connect("cursor");
    expect(Object.keys(await machine.servers(cursor))).toEqual(["toolyard"]);
    expect(await disconnect([], { yes: true }, machine.io)).toBe(0);
    expect(machine.stdout).toContain("Its own servers are back: a, b.");
    expect(await machine.servers(cursor)).toEqual({ a: ALPHA, b: { command: "beta", args: [] } });
  });

  test("reads the record of an earlier version", async () => {
    const machine = await machineWith({ cursor: { a: ALPHA } });
    const before = await machine.text(client("cursor"));
    await machine.connect("cursor");
    const file = join(machine.folder, "hub", "data", "connections.json");
    const records = JSON.parse(await readFile(file, "utf8")) as Record<string, { steps: object[] }>;
    const old = Object.fromEntries(Object.entries(records).map(([path, { steps }]) => [path, steps[0]]));
    await writeFile(file, JSON.stringify(old));
    await machine.disconnect();
    expect(await machine.text(client("cursor"))).toBe(before);
    expect(await readdir(dirname(machine.path(client("cursor"))))).toEqual(["mcp.json"]);
  });

  test("names a server without its backup, and still removes the hub", async () => {
    const machine = await machineWith({ cursor: { a: ALPHA } });
    await machine.connect("cursor");
    await rm(`${machine.path(client("cursor"))}.before-toolyard`);
    await machine.disconnect("cursor");
    expect(machine.stdout).toContain("Not restored, because the backup of the file is missing: a.");
    expect(await machine.servers(client("cursor"))).toEqual({});
  });
});

describe("several clients in one command", () => {
  test("are planned together, and confirmed by one question", async () => {
    const machine = await machineWith({ claude: { a: ALPHA }, cursor: { b: { command: "beta", args: [] } } });
    await machine.connect(undefined, { yes: false });
    expect(machine.asked).toEqual([
      "Connect all of these? [Y/n] ",
      expect.stringMatching(/^Take over the clients' own servers\n {2}Claude Desktop: a\n {2}Cursor: b\n/),
    ]);
  });

  test("are one JSON document, without the values of variables", async () => {
    const machine = await machineWith({
      claude: { a: { ...ALPHA, env: { TOKEN: SECRET } } },
      cursor: { b: { command: "beta", args: [] } },
    });
    await machine.connect(undefined, { json: true, dryRun: true });
    expect(JSON.parse(machine.stdout)).toMatchObject({
      dryRun: true,
      clients: [
        { client: "claude", moved: ["a"], added: [{ alias: "a", kind: "stdio" }] },
        { client: "cursor", moved: ["b"], hidden: [] },
      ],
    });
    expect(machine.stdout).not.toContain(SECRET);
  });

  test("show the warnings of the import", async () => {
    const machine = await machineWith({ cursor: { a: ALPHA, b: ALPHA } });
    await machine.connect("cursor");
    expect(machine.stderr).toContain('warning: "b" of Cursor and "a" of Cursor run the same');
  });
});
