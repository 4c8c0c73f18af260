import type { ServerRequest, Call } from "./call.ts";
import type { JsonObject } from "../json/json.ts";

/** Minimum interval in milliseconds between two extensions of the deadline by a pending server request. */
const TOUCH_MS = 5000;
/** Maximum time that the hub waits for a user without counting it as idle time of the call. */
const MAX_PATIENCE_MS = 10 * 60_000;

/** Sends a server request. The wait for the answer does not count as idle time of the call, up to `MAX_PATIENCE_MS`. */
export async function askCaller(call: Call, ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
  return whileUserActs(call, call.ask(ask, signal));
}

/** Waits for a user action. The wait does not count as idle time of the call, up to `MAX_PATIENCE_MS`. */
export async function whileUserActs<T>({ deadline }: Pick<Call, "deadline">, work: Promise<T>): Promise<T> {
  if (!deadline) return work;
  const everyMs = Math.max(20, Math.min(TOUCH_MS, deadline.remainingMs / 2));
  const patientUntil = performance.now() + MAX_PATIENCE_MS;
  const timer = setInterval(() => {
    if (performance.now() < patientUntil) deadline.touch();
    else clearInterval(timer);
  }, everyMs);
  timer.unref();
  try {
    return await work;
  } finally {
    clearInterval(timer);
    deadline.touch();
  }
}
