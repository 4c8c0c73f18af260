import type { Principal, ToolMode } from "../core/calls/call.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { ObjectOf, Sections } from "../core/options/option-schema.ts";
import type { ServiceKey, ServicesOf } from "../core/service-key.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { Mountable } from "../http/listening/listener.ts";
import type { Dialect } from "./dialect.ts";

/** An open HTTP endpoint in front of the hub. */
export interface Endpoint {
  /** Registers the endpoint's paths. Called once. */
  mount(listener: Mountable): void;
  /** Answers running calls with a cancellation: the grace time of the listener is nearly over. */
  giveUp(): void;
  /** Ends everything that is left. The listener is closed before this is called. */
  close(): void;
  /** Pages that it adds to paths of other endpoints. @default none */
  readonly pages?: readonly SharedPage[];
}

/** A page for browsers at a path where another endpoint answers programs. */
export interface SharedPage {
  /** Exact path, below the base path. */
  readonly path: string;
  /** Returns whether a browser requests the page. */
  wants(exchange: HttpExchange): boolean;
  serve(exchange: HttpExchange): void | Promise<void>;
}

/**
 * One kind of endpoint: each folder here exports one in its `kind.ts`, and a feature lists it (`hub/features.ts`). Its
 * options are loaded at start; its code is loaded when an endpoint is opened, or with the first request
 * (`late-endpoint.ts`).
 */
export interface EndpointKind<S extends Sections, Options, Uses extends ServiceKey, Provides extends ServiceKey> {
  /** Its sections of the configuration. Tables that several kinds share, such as `server`, are merged. */
  readonly schema: S;
  /** Paths that it always serves, below the server's base path. */
  readonly paths: readonly string[];
  /** Services that it requires. */
  readonly uses?: readonly Uses[];
  /** Services that it provides to endpoints opened after it. @default none */
  readonly provides?: readonly Provides[];
  /**
   * Returns its options with the defaults; `undefined` while it is disabled. `taken`: the fixed paths of the endpoints,
   * including its own. Throws an `OptionError` that names the section.
   */
  resolve(config: ObjectOf<S>, taken: readonly string[]): Options | undefined;
  open(options: Options, services: ServicesOf<Uses>): Promise<OpenEndpoint<Provides>>;
}

/** An open endpoint, and the services that it provides. */
export type OpenEndpoint<Provides extends ServiceKey = never> = [Provides] extends [never]
  ? Endpoint
  : Endpoint & { readonly services: ServicesOf<Provides> };

/** A kind as the hub uses it, without its options. */
export interface EndpointDefinition<S extends Sections, Uses extends ServiceKey, Provides extends ServiceKey> {
  readonly schema: S;
  readonly paths: readonly string[];
  readonly uses: readonly Uses[];
  readonly provides: readonly Provides[];
  /**
   * Returns how to open it with this configuration; `undefined` if the configuration disables it. Throws an
   * `OptionError`.
   */
  readonly wanted: (config: ObjectOf<S>, taken: readonly string[]) => EndpointOpener<Uses> | undefined;
}

/** Opens an endpoint with its services. */
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
  /** Path of the certificate file. */
  readonly certificate: string;
  /** End of validity, ISO 8601. */
  readonly validUntil: string;
  /** One sentence on why a newer certificate is not served, or on a fault of this one. */
  readonly problem?: string;
}

/** All of MCP on HTTP: sessions, streams, both eras. Its answers follow MCP's rules. */
export interface McpFace extends Endpoint {
  /** Leaves `/mcp` to another endpoint, which forwards MCP requests. Called before endpoints are mounted. */
  cedePath(): void;
  /** Returns whether a posted body requires MCP, on a path that other dialects share. */
  wants(body: unknown, exchange: HttpExchange): boolean;
  /** Answers a posted body that has been parsed; `dialects` are the other dialects at this path. */
  take(body: unknown, exchange: HttpExchange, dialects?: readonly Dialect[]): void | Promise<void>;
  /** Answers whole requests, such as requests for streams and the end of a session. */
  serve(exchange: HttpExchange): void | Promise<void>;
  /** Opens a conversation for messages of a caller that has no session. */
  converse(principal: Principal): SessionlessConversation;
}

/** A caller that has no session: its messages are answered, MCP first, and no state is kept. */
export interface SessionlessConversation {
  /** Resolves when nothing more will be sent to the outlet. Never rejects. */
  receive(
    message: unknown,
    how: { readonly outlet: ReplyOutlet; readonly mode?: ToolMode; readonly dialects: readonly Dialect[] },
  ): Promise<void>;
  /** Cancels running requests and answers them with an error. */
  close(reason: string): void;
}

/** Receiver of the reply to one message. */
export interface ReplyOutlet {
  reply(
    text: string,
    error?: { readonly code: number; readonly kind?: FailKind; readonly requiredScopes?: readonly string[] },
  ): void;
  note(text: string): void;
  readonly reachable: boolean;
  readonly isShared: boolean;
}
