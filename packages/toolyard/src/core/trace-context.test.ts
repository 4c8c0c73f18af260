import { describe, expect, test } from "vitest";
import { bodyWithHeaderContext, headersOfContext, isTraceparent } from "./trace-context.ts";

const VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
const headers = (all: Record<string, string>) => ({ header: (name: string) => all[name] });

describe("isTraceparent", () => {
  test.each([VALID, OTHER, `cc${VALID.slice(2)}-future`])("accepts %s", (text) => {
    expect(isTraceparent(text)).toBe(true);
  });

  test.each([
    ["version ff", `ff${VALID.slice(2)}`],
    ["a trace id of zeros", VALID.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32))],
    ["a span id of zeros", VALID.replace("b7ad6b7169203331", "0".repeat(16))],
    ["capital letters", VALID.toUpperCase()],
    ["a line break", `${VALID}\r\nx-injected: 1`],
    ["a short text", VALID.slice(1)],
    ["a number", 7],
    ["nothing", undefined],
  ])("refuses %s", (_name, value) => {
    expect(isTraceparent(value)).toBe(false);
  });
});

describe("bodyWithHeaderContext", () => {
  const call = (meta?: object) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "m",
    params: { a: 1, ...(meta && { _meta: meta }) },
  });

  test("returns the body unchanged if there is no valid header", () => {
    const body = call();
    expect(bodyWithHeaderContext(body, headers({}))).toBe(body);
    expect(bodyWithHeaderContext(body, headers({ traceparent: "x" }))).toBe(body);
  });

  test("adds the context to each request of a batch, and keeps other members", () => {
    const all = headers({ traceparent: VALID, tracestate: "a=1" });
    expect(bodyWithHeaderContext([call({ progressToken: 1 }), { jsonrpc: "2.0", id: 1, result: {} }], all)).toEqual([
      call({ progressToken: 1, traceparent: VALID, tracestate: "a=1" }),
      { jsonrpc: "2.0", id: 1, result: {} },
    ]);
  });

  test.each([
    ["a context of its own", call({ traceparent: OTHER })],
    ["positional parameters", { jsonrpc: "2.0", id: 1, method: "m", params: [1] }],
    ["no method", { id: 1 }],
    ["no object", "text"],
  ])("changes nothing in a body with %s", (_name, body) => {
    expect(bodyWithHeaderContext(body, headers({ traceparent: VALID }))).toEqual(body);
  });
});

describe("headersOfContext", () => {
  test("returns valid headers only", () => {
    expect(headersOfContext({ _meta: { traceparent: VALID, tracestate: "a=1" } })).toEqual({
      traceparent: VALID,
      tracestate: "a=1",
    });
    expect(headersOfContext({ _meta: { traceparent: VALID, tracestate: "a\r\nb" } })).toEqual({ traceparent: VALID });
    expect(headersOfContext({ _meta: { traceparent: `${VALID}\n` } })).toBeUndefined();
    expect(headersOfContext({ _meta: {} })).toBeUndefined();
    expect(headersOfContext({})).toBeUndefined();
    expect(headersOfContext(undefined)).toBeUndefined();
  });
});
