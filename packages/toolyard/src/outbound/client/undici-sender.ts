import type { Dispatcher } from "undici";
import type { Cancellation } from "../../core/calls/cancellation.ts";
import { holderOf, HUB, type Caller, type Holder } from "../../core/fairness/shares.ts";
import { AnswerSink } from "./answer-sink.ts";
import { closed, Crowd } from "./crowd.ts";
import type { BodySource } from "./response-body.ts";
import type { HttpResponse, TransportRequest, Sender } from "./sender.ts";

/**
 * Sends requests through a dispatcher of undici. Passes on at most as many requests as there are connections, because
 * undici queues requests in order of arrival, without limit and without fairness.
 */
export class UndiciSender implements Sender {
  readonly #dispatcher: Dispatcher;
  readonly #maxConnections: number;
  /** Origins with running requests. */
  readonly #origins = new Map<string, OriginRequests>();
  #isClosed = false;

  /** `maxConnections`: the limit for each origin. */
  constructor(dispatcher: Dispatcher, maxConnections: number) {
    this.#dispatcher = dispatcher;
    this.#maxConnections = maxConnections;
  }

  send(request: TransportRequest, signal: Cancellation): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed();
      const sent = new UndiciRequest(request, new AnswerSink({ resolve, reject }, signal), this.#originOf(request));
      sent.begin();
    });
  }

  destroy(): Promise<void> {
    this.#isClosed = true;
    for (const origin of this.#origins.values()) origin.crowd.close(closed());
    return this.#dispatcher.destroy();
  }

  #originOf({ origin: name }: TransportRequest): OriginRequests {
    let origin = this.#origins.get(name);
    if (!origin) {
      const bounds = { dispatcher: this.#dispatcher, maxConnections: this.#maxConnections };
      this.#origins.set(name, (origin = new OriginRequests(bounds, () => this.#origins.delete(name))));
    }
    return origin;
  }
}

interface OriginBounds {
  readonly dispatcher: Dispatcher;
  readonly maxConnections: number;
}

/** Running requests of one origin. */
class OriginRequests {
  readonly #bounds: OriginBounds;
  readonly #onUnused: () => void;
  readonly #underway = new Set<UndiciRequest>();
  readonly crowd = new Crowd<UndiciRequest, UndiciRequest>(() =>
    Array.from(this.#underway, (sent) => [sent, sent.holder]),
  );

  constructor(bounds: OriginBounds, onUnused: () => void) {
    this.#bounds = bounds;
    this.#onUnused = onUnused;
  }

  place(sent: UndiciRequest): void {
    const { maxConnections, dispatcher } = this.#bounds;
    if (this.#underway.size >= maxConnections + (sent.isMessage ? 1 : 0)) return this.crowd.join(sent);
    this.#underway.add(sent);
    this.crowd.took(sent, sent);
    try {
      dispatcher.dispatch(sent.options, sent);
    } catch (error) {
      sent.onResponseError(undefined, error);
    }
  }

  freed(sent: UndiciRequest): void {
    if (!this.#underway.delete(sent)) return;
    this.crowd.freed(sent);
    const next = this.#underway.size < this.#bounds.maxConnections ? this.crowd.next() : undefined;
    if (next) this.place(next);
    else if (this.#underway.size === 0) this.#onUnused();
  }
}

/** One request and its answer, as undici reports it. It can only be aborted after it was passed to undici. */
class UndiciRequest implements Dispatcher.DispatchHandler, BodySource {
  readonly options: Dispatcher.DispatchOptions;
  readonly sink: AnswerSink;
  readonly isMessage: boolean;
  readonly #caller: Caller | undefined;
  readonly #origin: OriginRequests;
  readonly paused = false;

  constructor(
    { silenceMs, caller, isMessage = false, body, ...request }: TransportRequest,
    sink: AnswerSink,
    to: OriginRequests,
  ) {
    // The headers are copied, because with a proxy undici adds the host to them.
    this.options = {
      ...request,
      headers: { ...request.headers },
      body: body ?? null,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    };
    this.sink = sink;
    this.isMessage = isMessage;
    this.#caller = caller;
    this.#origin = to;
  }

  get holder(): Holder {
    return this.#caller ? holderOf(this.#caller) : HUB;
  }

  begin(): void {
    // Called before dispatching, because undici may start the request immediately.
    this.sink.begin(this);
    this.#origin.place(this);
  }

  pause(): void {}

  resume(): void {}

  abort(): void {
    this.#origin.crowd.leave(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.sink.begin(controller);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: UndiciHeaders): void {
    // Interim answers with a status from 100 to 199 are ignored.
    if (status < 200) return;
    this.sink.head(status, (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.sink.data(chunk);
  }

  onResponseEnd(): void {
    this.sink.end();
    this.#origin.freed(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: unknown): void {
    this.sink.fail(error);
    this.#origin.freed(this);
  }
}

type UndiciHeaders = Readonly<Record<string, string | string[] | undefined>>;
