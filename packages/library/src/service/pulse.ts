import type { ToolContext } from "toolyard";

const BEAT_MS = 10_000;
/** Minimum increase of a progress value, which must grow with each report. It is too small to be visible. */
const LEAST = 1e-6;

/** Reports progress to a caller at intervals, also if nothing has changed. */
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
