import type { GuestHost } from "./host.ts";

export interface GuestTimers {
  readonly globals: Readonly<Record<string, unknown>>;
  fire(id: string): void;
}

/** Runs inside the sandbox. Returns timer functions. The worker limits the number of timers and their time. */
export function guestTimers(host: GuestHost): GuestTimers {
  const waiting = new Map<string, { readonly run: () => void; readonly everyMs: number | undefined }>();
  let last = 0;

  function set([callback, delayMs, ...given]: readonly unknown[], repeats: boolean): number {
    if (typeof callback !== "function") throw new TypeError("A timer needs a function to call.");
    last += 1;
    const ms = Math.max(0, Number(delayMs) || 0);
    waiting.set(`${last}`, {
      run: () => void (callback as (...values: unknown[]) => unknown)(...given),
      everyMs: repeats ? Math.max(1, ms) : undefined,
    });
    host("timer", `${last}`, `${ms}\n${repeats ? 1 : 0}`);
    return last;
  }

  function clear(id: unknown): void {
    if (waiting.delete(String(id))) host("untimer", String(id));
  }

  return {
    globals: {
      setTimeout: (callback: unknown, delayMs?: unknown, ...given: unknown[]) =>
        set([callback, delayMs, ...given], false),
      setInterval: (callback: unknown, delayMs?: unknown, ...given: unknown[]) =>
        set([callback, delayMs, ...given], true),
      setImmediate: (callback: unknown, ...given: unknown[]) => set([callback, 0, ...given], false),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    },
    fire: (id) => {
      const timer = waiting.get(id);
      if (!timer) return;
      if (timer.everyMs === undefined) waiting.delete(id);
      else host("timer", id, `${timer.everyMs}\n1`);
      timer.run();
    },
  };
}
