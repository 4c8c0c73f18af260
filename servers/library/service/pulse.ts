import type { ToolContext } from "toolyard";

const BEAT_MS = 10_000;
/** Progress has to grow; by so little nobody sees it. */
const LEAST = 1e-6;

/** Tells a caller how far the work is, and that it goes on where nothing new is to be told. */
export class Pulse implements Disposable {
  readonly #context: ToolContext;
  readonly #beat: NodeJS.Timeout;
  #told = -LEAST;
  #last: readonly [total: number | undefined, message: string | undefined] = [undefined, undefined];

  constructor(context: ToolContext) {
    this.#context = context;
    this.#beat = setInterval(() => this.tell(this.#told, ...this.#last), BEAT_MS).unref();
  }

  tell(progress: number, total?: number, message?: string): void {
    this.#told = Math.max(progress, this.#told + LEAST);
    this.#last = [total, message];
    this.#context.progress(this.#told, total, message);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
  }
}
