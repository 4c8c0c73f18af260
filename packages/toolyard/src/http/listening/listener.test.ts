import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { afterEach, describe, expect, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import { SILENT_LOGGER, type Logger } from "../../core/ports/ports.ts";
import { createTestListener } from "../../../../../test/support/test-listener.ts";
import type { EventStream } from "../answer/event-stream.ts";
import type { Listener } from "./listener.ts";
import { resolveHttp, type HttpConfig } from "../options.ts";
import { sendJson } from "../answer/send.ts";
import type { Handler } from "../router.ts";

const open: Listener[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

const echo: Handler = async (exchange) => {
  const body = await exchange.readBody();
  const { answer, principal, remoteAddress, baseUrl, path, query } = exchange;
  sendJson(
    answer,
    200,
    JSON.stringify({ body: body.toString(), principal, remoteAddress, baseUrl, path, mode: query.get("tool_mode") }),
  );
};

async function start(
  config: HttpConfig = {},
  mount: (listener: Listener) => void = () => {},
  logger: Logger = SILENT_LOGGER,
): Promise<string> {
  const listener = createTestListener(resolveHttp({ port: 0, shutdown_grace: 500, ...config }), logger);
  open.push(listener);
  listener.route({ methods: ["GET", "POST"], path: "/mcp" }, echo);
  mount(listener);
  return (await listener.listen()).url;
}

interface TestRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

// `fetch` does not permit setting `Host`, so the test uses Node's own client.
async function send(url: string, { method = "POST", headers = {}, body }: TestRequest = {}): Promise<Answer> {
  const request = httpRequest(url, { method, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

describe("host and origin", () => {
  test.each([
    "GET /healthz HTTP/1.0\r\n\r\n",
    "GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  ])("S3: refuses %j, also after a permitted Host", async (raw) => {
    const url = await start();
    expect((await send(`${url}/mcp`)).status).toBe(200);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.write(raw);
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
  });

  test.each(["localhost", "127.0.0.1:80", "[::1]:9999", "LOCALHOST:1"])(
    "S3: serves Host %s on loopback",
    async (host) => {
      const url = await start();
      expect((await send(`${url}/mcp`, { headers: { host } })).status).toBe(200);
    },
  );

  test.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:80",
    "evil@localhost",
    "[::1",
    "localhost:80:80",
  ])("S3: answers Host %s with 403 on loopback", async (host) => {
    const url = await start();
    const answer = await send(`${url}/mcp`, { headers: { host } });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });
  });

  describe("on every address, without a token", () => {
    const OPEN: HttpConfig = { host: "0.0.0.0", insecure: true, allowed_hosts: ["tools.example"] };
    const MACHINE = hostname().toLowerCase();
    const ADDRESSES = Object.values(networkInterfaces())
      .flatMap((list = []) => list)
      .map(({ address, family }) => (family === "IPv6" ? `[${address.replace(/%.*$/, "")}]` : address));

    test.each([
      "localhost:80",
      "127.0.0.1",
      "[::1]:1",
      "192.0.2.7:8808",
      MACHINE,
      `${MACHINE.toUpperCase()}:8808`,
      `${MACHINE.split(".", 1)[0]}.local`,
      "Tools.Example:443",
      ...ADDRESSES,
    ])("S3: serves Host %s", async (host) => {
      expect((await send(`${await start(OPEN)}/mcp`, { headers: { host } })).status).toBe(200);
    });

    test.each([
      "evil.example",
      "127.0.0.1.evil.example",
      "192-0-2-7.evil.example:8808",
      `${MACHINE}.evil.example`,
      `x.${MACHINE}`,
      "tools.example.evil.example",
      "localhost.evil.example",
      "0x7f000001",
      "127.1",
      "2130706433",
      "[::1",
    ])("S3: refuses Host %j with 403", async (host) => {
      const url = await start(OPEN);
      for (const path of ["/mcp", "/healthz"])
        expect((await send(`${url}${path}`, { headers: { host } })).status).toBe(403);
    });

    test("S3: serves any Host if a token is required, because a page of another site has no token", async () => {
      const url = await start({ host: "0.0.0.0", token: "t" });
      const headers = { host: "evil.example", authorization: "Bearer t" };
      expect((await send(`${url}/mcp`, { headers })).status).toBe(200);
    });

    test("S3: serves the host of public_url and a name on which it listens", async () => {
      const url = await start({ host: "0.0.0.0", insecure: true, public_url: "https://hub.example.com" });
      expect((await send(`${url}/mcp`, { headers: { host: "hub.example.com" } })).status).toBe(200);
    });
  });

  test("S3: serves a host name from the options", async () => {
    const url = await start({ allowed_hosts: ["Tools.Example"] });
    expect(
      (await send(`${url}/mcp`, { headers: { host: "tools.example:8080", origin: "https://tools.example" } })).status,
    ).toBe(200);
  });

  test.each([
    ["localhost:3000", "http://localhost:3000"],
    ["LocalHost:3000", "http://localhost:3000"],
    ["localhost", "http://localhost:80"],
    ["127.0.0.1:80", "http://127.0.0.1"],
    ["[::1]:5173", "http://[::1]:5173"],
    ["localhost", "https://localhost"],
  ])("S3: at Host %s, serves the equal Origin %s", async (host, origin) => {
    const url = await start();
    expect((await send(`${url}/mcp`, { headers: { host, origin } })).status).toBe(200);
  });

  test.each([
    ["localhost:8808", "http://localhost:3000"],
    ["localhost:8808", "http://localhost"],
    ["localhost:8808", "http://127.0.0.1:8808"],
    ["127.0.0.1:8808", "http://[::1]:8808"],
    ["localhost", "http://localhost:443"],
    ["localhost:80", "https://localhost"],
  ])("S3: at Host %s, answers Origin %s with 403 that names the option", async (host, origin) => {
    const url = await start();
    const { status, text } = await send(`${url}/mcp`, { headers: { host, origin } });
    expect([status, text]).toEqual([403, expect.stringContaining("server.cors_origins")]);
  });

  test("S3: serves a page of another local port if its origin is configured", async () => {
    const url = await start({ cors_origins: ["http://localhost:3000"] });
    expect((await send(`${url}/mcp`, { headers: { origin: "http://localhost:3000" } })).status).toBe(200);
    expect((await send(`${url}/mcp`, { headers: { origin: "http://localhost:3001" } })).status).toBe(403);
  });

  test.each([
    "http://evil.example",
    "null",
    "localhost",
    "file://",
    "http://localhost@evil.example",
    "http://localhost.evil.example",
  ])("S3: answers Origin %s with 403", async (origin) => {
    const url = await start();
    expect((await send(`${url}/mcp`, { headers: { origin } })).status).toBe(403);
  });

  test("S3: a forwarded host does not permit a rebound name", async () => {
    const url = await start({ trusted_proxy: ["127.0.0.1"] });
    expect(
      (await send(`${url}/mcp`, { headers: { host: "evil.example", "x-forwarded-host": "localhost" } })).status,
    ).toBe(403);
  });
});

describe("cors", () => {
  test("S3: sends no CORS header without configured origins", async () => {
    const url = await start();
    const answer = await send(`${url}/mcp`, { headers: { origin: "http://localhost:3000" } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("S3: a preflight of a configured origin permits mode, session and version headers without a token", async () => {
    const url = await start({ cors_origins: ["https://app.example"], token: "secret" });
    const headers = {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, Mcp-Param-Region, x-other",
    };
    const answer = await send(`${url}/mcp`, { method: "OPTIONS", headers });
    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-origin"]).toBe("https://app.example");
    expect(answer.headers["access-control-allow-methods"]).toBe("GET, POST");
    const allowed = String(answer.headers["access-control-allow-headers"]).split(", ");
    expect(allowed).toEqual(
      expect.arrayContaining([
        "x-mcp-tool-mode",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
      ]),
    );
    expect(allowed).not.toContain("x-other");
    expect(answer.headers["access-control-expose-headers"]).toContain("mcp-session-id");
  });

  test("S3: answers 403 to an origin that is not configured, even with CORS", async () => {
    const url = await start({ cors_origins: ["https://app.example"] });
    expect((await send(`${url}/mcp`, { headers: { origin: "https://other.example" } })).status).toBe(403);
  });
});

describe("tokens", () => {
  const config: HttpConfig = { tokens: { alice: { token: "a-token", allow: ["math__*"] }, bob: { token: "b-token" } } };

  test("S2: serves a known token as its principal with its rights", async () => {
    const url = await start(config);
    const answer = await send(`${url}/mcp`, { headers: { authorization: "bearer a-token" } });
    expect(JSON.parse(answer.text)).toMatchObject({ principal: { id: "alice", rights: { allow: ["math__*"] } } });
  });

  test.each([undefined, "Bearer wrong", "Bearer", "Basic YTpi", "a-token", "Bearer a-token b"])(
    "S2: answers Authorization %s with 401",
    async (authorization) => {
      const url = await start(config);
      const answer = await send(`${url}/mcp`, { headers: authorization === undefined ? {} : { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer realm="toolyard"/);
      expect(answer.text).not.toContain("a-token");
    },
  );

  test("S2: without tokens every caller is the local principal", async () => {
    const url = await start();
    expect(JSON.parse((await send(`${url}/mcp`)).text)).toMatchObject({ principal: { id: "local" } });
  });

  test.each(["/healthz", "/health"])("S2: %s is open and reveals no details", async (path) => {
    const url = await start(config);
    const answer = await send(`${url}${path}`, { method: "GET" });
    expect([answer.status, answer.text]).toEqual([200, '{"status":"ok"}']);
  });
});

describe("options", () => {
  test.each(["0.0.0.0", "::", "192.168.1.2", "example.org"])(
    "S1: refuses %s without a token, and names the solution",
    (host) => {
      expect(() => resolveHttp({ host })).toThrow(OptionError);
      expect(() => resolveHttp({ host })).toThrow(/token.*--insecure/);
    },
  );

  test.each([
    { host: "0.0.0.0", token: "t" },
    { host: "::", insecure: true },
    { host: "localhost" },
    { host: "127.9.9.9" },
    { host: "[::1]" },
  ])("S1: accepts %j", (config) => {
    expect(resolveHttp(config).host).toBe(config.host);
  });

  test.each<[HttpConfig, RegExp]>([
    [{ port: 70_000 }, /server\.port/],
    [{ base_path: "no slash" }, /server\.base_path/],
    [{ cors_origins: ["app.example"] }, /server\.cors_origins/],
    [{ tokens: { a: { token: "x" }, b: { token: "x" } } }, /same token/],
    [{ token: "two words" }, /spaces/],
  ])("refuses %j with the option's name", (config, message) => {
    expect(() => resolveHttp(config)).toThrow(message);
  });

  test("refuses a trusted proxy that is not an address, with the option's name", () => {
    expect(() => createTestListener(resolveHttp({ trusted_proxy: ["proxy.local"] }), SILENT_LOGGER)).toThrow(
      /server\.trusted_proxy/,
    );
  });
});

describe("routing", () => {
  test("answers an unknown path with 404 in plain text", async () => {
    const url = await start();
    const answer = await send(`${url}/nothing`);
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
      404,
      "text/plain; charset=utf-8",
      "Not Found",
    ]);
  });

  test("answers an unsupported method with 405 and the supported methods", async () => {
    const url = await start();
    const answer = await send(`${url}/mcp`, { method: "PUT" });
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, POST"]);
  });

  test("serves all paths below the base path, and health at the root too", async () => {
    const url = await start({ base_path: "/tools/" });
    const root = url.replace("/tools", "");
    expect(url).toMatch(/\/tools$/);
    expect((await send(`${url}/mcp?tool_mode=x`)).status).toBe(200);
    expect((await send(`${url}/mcp/`)).status).toBe(200);
    expect((await send(`${root}/mcp`)).status).toBe(404);
    expect((await send(`${root}/healthz`, { method: "GET" })).status).toBe(200);
    expect((await send(`${url}/healthz`, { method: "GET" })).status).toBe(200);
  });

  test("a path with a star matches all paths below it, with lower precedence than an exact path", async () => {
    const url = await start({}, (listener) => {
      listener.route({ methods: ["GET"], path: "/api/*" }, ({ answer, path }) =>
        sendJson(answer, 200, JSON.stringify({ below: path })),
      );
      listener.route({ methods: ["GET"], path: "/api/exact" }, ({ answer }) => sendJson(answer, 200, "{}"));
    });
    expect((await send(`${url}/api/tools/x`, { method: "GET" })).text).toBe('{"below":"/api/tools/x"}');
    expect((await send(`${url}/api/exact`, { method: "GET" })).text).toBe("{}");
  });
});

describe("trusted proxy", () => {
  const headers = {
    "x-forwarded-for": "6.6.6.6, 203.0.113.9, 10.1.2.3",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "tools.example",
  };

  test("S17: reads the caller's address from a known proxy, and ignores the caller's own headers", async () => {
    const url = await start({ trusted_proxy: ["127.0.0.1", "10.0.0.0/8"], base_path: "/x" });
    expect(JSON.parse((await send(`${url}/mcp`, { headers })).text)).toMatchObject({
      remoteAddress: "203.0.113.9",
      baseUrl: "https://tools.example/x",
    });
  });

  test("ignores forwarded headers of other senders", async () => {
    const url = await start();
    const { host } = new URL(url);
    expect(JSON.parse((await send(`${url}/mcp`, { headers })).text)).toMatchObject({
      remoteAddress: "127.0.0.1",
      baseUrl: `http://${host}`,
    });
  });
});

describe("bodies", () => {
  const limit = { max_body_bytes: 2048 };

  test("S4: accepts a body up to the limit", async () => {
    const url = await start(limit);
    const body = "x".repeat(2048);
    expect(JSON.parse((await send(`${url}/mcp`, { body })).text)).toMatchObject({ body });
  });

  test("S4: answers 413 to a declared length over the limit before the body is read", async () => {
    const url = await start(limit);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n");
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(first.toString()).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("S4: answers 413 to a chunked body as soon as it exceeds the limit", async () => {
    const url = await start(limit);
    const request = httpRequest(`${url}/mcp`, { method: "POST", agent: false });
    request.write("x".repeat(1500));
    request.write("x".repeat(1500));
    const [response] = (await once(request, "response")) as [IncomingMessage];
    request.destroy();
    expect(response.statusCode).toBe(413);
  });

  test("S4: a caller that sends a large body completely before it reads still gets the 413", async () => {
    const url = await start(limit);
    expect((await send(`${url}/mcp`, { body: Buffer.alloc(3_000_000, 120) })).status).toBe(413);
  });

  test("S4: answers Expect: 100-continue with a declared body over the limit with 413, without 100", async () => {
    const url = await start(limit);
    const request = httpRequest(`${url}/mcp`, {
      method: "POST",
      agent: false,
      headers: { expect: "100-continue", "content-length": "999999" },
    });
    let continued = false;
    request.on("continue", () => (continued = true));
    request.flushHeaders();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    request.destroy();
    expect([response.statusCode, continued]).toEqual([413, false]);
  });

  test("answers 415 to a compressed body", async () => {
    const url = await start();
    expect((await send(`${url}/mcp`, { body: "x", headers: { "content-encoding": "gzip" } })).status).toBe(415);
  });

  test("S4: answers 408 to a request that does not arrive in time", async () => {
    const url = await start({ request_timeout: 150 });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf");
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(first.toString()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("an answer and a stream may take longer than the request timeout", async () => {
    const url = await start({ request_timeout: 100, stream_keep_alive: 100 }, (listener) => {
      listener.route({ methods: ["GET"], path: "/long" }, (exchange) => {
        const stream = exchange.openStream();
        setTimeout(() => {
          stream.send('"late"');
          stream.end();
        }, 500);
      });
    });
    expect((await send(`${url}/long`, { method: "GET" })).text).toContain('data: "late"');
  });

  test("S4: answers 431 to a head over the limit", async () => {
    const url = await start({ max_header_bytes: 8192 });
    expect((await send(`${url}/mcp`, { headers: { "x-long": "x".repeat(9000) } })).status).toBe(431);
  });
});

describe("exceptions and close", () => {
  test("S13: answers an exception of a handler with 500 and an error id, and logs the details", async () => {
    const lines: unknown[] = [];
    const logger: Logger = { ...SILENT_LOGGER, error: (_message, facts) => lines.push(facts) };
    const url = await start(
      {},
      (listener) =>
        listener.route({ methods: ["GET"], path: "/boom" }, () => Promise.reject(new Error("secret /home/me"))),
      logger,
    );
    const answer = await send(`${url}/boom`, { method: "GET" });
    const id = /error id (\w+)/.exec(answer.text)?.[1];
    expect([answer.status, answer.text.includes("secret")]).toEqual([500, false]);
    expect(lines).toMatchObject([{ errorId: id, error: "secret /home/me" }]);
  });

  test("reports a port in use with its number and advice", async () => {
    const url = await start();
    const port = Number(new URL(url).port);
    const second = createTestListener(resolveHttp({ port }), SILENT_LOGGER);
    await expect(second.listen()).rejects.toThrow(new RegExp(`Port ${port} .*in use.*--port`));
  });

  test("close waits for a running answer and accepts no further connection", async () => {
    let finish: (() => void) | undefined;
    const url = await start({}, (listener) =>
      listener.route({ methods: ["GET"], path: "/slow" }, async ({ answer }) => {
        await new Promise<void>((resolve) => (finish = resolve));
        sendJson(answer, 200, '"done"');
      }),
    );
    const pending = send(`${url}/slow`, { method: "GET" });
    await expect.poll(() => finish).toBeDefined();
    const closed = open[0]!.close();
    finish?.();
    expect((await pending).text).toBe('"done"');
    await closed;
    await expect(send(`${url}/mcp`)).rejects.toThrow(/ECONNREFUSED/);
  });

  test("close does not wait for idle connections", async () => {
    const url = await start({ shutdown_grace: 60_000 });
    const silent = connect(Number(new URL(url).port), "127.0.0.1");
    const halfway = connect(Number(new URL(url).port), "127.0.0.1");
    await Promise.all([once(silent, "connect"), once(halfway, "connect")]);
    halfway.write("POST /mcp HTTP/1.1\r\nHost: loc");
    await fetch(`${url}/mcp`, { method: "POST", body: "x" }).then((response) => response.text());
    const ended = Promise.all([once(silent, "close"), once(halfway, "close")]);
    await open[0]!.close();
    expect(await ended).toHaveLength(2);
  });

  test("close ends after a time limit if an answer never ends", async () => {
    let isWaiting = false;
    const url = await start({ shutdown_grace: 50 }, (listener) =>
      listener.route({ methods: ["GET"], path: "/never" }, () => void (isWaiting = true)),
    );
    const pending = send(`${url}/never`, { method: "GET" });
    const outcome = expect(pending).rejects.toThrow(/hang up|ECONNRESET/);
    await expect.poll(() => isWaiting).toBe(true);
    await open[0]!.close();
    await outcome;
  });
});

describe("event streams", () => {
  test("sends comments on a quiet stream, and events immediately", async () => {
    const url = await start({ stream_keep_alive: 100 }, (listener) =>
      listener.route({ methods: ["GET"], path: "/events" }, (exchange) =>
        exchange.openStream().send('{"a":1}', { event: "message", id: "7" }),
      ),
    );
    const request = httpRequest(`${url}/events`, { agent: false });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
    let text = "";
    response.on("data", (chunk: Buffer) => (text += chunk.toString()));
    response.on("error", () => {});
    await expect.poll(() => text).toBe('event: message\nid: 7\ndata: {"a":1}\n\n: keep-alive\n\n');
    request.destroy();
  });

  test("sends head, events and end of one turn in the order of writing, and nothing after the end", async () => {
    const url = await start({}, (listener) =>
      listener.route({ methods: ["GET"], path: "/events" }, (exchange) => {
        const stream = exchange.openStream();
        for (const data of ["1", "2"]) stream.send(data);
        stream.end();
      }),
    );
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.write(
      "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n" +
        "Connection: close\r\n\r\n",
    );
    await once(socket, "close");
    expect(text.split("HTTP/1.1 ")).toEqual([
      "",
      expect.stringMatching(/^200 OK[^]*\r\n\r\n[0-9a-f]+\r\n[^]*data: 1\n\n[^]*data: 2\n\n\r\n0\r\n\r\n$/),
      expect.stringMatching(/^200 OK[^]*\{"status":"ok"\}$/),
    ]);
  });

  test("sends the head of a stream without events", async () => {
    const url = await start({}, (listener) =>
      listener.route({ methods: ["GET"], path: "/events" }, (exchange) => void exchange.openStream()),
    );
    const request = httpRequest(`${url}/events`, { agent: false });
    request.on("error", () => {});
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    request.destroy();
  });

  test("does not close a stream whose client has read all data, even after `stream_stall`", async () => {
    let stream: EventStream | undefined;
    const url = await start({ stream_stall: 150 }, (listener) =>
      listener.route({ methods: ["GET"], path: "/large" }, (exchange) => {
        stream = exchange.openStream();
        for (let count = 0; count < 30; count += 1) stream.send("x".repeat(10_000));
      }),
    );
    const request = httpRequest(`${url}/large`, { agent: false });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => (bytes += chunk.length)).on("error", () => {});
    await expect.poll(() => bytes).toBeGreaterThan(300_000);
    // Waits longer than the limit for a client that reads nothing.
    await new Promise((resolve) => void setTimeout(resolve, 400));
    expect(stream!.isOpen).toBe(true);
    request.destroy();
  });

  test("closes a reader at the limit if it reads nothing", async () => {
    let closed = false;
    const url = await start({ max_stream_backlog_bytes: 64 * 1024 }, (listener) =>
      listener.route({ methods: ["GET"], path: "/flood" }, (exchange) => {
        const stream = exchange.openStream();
        stream.onClosed(() => (closed = true));
        const pour = (): void => {
          for (let count = 0; count < 20 && stream.isOpen; count += 1) stream.send("x".repeat(100_000));
          if (stream.isOpen) setImmediate(pour);
        };
        pour();
      }),
    );
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write("GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(() => closed).toBe(true);
    socket.destroy();
  });
});
