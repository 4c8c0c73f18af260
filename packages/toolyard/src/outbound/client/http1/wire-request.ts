import { holderOf, HUB, type Caller, type Holder } from "../../../core/fairness/shares.ts";
import type { AnswerSink } from "../answer-sink.ts";
import type { BodySource } from "../response-body.ts";
import type { TransportRequest } from "../sender.ts";
import type { RequestBytes } from "./request-text.ts";

/** Current holder of a request: the queue, or the connection that carries it. */
export interface RequestHolder {
  giveUp(asked: WireRequest): void;
  pause?(): void;
  resume?(): void;
}

type WriteSettings = Pick<TransportRequest, "silenceMs" | "caller" | "isMessage">;

/** A request: the bytes to write, and the sink for its answer. */
export class WireRequest implements BodySource {
  readonly bytes: RequestBytes;
  /** Maximum inactivity, before the head and between two pieces of the body; 0: no limit. */
  readonly silenceMs: number;
  readonly sink: AnswerSink;
  keeper: RequestHolder | undefined;
  readonly isMessage: boolean;
  readonly #caller: Caller | undefined;
  #isPaused = false;

  constructor(bytes: RequestBytes, { silenceMs, caller, isMessage = false }: WriteSettings, sink: AnswerSink) {
    this.bytes = bytes;
    this.silenceMs = silenceMs;
    this.isMessage = isMessage;
    this.#caller = caller;
    this.sink = sink;
  }

  /** Caller whose share of the connections is used. */
  get holder(): Holder {
    return this.#caller ? holderOf(this.#caller) : HUB;
  }

  get paused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    this.keeper?.pause?.();
  }

  resume(): void {
    this.#isPaused = false;
    this.keeper?.resume?.();
  }

  abort(): void {
    this.keeper?.giveUp(this);
    this.keeper = undefined;
  }
}
