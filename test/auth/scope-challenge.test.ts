// Tests challenges for missing scopes (SEP-2350) with every kind of operation. The fixture and the rules are those of
// the scenario proposed for the conformance suite: a challenge names all scopes of its operation, and no others.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { LegacyClient, postModern } from "../cluster/clients.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { KeyIssuer } from "./key-issuer.ts";
import { challengeOf } from "./surface-calls.ts";

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const REGISTER = new URL("../../packages/toolyard/dist/runtimes/typescript/register.js", import.meta.url).href;
const FIXTURE = pathOf("../conformance/fixture/stdio-both.ts");

/** Operations with the scopes that each needs. */
const OPERATIONS: readonly (readonly [string, string, JsonObject, readonly string[]])[] = [
  ["a tool call", "tools/call", { name: "test_simple_text", arguments: {} }, ["tools:call", "tools:text"]],
  ["a resource", "resources/read", { uri: "test://static-text" }, ["resources:read", "resources:static"]],
  [
    "a resource of a template",
    "resources/read",
    { uri: "test://template/123/data" },
    ["resources:read", "resources:123"],
  ],
  ["a prompt", "prompts/get", { name: "test_simple_prompt" }, ["prompts:get", "prompts:simple"]],
];

const SCOPES = {
  "tools:call": { required_by: ["test_simple_text"] },
  "tools:text": { required_by: ["test_simple_text"] },
  "resources:read": { required_by: ["test://*"] },
  "resources:static": { required_by: ["test://static-text"] },
  "resources:123": { required_by: ["test://template/123/*"] },
  "prompts:get": { required_by: ["test_simple_prompt"] },
  "prompts:simple": { required_by: ["test_simple_prompt"] },
};

let issuer: KeyIssuer;
let toy: ToyHub;

beforeAll(async () => {
  issuer = await KeyIssuer.start();
  toy = await ToyHub.open(FEATURES, {
    auth: { modes: ["issuer"], issuer: { url: issuer.url } },
    scopes: SCOPES,
    mcp: { stdio_servers: { fixture: { command: [process.execPath, "--import", REGISTER, FIXTURE], namespace: "" } } },
  });
}, 60_000);

afterAll(async () => {
  await toy[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

function tokenWith(scopes: readonly string[]): Promise<string> {
  return issuer.sign(`${toy.served.address.url}/mcp`, { claims: { scope: ["baseline", ...scopes].join(" ") } });
}

const ERAS: Readonly<Record<string, (method: string, params: JsonObject, token: string) => Promise<Response>>> = {
  modern: (method, params, token) =>
    postModern(toy.served.address.url, method, params, { headers: { authorization: `Bearer ${token}` } }),
  legacy: async (method, params, token) => {
    const client = await LegacyClient.open(() => toy.served.address.url, {}, token);
    return client.post({ id: 7, method, params });
  },
};

describe.each(Object.entries(ERAS))("in the %s era", (_, send) => {
  test.each(OPERATIONS)(
    "%s without its scopes is challenged for all of them",
    async (_name, method, params, scopes) => {
      for (const held of [[], scopes.slice(0, 1), scopes.slice(1)]) {
        const refused = await send(method, params, await tokenWith(held));
        const challenge = challengeOf(refused);
        expect([refused.status, challenge["error"]]).toEqual([403, "insufficient_scope"]);
        expect(challenge["scope"]?.split(" ").toSorted()).toEqual(scopes.toSorted());
        expect(challenge["resource_metadata"]).toContain("/.well-known/oauth-protected-resource/mcp");
        await refused.text();
      }
      const answer = await send(method, params, await tokenWith(scopes));
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"result"')]);
    },
  );
});
