import type { AnswerSink } from "../answer-sink.ts";
import type { BodySource } from "../response-body.ts";
import type { RequestBytes } from "./request-text.ts";

/** Who has a request at the moment: whoever lets it wait, or the connection that carries it. */
export interface Holder {
  giveUp(asked: Asked): void;
  pause?(): void;
  resume?(): void;
}

/** One request on its way: what is to be written, and where its answer goes. */
export class Asked implements BodySource {
  readonly bytes: RequestBytes;
  /** Bound of silence, before the head and between two pieces of the body; 0 for none. */
  readonly silenceMs: number;
  readonly sink: AnswerSink;
  holder: Holder | undefined;
  #isPaused = false;

  constructor(bytes: RequestBytes, silenceMs: number, sink: AnswerSink) {
    this.bytes = bytes;
    this.silenceMs = silenceMs;
    this.sink = sink;
  }

  get paused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    this.holder?.pause?.();
  }

  resume(): void {
    this.#isPaused = false;
    this.holder?.resume?.();
  }

  abort(): void {
    this.holder?.giveUp(this);
    this.holder = undefined;
  }
}
