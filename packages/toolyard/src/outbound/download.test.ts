import { createServer as createTunnels, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Authority } from "../../../../test/support/certificates.ts";
import { downloadPublic, type DownloadOptions } from "./download.ts";

/** Public host of the tests: a tunnel connects every host name to the test server. */
const HOST = "books.example.org";
let folder: string;
let server: Server;
let tunnels: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-download-"));
  const authority = new Authority();
  writeFileSync(join(folder, "ca.pem"), authority.cert);
  server = createServer(authority.issue({ hosts: [HOST, "other.example.org"] }), (incoming, response) => {
    asked.push(`${incoming.headers.host}${incoming.url}`);
    answer(incoming, response);
  });
  tunnels = createTunnels().on("connect", (_request, socket) => {
    const through = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      through.pipe(socket).pipe(through);
    });
    through.on("error", () => socket.destroy());
    socket.on("error", () => through.destroy());
  });
  for (const one of [server, tunnels]) await new Promise<void>((done) => one.listen(0, "127.0.0.1", done));
});
beforeEach(() => void (asked = []));
afterAll(() => {
  for (const one of [server, tunnels]) {
    one.close();
    one.closeAllConnections();
  }
  rmSync(folder, { recursive: true, force: true });
});

function download(path: string, options: Partial<DownloadOptions> = {}) {
  const environment = { HTTPS_PROXY: `http://127.0.0.1:${(tunnels.address() as AddressInfo).port}` };
  const caFiles = [join(folder, "ca.pem")];
  const all = { userAgent: "test", maxBytes: 1_000_000, environment, caFiles, ...options };
  return downloadPublic(new URL(path, `https://${HOST}`), all);
}

const leads = (location: string) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(302, { location }).end();

test("follows a redirect, also to another public host", async () => {
  answer = (incoming, response) => {
    if (incoming.url === "/a") leads("https://other.example.org/b")(incoming, response);
    else response.setHeader("content-type", "Text/Markdown; charset=utf-8").end("# B");
  };
  const { url, mime, body } = await download("/a");
  expect([url.href, mime, Buffer.from(body).toString()]).toEqual([
    "https://other.example.org/b",
    "text/markdown",
    "# B",
  ]);
  expect(asked).toEqual([`${HOST}/a`, "other.example.org/b"]);
});

test.each([
  ["without encryption", `http://${HOST}/b`],
  ["to this machine", "https://127.0.0.1/b"],
  ["to this machine by its name", "https://localhost/b"],
  ["to a local network", "https://192.168.0.1/b"],
  ["to a network's metadata", "https://169.254.169.254/latest/meta-data"],
  ["to this machine, as IPv6", "https://[::ffff:127.0.0.1]/b"],
  ["to a file", "file:///etc/passwd"],
  ["with a user", "https://me:secret@other.example.org/b"],
])("S10: rejects a redirect %s, and sends no request there", async (_what, location) => {
  answer = leads(location);
  await expect(download("/a")).rejects.toMatchObject({ failure: { kind: "denied" } });
  expect(asked).toEqual([`${HOST}/a`]);
});

test("S10: follows five redirects of an endless series", async () => {
  answer = (incoming, response) => leads(`${incoming.url}a`)(incoming, response);
  await expect(download("/a")).rejects.toThrow("redirects more than 5 times");
  expect(asked).toHaveLength(6);
});

test("S10: reads an endless body up to the size limit, and closes the connection", async () => {
  const gone = new Promise<void>((done) => {
    answer = (_incoming, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).once("close", done);
      const pour = (): void => void (response.writable && response.write("x".repeat(65_536), () => setImmediate(pour)));
      pour();
    };
  });
  await expect(download("/a")).rejects.toMatchObject({ failure: { kind: "too_large" } });
  await gone;
});

test("S10: abandons an answer that does not arrive, or arrives too slowly, at the time limit", async () => {
  answer = (incoming, response) => {
    if (incoming.url === "/none") return;
    response.writeHead(200);
    const trickle = setInterval(() => response.write("."), 20);
    response.once("close", () => clearInterval(trickle));
  };
  for (const path of ["/none", "/trickle"])
    await expect(download(path, { timeoutMs: 300 })).rejects.toMatchObject({ failure: { kind: "timeout" } });
});

test("reports status 404 as a failure", async () => {
  answer = (_incoming, response) => void response.writeHead(404).end("none");
  await expect(download("/a")).rejects.toThrow("404");
});
