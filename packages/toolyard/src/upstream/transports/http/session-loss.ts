import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { withoutByteOrderMark } from "../../../wire/parse-json.ts";

/** A server's answer to a message of a legacy connection. */
export interface SessionAnswer {
  readonly status: number;
  readonly body: string;
  /** True if the server gave the connection a session id. */
  readonly hasSession: boolean;
}

/** Maximum number of characters of a report of a lost session. A longer answer has another meaning. */
const MAX_REPORT_CHARS = 4096;

/**
 * Error code of the official TypeScript SDK for an unknown session. In an answer to a request, the same code means a
 * timeout.
 */
const SESSION_NOT_FOUND = -32001;
/**
 * Statuses of a refusal by the transport. With one of them, the error code is sufficient evidence of a lost session,
 * without a message.
 */
const REFUSED: ReadonlySet<number> = new Set([400, 422]);

/**
 * Returns whether an answer reports that the server does not know the session any more. In that case, nothing was
 * executed. In the specification, the status 404 means that (2025-11-25, "Session Management"); in HTTP, the status
 * 410; in the official SDK, an error code without a request id. Many servers answer with another status, or with 200
 * and an error, and report it only in the message.
 */
export function saysSessionLost({ status, body, hasSession }: SessionAnswer): boolean {
  if (hasSession && (status === 404 || status === 410)) return true;
  if (body.length > MAX_REPORT_CHARS) return false;
  const reply = replyIn(body);
  if (hasSession && REFUSED.has(status) && reply?.["id"] === null && errorCode(reply) === SESSION_NOT_FOUND)
    return true;
  return saysInWords(status, body.includes('"result"') ? "" : errorText(reply, body), hasSession);
}

function saysInWords(status: number, text: string, hasSession: boolean): boolean {
  // A server without session ids may still keep state for its client and lose that state in a restart, so "not
  // initialized" also counts.
  if ((status === 400 || MAY_REPORT.has(status)) && NOT_INITIALIZED.test(text)) return true;
  if (!hasSession) return false;
  if (status === 400) return /\bsession\b|not initialized/i.test(text);
  return MAY_REPORT.has(status) && UNKNOWN_SESSION.test(text);
}

const MAY_REPORT: ReadonlySet<number> = new Set([200, 409, 500, 503]);
const NOT_INITIALIZED =
  /\b(?:server|client|connection|mcp|session) (?:is |was |has )?not (?:been |yet )?initiali[sz]ed\b/i;
const LOST =
  "(?:not found|not exist|not valid|no longer|unknown|unrecogni[sz]ed|invalid|expired|terminated|closed|lost|gone)";
/**
 * Matches "Session not found", "Unknown session" and "No valid session ID". Does not match a text about a limit of
 * sessions.
 */
const UNKNOWN_SESSION = new RegExp(
  [
    `\\bsession\\b[^.]{0,80}\\b${LOST}\\b`,
    `\\b${LOST}\\b[^.]{0,20}\\bsession\\b`,
    "\\bno (?:valid |such |active )?(?:mcp )?session\\b",
  ].join("|"),
  "i",
);

function errorCode(reply: JsonObject): unknown {
  return objectMember(reply, "error")?.["code"];
}

function errorText(reply: JsonObject | undefined, body: string): string {
  const error = reply && objectMember(reply, "error");
  return (error && stringMember(error, "message")) ?? body;
}

function replyIn(body: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(body));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
