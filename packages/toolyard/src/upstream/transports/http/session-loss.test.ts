import { expect, test } from "vitest";
import { saysSessionLost } from "./session-loss.ts";

const error = (code: number, message: string, id: unknown = null): string =>
  JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id });

test.each<[string, number, string]>([
  ["404 without a text", 404, ""],
  ["410 in another language", 410, "Sitzung abgelaufen"],
  ["400 and the SDK's code", 400, error(-32001, "会话不存在")],
  ["422 and the SDK's code", 422, error(-32001, "sesión desconocida")],
  ["400 and the SDK's code after a byte order mark", 400, `\ufeff${error(-32001, "?")}`],
  ["409 and words", 409, "Session not found"],
])("detects a lost session in %s", (_what, status, body) => {
  expect(saysSessionLost({ status, body, hasSession: true })).toBe(true);
});

test.each<[string, number, string]>([
  ["the code of a timeout, in the answer to a request", 200, error(-32001, "Request timed out", 7)],
  ["the code with a status that is no refusal", 500, error(-32001, "Unbekannt")],
  ["the code of a timeout, in a refusal with the id", 400, error(-32001, "Abgelaufen", 7)],
  ["another code without words", 500, error(-32000, "Zu viele Anfragen")],
  ["a result", 200, JSON.stringify({ jsonrpc: "2.0", id: null, result: { code: -32001 } })],
  ["an error that is no object", 500, JSON.stringify({ id: null, error: "-32001" })],
  ["a text that is no JSON", 500, "-32001"],
])("detects no lost session in %s", (_what, status, body) => {
  expect(saysSessionLost({ status, body, hasSession: true })).toBe(false);
});

test("detects no lost session from the SDK's code on a connection without a session", () => {
  expect(saysSessionLost({ status: 400, body: error(-32001, "x"), hasSession: false })).toBe(false);
});
