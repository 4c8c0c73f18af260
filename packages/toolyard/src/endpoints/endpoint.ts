import type { Principal, ToolMode } from "../core/calls/call.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { ObjectOf, Sections } from "../core/options/option-schema.ts";
import type { ServiceKey, ServicesOf } from "../core/service-key.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { Mountable } from "../http/listening/listener.ts";
import type { Dialect } from "./dialect.ts";

/** One way in front of the hub over HTTP, open. */
export interface Endpoint {
  /** Says which paths are its own. Called once. */
  mount(listener: Mountable): void;
  /** Answers calls that still run that they were given up: the grace time of the listener is nearly over. */
  giveUp(): void;
  /** Ends what is left. The listener is closed by then. */
  close(): void;
  /** Pages that it adds to paths of other doors. @default none */
  readonly pages?: readonly SharedPage[];
}

/** A page for browsers at a path where other doors answer programs. */
export interface SharedPage {
  /** Exact, below the base path. */
  readonly path: string;
  /** Returns whether a request is a browser's that opens the page. */
  wants(exchange: HttpExchange): boolean;
  serve(exchange: HttpExchange): void | Promise<void>;
}

/**
 * One kind of door: each folder here exports one in its `kind.ts`, and a feature lists it (`hub/features.ts`). Its
 * options are known at once; its code is loaded when a door is opened, or with the first request (`late-door.ts`).
 */
export interface EndpointKind<S extends Sections, Options, Uses extends ServiceKey, Provides extends ServiceKey> {
  /** Its sections of the configuration. Tables that several kinds share, such as `server`, are joined. */
  readonly schema: S;
  /** Paths that are always its own, below the server's base path. */
  readonly paths: readonly string[];
  /** Services that it is opened with. */
  readonly uses?: readonly Uses[];
  /** Services that doors after it may use at the same place. @default none */
  readonly provides?: readonly Provides[];
  /**
   * Its options, filled in; nothing while it is switched off. `taken`: the fixed paths of all doors, its own among
   * them. Throws an `OptionError` that names the section.
   */
  resolve(config: ObjectOf<S>, taken: readonly string[]): Options | undefined;
  open(options: Options, services: ServicesOf<Uses>): Promise<OpenEndpoint<Provides>>;
}

/** An open door, and the services that it provides. */
export type OpenEndpoint<Provides extends ServiceKey = never> = [Provides] extends [never]
  ? Endpoint
  : Endpoint & { readonly services: ServicesOf<Provides> };

/** A kind as the hub uses it, without its options. */
export interface EndpointDefinition<S extends Sections, Uses extends ServiceKey, Provides extends ServiceKey> {
  readonly schema: S;
  readonly paths: readonly string[];
  readonly uses: readonly Uses[];
  readonly provides: readonly Provides[];
  /** How to open it as a configuration says; nothing while that switches it off. Throws an `OptionError`. */
  readonly wanted: (config: ObjectOf<S>, taken: readonly string[]) => EndpointOpener<Uses> | undefined;
}

/** Opens a door with its services. */
export type EndpointOpener<Uses extends ServiceKey> = (
  services: ServicesOf<Uses>,
) => Promise<Endpoint & { readonly services?: Readonly<Record<string, unknown>> }>;

export function defineEndpoint<
  S extends Sections,
  Options,
  const Uses extends ServiceKey = never,
  const Provides extends ServiceKey = never,
>(given: EndpointKind<S, Options, Uses, Provides>): EndpointDefinition<S, Uses, Provides> {
  const { schema, paths, uses = [], provides = [] } = given;
  const wanted: EndpointDefinition<S, Uses, Provides>["wanted"] = (config, taken) => {
    const options = given.resolve(config, taken);
    return options === undefined ? undefined : (services) => given.open(options, services);
  };
  return Object.freeze({ schema, paths, uses, provides, wanted });
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
export interface McpFace extends Endpoint {
  /** Leaves `/mcp` to another door, which passes on what is MCP's. Called before doors are mounted. */
  cedePath(): void;
  /** Whether a posted body needs it, on a path where other things are spoken too. */
  wants(body: unknown, exchange: HttpExchange): boolean;
  /** Answers a posted body that was read already; `dialects` are what else is spoken at this path. */
  take(body: unknown, exchange: HttpExchange, dialects?: readonly Dialect[]): void | Promise<void>;
  /** Answers whole requests, such as streams and ends of sessions. */
  serve(exchange: HttpExchange): void | Promise<void>;
  /** A conversation of its own for messages of a caller that holds no session. */
  converse(principal: Principal): SessionlessConversation;
}

/** A caller that holds no session: its messages are answered, MCP's first, and nothing of it is kept. */
export interface SessionlessConversation {
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
