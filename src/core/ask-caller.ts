import type { Ask, Call } from "./call.ts";
import type { JsonObject } from "./json.ts";

/** How often a waiting ask tells the deadline that the call lives, at most. */
const TOUCH_MS = 5000;
/** People take their time to answer; after this the call's idle time runs again. */
const MAX_PATIENCE_MS = 10 * 60_000;

/**
 * Asks and keeps the call's idle time from running out meanwhile: it is the caller who is being waited for, within a
 * bound.
 */
export async function askCaller(call: Call, ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
  const { deadline } = call;
  if (!deadline) return call.ask(ask, signal);
  const everyMs = Math.max(20, Math.min(TOUCH_MS, deadline.remainingMs / 2));
  const patientUntil = performance.now() + MAX_PATIENCE_MS;
  const timer = setInterval(() => {
    if (performance.now() < patientUntil) deadline.touch();
    else clearInterval(timer);
  }, everyMs);
  timer.unref();
  try {
    return await call.ask(ask, signal);
  } finally {
    clearInterval(timer);
    deadline.touch();
  }
}
