import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { SandboxJob } from "../engine.ts";
import { childPaths, distFolder } from "../node-flags.ts";
import type { SplitResult } from "./split-source.ts";

/** Time limit for parsing code. Ordinary code takes milliseconds; only text of an attacker takes this long. */
const READ_TIMEOUT_MS = 10_000;
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 } as const;

/** Parses code in a thread, which starts with the first request and is ended if it takes too long. */
export class SourceThread {
  #worker: Worker | undefined;
  #last = 0;
  readonly #waiting = new Map<number, (prepared: SplitResult) => void>();

  prepare({ files: _files, inputs: _inputs, ...job }: SandboxJob, signal: AbortSignal): Promise<SplitResult> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      const settle = (prepared: SplitResult): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        this.#waiting.delete(id);
        resolve(prepared);
      };
      const leave = (): void => settle({ problem: "The run is over.", line: 1 });
      const timer = setTimeout(
        () => this.#fail("The code takes too long to read. Write it in a simpler way."),
        READ_TIMEOUT_MS,
      );
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.set(id, settle);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.#thread().postMessage({ id, job });
    });
  }

  async close(): Promise<void> {
    this.#fail("The sandbox is closed.");
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(join(distFolder(), "sandbox", "deno", "source-worker.js"), {
      workerData: { sucrase: childPaths(undefined).sucrase },
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: RESOURCE_LIMITS,
    });
    worker.unref();
    worker.on("message", ({ id, prepared }: { readonly id: number; readonly prepared: SplitResult }) =>
      this.#waiting.get(id)?.(prepared),
    );
    worker.on(
      "error",
      () => this.#worker === worker && this.#fail("The code cannot be read. Write it in a simpler way."),
    );
    return (this.#worker = worker);
  }

  #fail(problem: string): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    for (const settle of Array.from(this.#waiting.values())) settle({ problem, line: 1 });
  }
}
