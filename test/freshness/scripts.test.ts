// A thousand script tools, a hundred concurrent callers over HTTP in both eras: the response reflects the files at the
// time of the request.
import { mkdtemp, rm } from "node:fs/promises";
import { renameSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { ToolFolder } from "../support/tool-folder.ts";

const TOOLS = 1000;
const CALLERS = 100;
const LIST_CHANGED = "notifications/tools/list_changed";

let folder: ToolFolder;
let home: string;
let hub: LibraryHub;
let endpoint: string;
const callers: RawClient[] = [];

const nameOf = (at: number): string => `tool_${String(at).padStart(4, "0")}`;

/** Writes a manifest; words of equal length give files of equal size. */
function writeTool(at: number, word: string, toml = ""): void {
  const name = nameOf(at);
  folder.write(`${name}/tool.toml`, `name = "${name}"\ndescription = "The ${word} tool."\nscript = "run.sh"\n${toml}`);
}

function writeScript(at: number, word: string): void {
  folder.write(`${nameOf(at)}/run.sh`, `#!/bin/sh\necho ${word}\n`, 0o755);
}

beforeAll(async () => {
  folder = new ToolFolder();
  home = await mkdtemp(join(tmpdir(), "toolyard-fresh-"));
  for (let at = 0; at < TOOLS; at += 1) {
    writeTool(at, "first");
    writeScript(at, "first");
  }
  hub = await createHub({
    settings: {
      server: { port: 0, shutdown_grace: "1s" },
      scripts: { tools_path: folder.path },
      limits: { rate_per_minute: 0, in_flight: 0 },
    },
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
  });
  ({ endpoint } = await hub.serve());
  callers.push(
    ...(await Promise.all(Array.from({ length: CALLERS }, (_, at) => connect(at % 2 === 0 ? "legacy" : "modern")))),
  );
});

afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.close()));
  await hub.close();
  folder[Symbol.dispose]();
  await rm(home, { recursive: true, force: true });
});

const connect = (era: "legacy" | "modern"): Promise<RawClient> => RawClient.open(new HttpWire(endpoint, era), { era });

const listBy = (caller: RawClient): Promise<JsonObject[]> => caller.list("tools/list", "tools");

/** Requests every caller's list concurrently. */
function listByAll(): Promise<JsonObject[][]> {
  return Promise.all(callers.map(listBy));
}

const descriptionOf = (tools: readonly JsonObject[], at: number): unknown =>
  tools.find(({ name }) => name === nameOf(at))?.["description"];

/** Asserts a value computed from every caller's list. */
async function expectAll<T>(look: (tools: readonly JsonObject[]) => T, wanted: T): Promise<void> {
  const seen = (await listByAll()).map(look);
  expect(seen).toHaveLength(CALLERS);
  expect(seen).toEqual(Array.from({ length: CALLERS }, () => wanted));
}

async function runTool(caller: RawClient, at: number): Promise<string> {
  const { content } = (await caller.tool(nameOf(at))) as { content: { text: string }[] };
  return content[0]!.text.trim();
}

test("T2: the first list of every caller has all thousand tools", async () => {
  await expectAll((tools) => tools.filter(({ name }) => String(name).startsWith("tool_")).length, TOOLS);
});

test("T3: every later response has an added tool, and it can be called", async () => {
  writeTool(5000, "added");
  writeScript(5000, "added");
  await expectAll((tools) => descriptionOf(tools, 5000), "The added tool.");
  expect(await runTool(callers[0]!, 5000)).toBe("added");
});

test("T4, T7: every list contains a changed description, also with equal size and modification time", async () => {
  const manifest = join(folder.path, nameOf(7), "tool.toml");
  const { atime, mtime, size } = statSync(manifest);
  for (const word of ["alpha", "bravo", "delta"]) {
    writeTool(7, word);
    utimesSync(manifest, atime, mtime);
    expect(statSync(manifest).size).toBe(size);
    await expectAll((tools) => descriptionOf(tools, 7), `The ${word} tool.`);
  }
});

test("T4, T7: the next answer has each of fifty quick edits of the same size", async () => {
  const [caller] = callers;
  for (let round = 0; round < 50; round += 1) {
    const word = `w${String(round).padStart(4, "0")}`;
    writeTool(8, word);
    const hits = (await hub.search(nameOf(8), 1)).hits;
    expect(hits[0]).toMatchObject({ name: nameOf(8), description: `The ${word} tool.` });
    if (round % 10 === 0) expect(descriptionOf(await listBy(caller!), 8)).toBe(`The ${word} tool.`);
  }
});

test("T4: every answer has a manifest that an editor replaced by renaming", async () => {
  const manifest = join(folder.path, nameOf(9), "tool.toml");
  folder.write("tool_0009.new", `name = "${nameOf(9)}"\ndescription = "The moved tool."\nscript = "run.sh"\n`);
  renameSync(join(folder.path, "tool_0009.new"), manifest);
  await expectAll((tools) => descriptionOf(tools, 9), "The moved tool.");
});

test("T5: no answer has a removed tool, and calling it is refused", async () => {
  folder.remove(nameOf(10));
  await expectAll((tools) => descriptionOf(tools, 10), undefined);
  expect((await callers[0]!.request("tools/call", { name: nameOf(10), arguments: {} }))["error"]).toMatchObject({
    code: -32602,
  });
});

test("T6: a tool made ondemand leaves every list, is found by search, and returns when made native", async () => {
  writeTool(11, "first", 'visibility = "ondemand"\n');
  await expectAll((tools) => descriptionOf(tools, 11), undefined);
  expect((await hub.search(nameOf(11), 1)).hits[0]).toMatchObject({ name: nameOf(11) });
  expect(await runTool(callers[1]!, 11)).toBe("first");
  writeTool(11, "first");
  await expectAll((tools) => descriptionOf(tools, 11), "The first tool.");
});

test("T4: a hundred concurrent calls run an edited script, also with equal size and modification time", async () => {
  const script = join(folder.path, nameOf(12), "run.sh");
  const { atime, mtime } = statSync(script);
  for (const word of ["alpha", "bravo"]) {
    writeScript(12, word);
    utimesSync(script, atime, mtime);
    const answers = await Promise.all(callers.map((caller) => runTool(caller, 12)));
    expect(answers).toEqual(Array.from({ length: CALLERS }, () => word));
  }
});

test("a broken manifest removes its own tool from every answer, and fixing it restores the tool", async () => {
  folder.write(`${nameOf(13)}/tool.toml`, `name = "${nameOf(13)}\n`);
  await expectAll((tools) => [descriptionOf(tools, 13), tools.length > TOOLS - 5], [undefined, true]);
  writeTool(13, "mended");
  await expectAll((tools) => descriptionOf(tools, 13), "The mended tool.");
});

test("list_changed is sent to listeners when a tool is added, edited, hidden and removed", async () => {
  for (const era of ["legacy", "modern"] as const) {
    await using listener = await connect(era);
    await listBy(listener);
    if (era === "modern") await listener.listen();
    const changes: readonly (() => void)[] = [
      () => (writeScript(6000, "new"), writeTool(6000, "newly")),
      () => writeTool(6000, "other"),
      () => writeTool(6000, "other", 'visibility = "ondemand"\n'),
      () => writeTool(6000, "other"),
      () => folder.remove(nameOf(6000)),
    ];
    for (const change of changes) {
      const told = listener.next(LIST_CHANGED);
      change();
      await told;
      await listBy(listener);
    }
    expect(descriptionOf(await listBy(listener), 6000)).toBeUndefined();
  }
});

test("answers to continuous requests of a hundred callers are as new as the requests", async () => {
  const state = { written: 0, isOver: false };
  const stale: string[] = [];
  const asking = callers.slice(0, 20).map(async (caller) => {
    while (!state.isOver) {
      const before = state.written;
      const seen = Number(/The n(\d+) tool/.exec(String(descriptionOf(await listBy(caller), 14)))?.[1] ?? 0);
      if (seen < before) stale.push(`asked after ${before}, answered ${seen}`);
    }
  });
  for (let round = 1; round <= 40; round += 1) {
    // Replaced by renaming, because a partly written file would be another version.
    folder.write(
      "tool_0014.new",
      `name = "${nameOf(14)}"\ndescription = "The n${String(round).padStart(4, "0")} tool."\nscript = "run.sh"\n`,
    );
    renameSync(join(folder.path, "tool_0014.new"), join(folder.path, nameOf(14), "tool.toml"));
    state.written = round;
    await listBy(callers[21]!);
  }
  state.isOver = true;
  await Promise.all(asking);
  expect(stale).toEqual([]);
});
