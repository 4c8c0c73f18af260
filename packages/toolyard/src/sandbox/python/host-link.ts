import { receiveMessageOnPort } from "node:worker_threads";
import type { FromWorker, ToWorker, SandboxWorkerSettings } from "../worker-messages.ts";

const LONGEST_WAIT_MS = 2 ** 31 - 1;
/** Minimum length in milliseconds of a wait that is reported. A shorter wait counts as computing. */
const TOLD_WAIT_MS = 5;

/**
 * The worker's end of its port. The thread blocks while it waits, because the event loop cannot run while the
 * interpreter is on the stack.
 */
export class HostLink {
  readonly #settings: SandboxWorkerSettings;
  readonly #wake: Int32Array;
  readonly #never = new Int32Array(new SharedArrayBuffer(4));

  constructor(settings: SandboxWorkerSettings) {
    this.#settings = settings;
    this.#wake = new Int32Array(settings.wake);
  }

  send(message: FromWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads has no origin
    this.#settings.port.postMessage(message);
  }

  /** Returns the next message, or undefined if none has arrived. */
  take(): ToWorker | undefined {
    return (receiveMessageOnPort(this.#settings.port) as { message: ToWorker } | undefined)?.message;
  }

  /** Waits for the next message; returns undefined after `ms` milliseconds without one. */
  receive(ms = Infinity): ToWorker | undefined {
    const until = performance.now() + ms;
    for (;;) {
      // The counter is read before the port. A message that arrives in between changes the counter, so the wait ends
      // immediately.
      const seen = Atomics.load(this.#wake, 0);
      const message = this.take();
      const left = until - performance.now();
      if (message !== undefined || left <= 0) return message;
      Atomics.wait(this.#wake, 0, seen, Math.min(left, LONGEST_WAIT_MS));
    }
  }

  /** Blocks the thread. Messages stay in the port. */
  sleep(ms: number): void {
    this.#told(ms, () => Atomics.wait(this.#never, 0, 0, Math.min(ms, LONGEST_WAIT_MS)));
  }

  /** Waits like `receive`, and reports to the host that the code computes nothing meanwhile. */
  await(ms: number): ToWorker | undefined {
    return this.take() ?? this.#told(ms, () => this.receive(ms));
  }

  #told<T>(ms: number, wait: () => T): T {
    if (ms < TOLD_WAIT_MS) return wait();
    this.send({ type: "waiting", waits: true });
    const value = wait();
    this.send({ type: "waiting", waits: false });
    return value;
  }
}
