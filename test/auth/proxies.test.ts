// The configuration files of docs/guide/team/public-hub.md, in the real programs.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, buildConnector, fetch as fetchThrough } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { Authority } from "../support/certificates.ts";
import { clientOf, openYard, refresh, statusWith, tokensFor } from "./builtin-yard.ts";
import { freePort } from "../support/free-port.ts";

const PAGE = readFileSync(new URL("../../docs/guide/team/public-hub.md", import.meta.url), "utf8");
const NAME = "hub.example.com";

/** Returns the block of the page that begins with the given line. */
function blockOf(firstLine: string): string {
  const start = PAGE.indexOf(firstLine);
  return PAGE.slice(start, PAGE.indexOf("\n```", start));
}

let folder: string;
let toy: ToyHub;
let proxy: ChildProcess | undefined;
let agent: Agent;
const authority = new Authority();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-proxy-"));
  const { cert, key } = authority.issue({ hosts: [NAME] });
  writeFileSync(join(folder, "cert.pem"), cert);
  writeFileSync(join(folder, "key.pem"), key);
  toy = await openYard({}, { server: { public_url: `https://${NAME}`, trusted_proxy: ["127.0.0.1"] } });
}, 60_000);

afterEach(async () => {
  await agent?.close();
  if (proxy && proxy.exitCode === null) {
    const ended = once(proxy, "exit");
    proxy.kill("SIGTERM");
    await ended;
  }
  await toy[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The hub as clients see it through the proxy. */
function seenThrough(port: number): ToyHub {
  const connect = buildConnector({ ca: authority.cert });
  agent = new Agent({
    connect: (options, done) =>
      connect({ ...options, hostname: "127.0.0.1", port: String(port), servername: NAME }, done),
  });
  const outside = (url: URL, init: object): Promise<Response> =>
    fetchThrough(url, { redirect: "manual", ...init, dispatcher: agent } as never) as unknown as Promise<Response>;
  const fetch = (path: string, init: RequestInit = {}): Promise<Response> =>
    outside(new URL(`https://${NAME}${path}`), init);
  return {
    served: { address: { url: `https://${NAME}` } },
    outside,
    fetch,
    call: (tool: string, args: object, headers: object) =>
      fetch(`/api/tools/${tool}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(args),
      }),
  } as unknown as ToyHub;
}

async function expectSignIn(port: number): Promise<void> {
  const hub = seenThrough(port);
  const metadata = (): Promise<Response> => hub.fetch("/.well-known/oauth-protected-resource/mcp");
  await expect
    .poll(
      () =>
        metadata().then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 20_000 },
    )
    .toBe(200);
  expect(await (await metadata()).json()).toMatchObject({
    resource: `https://${NAME}/mcp`,
    authorization_servers: [`https://${NAME}`],
  });
  const client = await clientOf(hub);
  const tokens = await tokensFor(hub, client);
  expect(await statusWith(hub, tokens.access_token)).toBe(200);
  expect(await statusWith(hub, "wrong")).toBe(401);
  expect(await refresh(hub, client, tokens.refresh_token!)).toMatchObject({ access_token: expect.any(String) });
}

const has = (program: string): boolean => spawnSync(program, ["-v"]).error === undefined;

describe("the configuration of the guide", () => {
  test("lets a client sign in through nginx", async ({ skip }) => {
    skip(!has("nginx"), "nginx is not on this machine");
    const port = await freePort();
    const server = blockOf("server {")
      .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replace(/ssl_certificate [^;]+/, `ssl_certificate ${folder}/cert.pem`)
      .replace(/ssl_certificate_key [^;]+/, `ssl_certificate_key ${folder}/key.pem`)
      .replace("http://127.0.0.1:8808", toy.served.address.url);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (one) => `${one}_temp_path ${folder}/${one};`,
    );
    const head = `daemon off; pid ${folder}/pid; error_log ${folder}/log; events {}`;
    const text = `${head}\nhttp { access_log off; ${paths.join(" ")}\n${server}\n}\n`;
    writeFileSync(join(folder, "nginx.conf"), text);
    proxy = spawn("nginx", ["-p", folder, "-e", `${folder}/log`, "-c", join(folder, "nginx.conf")], {
      stdio: "ignore",
    });
    await expectSignIn(port);
  }, 60_000);

  test("lets a client sign in through Caddy", async ({ skip }) => {
    skip(!has("caddy"), "Caddy is not on this machine");
    const port = await freePort();
    const site = blockOf(`${NAME} {`)
      .replace(`${NAME} {`, `https://${NAME}:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem\n\tbind 127.0.0.1`)
      .replace("127.0.0.1:8808", new URL(toy.served.address.url).host);
    writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n\tauto_https off\n\tskip_install_trust\n}\n${site}\n`);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    proxy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")], {
      stdio: "ignore",
      env,
    });
    await expectSignIn(port);
  }, 60_000);
});
