import type { ToolContext } from "toolyard";

const BEAT_MS = 10_000;
/** Progress values must grow; this step is too small to see. */
const LEAST = 1e-6;

/** Reports progress to a caller, also while nothing changes. */
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
