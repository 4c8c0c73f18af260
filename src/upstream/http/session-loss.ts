import { isJsonObject, objectMember, stringMember } from "../../core/json.ts";
import { withoutByteOrderMark } from "../../wire/parse-json.ts";

/**
 * Whether a refusal of a request that named a session says that the server does not know the session. 404 says so by
 * the specification; many servers answer 400 and say it in words only, and either way nothing was executed.
 */
export function saysSessionLost(status: number, body: string): boolean {
  if (status === 404) return true;
  return status === 400 && /\bsession\b|not initialized/i.test(errorText(body));
}

function errorText(body: string): string {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(body));
    const error = isJsonObject(value) ? objectMember(value, "error") : undefined;
    return (error && stringMember(error, "message")) ?? body;
  } catch {
    return body;
  }
}
