// Clients that bind their tokens to a key sign in to a hub that refuses all other access tokens.
import { auth, Client, DpopSession, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { Home } from "../sign-in/harness.ts";
import { openYard, signIn, Visitor } from "./builtin-yard.ts";
import { SdkUser } from "./sdk-user.ts";

const RULES: readonly [string, JsonObject][] = [
  ["bound tokens", { require_dpop: true }],
  ["bound tokens and nonces", { require_dpop: true, dpop_nonce: true }],
];

const open = (rules: JsonObject): Promise<ToyHub> => openYard({}, { auth: { modes: ["builtin"], ...rules } });

/** Creates the client provider of a user who signs in with a simulated browser, and of a client with a key. */
function keyedProvider(toy: ToyHub, session: DpopSession): SdkUser {
  const user = new SdkUser((url) => signIn(toy, { url, verifier: "" }, new Visitor(toy)));
  return Object.assign(user, { dpop: () => session });
}

describe.each(RULES)("a hub that requires %s", (_, rules) => {
  test("serves the SDK's client, which renews its tokens", async () => {
    await using toy = await open(rules);
    const url = new URL(`${toy.served.address.url}/mcp`);
    const provider = keyedProvider(toy, await DpopSession.create());
    const authProvider = provider as never;
    expect(await auth(authProvider, { serverUrl: url })).toBe("REDIRECT");
    await new StreamableHTTPClientTransport(url, { authProvider }).finishAuth(provider.answer);
    expect(provider.tokens()).toMatchObject({ token_type: "DPoP" });
    for (const _time of ["at first", "after the renewal"]) {
      const client = new Client({ name: "keyed", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      expect(JSON.stringify(await client.callTool({ name: "meta.ping", arguments: {} }))).toContain("pong");
      await client.close();
      expect(await auth(authProvider, { serverUrl: url })).toBe("AUTHORIZED");
    }
    const { access_token: token } = provider.tokens() as { readonly access_token: string };
    expect((await toy.call("meta.ping", {}, { authorization: `Bearer ${token}` })).status).toBe(401);
  }, 60_000);
});

test.each(RULES)(
  "another hub signs in to a hub that requires %s, and lists its tools",
  async (_, rules) => {
    await using toy = await open(rules);
    await using home = new Home();
    const server = { url: `${toy.served.address.url}/mcp`, auth: { type: "oauth" as const, dpop: true } };
    const record = await home.login(server, async (address) => {
      const back = await signIn(toy, { url: address, verifier: "" });
      await (await fetch(back)).text();
    });
    expect(record.tokens).toMatchObject({ type: "DPoP" });
    const provider = home.open(server);
    await expect.poll(async () => (await provider.listing()).tools.length).toBeGreaterThan(0);
  },
  60_000,
);
