import { HostRefusal } from "./refusal.ts";

const MAX_TIMERS = 1000;
/** Maximum delay of a timer. No run lasts longer, and a longer delay would overflow. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Timers of one run. Repeating timers do not keep the run going after its code has ended. */
export class JobTimers {
  readonly #fire: (id: string) => void;
  readonly #timers = new Map<string, { readonly handle: NodeJS.Timeout; readonly repeats: boolean }>();

  constructor(fire: (id: string) => void) {
    this.#fire = fire;
  }

  get isEmpty(): boolean {
    return this.#timers.size === 0;
  }

  get isQuiet(): boolean {
    for (const { repeats } of this.#timers.values()) if (!repeats) return false;
    return true;
  }

  /** Sets a timer. `payload`: milliseconds, a line break, and `1` if it repeats. */
  set(id: string, payload: string): void {
    if (this.#timers.size >= MAX_TIMERS) throw new HostRefusal(`There may be ${MAX_TIMERS} timers at the same time.`);
    const [delay, repeats] = payload.split("\n");
    const delayMs = Math.min(MAX_DELAY_MS, Math.max(0, Number(delay) || 0));
    const handle = setTimeout(() => {
      this.#timers.delete(id);
      this.#fire(id);
    }, delayMs);
    this.#timers.set(id, { handle, repeats: repeats === "1" });
  }

  clear(id: string): void {
    clearTimeout(this.#timers.get(id)?.handle);
    this.#timers.delete(id);
  }

  dispose(): void {
    for (const { handle } of this.#timers.values()) clearTimeout(handle);
    this.#timers.clear();
  }
}
