import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type FailExtras } from "../core/calls/outcome.ts";

/** Details of a failure of a call that has not left the hub. */
const UNSENT: JsonObject = Object.freeze({ sent: false });

/** Returns a failure that tells the user to sign in; `what` continues the sentence after the source's name. */
export function needsPerson(label: string, what: string, details: JsonObject = {}): FailError {
  return new FailError(fail("needs_authorisation", `\`${label}\` ${what}`, { details: { ...UNSENT, ...details } }));
}

/** Returns a temporary failure that requires no sign-in. */
export function notNow(label: string, what: string, extras: FailExtras = {}): FailError {
  return new FailError(fail("unavailable", `\`${label}\` ${what}`, { ...extras, details: UNSENT }));
}

/** Returns an error code of RFC 6749. Any other text of a server is not repeated. */
export function errorCode(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z][a-z0-9_-]{0,63}$/.test(value) ? value : undefined;
}
