import { expect, test } from "vitest";
import { readUpgradeRequest, readUpgradeResponse, upgradeRequest, upgradeResponse } from "./upgrade.ts";

const REQUEST = upgradeRequest(new URL("http://10.0.0.5:8808"), "hello.code");

test.each(["http://10.0.0.5:8808", "https://hub.example/base", "http://[::1]:80/a/b/"])(
  "builds a request to %s that the other hub can read",
  (url) => {
    const request = upgradeRequest(new URL(url), "hello.code");
    expect(request).toContain(`\r\nHost: ${new URL(url).host}\r\n`);
    expect(readUpgradeRequest(Buffer.from(request))).toBe("hello.code");
  },
);

test("reads a request whose headers a proxy has changed", () => {
  const fields = ["host: x", "via: 1.1 proxy", "UPGRADE:Toolyard-Frames/1", "connection: upgrade"];
  const request = ["GET /base/hub/relay HTTP/1.1", ...fields, "Toolyard-Relay:  hello.code ", "", ""].join("\r\n");
  expect(readUpgradeRequest(Buffer.from(request))).toBe("hello.code");
});

test.each([
  ["an incomplete head", REQUEST.slice(0, -1)],
  ["bytes after the head", `${REQUEST}x`],
  ["a second request", REQUEST + REQUEST],
  ["another method", REQUEST.replace("GET", "POST")],
  ["another path", REQUEST.replace("/hub/relay", "/mcp")],
  ["a longer path", REQUEST.replace("/hub/relay", "/hub/relay/x")],
  ["another protocol", REQUEST.replace("toolyard-frames/1", "websocket")],
  ["another version", REQUEST.replace("toolyard-frames/1", "toolyard-frames/2")],
  ["no protocol", REQUEST.replace("Upgrade: toolyard-frames/1", "X: y")],
  ["no hello", REQUEST.replace("toolyard-relay", "x")],
  ["HTTP/1.0", REQUEST.replace("HTTP/1.1", "HTTP/1.0")],
  ["a large head", REQUEST.replace("\r\n\r\n", `\r\nx: ${"y".repeat(9000)}\r\n\r\n`)],
  ["nothing", ""],
])("ignores %s", (_, request) => {
  expect(readUpgradeRequest(Buffer.from(request))).toBeUndefined();
});

test("reads an accepting response, and returns its length", () => {
  const response = Buffer.from(`${upgradeResponse("reply.code")}rest`);
  expect(readUpgradeResponse(response)).toEqual({ reply: "reply.code", bytes: response.length - 4 });
  expect(readUpgradeResponse(response.subarray(0, 40))).toBeUndefined();
});

test.each([
  "HTTP/1.1 405 Method Not Allowed\r\n\r\n",
  "HTTP/1.1 1010 x\r\nUpgrade: toolyard-frames/1\r\ntoolyard-relay: a.b\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\ntoolyard-relay: a.b\r\n\r\n",
  "SSH-2.0-OpenSSH\r\n\r\n",
  "x".repeat(9000),
])("returns no reply for %j", (response) => {
  expect(readUpgradeResponse(Buffer.from(response))).toMatchObject({ reply: undefined });
});
