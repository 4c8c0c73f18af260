import { MAX_JSON_DEPTH } from "../../core/json/json-size.ts";
import type { RequestId } from "../../wire/messages.ts";
import { parseMessage } from "../../wire/parse-message.ts";

/** The content of one line on stdout: a message, noise (text that is no message), or both. */
export interface FoundInLine {
  readonly message?: unknown;
  readonly noise?: string;
  /** True for a line with more parts than the limit. It is not parsed. */
  readonly isTooLarge?: true;
}

/**
 * Parses one line. If a server prints text without a line break, the message follows in the same line, so text before
 * `{"jsonrpc"` is separated from it.
 */
export function findMessage(line: string, maxParts = Infinity): FoundInLine {
  const parsed = parseMessage(line, { maxJsonDepth: MAX_JSON_DEPTH, maxJsonParts: maxParts });
  if (!parsed.ok && parsed.fault === "parts") return { isTooLarge: true };
  const message = parsed.ok ? parsed.value : undefined;
  if (typeof message === "object" && message !== null) return { message };
  const start = line.indexOf('{"jsonrpc"', 1);
  const glued = start === -1 ? undefined : parse(line.slice(start));
  return glued === undefined ? { noise: line } : { message: glued, noise: line.slice(0, start) };
}

// Returns the value, or undefined if it is nested too deeply: it could not be written without a stack overflow.
function parse(text: string): unknown {
  const parsed = parseMessage(text, { maxJsonDepth: MAX_JSON_DEPTH });
  return parsed.ok ? parsed.value : undefined;
}

const ID = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")`;
const AT_START = new RegExp(ID);
const AT_END = new RegExp(String.raw`${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/**
 * Returns the id of the request to which an unreadable reply belongs. Reads only the two ends of the text, because the
 * id is either before the result or after it. Returns `undefined` if neither end is unambiguous. `tail` is absent if
 * the end of the line is missing.
 */
export function findReplyId(head: string, tail = ""): RequestId | undefined {
  if (!/^\s*\{/.test(head)) return undefined;
  const body = BODY.exec(head);
  const start = head.slice(0, body?.index);
  if (!isReply(head, start + tail)) return undefined;
  const found = AT_START.exec(start)?.[1] ?? AT_END.exec(tail)?.[1];
  return found === undefined ? undefined : (parse(found) as RequestId);
}

const BODY = /"(result|error|params|method)"/;

/**
 * Returns whether a text belongs to a reply. Requests are excluded by their method, and structured log lines by the
 * missing version.
 */
function isReply(head: string, envelope: string): boolean {
  const member = BODY.exec(head)?.[1];
  if (member === "params" || member === "method") return false;
  return /"jsonrpc"\s*:/.test(envelope) || /"result"\s*:\s*\{/.test(head);
}
