import type { SandboxJob, SandboxLimits } from "../engine.ts";
import { tooLongArguments } from "../bound-messages.ts";
import type { FromWorker } from "../worker-messages.ts";
import { HostRefusal } from "./refusal.ts";
import { firstChars } from "../../core/text/truncate.ts";

const MAX_QUERY_CHARS = 4000;

/** Tool calls and searches of one run. Limits their number. Calls above the limit of concurrent ones wait in order. */
export class HostCalls {
  readonly #limits: SandboxLimits;
  readonly #isScripting: boolean;
  readonly #say: (message: FromWorker) => void;
  readonly #onTooMany: () => void;
  readonly #open = new Set<number>();
  readonly #waiting: FromWorker[] = [];
  #made = 0;

  constructor({ limits, profile }: SandboxJob, say: (message: FromWorker) => void, onTooMany: () => void) {
    this.#limits = limits;
    this.#isScripting = profile === "scripting";
    this.#say = say;
    this.#onTooMany = onTooMany;
  }

  /** True if no call is running. */
  get isQuiet(): boolean {
    return this.#open.size === 0 && this.#waiting.length === 0;
  }

  /**
   * Starts a call or search. `payload`: the path, or the number of hits; after the first line break, the arguments or
   * the query.
   */
  ask(operation: "call" | "search", id: number, payload: string): void {
    if (!this.#isScripting) throw new HostRefusal("There are no tools here.");
    if (!Number.isSafeInteger(id) || id < 0) throw new HostRefusal("This is no call.");
    const at = payload.indexOf("\n");
    const [head, rest] = [payload.slice(0, at), payload.slice(at + 1)];
    if (Buffer.byteLength(rest) > this.#limits.toolBytes)
      throw new HostRefusal(tooLongArguments(this.#limits.toolBytes, Buffer.byteLength(rest)));
    this.#made += 1;
    if (this.#made > this.#limits.toolCalls) return this.#onTooMany();
    this.#waiting.push(
      operation === "call"
        ? { type: "call", id, path: head, json: rest }
        : { type: "search", id, query: firstChars(rest, MAX_QUERY_CHARS), limit: Number(head) },
    );
    this.#sendNext();
  }

  /** Returns whether an answer belongs to a pending request. */
  answered(id: number): boolean {
    if (!this.#open.delete(id)) return false;
    this.#sendNext();
    return true;
  }

  #sendNext(): void {
    while (this.#open.size < this.#limits.concurrentToolCalls) {
      const next = this.#waiting.shift();
      if (!next) return;
      if ("id" in next) this.#open.add(next.id);
      this.#say(next);
    }
  }
}
