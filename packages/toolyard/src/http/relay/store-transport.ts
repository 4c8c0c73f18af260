import { encodeFrames, FRAME, FrameDecoder, type OutgoingFrame, type WorkerFrame } from "../adapters/workers/frames.ts";
import type { WorkerAnswerHead } from "../adapters/workers/messages.ts";
import { RemoteAnswerWire } from "../adapters/workers/remote-wire.ts";
import { HttpAnswer, type AnswerFaults } from "../answer/answer.ts";
import type { Delivery, Peers } from "../../state/ports/peers.ts";
import type { HttpExchange } from "../exchange.ts";
import { Forwarding, type ForwardResult } from "./forwarding.ts";
import type { SealedRequest } from "./sealed-request.ts";

export interface StoreTransportParts {
  readonly hub: string;
  readonly peers: Peers;
  readonly logger: AnswerFaults;
  /** Answers a request of another hub. */
  readonly serve: (request: SealedRequest, answer: HttpAnswer) => void;
}

/** Request that this hub has passed to another one. */
interface ForwardedRequest {
  readonly to: string;
  readonly forwarding: Forwarding;
  received: number;
  sent: number;
}

/** Request of another hub that this hub answers. */
interface ServedRequest {
  readonly wire: RemoteAnswerWire;
  received: number;
  /** Reports to the other hub that the answer is incomplete. */
  readonly cut: () => void;
}

/** Maximum number of concurrent requests that this hub passes to others through the store, and that it answers. */
const MAX_REQUESTS = 2048;
/** Milliseconds between two checks if the other hub is alive. */
const CHECK_MS = 2000;
const CODE_BYTES = 4;
/**
 * Maximum number of bytes of an answer in one message. Redis disconnects a subscriber if more than 32 MB wait
 * for it (`client-output-buffer-limit`). The answers of all other requests would then be lost as well.
 */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Frame that ends an incomplete answer. The receiver does not check its message number. */
const CUT = { type: FRAME.cut, head: "", body: "" } as const;

/**
 * Passes requests to other hubs through the store, for hubs that do not reach each other over HTTP. Messages have the
 * form `u8 length · sender · u32 number · frames`. The number counts the messages of one request in one direction, so
 * that a missing message is noticed.
 */
export class StoreTransport {
  readonly #parts: StoreTransportParts;
  readonly #sent = new Map<number, ForwardedRequest>();
  readonly #served = new Map<string, ServedRequest>();
  /** Requests with an incomplete answer: a part could not be sent to the hub that passed the request. */
  readonly #unfinished = new Map<string, { readonly from: string; readonly exchange: number }>();
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

  /** Passes a request to a hub. The answer goes to the caller. */
  async forward(http: HttpExchange, to: string, { bytes, code }: SealedRequest): Promise<ForwardResult> {
    if (this.#sent.size >= MAX_REQUESTS) return "unsent";
    this.#lastRequest = (this.#lastRequest + 1) % 2 ** 32;
    const id = this.#lastRequest;
    const forwarding = new Forwarding(http, () => this.#stop(id));
    const sent: ForwardedRequest = { to, forwarding, received: 0, sent: 0 };
    this.#sent.set(id, sent);
    this.#watch();
    const delivery = await this.#send(id, { type: FRAME.request, head: code, body: bytes });
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
    for (const { from, exchange } of unfinished) void this.#post(from, 0, { ...CUT, exchange });
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
    clearInterval(this.#timer);
    this.#failAll();
  }

  #send(id: number, frame: Omit<OutgoingFrame, "exchange">): Promise<Delivery> {
    const sent = this.#sent.get(id);
    if (!sent) return Promise.resolve("absent");
    sent.sent += 1;
    return this.#post(sent.to, sent.sent, { ...frame, exchange: id });
  }

  #post(to: string, number: number, frame: OutgoingFrame): Promise<Delivery> {
    const sender = Buffer.from(this.#parts.hub);
    const prefix = Buffer.alloc(1 + sender.length + CODE_BYTES);
    prefix.writeUInt8(sender.length, 0);
    prefix.set(sender, 1);
    prefix.writeUInt32LE(number, 1 + sender.length);
    return this.#parts.peers.send(to, Buffer.concat([prefix, encodeFrames([frame])]));
  }

  #received(message: Buffer): void {
    const bodyStart = 1 + message.readUInt8(0) + CODE_BYTES;
    const from = message.toString("utf8", 1, bodyStart - CODE_BYTES);
    const number = message.readUInt32LE(bodyStart - CODE_BYTES);
    for (const frame of new FrameDecoder().decode(message.subarray(bodyStart))) {
      if (frame.type >= FRAME.ready) this.#receivedRequest(from, number, frame);
      else this.#receivedAnswer(from, number, frame);
    }
  }

  /** Handles a frame of the hub that passed a request to this one. */
  #receivedRequest(from: string, number: number, { type, exchange, head, body }: WorkerFrame): void {
    const key = `${from} ${exchange}`;
    if (type === FRAME.request) return this.#serve(from, exchange, { code: head, bytes: Buffer.from(body) });
    const served = this.#served.get(key);
    if (!served) return;
    served.received += 1;
    // Messages are counted from the request, which was the first one. If one is missing, the caller counts as
    // disconnected.
    if (type === FRAME.gone || number !== served.received + 1) return served.wire.gone();
    if (type === FRAME.taken) served.wire.taken(Number(head));
  }

  #serve(from: string, exchange: number, request: SealedRequest): void {
    const key = `${from} ${exchange}`;
    let number = 0;
    const post = (frame: Omit<OutgoingFrame, "exchange">): void => {
      number += 1;
      void this.#post(from, number, { ...frame, exchange }).then((delivery) => {
        if (delivery === "unknown" && this.#unfinished.size < MAX_REQUESTS)
          this.#unfinished.set(key, { from, exchange });
      });
    };
    if (this.#served.size >= MAX_REQUESTS) return post(CUT);
    const channel = {
      send: (frame: OutgoingFrame) => post(frame.body.length > MAX_MESSAGE_BYTES ? CUT : frame),
      sendHead: (type: number, _exchange: number, head: string) => post({ type, head, body: "" }),
      sendBare: (type: number) => post({ type, head: "", body: "" }),
    };
    const wire = new RemoteAnswerWire(channel, exchange, () => this.#served.delete(key));
    this.#served.set(key, { wire, received: 0, cut: () => post(CUT) });
    this.#watch();
    this.#parts.serve(request, new HttpAnswer(wire, this.#parts.logger));
  }

  /** Handles a frame of the hub that answers a request of this one. */
  #receivedAnswer(from: string, number: number, frame: WorkerFrame): void {
    const sent = this.#sent.get(frame.exchange);
    if (sent?.to !== from) return;
    sent.received += 1;
    if (number !== sent.received || frame.type === FRAME.cut) return this.#fail(frame.exchange, "lost");
    const { forwarding } = sent;
    switch (frame.type) {
      case FRAME.answer:
        return this.#answered(frame, forwarding);
      case FRAME.begin: {
        const { status, headers } = JSON.parse(frame.head) as WorkerAnswerHead;
        if (forwarding.begin(status, headers)) return forwarding.open(status, headers);
        return this.#drop(frame.exchange);
      }
      case FRAME.piece:
        return this.#piece(frame, forwarding);
      case FRAME.end:
        forwarding.end();
        this.#drop(frame.exchange);
    }
  }

  #answered({ exchange, head, body }: WorkerFrame, forwarding: Forwarding): void {
    const { status, headers } = JSON.parse(head) as WorkerAnswerHead;
    if (forwarding.begin(status, headers)) forwarding.send(status, headers, Buffer.from(body));
    this.#drop(exchange);
  }

  #piece({ exchange, body }: WorkerFrame, { http }: Forwarding): void {
    const piece = Buffer.from(body);
    http.answer.write(piece, () => {
      void this.#send(exchange, { type: FRAME.taken, head: String(piece.length), body: "" });
    });
  }

  /** Ends a request after its caller has disconnected. */
  #stop(id: number): void {
    void this.#send(id, { type: FRAME.gone, head: "", body: "" });
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
