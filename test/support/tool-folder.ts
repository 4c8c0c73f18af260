import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CallNotification } from "../../packages/toolyard/src/core/calls/call.ts";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import { Deadline } from "../../packages/toolyard/src/core/calls/deadline.ts";
import type { InnerHub } from "../../packages/toolyard/src/core/calls/inner-hub.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { fail, type Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { SILENT_LOGGER, type Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { Provider, ResolvedCall } from "../../packages/toolyard/src/core/sources/provider.ts";
import type { HubPorts } from "../../packages/toolyard/src/runtimes/calling/hub-access.ts";
import type { Source } from "../../packages/toolyard/src/core/sources/records.ts";
import { readProcess } from "../../packages/toolyard/src/process/process-table.ts";

/** A temporary folder of tools, removed after the test. */
export class ToolFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-tools-")));

  write(place: string, text: string | Buffer, mode = 0o644): string {
    const path = join(this.path, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  }

  /**
   * Writes a script tool: `<name>/tool.toml` and its script. `toml` is appended after name, description and script.
   */
  script(name: string, file: string, text: string, toml = ""): void {
    this.write(`${name}/${file}`, text, 0o755);
    this.write(`${name}/tool.toml`, `name = "${name}"\ndescription = "Tool ${name}."\nscript = "${file}"\n${toml}`);
  }

  remove(place: string): void {
    rmSync(join(this.path, place), { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    // A killed process's child may still write while it ends.
    rmSync(this.path, { recursive: true, force: true, maxRetries: 20 });
  }
}

export function testSource(kind: Source["kind"]): Source {
  return { id: kind, kind, namespace: "", order: 0 };
}

/** Services of a folder provider with a hub that has no tools and no models. */
export function folderServices(ports: Partial<HubPorts> = {}): HubPorts & { readonly logger: Logger } {
  return { logger: SILENT_LOGGER, innerHub: EMPTY_HUB, models: {}, ...ports };
}

const EMPTY_HUB: InnerHub = {
  call: ({ tool }) => Promise.resolve(fail("unknown_tool", `There is no tool ${tool}.`)),
  read: (uri) => Promise.resolve(fail("unknown_tool", `There is no resource ${uri}.`)),
  search: () => Promise.resolve({ hits: [], total: 0 }),
  list: () => Promise.resolve([]),
};

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly notifications?: CallNotification[];
}

let counter = 0;

/** Calls a tool of a provider as the pipeline would: resolved in a new listing, or in the given one. */
export async function callTool(
  provider: Provider,
  name: string,
  args: JsonObject = {},
  options: CallOptions = {},
): Promise<Outcome> {
  const { tools } = await provider.listing();
  const tool = tools.find((record) => record.name === name);
  if (!tool) throw new Error(`no tool ${name}; there are ${tools.map((record) => record.name).join(", ")}`);
  return provider.call(resolvedCall({ type: "tool", tool }, args, options));
}

export function resolvedCall(
  record: ResolvedCall["record"],
  args: JsonObject,
  { signal, timeoutMs = 20_000, notifications = [] }: CallOptions = {},
): ResolvedCall {
  const deadline = new Deadline({ idleMs: timeoutMs, totalMs: timeoutMs }, undefined, signal);
  counter += 1;
  return {
    id: `call-${counter}`,
    endpoint: "test",
    method: "tools/call",
    target: record.type === "tool" ? record.tool.name : "",
    params: {},
    arguments: args,
    meta: {},
    principal: LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: {} },
    signal: deadline.signal,
    deadline,
    wants: { progress: true, logLevel: "debug" },
    notify: (notification) => void notifications.push(notification),
    ask: () => Promise.reject(new Error("there is no user to ask")),
    relaysInput: false,
    record,
  };
}

/** Returns true while a process is alive; false for a zombie. */
export function isAlive(pid: number): boolean {
  const row = readProcess(pid);
  return row !== undefined && !row.isZombie;
}

export function textOf(outcome: Outcome): string {
  const result = outcome.ok ? outcome.result : outcome.result;
  const content = (result?.["content"] ?? []) as readonly JsonObject[];
  return content.map((item) => String(item["text"])).join("\n");
}
