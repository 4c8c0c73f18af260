import type { ServerRequest, Call } from "./call.ts";
import type { JsonObject } from "../json/json.ts";

/** How often a waiting ask tells the deadline that the call lives, at most. */
const TOUCH_MS = 5000;
/** People take their time to answer; after this the call's idle time runs again. */
const MAX_PATIENCE_MS = 10 * 60_000;

/**
 * Asks and keeps the call's idle time from running out meanwhile: it is the caller who is being waited for, within a
 * bound.
 */
export async function askCaller(call: Call, ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
  return whilePersonActs(call, call.ask(ask, signal));
}

/** Waits for what a person does, and keeps the call's idle time from running out meanwhile, within a bound. */
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
