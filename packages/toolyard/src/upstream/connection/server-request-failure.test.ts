import { describe, expect, test } from "vitest";
import { fail, type RpcErrorObject } from "../../core/calls/outcome.ts";
import { couldNotAsk } from "./server-request-failure.ts";

describe("couldNotAsk", () => {
  test.each([
    "elicitation is unavailable on 2026-07-28 connections",
    "Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent.",
    "Method 'sampling/createMessage' is not supported by the negotiated protocol version (wire era 2026-07-28)",
    "Cannot send 'roots/list': this transport context has no back-channel for server-initiated requests.",
    "Client does not support elicitation (required for elicitation/create)",
    "Error: METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION in ctx.mcpReq.elicitInput",
    "Your client doesn't support sampling.",
    "ctx.list_roots() is not possible in this session",
  ])("recognizes the failure %j", (message) => {
    expect(couldNotAsk(fail("tool_error", message))).toBe(true);
    expect(couldNotAsk(fail("internal", "It failed.", { rpcError: { code: -32603, message } }))).toBe(true);
  });

  test.each([
    "The user declined the elicitation.",
    "Elicitation was cancelled",
    "The file is not available.",
    "Square roots of negative numbers are refused",
    "This operation is not supported",
    "Sampling rate 44100 was expected, got 48000",
    "",
  ])("does not recognize the failure %j", (message) => {
    expect(couldNotAsk(fail("tool_error", message))).toBe(false);
  });

  test.each<[string, RpcErrorObject]>([
    [
      "a missing client capability",
      { code: -32021, message: "Fehlt", data: { requiredCapabilities: { elicitation: {} } } },
    ],
    ["a missing client capability without data", { code: -32021, message: "manca una capacità" }],
    ["an unknown method that its data names", { code: -32601, message: "inconnue", data: { method: "roots/list" } }],
    ["an unknown method that its text names", { code: -32601, message: "sampling/createMessage: no existe" }],
    [
      "an SDK's code in the data",
      { code: -32603, message: "x", data: { code: "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION", method: "roots/list" } },
    ],
    ["the code of the inner error", { code: -32603, message: "elicitation/create", data: { code: -32601 } }],
  ])("recognizes %s by its code, with a text in any language", (_what, rpcError) => {
    expect(couldNotAsk(fail("tool_error", rpcError.message, { rpcError }))).toBe(true);
  });

  test.each<[string, RpcErrorObject]>([
    ["a capability for other requests", { code: -32021, message: "x", data: { requiredCapabilities: { tasks: {} } } }],
    ["another unknown method", { code: -32601, message: "Method not found", data: { method: "tools/call" } }],
    ["an unknown method without a name", { code: -32601, message: "Method not found" }],
    ["another code", { code: -32602, message: "bad", data: { method: "roots/list" } }],
    ["data that is no object", { code: -32601, message: "Method not found", data: "roots/list" }],
  ])("does not recognize %s", (_what, rpcError) => {
    expect(couldNotAsk(fail("tool_error", rpcError.message, { rpcError }))).toBe(false);
  });

  test("ignores failures that are not answers of the server", () => {
    for (const kind of ["timeout", "unavailable", "cancelled", "limited"] as const)
      expect(couldNotAsk(fail(kind, "elicitation is unavailable"))).toBe(false);
  });
});
