import type { Principal, ToolMode } from "../core/calls/call.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { ObjectOf, Sections } from "../core/options/option-schema.ts";
import type { ServiceKey, ServicesOf } from "../core/service-key.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { Mountable } from "../http/listening/listener.ts";
import type { Dialect } from "./dialect.ts";

/** Open HTTP endpoint of the hub. */
export interface Endpoint {
  /** Registers the endpoint's paths. Called once. */
  mount(listener: Mountable): void;
  /**
   * Called when the listener starts to close. Hands over sessions that other hubs can continue, and accepts no work
   * that lasts.
   */
  drain?(): void;
  /** Answers running calls with a cancellation, because the listener is about to close them. */
  giveUp(): void;
  /** Releases all remaining resources. Called after the listener has closed. */
  close(): void;
  /** Pages that the endpoint adds to paths of other endpoints. @default none */
  readonly pages?: readonly SharedPage[];
}

/** Page for browsers at a path where another endpoint answers programs. */
export interface SharedPage {
  /** Exact path below the base path. */
  readonly path: string;
  /**
   * Location, relative to the path, to which a browser without credentials is redirected. @default it gets 401
   */
  readonly signInAt?: string;
  /** Returns true if a browser requests the page. */
  wants(exchange: HttpExchange): boolean;
  serve(exchange: HttpExchange): void | Promise<void>;
}

/**
 * A kind of endpoint. Each folder here exports one in its `kind.ts`, and a feature lists it (`hub/features.ts`). Its
 * options are loaded at start. Its code is loaded when an endpoint is opened, or by the first request
 * (`late-endpoint.ts`).
 */
export interface EndpointKind<S extends Sections, Options, Uses extends ServiceKey, Provides extends ServiceKey> {
  /**
   * Sections of the configuration that the endpoint reads. Tables that several kinds share, such as `server`, are
   * merged.
   */
  readonly schema: S;
  /** Paths that the endpoint always serves, below the server's base path. */
  readonly paths: readonly string[];
  /** Services that the endpoint requires. */
  readonly uses?: readonly Uses[];
  /** Services that the endpoint provides to endpoints that are opened after it. @default none */
  readonly provides?: readonly Provides[];
  /**
   * Returns the options with defaults, or `undefined` if the configuration disables the endpoint. `taken`: the fixed
   * paths of all endpoints, including its own. Throws an `OptionError` that names the section.
   */
  resolve(config: ObjectOf<S>, taken: readonly string[]): Options | undefined;
  open(options: Options, services: ServicesOf<Uses>): Promise<OpenEndpoint<Provides>>;
}

/** Open endpoint, and the services that it provides. */
export type OpenEndpoint<Provides extends ServiceKey = never> = [Provides] extends [never]
  ? Endpoint
  : Endpoint & { readonly services: ServicesOf<Provides> };

/** A kind of endpoint as the hub uses it, without its options. */
export interface EndpointDefinition<S extends Sections, Uses extends ServiceKey, Provides extends ServiceKey> {
  readonly schema: S;
  readonly paths: readonly string[];
  readonly uses: readonly Uses[];
  readonly provides: readonly Provides[];
  /**
   * Returns the function that opens the endpoint with this configuration. Returns `undefined` if the configuration
   * disables it. Throws an `OptionError`.
   */
  readonly wanted: (config: ObjectOf<S>, taken: readonly string[]) => EndpointOpener<Uses> | undefined;
}

/** Function that opens an endpoint with its services. */
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

/** State of the certificate of an encrypted port. */
export interface TlsReport {
  /** Path of the certificate file. */
  readonly certificate: string;
  /** End of validity, ISO 8601. */
  readonly validUntil: string;
  /** Reason why a newer certificate is not served, or problem of the current one, in one sentence. */
  readonly problem?: string;
}

/** MCP on HTTP: sessions, streams, both eras. The responses follow the rules of MCP. */
export interface McpFace extends Endpoint {
  /**
   * Leaves the path `/mcp` to another endpoint, which forwards MCP requests to this one. Called before endpoints are
   * mounted.
   */
  cedePath(): void;
  /** Returns true if a posted body requires MCP, on a path that other dialects share. */
  wants(body: unknown, exchange: HttpExchange): boolean;
  /** Answers a posted body that has been parsed. `dialects` are the other dialects at this path. */
  take(body: unknown, exchange: HttpExchange, dialects?: readonly Dialect[]): void | Promise<void>;
  /** Answers requests without a body, such as requests for streams and the end of a session. */
  serve(exchange: HttpExchange): void | Promise<void>;
  /** Opens a conversation for the messages of a caller without a session. */
  converse(principal: Principal): SessionlessConversation;
}

/**
 * Conversation with a caller without a session, which keeps no state. A message goes to MCP first, then to the
 * dialects.
 */
export interface SessionlessConversation {
  /** Answers one message. Resolves when nothing more will be sent to the outlet. Never rejects. */
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
