// A whole hub over a server that sends requests, a stage that controls the order of events, and users who call.
import { fileURLToPath } from "node:url";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { PipeWire } from "../fixtures/raw/pipe-wire.ts";
import type { EraName } from "../fixtures/raw/raw-client.ts";
import { SseWire } from "../fixtures/raw/sse-wire.ts";
import type { RawWire } from "../fixtures/raw/wire.ts";
import { serveHub, startChildServer, type ChildServer, type ServedHub } from "../fixtures/served-hub.ts";
import { Person } from "./person.ts";
import { Stage } from "./stage.ts";

export type AskingKind = "side-by-side" | "sequential" | "locked";
export type AskingEndpoint = "stdio" | "HTTP" | "HTTP+SSE";

/** Path from a user to the server: endpoint of the hub, and transport of the source. */
export interface Way {
  readonly era: EraName;
  readonly endpoint: AskingEndpoint;
  /** @default "stdio" */
  readonly source?: "stdio" | "HTTP+SSE";
  /** Absent: the hub's default. */
  readonly isolation?: "shared" | "session";
}

export interface YardWish extends Way {
  /** @default "side-by-side" */
  readonly kind?: AskingKind;
  /** True if the server continues cancelled calls. */
  readonly isDeaf?: boolean;
  /** Options of the source. */
  readonly options?: { readonly max_sessions?: number; readonly total_timeout?: string };
  /** Names of principals; each has the token `token-<name>`. Default: all clients are one principal. */
  readonly principals?: readonly string[];
}

export interface AskingYard extends AsyncDisposable {
  readonly stage: Stage;
  /** Connects a client. `principal` is one of the configured names; omitted in a yard without names. */
  connect(name: string, principal?: string): Promise<Person>;
  /** Returns the hub's status of the source. Not available on stdio. */
  status(): JsonObject;
}

export function titleOf({ era, endpoint, source = "stdio", isolation }: Way): string {
  return `${era} client (${endpoint}) × server on ${source}${isolation === undefined ? "" : `, ${isolation}`}`;
}

export const ASKING_SERVER = fileURLToPath(new URL("asking-server.mjs", import.meta.url));

export async function openYard(wish: YardWish): Promise<AskingYard> {
  const closers: AsyncDisposable[] = [];
  // Closes in reverse order of opening.
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer[Symbol.asyncDispose]();
  };
  try {
    const stage = await Stage.open();
    closers.push(stage);
    const hub = await openHub(wish, stage, closers);
    const connect = async (name: string, principal?: string): Promise<Person> => {
      const person = await Person.connect(name, wish.era, wireTo(hub, wish, principal));
      closers.push(person);
      return person;
    };
    return { stage, connect, status: () => statusOf(hub), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openHub(wish: YardWish, stage: Stage, closers: AsyncDisposable[]): Promise<ServedHub> {
  const { kind = "side-by-side", isDeaf = false, source = "stdio", isolation, options = {}, principals = [] } = wish;
  const command = [process.execPath, ASKING_SERVER, kind, `stage=${stage.port}`, ...(isDeaf ? ["deaf"] : [])];
  const common = { namespace: "", ...(isolation && { isolation }), ...options };
  let remote: ChildServer | undefined;
  if (source === "HTTP+SSE") closers.push((remote = await startChildServer([...command, "sse"])));
  const mcp = remote
    ? { remote_servers: [{ alias: "asking", url: remote.url, transport: "sse" as const, ...common }] }
    : { stdio_servers: { asking: { command, ...common } } };
  const tokens = Object.fromEntries(principals.map((name) => [name, { token: `token-${name}` }]));
  const settings: HubConfig = { mcp, ...(principals.length > 0 && { server: { tokens } }) };
  const hub = await serveHub(settings, wish.endpoint === "stdio" ? "stdio" : "HTTP");
  closers.push(hub);
  return hub;
}

function wireTo({ url, command }: ServedHub, { endpoint, era }: Way, principal: string | undefined): RawWire {
  if (command) return new PipeWire({ command: [command.command, ...command.args], env: command.env });
  if (url === undefined) throw new Error("The hub has neither an address nor a command.");
  const headers: Record<string, string> = principal === undefined ? {} : { authorization: `Bearer token-${principal}` };
  return endpoint === "HTTP+SSE"
    ? new SseWire(url.replace(/\/mcp$/, "/sse"), headers)
    : new HttpWire(url, era, headers);
}

function statusOf({ library }: ServedHub): JsonObject {
  const found = library?.sources().find(({ source }) => source.id.includes("asking"));
  const info: unknown = found?.status.info;
  return isJsonObject(info) ? info : {};
}
