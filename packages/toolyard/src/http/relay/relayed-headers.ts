import type { RawHeaders, RequestHeaders } from "../wire.ts";

/**
 * Header of relayed requests and of their answers. A request has its code or its hello in it, an answer one of
 * `RELAYED`.
 */
export const RELAY_HEADER = "toolyard-relay";
/** Values of `RELAY_HEADER` in answers. `signed`: HTTP response with an answer in its body. */
export const RELAYED = { answered: "answered", absent: "absent", signed: "signed" } as const;

/** Request headers that MCP reads. Credentials and headers of proxies are not passed on. */
const PASSED = /^(?:accept|content-type|last-event-id|user-agent|traceparent|tracestate|baggage|(?:x-)?mcp-.+)$/;
/** Answer headers that belong to one connection (RFC 9110 section 7.6.1), or are written again. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  RELAY_HEADER,
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

export function passedHeaders(headers: RequestHeaders): Record<string, string | readonly string[]> {
  const passed: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && PASSED.test(name)) passed[name] = value;
  }
  return passed;
}

/** Returns the headers of a relayed answer for its caller. */
export function answerHeaders(headers: RequestHeaders): RawHeaders {
  const passed: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_PASSED.has(name)) continue;
    for (const one of typeof value === "string" ? [value] : value) passed.push(name, one);
  }
  return passed;
}
