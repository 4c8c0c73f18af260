import type { Socket } from "node:net";
import type { ToolMode } from "../../core/calls/call.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/**
 * First line of a client's process, which describes the requested hub. After the answer, the connection carries MCP.
 */
export interface Hello {
  /** Identity of the configuration that this client has read (`configIdentity`). */
  readonly identity: string;
  /** Tool mode of lists. Absent: by the configuration. */
  readonly mode?: ToolMode;
  /** Eras that the client may use. Absent: by the configuration. */
  readonly era?: ServedEra;
  /** Name of the profile that the client gets. Absent: the whole hub. */
  readonly profile?: string;
  /** Patterns of tools, prompts and URIs that are denied to the client. */
  readonly deny?: readonly string[];
  /** Environment variables of the client that affect servers. Absent: the hub uses only its own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Command of this user. It is sent instead of a `Hello`, and the connection ends after the answer. */
export type HubCommand = (typeof COMMANDS)[number];

/** Commands. `calls` returns the counts of the calls so far. */
const COMMANDS = ["status", "calls", "stop"] as const;

/** Answer of the hub to a `Hello`. */
export type Welcome = { readonly joined: true; readonly pid: number } | { readonly refused: string };

const MODES: ReadonlySet<unknown> = new Set<ToolMode>(["normal", "discovery", "all"]);

export function writeGreeting(socket: Socket, greeting: Hello | Welcome | { readonly command: HubCommand }): void {
  socket.write(`${JSON.stringify(greeting)}\n`);
}

export function readCommand({ command }: JsonObject): HubCommand | undefined {
  return COMMANDS.find((known) => known === command);
}

export function readHello(value: JsonObject): Hello | undefined {
  const { identity, mode, era, profile, deny, environment } = value;
  if (typeof identity !== "string" || (deny !== undefined && !isTextList(deny))) return undefined;
  return {
    identity,
    ...(MODES.has(mode) ? { mode: mode as ToolMode } : {}),
    ...(era === "auto" || era === "legacy" ? { era } : {}),
    ...(typeof profile === "string" ? { profile } : {}),
    ...(deny === undefined ? {} : { deny }),
    ...(isTextTable(environment) ? { environment } : {}),
  };
}

function isTextTable(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === "string");
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

export function readWelcome(value: JsonObject): Welcome | undefined {
  const { joined, pid, refused } = value;
  if (typeof refused === "string") return { refused };
  return joined === true && typeof pid === "number" ? { joined, pid } : undefined;
}

const MAX_GREETING_BYTES = 65_536;
/** Milliseconds for the greeting: both sides are local, but a process that has just started may be slow. */
const GREETING_MS = 10_000;
const NEWLINE = 0x0a;

/**
 * Reads the first line of a connection and leaves the connection paused, with the rest unread. `gone`: the connection
 * closed before the line. `silent`: no valid greeting arrived in time.
 */
export function readGreeting(socket: Socket, maxBytes = MAX_GREETING_BYTES): Promise<JsonObject | "gone" | "silent"> {
  return new Promise((resolve) => {
    let held = Buffer.alloc(0);
    const finish = (result: JsonObject | "gone" | "silent"): void => {
      clearTimeout(timer);
      socket.off("data", onData);
      for (const event of ENDS) socket.off(event, onEnd);
      socket.pause();
      resolve(result);
    };
    const onEnd = (): void => finish("gone");
    const onData = (chunk: Buffer): void => {
      held = Buffer.concat([held, chunk]);
      const end = held.indexOf(NEWLINE);
      if (end === -1) return held.length > maxBytes ? finish("silent") : undefined;
      finish(parse(held.subarray(0, end).toString("utf8")));
      if (end + 1 < held.length) socket.unshift(held.subarray(end + 1));
    };
    const timer = setTimeout(() => finish("silent"), GREETING_MS);
    socket.on("data", onData);
    for (const event of ENDS) socket.on(event, onEnd);
    socket.resume();
  });
}

const ENDS = ["end", "close", "error"] as const;

function parse(line: string): JsonObject | "silent" {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : "silent";
  } catch {
    return "silent";
  }
}
