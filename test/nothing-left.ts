import { afterAll, expect, vi } from "vitest";

// Files that share a process must not affect each other: each restores its changes of the process. Children and hubs
// may exit a moment after their test, so this file waits for them.
const REPLACEABLE = ["Date", "WebAssembly", "fetch", "queueMicrotask", "setImmediate", "setInterval", "setTimeout"];
/** Time limit of `expect.poll` for hanging resources. */
const LONG = { timeout: 30_000, interval: 20 };
const before = state();

afterAll(() =>
  vi.waitFor(() => expect(changed(), "each test file restores its changes of the process").toEqual([]), LONG),
);

/** Returns names of changed variables without their values, which may be secret. */
function changed(): string[] {
  const now = state();
  const names = new Set([...before.keys(), ...now.keys()]);
  return Array.from(names).filter((name) => now.get(name) !== before.get(name));
}

function state(): ReadonlyMap<string, unknown> {
  const entries: [string, unknown][] = [["the working folder", process.cwd()]];
  for (const [name, value] of Object.entries(process.env)) entries.push([`the variable ${name}`, value]);
  for (const name of process.eventNames()) entries.push([`listeners of ${String(name)}`, process.listenerCount(name)]);
  for (const name of REPLACEABLE) entries.push([`the global ${name}`, Reflect.get(globalThis, name)]);
  return new Map(entries);
}
