import type { AgentEvent, AgentOutcome } from "./outcome.ts";

/** A running answer: iterate over its events, or await its outcome. */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  /** Resolves when the answer is complete. Rejects like `chat`. */
  readonly outcome: Promise<AgentOutcome>;
}

type AgentRunner = (emit: (event: AgentEvent) => void, left: AbortSignal) => Promise<AgentOutcome>;

/**
 * Buffers events until they are read. Unread pieces of text are joined, so that the buffer is limited by the size of an
 * answer. Starts immediately and supports one reader.
 */
export class AgentEventStream implements AgentStream {
  readonly outcome: Promise<AgentOutcome>;
  readonly #left = new AbortController();
  readonly #waiting: AgentEvent[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(run: AgentRunner) {
    this.outcome = run((event) => this.#push(event), this.#left.signal).finally(() => {
      this.#isOver = true;
      this.#wake?.();
    });
    // If the caller only iterates, the iterator throws this failure. Then the promise must not also cause an unhandled
    // rejection.
    this.outcome.catch(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, undefined> {
    try {
      for (;;) {
        const event = this.#waiting.shift();
        if (event) yield event;
        else if (this.#isOver) break;
        else await new Promise<void>((resolve) => void (this.#wake = resolve));
      }
      await this.outcome;
    } finally {
      this.#left.abort();
    }
  }

  #push(event: AgentEvent): void {
    const last = this.#waiting.at(-1);
    if (last && (event.type === "text" || event.type === "reasoning") && last.type === event.type) {
      this.#waiting[this.#waiting.length - 1] = { type: event.type, text: last.text + event.text };
    } else this.#waiting.push(event);
    this.#wake?.();
  }
}
