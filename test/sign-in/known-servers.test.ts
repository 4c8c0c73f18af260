// Public servers with their individual behaviour, up to a completed sign-in. `npm run sign-in:chromium` repeats this
// with a real browser.
import { afterAll, beforeAll, expect, test } from "vitest";
import { knownServer } from "../../packages/toolyard/src/outbound/credentials/known-servers.ts";
import type { RemoteServerConfig } from "../../packages/toolyard/src/providers/http/options.ts";
import {
  clientIn,
  startAuthServer,
  startProtected,
  type AuthServer,
  type Protection,
  type Switches,
  type TokenAsked,
} from "../fixtures/auth-server.ts";
import { startBrowsers, type Browsers } from "./browser.ts";
import { echo, Home, says } from "./harness.ts";
import { freePort } from "../support/free-port.ts";

interface Row {
  /** Behaviour of the authorization server. */
  readonly switches?: Partial<Switches>;
  readonly protection?: (auth: AuthServer) => Protection;
  /** Settings that a user must write besides the address. */
  readonly auth?: (ports: Ports) => RemoteServerConfig["auth"];
  /** Query of the MCP server's URL. */
  readonly query?: string;
  /** Expected error if the settings are missing or incomplete. */
  readonly otherwise?: { readonly auth?: RemoteServerConfig["auth"]; readonly words: RegExp };
}

interface Ports {
  readonly free: number;
  /** URL of the MCP server. */
  readonly url: string;
}

const SECRET = "cl1ent-s3cret";
const APP = { type: "oauth", client_id: "app", client_secret: SECRET } as const;
const DOCUMENT = { type: "oauth", client_metadata_url: "https://hub.example.com/oauth/client.json" } as const;
const NO_REGISTRATION = { registration: undefined, metadata: { registration_endpoint: undefined } };

/** Accepts only the manually registered client, with its secret and one redirect. */
function onlyApp(redirect: (uri: URL) => boolean): Switches["refuses"] {
  return (where, asked) => {
    const uri = asked.form.get("redirect_uri");
    if (uri !== null && !redirect(new URL(uri))) return "invalid_request";
    if (where === "authorize") return asked.form.get("client_id") === "app" ? undefined : "unauthorized_client";
    return clientIn(asked) === "app" && hasSecret(asked) ? undefined : "invalid_client";
  };
}

function hasSecret({ form, headers }: TokenAsked): boolean {
  const basic = Buffer.from((headers.authorization ?? "").replace("Basic ", ""), "base64").toString("utf8");
  return form.get("client_secret") === SECRET || basic.endsWith(`:${SECRET}`);
}

/** Responds with errors of status 200, and form-encoded bodies. */
const asForm: Switches["answer"] = (response, _, value) => {
  const text = new URLSearchParams(value as Record<string, string>).toString();
  response.writeHead(200, { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }).end(text);
};

let spells = 0;

const ROWS: Readonly<Record<string, Row>> = {
  GitHub: {
    switches: { ...NO_REGISTRATION, path: "/login/oauth", answer: asForm, refuses: onlyApp(() => true) },
    auth: ({ free }) => ({ ...APP, redirect_port: free }),
    otherwise: { words: /has no dynamic registration.+redirect address http:\/\/127\.0\.0\.1:\d+\/callback/s },
  },
  Notion: { switches: { endsOlder: true } },
  Linear: {
    switches: {
      metadata: { client_id_metadata_document_supported: true },
      refuses: (where, { form }) =>
        where === "token" && form.get("client_id")?.startsWith("https:") ? "invalid_client" : undefined,
    },
    auth: () => ({ ...DOCUMENT, registration: knownServer(new URL("https://mcp.linear.app/mcp")).registration! }),
    otherwise: { auth: DOCUMENT, words: /gave no token for the code \(invalid_client\)/ },
  },
  Sentry: {
    query: "?utm=1",
    switches: {
      refuses: (where, { form }) =>
        where === "register" || form.get("resource")?.endsWith("/mcp") ? undefined : "invalid_target",
    },
  },
  "Atlassian, whose issuer is not its address": {
    switches: { issuer: "https://cf.mcp.atlassian.example" },
    auth: () => ({ type: "oauth", issuer: "https://cf.mcp.atlassian.example" }),
    otherwise: { words: /set `issuer` in its `auth` to exactly that/ },
  },
  "Atlassian, which refuses a redirect that it does not know": {
    switches: {
      refuses: (where, { form }) =>
        where === "register" && !form.get("redirect_uris")!.startsWith("http://localhost:")
          ? "invalid_redirect_uri"
          : undefined,
    },
    auth: ({ free }) => ({ type: "oauth", redirect_host: "localhost", redirect_port: free }),
    otherwise: { words: /did not register the hub.+invalid_redirect_uri.+`redirect_port`/s },
  },
  "Cloudflare, without metadata of the resource and with a moment of forgetting": {
    switches: {
      refuses: (_, { form }) =>
        form.get("grant_type") === "refresh_token" && (spells += 1) === 1 ? "invalid_client" : undefined,
    },
    protection: (auth) => ({ ownIssuer: (own) => auth.metadata(own) }),
  },
  "Asana and Slack": {
    switches: {
      ...NO_REGISTRATION,
      refuses: onlyApp(({ hostname, pathname }) => hostname === "localhost" && pathname === "/callback"),
    },
    auth: ({ free }) => ({ ...APP, redirect_host: "localhost", redirect_port: free }),
    otherwise: { words: /Register an application there with the redirect address/ },
  },
  "Hugging Face": {
    query: "?login",
    protection: () => ({ guards: ({ url }) => url?.includes("login") === true }),
  },
  Entra: {
    switches: {
      ...NO_REGISTRATION,
      refuses: (where, asked) =>
        asked.form.get("resource")?.endsWith("/") ? "invalid_target" : onlyApp(() => true)(where, asked),
    },
    protection: () => ({ resource: (own) => `${own}/` }),
    auth: ({ url, free }) => ({ ...APP, resource: url, redirect_port: free }),
    otherwise: { words: /has no dynamic registration/ },
  },
  Keycloak: {
    switches: {
      ...NO_REGISTRATION,
      path: "/realms/team",
      describedAt: "/realms/team/.well-known/openid-configuration",
      refuses: onlyApp(() => true),
    },
    auth: ({ free }) => ({ ...APP, redirect_port: free }),
    otherwise: { words: /has no dynamic registration/ },
  },
};

let browsers: Browsers;
beforeAll(async () => {
  browsers = await startBrowsers();
}, 60_000);
afterAll(() => browsers[Symbol.asyncDispose]());

/** Starts the issuer and the server of a row, before the user writes settings. */
async function open({ switches = {}, protection = () => ({}), query = "" }: Row) {
  const auth = await startAuthServer({ asksPerson: true, ...switches });
  const server = await startProtected(auth, protection(auth));
  return {
    auth,
    server,
    url: `${server.url}${query}`,
    [Symbol.asyncDispose]: async () => void (await Promise.all([auth.stop(), server.close()])),
  };
}

test.each(Object.entries(ROWS))("%s: the browser signs in, the tools work, the token is renewed", async (_, row) => {
  await using there = await open(row);
  await using home = new Home();
  const browser = await browsers.open();
  const auth = row.auth?.({ free: await freePort(), url: there.server.url });
  const config = { url: there.url, ...(auth && { auth }) };
  const ends: string[] = [];
  await home.login(config, async (address) => void ends.push((await browser.visit(address)).text));
  expect(ends).toEqual([expect.stringContaining("Signed in to far.")]);
  const provider = home.open(config);
  expect(await echo(provider, "in")).toMatchObject(says("in"));
  there.auth.expire();
  await expect.poll(() => echo(provider, "again"), { timeout: 30_000 }).toMatchObject(says("again"));
});

test.each(Object.entries(ROWS).filter(([, { otherwise }]) => otherwise !== undefined))(
  "%s: without the required settings, the error names them",
  async (_, row) => {
    await using there = await open(row);
    await using home = new Home();
    const browser = await browsers.open();
    const { auth, words } = row.otherwise!;
    const signingIn = home.login({ url: there.url, ...(auth && { auth }) }, async (address) => {
      await browser.visit(address);
    });
    await expect(signingIn).rejects.toThrow(words);
  },
);
