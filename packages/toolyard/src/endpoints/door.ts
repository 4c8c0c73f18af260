import type { Principal, ToolMode } from "../core/calls/call.ts";
import type { Chat } from "../core/ports/chat.ts";
import type { HubPort, View } from "../core/ports/hub-port.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { ObjectOf, Sections } from "../core/options/option-schema.ts";
import type { Fail } from "../core/calls/outcome.ts";
import type { Logger, SearchAnswer, SearchBounds } from "../core/ports/ports.ts";
import type { SignInDesk } from "../core/ports/sign-in-desk.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { Mountable } from "../http/listening/listener.ts";
import type { HomePort } from "./home-port.ts";
import type { Dialect } from "./dialect.ts";

/** One way in front of the hub over HTTP, open. */
export interface Door {
  /** Says which paths are its own. Called once. */
  mount(listener: Mountable): void;
  /** Answers calls that still run that they were given up: the grace time of the listener is nearly over. */
  giveUp(): void;
  /** Ends what is left. The listener is closed by then. */
  close(): void;
}

/**
 * One kind of door: each folder here exports one in its `kind.ts`, and `hub/serve/doors.ts` lists them. Its options are
 * known at once; its code is loaded when a door is opened, or with the first request (`late-door.ts`).
 */
export interface DoorKind<S extends Sections, Options> {
  /** Its sections of the configuration. Tables that several kinds share, such as `server`, are joined. */
  readonly schema: S;
  /** Paths that are always its own, below the server's base path. */
  readonly paths: readonly string[];
  /**
   * Its options, filled in; nothing while it is switched off. `taken`: the fixed paths of all doors, its own among
   * them. Throws an `OptionError` that names the section.
   */
  resolve(config: ObjectOf<S>, taken: readonly string[]): Options | undefined;
  open(options: Options, front: DoorFront): Promise<Door>;
}

/** A kind as the hub uses it, who does not know its options. */
export interface DefinedDoor<S extends Sections> {
  readonly schema: S;
  readonly paths: readonly string[];
  /** How to open it as a configuration says; nothing while that switches it off. Throws an `OptionError`. */
  readonly wanted: (config: ObjectOf<S>, taken: readonly string[]) => ((front: DoorFront) => Promise<Door>) | undefined;
}

export function defineDoor<S extends Sections, Options>(given: DoorKind<S, Options>): DefinedDoor<S> {
  const wanted: DefinedDoor<S>["wanted"] = (config, taken) => {
    const options = given.resolve(config, taken);
    return options === undefined ? undefined : (front) => given.open(options, front);
  };
  return Object.freeze({ schema: given.schema, paths: given.paths, wanted });
}

/** What doors ask of the hub. */
export interface DoorHub extends HubPort {
  readonly startedAt: Date;
  search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer>;
  /** The tool that a spelling means to this caller, listed or not, in its wire shape; or why there is none. */
  describeTool(
    spelling: string,
    view: View,
  ): Promise<{ readonly found: true; readonly entry: JsonObject } | { readonly found: false; readonly failure: Fail }>;
  /** A text without the secrets of the configuration. */
  redact(text: string): string;
}

/** Where doors are opened: what any of them may need. */
export interface DoorFront {
  readonly hub: DoorHub;
  readonly logger: Logger;
  /** The agent as it is now; nothing while no model is configured. */
  readonly chat: () => Chat | undefined;
  /** Callers must send a token. */
  readonly hasTokens: boolean;
  /** Mode of requests that name none. */
  readonly defaultMode: ToolMode;
  /** All of MCP, for doors at whose paths it is spoken too. */
  readonly mcp: McpFace;
  /** What is spoken behind MCP, in order: a method goes to the first that knows it. Loaded when it is asked for. */
  readonly dialects: () => Promise<readonly Dialect[]>;
  /** The page for browsers at `/`. */
  readonly home: HomePort;
  /** Sign-ins to servers behind the hub that wait for a browser. */
  readonly signIns: SignInDesk;
  /** What is known of the certificate; absent where the port is not encrypted by this hub. */
  readonly tls?: () => TlsReport;
}

/** The certificate of an encrypted port. */
export interface TlsReport {
  /** Its file. */
  readonly certificate: string;
  /** ISO time. */
  readonly validUntil: string;
  /** One sentence on what keeps a newer one from being served, or on this one. */
  readonly problem?: string;
}

/** The whole of MCP on HTTP: sessions, streams, both eras. Its answers follow MCP's rules. */
export interface McpFace extends Door {
  /** Whether a posted body needs it, on a path where other things are spoken too. */
  wants(body: unknown, exchange: HttpExchange): boolean;
  /** Answers a posted body that was read already; `dialects` are what else is spoken at this path. */
  take(body: unknown, exchange: HttpExchange, dialects?: readonly Dialect[]): void | Promise<void>;
  /** Answers whole requests, such as streams and ends of sessions. */
  serve(exchange: HttpExchange): void | Promise<void>;
  /** A conversation of its own for messages of a caller that holds no session. */
  converse(principal: Principal): Conversation;
}

/** A caller that holds no session: its messages are answered, MCP's first, and nothing of it is kept. */
export interface Conversation {
  /** Resolves when nothing more will be sent to the outlet. Never rejects. */
  receive(
    message: unknown,
    how: { readonly outlet: ReplyOutlet; readonly mode?: ToolMode; readonly dialects: readonly Dialect[] },
  ): Promise<void>;
  /** Cancels what is running and answers it with an error. */
  close(reason: string): void;
}

/** Where the reply to one message goes. */
export interface ReplyOutlet {
  reply(text: string, error?: { readonly code: number; readonly kind?: FailKind }): void;
  note(text: string): void;
  readonly reachable: boolean;
  readonly isShared: boolean;
}
