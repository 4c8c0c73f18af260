import { X509Certificate } from "node:crypto";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Agent, fetch as undiciFetch } from "undici";
import { expect, test } from "vitest";
import { Desk } from "../cli/harness.ts";
import { CertificateFiles } from "../support/certificates.ts";
import { askSecurely } from "../support/secure-request.ts";
import { ServeChild } from "../support/serve-child.ts";

const configOf = (files: CertificateFiles, more = ""): string =>
  `[server]\njsonrpc = true\n${more}\n[server.tls]\ncert = '${files.cert}'\nkey = '${files.key}'\n` +
  '[rest]\nenabled = true\n[logging]\nformat = "json"\n';

test.each([1, 2])("serves every endpoint over https, with %i process(es)", { timeout: 120_000 }, async (workers) => {
  using files = new CertificateFiles();
  await using hub = await ServeChild.start({ config: configOf(files), args: ["--workers", String(workers)] });
  const base = hub.url.replace(/\/mcp$/, "");
  expect(base).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const ask = (path: string, body?: unknown) =>
    askSecurely(base + path, { ca: files.ca, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const rest = await ask("/api/tools/meta.ping", {});
  expect([rest.status, rest.text]).toEqual([200, expect.stringContaining("pong")]);
  const rpc = await ask("/", { jsonrpc: "2.0", id: 7, method: "meta.ping", params: {} });
  expect([rpc.status, JSON.parse(rpc.text)]).toEqual([200, expect.objectContaining({ id: 7 })]);
  expect((await ask("/openapi.json")).text).toContain(`{"url":"${base}`);
  for (const path of ["/healthz", "/readyz"]) expect((await ask(path)).status).toBe(200);
  const page = await askSecurely(`${base}/?clients`, { ca: files.ca, headers: { accept: "text/html" } });
  expect(page.text).toContain(`${base}/mcp`);
  expect(JSON.parse((await ask("/status")).text)).toMatchObject({
    tls: { certificate: files.cert, validUntil: expect.any(String) },
  });

  const dispatcher = new Agent({ connect: { ca: files.authority.cert } });
  const trusting = ((url: string | URL, init: RequestInit) =>
    undiciFetch(url, { ...init, dispatcher } as never)) as unknown as typeof fetch;
  for (const transport of [
    new StreamableHTTPClientTransport(new URL(hub.url), { fetch: trusting }),
    new SSEClientTransport(new URL(`${base}/sse`), { fetch: trusting, eventSourceInit: { fetch: trusting as never } }),
  ]) {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport as never);
    expect((await client.callTool({ name: "meta.ping", arguments: {} })).isError ?? false).toBe(false);
    await client.close();
  }
  await dispatcher.destroy();
});

test("a running hub serves a changed certificate; it reports a broken one and keeps the old one", async () => {
  using files = new CertificateFiles();
  await using hub = await ServeChild.start({ config: configOf(files) });
  const status = async () => {
    const { text, fingerprint } = await askSecurely(hub.url.replace("/mcp", "/status"), { ca: files.ca });
    return { fingerprint, tls: JSON.parse(text).tls as { problem?: string } };
  };
  const first = await status();
  files.write({ key: files.authority.issue().key });
  await expect
    .poll(async () => (await status()).tls.problem, { timeout: 20_000 })
    .toContain("is not that of the certificate");
  expect((await status()).fingerprint).toBe(first.fingerprint);
  await expect.poll(() => hub.stderr).toContain("the previous one is still served");
  files.write(files.authority.issue());
  await expect.poll(async () => (await status()).tls.problem, { timeout: 20_000 }).toBeUndefined();
  await expect.poll(async () => (await status()).fingerprint, { timeout: 20_000 }).not.toBe(first.fingerprint);
});

test("SIGHUP reads the certificate again; a start with a broken certificate ends with a message", async () => {
  using files = new CertificateFiles();
  await using hub = await ServeChild.start({ config: configOf(files), args: ["--no-watch"] });
  const before = (await askSecurely(hub.url, { ca: files.ca })).fingerprint;
  files.write(files.authority.issue());
  if (process.platform !== "win32") hub.signal("SIGHUP");
  await expect
    .poll(async () => (await askSecurely(hub.url, { ca: files.ca })).fingerprint, { timeout: 20_000 })
    .not.toBe(before);
  rmSync(files.key);
  await using broken = await ServeChild.spawn({ config: configOf(files) });
  expect((await broken.exited).code).toBe(2);
  expect(broken.stderr).toContain("`server.tls.key`");
});

test("resolves paths of [server.tls] from the configuration's folder, and switches an endpoint to TLS", async () => {
  using files = new CertificateFiles();
  await using hub = await ServeChild.start({ config: "[server]\n", args: [] });
  copyFileSync(files.cert, join(hub.folder, "site.pem"));
  copyFileSync(files.key, join(hub.folder, "site-key.pem"));
  expect((await fetch(hub.url.replace("/mcp", "/healthz"))).status).toBe(200);
  writeFileSync(hub.configFile, '[server.tls]\ncert = "site.pem"\nkey = "site-key.pem"\n');
  const secure = hub.url.replace("http:", "https:").replace("/mcp", "/healthz");
  await expect
    .poll(() => askSecurely(secure, { ca: files.ca }).then(({ status }) => status, String), { timeout: 20_000 })
    .toBe(200);
});

test("`status`, `--url` and `connect --http` use the hub's https, and report an unknown authority", async () => {
  using files = new CertificateFiles({ hosts: ["localhost"] });
  await using hub = await ServeChild.start({ config: configOf(files) });
  const { port } = new URL(hub.url);
  expect(hub.url).toBe(`https://localhost:${port}/mcp`);
  await using desk = await Desk.create({ "toolyard.toml": configOf(files, `port = ${port}`) });
  const env = { NODE_EXTRA_CA_CERTS: files.ca };
  const [own, called, unknown, unknownUrl, plain] = await Promise.all([
    desk.run(["status", "--yes"], { env }),
    desk.run(["call", "meta.ping", "--url", hub.url], { env }),
    desk.run(["status", "--url", hub.url]),
    desk.run(["list", "--url", hub.url]),
    desk.run(["list", "--url", hub.url.replace("https:", "http:")]),
  ]);
  expect(own.stdout).toContain(`at https://localhost:${port}`);
  const until = new Date(new X509Certificate(files.read("cert")).validTo).toISOString().slice(0, 10);
  expect(own.stdout).toContain(`The certificate in ${files.cert} is valid until ${until}.`);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("pong") });
  expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining("NODE_EXTRA_CA_CERTS=") });
  expect(unknownUrl).toMatchObject({ code: 4, stderr: expect.stringContaining("NODE_EXTRA_CA_CERTS") });
  expect(plain.code).not.toBe(0);
  expect(plain.stderr).toContain("HTTP 400");
  files.write({ key: files.authority.issue().key });
  const status = async (): Promise<string> =>
    (await askSecurely(hub.url.replace("/mcp", "/status"), { ca: files.ca })).text;
  await expect.poll(status, { timeout: 20_000 }).toContain("is not that of the certificate");
  const broken = await desk.run(["status", "--yes"], { env });
  expect(broken.stdout).toContain("is not that of the certificate");
  expect(broken.stdout).not.toContain("is valid until");
  const connected = await desk.run(["connect", "cursor", "--http", "--dry-run", "--json", "--yes"], {});
  expect(connected.stdout).toContain(`https://localhost:${port}/mcp`);
});
