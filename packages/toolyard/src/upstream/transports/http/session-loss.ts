import { isJsonObject, objectMember, stringMember } from "../../../core/json/json.ts";
import { withoutByteOrderMark } from "../../../wire/parse-json.ts";

/** What a server answered to a message of a legacy connection. */
export interface SessionAnswer {
  readonly status: number;
  readonly body: string;
  /** Whether the server gave the connection a session id. */
  readonly hasSession: boolean;
}

/** Longer answers are no reports of a lost session. */
const MAX_REPORT_CHARS = 4096;

/**
 * Returns whether an answer reports that the server does not know the session any more; then nothing was executed. 404
 * means it by the specification (2025-11-25, "Session Management"), 410 by HTTP. Many servers answer with another
 * status, or with 200 and an error, and report it in words only.
 */
export function saysSessionLost({ status, body, hasSession }: SessionAnswer): boolean {
  if (hasSession && (status === 404 || status === 410)) return true;
  if (body.length > MAX_REPORT_CHARS) return false;
  const text = errorText(body);
  // A server without session ids may still hold the state of one client, and lose it when it restarts.
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
/** "Session not found", "Unknown session", "No valid session ID", but not a text about a limit of sessions. */
const UNKNOWN_SESSION = new RegExp(
  [
    `\\bsession\\b[^.]{0,80}\\b${LOST}\\b`,
    `\\b${LOST}\\b[^.]{0,20}\\bsession\\b`,
    "\\bno (?:valid |such |active )?(?:mcp )?session\\b",
  ].join("|"),
  "i",
);

/** Returns what an answer says is wrong; nothing for a result. */
function errorText(body: string): string {
  if (body.includes('"result"')) return "";
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(body));
    const error = isJsonObject(value) ? objectMember(value, "error") : undefined;
    return (error && stringMember(error, "message")) ?? body;
  } catch {
    return body;
  }
}
