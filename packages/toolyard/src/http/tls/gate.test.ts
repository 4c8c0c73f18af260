import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CertificateFiles } from "../../../../../test/support/certificates.ts";
import { askSecurely } from "../../../../../test/support/secure-request.ts";
import { createTestListener } from "../../../../../test/support/test-listener.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import type { PortListener } from "../listening/listener.ts";
import { resolveHttp, type HttpConfig } from "../options.ts";
import { sendJson } from "../answer/send.ts";
import { readKeyPair } from "./key-pair.ts";

let files: CertificateFiles;
let listener: PortListener | undefined;
/** Called when a request has arrived that is never answered. */
let begun: () => void = () => {};

beforeEach(() => void (files = new CertificateFiles()));
afterEach(async () => {
  await listener?.close();
  files[Symbol.dispose]();
});

const pair = () => readKeyPair({ certFile: files.cert, keyFile: files.key });

async function start(workers: number, config: HttpConfig = {}): Promise<{ url: string; port: number; ca: string }> {
  const tls = { cert: files.cert, key: files.key };
  const options = resolveHttp({ port: 0, shutdown_grace: 500, ...config, tls });
  listener = createTestListener(options, SILENT_LOGGER, workers);
  listener.route({ methods: ["GET", "POST"], path: "/echo" }, async (exchange) => {
    const body = await exchange.readBody();
    sendJson(exchange.answer, 200, JSON.stringify({ body: body.toString(), baseUrl: exchange.baseUrl }));
  });
  listener.route({ methods: ["GET"], path: "/never" }, () => {
    begun();
    return new Promise(() => {});
  });
  await listener.certify(pair());
  const { url, port } = await listener.listen();
  return { url, port, ca: files.ca };
}

async function saidTo(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  if (text !== "") socket.write(text);
  await once(socket, "close");
  return answer;
}

describe.each([1, 2])("with %i serving process(es)", (workers) => {
  test("answers requests on connections with TLS 1.2 and 1.3, and refuses older versions", async () => {
    const { url, ca } = await start(workers);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const newest = await askSecurely(`${url}/echo`, { ca, body: "x".repeat(200_000) });
    expect([newest.status, newest.protocol]).toEqual([200, "TLSv1.3"]);
    expect(JSON.parse(newest.text)).toEqual({ body: "x".repeat(200_000), baseUrl: url });
    expect((await askSecurely(`${url}/echo`, { ca, maxVersion: "TLSv1.2" })).protocol).toBe("TLSv1.2");
    await expect(askSecurely(`${url}/echo`, { ca, maxVersion: "TLSv1.1" })).rejects.toThrow();
  });

  test("answers plain HTTP and other data with a readable message", async () => {
    const { url, port, ca } = await start(workers);
    const plain = await fetch(`http://127.0.0.1:${port}/echo`);
    expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining("use https://")]);
    const posted = await fetch(`http://127.0.0.1:${port}/echo`, { method: "POST", body: "x".repeat(500_000) });
    expect(posted.status).toBe(400);
    expect(await saidTo(port, "\u0000\u0001 nothing known\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect((await askSecurely(`${url}/echo`, { ca })).status).toBe(200);
  });

  test("uses a new certificate and key for new connections, and keeps open connections", async () => {
    const { url, ca } = await start(workers);
    const before = await askSecurely(`${url}/echo`, { ca });
    const open = connectTls({ port: Number(new URL(url).port), host: "127.0.0.1", ca: files.authority.cert });
    await once(open, "secureConnect");
    files.write(files.authority.issue());
    await listener!.certify(pair());
    await expect.poll(async () => (await askSecurely(`${url}/echo`, { ca })).fingerprint).not.toBe(before.fingerprint);
    open.write("GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const [answer] = (await once(open, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    open.destroy();
  });

  test("closes a client without a completed handshake after `request_timeout`", async () => {
    const { url, port, ca } = await start(workers, { request_timeout: 300 });
    expect(await saidTo(port, "")).toBe("");
    expect(await saidTo(port, "\u0016\u0003\u0001")).toBe("");
    expect((await askSecurely(`${url}/echo`, { ca })).status).toBe(200);
  });

  test("closes a client that sends the handshake byte by byte after `request_timeout`", async () => {
    const { port } = await start(workers, { request_timeout: 300 });
    const slow = connect(port, "127.0.0.1").resume();
    const closed = new Promise((resolve) => void slow.on("error", () => {}).once("close", resolve));
    // A record of 512 bytes, which is sent byte by byte.
    slow.write(Buffer.from([0x16, 3, 1, 2, 0]));
    const timer = setInterval(() => slow.write("\u0001"), 20);
    await closed;
    clearInterval(timer);
    expect(slow.destroyed).toBe(true);
  });

  test("negotiates HTTP/1.1, and refuses a client with HTTP/2 only in the handshake", async () => {
    const { port, ca } = await start(workers);
    const agreed = async (ALPNProtocols: string[]): Promise<unknown> => {
      const socket = connectTls({ port, host: "127.0.0.1", ca: readFileSync(ca), ALPNProtocols });
      const [failure] = await Promise.race([once(socket, "secureConnect"), once(socket, "error")]).catch((e) => [e]);
      socket.destroy();
      return failure instanceof Error ? (failure as NodeJS.ErrnoException).code : socket.alpnProtocol;
    };
    expect(await agreed(["h2", "http/1.1"])).toBe("http/1.1");
    expect(await agreed(["h2"])).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
    expect(await agreed([])).toBe(false);
  });

  test("sends the same certificate for every requested name, and checks `Host` too", async () => {
    const { port, ca } = await start(workers);
    const socket = connectTls({ port, host: "127.0.0.1", servername: "evil.example", ca: readFileSync(ca) });
    const [refused] = (await once(socket, "error").catch((error: unknown) => [error])) as [NodeJS.ErrnoException];
    expect(refused.code).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    const named = connectTls({ port, host: "127.0.0.1", ca: readFileSync(ca) });
    named.write("GET /echo HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    expect(((await once(named, "data")) as [Buffer])[0].toString()).toMatch(/^HTTP\/1\.1 403 /);
    named.destroy();
  });

  test("closes an invalid handshake after the first byte, and keeps the port open", async () => {
    const { url, port, ca } = await start(workers);
    for (const text of ["\u0016GET / HTTP/1.1\r\n\r\n", `\u0016\u0003\u0001\u0000\u0004${"\u00ff".repeat(64)}`])
      await saidTo(port, text);
    expect((await askSecurely(`${url}/echo`, { ca })).status).toBe(200);
  });

  test("close does not wait for handshakes, and ends requests after the grace time", async () => {
    const { url, port } = await start(workers);
    const silent = connect(port, "127.0.0.1").resume();
    await once(silent, "connect");
    const silentEnded = once(silent, "close");
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const stuck = httpsRequest(`${url}/never`, { ca: files.authority.cert, agent: false });
    const ended = new Promise((resolve) => void stuck.on("error", () => {}).once("close", resolve));
    stuck.end();
    await isBegun;
    await listener!.close();
    await ended;
    await silentEnded;
    expect(silent.destroyed).toBe(true);
  });

  test("accepts an origin as the hub's own only with https", async () => {
    const { url, ca } = await start(workers);
    const from = (origin: string, host: string) => askSecurely(`${url}/echo`, { ca, headers: { origin, host } });
    expect((await from(url, new URL(url).host)).status).toBe(200);
    expect((await from("https://localhost", "localhost")).status).toBe(200);
    expect((await from("https://localhost:443", "localhost")).status).toBe(200);
    expect((await from("http://localhost:443", "localhost:443")).status).toBe(403);
    expect((await from("https://localhost:8443", "localhost")).status).toBe(403);
    expect(JSON.parse((await from("https://localhost", "localhost")).text)).toMatchObject({
      baseUrl: "https://localhost",
    });
  });
});
