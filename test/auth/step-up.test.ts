import { expect, test } from "vitest";
import { authorizationOf, clientOf, openYard, redeem, signIn } from "./builtin-yard.ts";

test("challenges for a tool's scope, which the client can request and the user then grants", async () => {
  await using toy = await openYard({}, { scopes: { status: { required_by: ["meta.get_server_status"] } } });
  const metadata = await (await toy.fetch("/.well-known/oauth-protected-resource/mcp")).json();
  expect(metadata).toMatchObject({ scopes_supported: ["mcp", "status"] });
  const client = await clientOf(toy);
  const tokenWith = async (scope: string): Promise<string> => {
    const request = authorizationOf(toy, client, { scope });
    const code = (await signIn(toy, request)).searchParams.get("code")!;
    return (await redeem(toy, client, { code, verifier: request.verifier })).access_token!;
  };
  const call = async (token: string): Promise<Response> =>
    toy.call("meta.get_server_status", {}, { authorization: `Bearer ${token}` });
  const refused = await call(await tokenWith("mcp"));
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
    403,
    expect.stringMatching(/error="insufficient_scope".*scope="status"/),
  ]);
  expect((await call(await tokenWith("mcp status"))).status).toBe(200);
}, 30_000);
