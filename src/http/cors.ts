import type { IncomingMessage, ServerResponse } from "node:http";
import { sendEmpty } from "./send.ts";

/**
 * Headers of requests that pages may send; `Mcp-Param-*` are as many as tools name, so they are allowed by their
 * prefix.
 */
const REQUEST_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "x-mcp-show-all",
  "x-mcp-tool-mode",
];
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Headers of answers that pages may read. */
const ANSWER_HEADERS = "mcp-protocol-version, mcp-session-id, retry-after, www-authenticate, x-mcp-tool-mode";
const PREFLIGHT_SECONDS = "600";
const MAX_REQUESTED_HEADERS = 100;

/** Says that pages of `allowedOrigin` may read this answer. */
export function allowOrigin(response: ServerResponse, allowedOrigin: string): void {
  response.setHeader("access-control-allow-origin", allowedOrigin);
  response.setHeader("access-control-expose-headers", ANSWER_HEADERS);
  if (allowedOrigin !== "*") response.setHeader("vary", "Origin");
}

export function isPreflight(request: IncomingMessage): boolean {
  return request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
}

export function answerPreflight(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
  const requested = (request.headers["access-control-request-headers"] ?? "")
    .toLowerCase()
    .split(",", MAX_REQUESTED_HEADERS);
  const params = requested.map((name) => name.trim()).filter((name) => PARAM_HEADER.test(name));
  response.setHeader("access-control-allow-methods", methods.join(", "));
  response.setHeader("access-control-allow-headers", [...REQUEST_HEADERS, ...params].join(", "));
  response.setHeader("access-control-max-age", PREFLIGHT_SECONDS);
  sendEmpty(response, 204);
}
