import { stringifyExact } from "../../../core/json/exact-json.ts";
import { acceptedTypes } from "../../../http/request/accept.ts";
import type { HttpAnswer } from "../../../http/answer/answer.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { isJsonContent } from "../../../http/request/json-content.ts";
import { sendJson } from "../../../http/answer/send.ts";
import { LEGACY_REVISIONS, legacyRevision } from "../../../wire/legacy/revisions.ts";
import { rpcError, RPC } from "../../../wire/messages.ts";
import type { LegacyHeadProblems, McpHead } from "../http-head.ts";
import type { HttpProblem } from "./http-problem.ts";
import { firstChars } from "../../../core/text/truncate.ts";

export const SESSION_REQUIRED: HttpProblem = {
  status: 400,
  code: -32000,
  message:
    "Bad Request: Mcp-Session-Id header is required. Send `initialize` first, then this header as its answer has it; " +
    "or without a handshake, as of 2026-07-28: the headers `MCP-Protocol-Version` and `Mcp-Method`, and the envelope " +
    "in `params._meta`.",
};
export const SESSION_NOT_FOUND: HttpProblem = { status: 404, code: -32001, message: "Session not found" };
export const SESSION_ELSEWHERE: HttpProblem = {
  status: 421,
  code: -32001,
  message:
    "Misdirected Request: another hub holds this session. Send all requests of one `Mcp-Session-Id` to the same hub.",
};
export const ONLY_ONE_INITIALIZE: HttpProblem = {
  status: 400,
  code: RPC.invalidRequest,
  message: "Invalid Request: Only one initialization request is allowed",
};
export const ONE_STREAM_ONLY: HttpProblem = {
  status: 409,
  code: -32000,
  message: "Conflict: Only one SSE stream is allowed per session",
};
export const FULL: HttpProblem = {
  status: 503,
  code: -32000,
  message: "Service Unavailable: all sessions are at work. Try again in a moment.",
};

export const ENDING: HttpProblem = {
  status: 503,
  code: -32000,
  message: "Service Unavailable: this hub is ending, so it opens no streams. Try again in a moment.",
};

export function sendProblem(answer: HttpAnswer, { status, code, message, id = null }: HttpProblem): void {
  sendJson(answer, status, stringifyExact(rpcError(id, { code, message })));
}

/** Returns the problems of a posted request's head. Requests with the same head share them. */
export function headProblems(http: HttpExchange, head: McpHead): LegacyHeadProblems {
  return (head.legacy ??= { types: postHeaderProblem(http), version: versionProblem(http) });
}

function postHeaderProblem(http: HttpExchange): HttpProblem | undefined {
  const { json, stream } = acceptedTypes(http.header("accept"));
  if (!json && !stream)
    return {
      status: 406,
      code: -32000,
      message: "Not Acceptable: Client must accept application/json or text/event-stream",
    };
  if (isJsonContent(http.header("content-type"))) return undefined;
  return { status: 415, code: -32000, message: "Unsupported Media Type: Content-Type must be application/json" };
}

export function getHeaderProblem(http: HttpExchange): HttpProblem | undefined {
  if (acceptedTypes(http.header("accept")).stream) return undefined;
  return { status: 406, code: -32000, message: "Not Acceptable: Client must accept text/event-stream" };
}

/**
 * Returns the problem of the version header, if any. The header is optional; without it, the session's revision
 * applies.
 */
export function versionProblem(http: HttpExchange): HttpProblem | undefined {
  const version = http.header("mcp-protocol-version");
  if (version === undefined || legacyRevision(version)) return undefined;
  const known = LEGACY_REVISIONS.map(({ date }) => date).join(", ");
  const shown = firstChars(version, 40);
  const message = `Bad Request: Unsupported protocol version: ${shown} (supported versions: ${known})`;
  return { status: 400, code: -32000, message };
}

/** Returns the problem of a body that contains several messages, if any. */
export function batchProblem(messages: readonly unknown[]): HttpProblem | undefined {
  if (messages.length === 0)
    return { status: 400, code: RPC.invalidRequest, message: "Invalid Request: Batch must not be empty" };
  if (messages.length <= MAX_BATCH) return undefined;
  return {
    status: 400,
    code: RPC.invalidRequest,
    message: `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`,
  };
}

export const MAX_BATCH = 100;
