import { randomBytes } from "node:crypto";
import { markIntegers } from "../../core/json/exact-json.ts";

/** Prefix of strings that represent integers beyond 2^53 in JSON for the interpreter (`guest/exact.ts`). */
export const GUEST_MARK = `integer:${randomBytes(16).toString("hex")}:`;

/**
 * Converts JSON for the interpreter. Text that is not JSON, or has too long an integer, is unchanged; the interpreter's
 * `JSON.parse` reports the error.
 */
export function toGuestJson(json: string): string {
  try {
    return markIntegers(json, GUEST_MARK);
  } catch {
    return json;
  }
}
