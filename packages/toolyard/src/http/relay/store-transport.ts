import { encodeFrames, FRAME, FrameDecoder, type OutgoingFrame, type WorkerFrame } from "../adapters/workers/frames.ts";
import { RemoteAnswerWire } from "../adapters/workers/remote-wire.ts";
import { HttpAnswer, type AnswerFaults } from "../answer/answer.ts";
import type { Delivery, Peers } from "../../state/ports/peers.ts";
import type { HttpExchange } from "../exchange.ts";
import { Forwarding, readAnswerHead, type AnswerSource, type ForwardResult } from "./forwarding.ts";
import type { SealedRequest } from "./sealed-request.ts";
import { hasCode, readStoreMessage, writeStoreMessage, type StoreMessage } from "./store-message.ts";

export interface StoreTransportParts {
  readonly hub: string;
  readonly peers: Peers;
  readonly logger: AnswerFaults;
  /** Answers a request of another hub. */
  readonly serve: (request: SealedRequest, answer: HttpAnswer) => void;
  /** Returns the key of the messages that belong to the request with this code. */
  readonly keyOf: (code: string) => Uint8Array;
}

/** Request that this hub has passed to another one. */
interface ForwardedRequest {
  readonly to: string;
  readonly key: Uint8Array;
  readonly forwarding: Forwarding;
  received: number;
  sent: number;
}

/** Request of another hub that this hub answers. */
interface ServedRequest {
  readonly wire: RemoteAnswerWire;
  readonly key: Uint8Array;
  received: number;
  /** Reports to the other hub that the answer is incomplete. */
  readonly cut: () => void;
}

/** Maximum number of concurrent requests that this hub passes to others through the store, and that it answers. */
const MAX_REQUESTS = 2048;
/** Milliseconds between two checks if the other hub is alive. */
const CHECK_MS = 2000;
/**
 * Maximum number of bytes of an answer in one message. Redis disconnects a subscriber if more than 32 MB wait
 * for it (`client-output-buffer-limit`). The answers of all other requests would then be lost as well.
 */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Frame that ends an incomplete answer. The receiver does not check its message number. */
const CUT = { type: FRAME.cut, head: "", body: "" } as const;

/** Receiver and number of a message, and the key of the request to which it belongs. */
interface MessagePlace {
  readonly to: string;
  readonly number: number;
  readonly key?: Uint8Array;
}

/**
 * Passes requests to hubs that cannot be reached over HTTP, through the store. Each message that follows a request has
 * a code that is computed with a key of the request, so that other users of the store cannot answer the request.
 */
export class StoreTransport {
  readonly #parts: StoreTransportParts;
  readonly #sent = new Map<number, ForwardedRequest>();
  readonly #served = new Map<string, ServedRequest>();
  /** Requests with an incomplete answer: a part could not be sent to the hub that passed the request. */
  readonly #unfinished = new Map<string, { readonly place: MessagePlace; readonly exchange: number }>();
  readonly #source: AnswerSource = {
    readHead: readAnswerHead,
    taken: (id, bytes) => this.#send(id, { type: FRAME.taken, head: String(bytes), body: "" }),
    gone: (id) => this.#send(id, { type: FRAME.gone, head: "", body: "" }),
  };
  readonly #unlisten: readonly (() => void)[];
  #lastRequest = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: StoreTransportParts) {
    this.#parts = parts;
    const { peers } = parts;
    this.#unlisten = [
      peers.onMessage((message) => this.#received(message)),
      peers.onInterrupted(() => this.#failAll()),
    ];
  }

  /** Passes a request to a hub, unless its caller has disconnected. The answer goes to the caller. */
  async forward(http: HttpExchange, to: string, { bytes, code }: SealedRequest): Promise<ForwardResult> {
    if (this.#sent.size >= MAX_REQUESTS) return "unsent";
    this.#lastRequest = (this.#lastRequest + 1) % 2 ** 32;
    const id = this.#lastRequest;
    const forwarding = new Forwarding(http, () => this.#stop(id));
    if (forwarding.isOver) return forwarding.result;
    const sent: ForwardedRequest = { to, key: this.#parts.keyOf(code), forwarding, received: 0, sent: 1 };
    this.#sent.set(id, sent);
    this.#watch();
    const frame = { type: FRAME.request, exchange: id, head: code, body: bytes };
    const delivery = await this.#post({ to, number: 1 }, frame);
    if (delivery === "absent") this.#fail(id, "gone");
    if (delivery === "unknown") this.#fail(id, "lost");
    const result = await forwarding.result;
    if (result !== "answered" || forwarding.isOver) this.#sent.delete(id);
    return result;
  }

  /** Fails all requests, because their messages may be lost, and cuts the answers to other hubs. */
  #failAll(): void {
    for (const id of Array.from(this.#sent.keys())) this.#fail(id, "lost");
    for (const { wire, cut } of Array.from(this.#served.values())) {
      wire.gone();
      cut();
    }
    const unfinished = Array.from(this.#unfinished.values());
    this.#unfinished.clear();
    for (const { place, exchange } of unfinished) void this.#post(place, { ...CUT, exchange });
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
    clearInterval(this.#timer);
    this.#failAll();
  }

  /** Sends a message that follows a request. */
  #send(id: number, frame: Omit<OutgoingFrame, "exchange">): void {
    const sent = this.#sent.get(id);
    if (!sent) return;
    sent.sent += 1;
    void this.#post({ to: sent.to, number: sent.sent, key: sent.key }, { ...frame, exchange: id });
  }

  #post({ to, number, key }: MessagePlace, frame: OutgoingFrame): Promise<Delivery> {
    const message = { from: this.#parts.hub, number, frames: encodeFrames([frame]) };
    return this.#parts.peers.send(to, writeStoreMessage(message, key));
  }

  #received(bytes: Buffer): void {
    const message = readStoreMessage(bytes);
    if (!message) return;
    for (const frame of framesOf(message)) {
      if (frame.type >= FRAME.ready) this.#receivedRequest(message, frame);
      else this.#receivedAnswer(message, frame);
    }
  }

  /** Handles a frame of the hub that passed a request to this one. */
  #receivedRequest(message: StoreMessage, { type, exchange, head, body }: WorkerFrame): void {
    const { from, number } = message;
    if (type === FRAME.request) return this.#serve(from, exchange, { code: head, bytes: Buffer.from(body) });
    const served = this.#served.get(`${from} ${exchange}`);
    if (!served || !hasCode(message, served.key)) return;
    served.received += 1;
    // Messages are counted from the request, which was the first one. If one is missing, the caller counts as
    // disconnected.
    if (type === FRAME.gone || number !== served.received + 1) return served.wire.gone();
    if (type === FRAME.taken) served.wire.taken(Number(head));
  }

  #serve(from: string, exchange: number, request: SealedRequest): void {
    const id = `${from} ${exchange}`;
    const key = this.#parts.keyOf(request.code);
    let number = 0;
    const post = (frame: Omit<OutgoingFrame, "exchange">): void => {
      number += 1;
      void this.#post({ to: from, number, key }, { ...frame, exchange }).then((delivery) => {
        if (delivery === "unknown" && this.#unfinished.size < MAX_REQUESTS)
          this.#unfinished.set(id, { place: { to: from, number: 0, key }, exchange });
      });
    };
    if (this.#served.size >= MAX_REQUESTS) return post(CUT);
    const channel = {
      send: (frame: OutgoingFrame) => post(frame.body.length > MAX_MESSAGE_BYTES ? CUT : frame),
      sendHead: (type: number, _exchange: number, head: string) => post({ type, head, body: "" }),
      sendBare: (type: number) => post({ type, head: "", body: "" }),
    };
    const wire = new RemoteAnswerWire(channel, exchange, () => this.#served.delete(id));
    this.#served.set(id, { wire, key, received: 0, cut: () => post(CUT) });
    this.#watch();
    this.#parts.serve(request, new HttpAnswer(wire, this.#parts.logger));
  }

  /** Handles a frame of the hub that answers a request of this one. */
  #receivedAnswer(message: StoreMessage, frame: WorkerFrame): void {
    const sent = this.#sent.get(frame.exchange);
    if (sent?.to !== message.from || !hasCode(message, sent.key)) return;
    sent.received += 1;
    if (message.number !== sent.received) return this.#fail(frame.exchange, "lost");
    if (sent.forwarding.receive(frame, this.#source)) this.#drop(frame.exchange);
  }

  /** Ends a request after its caller has disconnected. */
  #stop(id: number): void {
    this.#source.gone(id);
    this.#drop(id);
  }

  #fail(id: number, result: "gone" | "lost"): void {
    const sent = this.#sent.get(id);
    this.#drop(id);
    sent?.forwarding.fail(result);
  }

  #drop(id: number): void {
    this.#sent.delete(id);
    if (this.#sent.size > 0 || this.#served.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Starts the checks of the other hubs, which run while there are requests. */
  #watch(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => void this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Fails the requests of hubs that have exited. */
  async #check(): Promise<void> {
    for (const [id, { to }] of Array.from(this.#sent)) if (!(await this.#isAlive(to))) this.#fail(id, "lost");
    for (const [key, { wire }] of Array.from(this.#served))
      if (!(await this.#isAlive(key.slice(0, key.lastIndexOf(" "))))) wire.gone();
  }

  async #isAlive(hub: string): Promise<boolean> {
    try {
      return (await this.#parts.peers.find(hub)) !== undefined;
    } catch {
      // While the store is lost, it is not known which hubs are alive, so the hub counts as alive.
      return true;
    }
  }
}

/** Returns the frames of a message, which any user of the store can send. */
function framesOf({ frames }: StoreMessage): readonly WorkerFrame[] {
  try {
    return Array.from(new FrameDecoder().decode(frames));
  } catch {
    return [];
  }
}
