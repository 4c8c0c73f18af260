// A web page that a user opens in a browser on the hub's machine. It sends only requests that a browser allows.
import { describe, expect, test } from "vitest";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { initialize, JSON_HEADERS, openTarget, rpc, type RawRequest } from "./attack.ts";

const CALL = rpc("tools/call", { name: "meta.ping", arguments: {} });

describe("S1: addresses on which a hub listens", () => {
  test("S1: listens on loopback by default", async () => {
    await using target = await openTarget();
    expect(new URL(target.url).hostname).toBe("127.0.0.1");
  });

  test.each(["0.0.0.0", "::", "192.0.2.7", "localhost.example"])(
    "S1: refuses %s without a token before it listens",
    async (host) => {
      const hub = await createHub({ settings: { server: { host, port: 0 } }, variables: {} });
      try {
        await expect(hub.serve()).rejects.toThrow(/without a token/);
      } finally {
        await hub.close();
      }
    },
  );
});

describe("S3: restrictions of a page", () => {
  const foreign: [string, RawRequest][] = [
    ["a rebound name", { headers: { ...JSON_HEADERS, host: "evil.example:80" }, body: initialize() }],
    [
      "a rebound name behind a forwarded one",
      { headers: { ...JSON_HEADERS, host: "evil.example", "x-forwarded-host": "localhost" }, body: initialize() },
    ],
    [
      "a name that only begins like loopback",
      { headers: { ...JSON_HEADERS, host: "127.0.0.1.evil.example" }, body: initialize() },
    ],
    [
      "a name with credentials in it",
      { headers: { ...JSON_HEADERS, host: "localhost@evil.example" }, body: initialize() },
    ],
    ["another origin", { headers: { ...JSON_HEADERS, origin: "https://evil.example" }, body: initialize() }],
    ["a sandboxed frame or a file", { headers: { ...JSON_HEADERS, origin: "null" }, body: initialize() }],
    [
      "an origin that only begins like loopback",
      { headers: { ...JSON_HEADERS, origin: "http://localhost.evil.example" }, body: initialize() },
    ],
    [
      "an extension",
      { headers: { ...JSON_HEADERS, origin: "chrome-extension://abcdefghijklmnop" }, body: initialize() },
    ],
    [
      "a simple request of a form",
      { headers: { "content-type": "text/plain", origin: "https://evil.example" }, body: CALL },
    ],
    [
      "an image",
      {
        method: "GET",
        path: "/sse",
        headers: {
          accept: "image/*",
          "sec-fetch-site": "cross-site",
          "sec-fetch-mode": "no-cors",
          "sec-fetch-dest": "image",
        },
      },
    ],
    [
      "a frame",
      {
        method: "GET",
        path: "/sse",
        headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
      },
    ],
    [
      "a script",
      {
        method: "GET",
        path: "/status",
        headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
      },
    ],
  ];

  test.each(foreign)("S3: answers 403 for %s", async (_, request) => {
    await using target = await openTarget();
    const answer = await target.send(request);
    expect(answer.status).toBe(403);
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
    expect(answer.headers).not.toHaveProperty("mcp-session-id");
  });

  test("S3: does not parse a body as JSON whose type needs no preflight, from any sender", async () => {
    await using target = await openTarget();
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/plain, application/json",
    ]) {
      expect(
        (await target.send({ headers: { ...JSON_HEADERS, "content-type": type }, body: initialize() })).status,
        type,
      ).toBe(415);
      expect(
        (await target.send({ path: "/messages?sessionId=x", headers: { "content-type": type }, body: CALL })).status,
        type,
      ).toBeGreaterThanOrEqual(400);
    }
  });

  test("S3: a preflight of an unknown page permits nothing", async () => {
    await using target = await openTarget({ server: { cors_origins: ["https://app.example"] } });
    const headers = {
      origin: "https://evil.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    };
    const answer = await target.send({ method: "OPTIONS", headers });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test("S3: a preflight of a known page lists the mode, session and version headers", async () => {
    await using target = await openTarget({ server: { cors_origins: ["https://app.example"] } });
    const headers = {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    };
    const answer = await target.send({ method: "OPTIONS", headers });
    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-origin"]).toBe("https://app.example");
    for (const name of ["x-mcp-tool-mode", "mcp-session-id", "mcp-protocol-version"])
      expect(answer.headers["access-control-allow-headers"]).toContain(name);
    expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
  });

  test("S3: serves a program, a page of the hub and a followed link", async () => {
    await using target = await openTarget();
    expect((await target.send({ headers: JSON_HEADERS, body: initialize() })).status).toBe(200);
    expect(
      (
        await target.send({
          headers: { ...JSON_HEADERS, origin: `http://127.0.0.1:${target.port}` },
          body: initialize(),
        })
      ).status,
    ).toBe(200);
    expect(
      (
        await target.send({
          method: "GET",
          path: "/status",
          headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
        })
      ).status,
    ).toBe(200);
    expect(
      (
        await target.send({
          method: "GET",
          path: "/status",
          headers: { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" },
        })
      ).status,
    ).toBe(200);
  });

  test("S3: keeps the token required when CORS allows every origin", async () => {
    await using target = await openTarget({ server: { cors_origins: ["*"], token: "correct-horse" } });
    const answer = await target.send({
      headers: { ...JSON_HEADERS, origin: "https://evil.example" },
      body: initialize(),
    });
    expect(answer.status).toBe(401);
  });
});
