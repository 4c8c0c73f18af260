import type { HttpAnswer } from "../answer/answer.ts";
import type { Arrival } from "../exchange.ts";
import { sendEmpty } from "../answer/send.ts";
import type { HttpRequest } from "../wire.ts";

/** Request headers that pages may send. `Mcp-Param-*` depend on the tools, so they are permitted by their prefix. */
const REQUEST_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "dpop",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "x-mcp-show-all",
  "x-mcp-tool-mode",
];
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Response headers that pages may read. */
const ANSWER_HEADERS =
  "dpop-nonce, mcp-protocol-version, mcp-session-id, retry-after, www-authenticate, x-mcp-tool-mode";
const PREFLIGHT_SECONDS = "600";
const MAX_REQUESTED_HEADERS = 100;

/** Permits pages of `allowedOrigin` to read this answer. */
export function allowOrigin(answer: HttpAnswer, allowedOrigin: string): void {
  answer.setHeader("access-control-allow-origin", allowedOrigin);
  answer.setHeader("access-control-expose-headers", ANSWER_HEADERS);
  if (allowedOrigin !== "*") answer.setHeader("vary", "Origin");
}

export function isPreflight(request: HttpRequest): boolean {
  return request.method === "OPTIONS" && request.header("access-control-request-method") !== undefined;
}

export function answerPreflight({ request, answer }: Arrival, methods: readonly string[]): void {
  const requested = (request.header("access-control-request-headers") ?? "")
    .toLowerCase()
    .split(",", MAX_REQUESTED_HEADERS);
  const params = requested.map((name) => name.trim()).filter((name) => PARAM_HEADER.test(name));
  answer.setHeader("access-control-allow-methods", methods.join(", "));
  answer.setHeader("access-control-allow-headers", [...REQUEST_HEADERS, ...params].join(", "));
  answer.setHeader("access-control-max-age", PREFLIGHT_SECONDS);
  sendEmpty(answer, 204);
}
