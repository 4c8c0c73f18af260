import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type FailExtras } from "../core/calls/outcome.ts";

/** Nothing of the call has left the hub. */
const UNSENT: JsonObject = Object.freeze({ sent: false });

/** A person has to do something; `what` is a sentence that goes on from the source's name. */
export function needsPerson(label: string, what: string, details: JsonObject = {}): FailError {
  return new FailError(fail("needs_authorisation", `\`${label}\` ${what}`, { details: { ...UNSENT, ...details } }));
}

/** It may work later, and nobody has to sign in for that. */
export function notNow(label: string, what: string, extras: FailExtras = {}): FailError {
  return new FailError(fail("unavailable", `\`${label}\` ${what}`, { ...extras, details: UNSENT }));
}

/** An error code as RFC 6749 has them; anything else that a server says is not repeated. */
export function errorCode(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z][a-z0-9_-]{0,63}$/.test(value) ? value : undefined;
}
