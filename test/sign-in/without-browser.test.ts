// Ways in that no browser of this machine takes part in.
import { expect, test } from "vitest";
import { situationOf } from "../../src/signin/asked.ts";
import { loginByDevice } from "../../src/signin/device.ts";
import { handOver, handoverPlace } from "../../src/signin/handover.ts";
import { login } from "../../src/signin/login.ts";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { echo, Home, says } from "./harness.ts";

test("a code that is given on another device signs in, and nothing comes back to this machine", async () => {
  await using auth = await startAuthServer();
  auth.switches.metadata = { device_authorization_endpoint: `${auth.url}/device` };
  await using server = await startProtected(auth);
  await using home = new Home();
  const shown: object[] = [];
  await loginByDevice(home.context({ url: server.url }), {
    show: async (one) => {
      shown.push(one);
      setTimeout(() => (auth.switches.isApproved = true), 120);
    },
    signal: AbortSignal.timeout(30_000),
  });
  expect(shown).toEqual([{ address: `${auth.url}/activate`, code: "WDJB-MJHT" }]);
  expect(auth.registered[0]!["grant_types"]).toContain("urn:ietf:params:oauth:grant-type:device_code");
  expect(auth.asked.at(-1)!.form.get("resource")).toBe(server.url);
  expect(await echo(home.open({ url: server.url }), "in")).toMatchObject(says("in"));
});

test.each<[string, Record<string, string>, RegExp]>([
  ["without such codes", {}, /does not offer that/],
  ["whose page is no web address", { device_authorization_endpoint: "file:///x" }, /https/],
])("a server %s says so", async (_, metadata, words) => {
  await using auth = await startAuthServer({ metadata });
  await using server = await startProtected(auth);
  await using home = new Home();
  const ports = { show: () => Promise.resolve(), signal: AbortSignal.timeout(30_000) };
  await expect(loginByDevice(home.context({ url: server.url }), ports)).rejects.toThrow(words);
  expect(auth.asked).toEqual([]);
});

test("a hub that runs takes the browser back for a command that waits, and nothing else", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const signal = AbortSignal.timeout(30_000);
  const taken: boolean[] = [];
  const record = await login(home.context({ url: server.url }), {
    comesBack: handoverPlace(home.folder, "https://hub.example.com", signal),
    show: async (address) => {
      const back = (await fetch(address, { redirect: "manual" })).headers.get("location")!;
      const query = new URL(back).searchParams;
      const stray = new URLSearchParams({ code: "stolen", state: "foreign" });
      taken.push(await handOver(home.folder, stray), await handOver(home.folder, query));
      taken.push(await handOver(home.folder, query));
    },
    signal,
  });
  expect(taken).toEqual([false, true, false]);
  expect(record.client.redirectUri).toBe("https://hub.example.com/oauth/callback");
  expect(auth.asked).toHaveLength(1);
});

test("a hub with an https address says by a document who it is, where the server takes that", async () => {
  await using auth = await startAuthServer({ metadata: { client_id_metadata_document_supported: true } });
  await using server = await startProtected(auth);
  await using home = new Home();
  const show = async (address: string): Promise<void> => {
    const back = (await fetch(address, { redirect: "manual" })).headers.get("location")!;
    await handOver(home.folder, new URL(back).searchParams);
  };
  const signal = AbortSignal.timeout(30_000);
  const comesBack = handoverPlace(home.folder, "https://hub.example.com", signal);
  const { client } = await login(home.context({ url: server.url }), { comesBack, show, signal });
  expect(client).toMatchObject({ from: "document", id: "https://hub.example.com/oauth/client.json" });
  expect(auth.registered).toEqual([]);
});

test("a token of somewhere else is exchanged at the server's issuer", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const given = { grant: "token_exchange", assertion: "subj3ct", subject_token_type: "jwt", audience: "mcp" } as const;
  expect(await echo(home.open({ url: server.url, auth: { type: "oauth", ...given } }), "in")).toMatchObject(says("in"));
  expect(Object.fromEntries(auth.asked[0]!.form)).toMatchObject({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    audience: "mcp",
    resource: server.url,
  });
});

test("one that the issuer does not take gets in nowhere, and is shown nowhere", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = home.open({
    url: server.url,
    auth: { type: "oauth", grant: "token_exchange", assertion: "f0reign" },
  });
  await provider.listing();
  expect(provider.status()).toMatchObject({
    state: "needs_authorisation",
    lastError: expect.stringContaining("invalid"),
  });
  expect(JSON.stringify(provider.status())).not.toContain("f0reign");
});

test("people of one source are one client to its issuer", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const config = { url: server.url, credentials: "per-caller" } as const;
  await home.login(config, { as: "ann" });
  await home.login(config, { as: "ben" });
  expect(auth.registered).toHaveLength(1);
  expect((await situationOf(home.context(config, "eve"), undefined)).client?.id).toBe("client-1");
});
