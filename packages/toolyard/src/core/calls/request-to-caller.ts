import type { ServerRequest, Call } from "./call.ts";
import type { JsonObject } from "../json/json.ts";

/** Shortest interval between two extensions of the deadline by a waiting server request. */
const TOUCH_MS = 5000;
/** Users take time to answer; after this, the call's idle time runs again. */
const MAX_PATIENCE_MS = 10 * 60_000;

/**
 * Sends a server request and keeps the call's idle time from expiring during the wait for the caller, up to a limit.
 */
export async function askCaller(call: Call, ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
  return whilePersonActs(call, call.ask(ask, signal));
}

/** Waits for a user action and keeps the call's idle time from expiring meanwhile, up to a limit. */
export async function whilePersonActs<T>({ deadline }: Pick<Call, "deadline">, work: Promise<T>): Promise<T> {
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
