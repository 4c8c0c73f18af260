import type { Logger } from "../../core/ports/ports.ts";
import type { Peers } from "../../state/ports/peers.ts";
import { PrincipalReader } from "../adapters/workers/principal-text.ts";
import { answerFailure } from "../answer/failure.ts";
import type { HttpAnswer } from "../answer/answer.ts";
import { Refusal } from "../answer/refusal.ts";
import { HttpExchange, type ExchangePlace } from "../exchange.ts";
import type { Mountable } from "../listening/listener.ts";
import { HeadMemo } from "../wire.ts";
import type { ForwardResult } from "./forwarding.ts";
import { fitsFrame } from "./frames/frame-connection.ts";
import { FramedRequest, FrameHost, type HostedRequest } from "./frames/frame-host.ts";
import { FrameTransport, type OtherHub } from "./frames/frame-transport.ts";
import { Handshakes } from "./frames/handshake.ts";
import { headFacts, HeadReader, writeHead, type FrameHead } from "./frames/request-heads.ts";
import { RELAY_PATH } from "./frames/upgrade.ts";
import { HttpTransport } from "./http-transport.ts";
import { RELAY_HEADER, RELAYED } from "./relayed-headers.ts";
import { RequestSeal, type SealedRequest } from "./sealed-request.ts";
import { createSignedAnswer } from "./signed-answer.ts";
import { StoreTransport } from "./store-transport.ts";

export interface RelayParts {
  readonly hub: string;
  readonly peers: Peers;
  /** Returns the secret of the store. */
  readonly secret: () => Uint8Array;
  /** Returns the time of the store's clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Answers a request that another hub has passed to this one. */
export type RelayHandler = (exchange: HttpExchange, head: FrameHead) => void | Promise<void>;

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
 * Passes requests between the hubs of a store. If the other hub has announced an address, requests are sent as frames
 * on one connection, or as HTTP requests if such a connection is impossible; otherwise they are sent through the store.
 * A hub authenticates the caller of a request before it passes the request on. The other hub verifies the sending hub,
 * and then compares the caller with the owner of the session or call. Credentials of callers stay at the hub that
 * received them.
 */
export class HubRelay {
  readonly #parts: RelayParts;
  readonly #seal: RequestSeal;
  readonly #http: HttpTransport;
  readonly #handshakes: Handshakes;
  readonly #frames: FrameTransport;
  readonly #hosts: FrameHost[] = [];
  readonly #store: StoreTransport;
  readonly #principals = new PrincipalReader();
  readonly #heads = new HeadReader(this.#principals);
  readonly #streams = new Set<HttpExchange>();
  #handler: RelayHandler | undefined;
  #place: ExchangePlace | undefined;
  #closing: AbortSignal | undefined;
  readonly #unreached = new Set<string>();

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#seal = new RequestSeal(parts);
    this.#http = new HttpTransport((code) => this.#seal.answerKey(code));
    this.#handshakes = new Handshakes(parts.hub, parts.secret);
    this.#frames = new FrameTransport(this.#handshakes);
    this.#store = new StoreTransport({
      hub: parts.hub,
      peers: parts.peers,
      logger: parts.logger,
      serve: (request, answer) => this.#serveFromStore(request, answer),
      keyOf: (code) => this.#seal.messageKey(code),
    });
  }

  /** Serves the requests of other hubs with `handler`. */
  mount(listener: Mountable, handler: RelayHandler): void {
    this.#handler = handler;
    this.#place = listener.place;
    if (listener.place) this.#host(listener, listener.place);
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
    const result = await this.#overNetwork({ hub, url: facts.url }, request);
    if (result !== "unsent" && result !== "gone") return result;
    const second = await this.#store.forward(http, hub, this.#sealed(hub, request));
    if (second === "answered") this.#reportUnreached(facts.url);
    return result === "gone" ? second : orUnsent(second);
  }

  close(): void {
    this.#http.close();
    this.#frames.close();
    for (const host of this.#hosts) host.close();
    this.#store.close();
  }

  /** Accepts the connections of other hubs at a listener. */
  #host(listener: Mountable, place: ExchangePlace): void {
    const host = new FrameHost({
      handshakes: this.#handshakes,
      heads: this.#heads,
      logger: this.#parts.logger,
      serve: (request, answer) => this.#serve(request, answer, place),
    });
    this.#hosts.push(host);
    place.closing.addEventListener("abort", () => host.leave(), { once: true });
    listener.upgrade?.((socket, bytes) => host.take(socket, bytes));
  }

  /** Passes a request as a frame on the connection to its hub, or as a separate HTTP request. */
  async #overNetwork(to: OtherHub, request: RelayedRequest): Promise<ForwardResult> {
    const { http, body, hasDialects = false } = request;
    const head = writeHead(http, hasDialects);
    // A large body would delay the other requests of the connection.
    const result = fitsFrame(head, body) ? await this.#frames.forward(http, to, { head, body }) : undefined;
    return result ?? this.#http.forward(http, to.url, this.#sealed(to.hub, request));
  }

  #sealed(to: string, { http, body, hasDialects = false }: RelayedRequest): SealedRequest {
    return this.#seal.seal({ ...headFacts(http, hasDialects), to }, body);
  }

  async #serveFromHttp(outer: HttpExchange): Promise<void> {
    const code = outer.header(RELAY_HEADER) ?? "";
    // Most requests of other programs are refused before their body is read.
    if (!CODE.test(code)) throw new Refusal(403, FOREIGN);
    const bytes = await outer.readBody(outer.place.limits.maxBodyBytes + MAX_HEAD_BYTES);
    const request = this.#opened({ bytes, code });
    const parts = { response: outer.answer, key: this.#seal.answerKey(code), logger: this.#parts.logger };
    this.#serve(request, createSignedAnswer(parts), outer.place);
  }

  #serveFromStore(sealed: SealedRequest, answer: HttpAnswer): void {
    const place = this.#place;
    if (!place) return answer.cut();
    let request: HostedRequest;
    try {
      request = this.#opened(sealed);
    } catch (error) {
      return this.#failed(error, answer);
    }
    this.#serve(request, answer, place);
  }

  /** Returns a request that another hub has sealed. Throws a `Refusal` if the seal is not valid. */
  #opened(sealed: SealedRequest): HostedRequest {
    const opened = this.#seal.open(sealed);
    if (!opened) throw new Refusal(403, FOREIGN);
    const { head, body } = opened;
    const read = { head, principal: this.#principals.read(head.principal), memo: new HeadMemo() };
    return { from: head.from, head: read, request: new FramedRequest(read, body) };
  }

  #serve(request: HostedRequest, answer: HttpAnswer, place: ExchangePlace): void {
    try {
      const handled = this.#handle(request, answer, place);
      if (handled instanceof Promise) handled.catch((error: unknown) => this.#failed(error, answer));
    } catch (error) {
      this.#failed(error, answer);
    }
  }

  #handle({ from, head, request }: HostedRequest, answer: HttpAnswer, place: ExchangePlace): void | Promise<void> {
    if (!this.#handler) throw new Refusal(403, FOREIGN);
    const { remoteAddress, baseUrl, path, search, mount } = head.head;
    const facts = { principal: head.principal, remoteAddress, baseUrl, path, search, mount };
    const inner = new HttpExchange({ request, answer }, facts, place);
    inner.relayedFrom = from;
    answer.setHeader(RELAY_HEADER, RELAYED.answered);
    return this.#handler(inner, head.head);
  }

  #failed(error: unknown, answer: HttpAnswer): void {
    answerFailure(error, { answer, method: "POST", logger: this.#parts.logger, refusalBody: undefined });
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
