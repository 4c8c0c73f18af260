import type { Logger } from "../../core/ports/ports.ts";
import type { Peers } from "../../state/ports/peers.ts";
import { PrincipalReader, writePrincipal } from "../adapters/workers/principal-text.ts";
import { RemoteRequest } from "../adapters/workers/remote-wire.ts";
import { answerFailure } from "../answer/failure.ts";
import type { HttpAnswer } from "../answer/answer.ts";
import { Refusal } from "../answer/refusal.ts";
import { HttpExchange, type ExchangePlace } from "../exchange.ts";
import type { Mountable } from "../listening/listener.ts";
import type { ForwardResult } from "./forwarding.ts";
import { HttpTransport, RELAY_PATH } from "./http-transport.ts";
import { passedHeaders, RELAY_HEADER, RELAYED } from "./relayed-headers.ts";
import { RequestSeal, type RelayHead, type SealedRequest } from "./sealed-request.ts";
import { StoreTransport } from "./store-transport.ts";

export interface RelayParts {
  readonly hub: string;
  readonly peers: Peers;
  /** Returns the secret of the store. */
  readonly secret: () => Uint8Array;
  readonly logger: Logger;
}

/** Answers a request that another hub has passed to this one. */
export type RelayHandler = (exchange: HttpExchange, head: RelayHead) => void | Promise<void>;

/** Request to pass to another hub. */
export interface RelayedRequest {
  readonly http: HttpExchange;
  /** Body of the request. Empty if it has none. */
  readonly body: string | Uint8Array;
  /** True if the path also serves other dialects than MCP. @default false */
  readonly hasDialects?: boolean;
}

/** Matches the message authentication code of a request: 32 bytes in base64url. */
const CODE = /^[\w-]{43}$/;
const FOREIGN = "Only the hubs of the same store may send requests here, each one once.";
/** Maximum number of bytes of a request's head. */
const MAX_HEAD_BYTES = 1024 * 1024;

/**
 * Passes requests between the hubs of a store: over HTTP if the other hub has announced an address, otherwise through
 * the store. A hub authenticates the caller of a request before it passes the request on. The other hub verifies the
 * sending hub, and then compares the caller with the owner of the session or call. Credentials of callers stay at the
 * hub that received them.
 */
export class HubRelay {
  readonly #parts: RelayParts;
  readonly #seal: RequestSeal;
  readonly #http = new HttpTransport();
  readonly #store: StoreTransport;
  readonly #principals = new PrincipalReader();
  readonly #streams = new Set<HttpExchange>();
  #handler: RelayHandler | undefined;
  #place: ExchangePlace | undefined;
  #closing: AbortSignal | undefined;
  readonly #unreached = new Set<string>();

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#seal = new RequestSeal(parts.hub, parts.secret);
    this.#store = new StoreTransport({
      hub: parts.hub,
      peers: parts.peers,
      logger: parts.logger,
      serve: (request, answer) => this.#serveFromStore(request, answer),
    });
  }

  /** Serves the requests of other hubs with `handler`. */
  mount(listener: Mountable, handler: RelayHandler): void {
    this.#handler = handler;
    this.#place = listener.place;
    listener.route({ methods: ["POST"], path: RELAY_PATH, isOpen: true }, (outer) => this.#serveFromHttp(outer));
  }

  /** Passes a request to a hub. Rejects with a `StoreLostError` if its address cannot be found. */
  async forward(hub: string, request: RelayedRequest): Promise<ForwardResult> {
    const found = this.#parts.peers.find(hub);
    const facts = found instanceof Promise ? await found : found;
    if (!facts) return "unsent";
    const { http } = request;
    if (http.method === "GET") this.#endWithListener(http);
    if (facts.url === undefined) return orUnsent(await this.#store.forward(http, hub, this.#sealed(hub, request)));
    const result = await this.#http.forward(http, facts.url, this.#sealed(hub, request));
    if (result !== "unsent" && result !== "gone") return result;
    const second = await this.#store.forward(http, hub, this.#sealed(hub, request));
    if (second === "answered") this.#reportUnreached(facts.url);
    return result === "gone" ? second : orUnsent(second);
  }

  close(): void {
    this.#http.close();
    this.#store.close();
  }

  #sealed(to: string, { http, body, hasDialects }: RelayedRequest): SealedRequest {
    const { method, principal, remoteAddress, baseUrl, path, search, mount } = http;
    return this.#seal.seal(
      {
        to,
        method,
        target: path,
        route: 0,
        headers: passedHeaders(http.headers),
        principal: writePrincipal(principal),
        remoteAddress,
        baseUrl,
        path,
        search,
        mount,
        ...(hasDialects && { hasDialects }),
      },
      body,
    );
  }

  async #serveFromHttp(outer: HttpExchange): Promise<void> {
    const code = outer.header(RELAY_HEADER) ?? "";
    // Most requests of other programs are refused before their body is read.
    if (!CODE.test(code)) throw new Refusal(403, FOREIGN);
    const bytes = await outer.readBody(outer.place.limits.maxBodyBytes + MAX_HEAD_BYTES);
    return this.#serve({ bytes, code }, outer.answer, outer.place);
  }

  #serveFromStore(request: SealedRequest, answer: HttpAnswer): void {
    const place = this.#place;
    if (!place) return answer.cut();
    this.#serve(request, answer, place).catch((error: unknown) =>
      answerFailure(error, { answer, method: "POST", logger: this.#parts.logger, refusalBody: undefined }),
    );
  }

  async #serve(request: SealedRequest, answer: HttpAnswer, place: ExchangePlace): Promise<void> {
    const opened = this.#seal.open(request);
    if (!opened || !this.#handler) throw new Refusal(403, FOREIGN);
    const { head, body } = opened;
    const { remoteAddress, baseUrl, path, search, mount } = head;
    const facts = { principal: this.#principals.read(head.principal), remoteAddress, baseUrl, path, search, mount };
    const inner = new HttpExchange({ request: new RemoteRequest(head, body), answer }, facts, place);
    inner.relayedFrom = head.from;
    answer.setHeader(RELAY_HEADER, RELAYED.answered);
    return this.#handler(inner, head);
  }

  /** Ends a relayed stream when the listener closes. All streams share one listener, because there may be thousands. */
  #endWithListener(http: HttpExchange): void {
    this.#streams.add(http);
    http.answer.onClosed(() => this.#streams.delete(http));
    if (this.#closing === http.closing) return;
    this.#closing = http.closing;
    http.closing.addEventListener("abort", () => {
      for (const { answer } of Array.from(this.#streams)) answer.cut();
    });
  }

  /** Logs once that a hub cannot be reached at its address. */
  #reportUnreached(url: string): void {
    if (this.#unreached.has(url) || this.#unreached.size >= MAX_REPORTED) return;
    this.#unreached.add(url);
    this.#parts.logger.warning(
      "Another hub cannot be reached at its address, so requests are passed through the store. Check its " +
        "`store.advertise` and `server.allowed_hosts`, unless the hub is stopping.",
      { url },
    );
  }
}

/**
 * Converts `gone` to `unsent`. A hub that does not listen to the store may be connecting to it again; it has exited
 * only if its address refuses connections as well.
 */
function orUnsent(result: ForwardResult): ForwardResult {
  return result === "gone" ? "unsent" : result;
}

/** Maximum number of addresses that are reported. */
const MAX_REPORTED = 100;
