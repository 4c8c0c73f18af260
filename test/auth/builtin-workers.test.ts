import { afterAll, beforeAll, expect, test } from "vitest";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { addUser, clientOf, newHome, openYard, refresh, statusWith, tokenRequest, tokensFor } from "./builtin-yard.ts";
import { captureIo } from "./captured-io.ts";
import { list as listClients, remove as removeClient } from "../../packages/toolyard/src/cli/commands/client.ts";
import { add, list, passwd, remove } from "../../packages/toolyard/src/cli/commands/user.ts";

let toy: ToyHub;

beforeAll(async () => {
  toy = await openYard(
    { machines: { robot: { secret: "a-secret-of-a-machine" } } },
    { server: { workers: 2, base_path: "/tools" } },
  );
}, 60_000);

afterAll(() => toy[Symbol.asyncDispose]());

test("a sign-in works with workers and a base path, including its cookies", async () => {
  const { origin } = new URL(toy.served.address.url);
  const metadata = await fetch(`${origin}/.well-known/oauth-authorization-server/tools`);
  expect(await metadata.json()).toMatchObject({
    issuer: `${origin}/tools`,
    token_endpoint: `${origin}/tools/token`,
  });
  const client = await clientOf(toy);
  const tokens = await tokensFor(toy, client);
  expect(await statusWith(toy, tokens.access_token)).toBe(200);
  expect(await refresh(toy, client, tokens.refresh_token!)).toMatchObject({ access_token: expect.any(String) });
  const authorization = `Basic ${Buffer.from("robot:a-secret-of-a-machine").toString("base64")}`;
  const machine = await tokenRequest(toy, { grant_type: "client_credentials" }, { authorization });
  expect(await statusWith(toy, machine.access_token)).toBe(200);
}, 30_000);

test("metadata ignores forwarded hosts that a caller sends", async () => {
  const { origin } = new URL(toy.served.address.url);
  const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=evil.example" };
  const answer = await fetch(`${origin}/.well-known/openid-configuration/tools`, { headers });
  expect(await answer.text()).not.toContain("evil.example");
});

test("`toolyard user` and `toolyard client` manage who may sign in", async () => {
  const home = newHome();
  const io = captureIo({ TOOLYARD_HOME: home });
  expect(await add(["bob"], { group: ["dev"], json: true }, io)).toBe(0);
  expect(JSON.parse(io.taken())).toMatchObject({ added: "bob", groups: ["dev"], password: expect.any(String) });
  await expect(add(["BOB"], {}, io)).rejects.toThrow("There is a user `BOB` already");
  await expect(add(["a b"], {}, io)).rejects.toThrow("cannot be called");
  await expect(add(["eve"], { passwordStdin: true }, { ...io, readStdin: async () => "short\n" })).rejects.toThrow(
    "12",
  );
  await passwd(["bob"], {}, io);
  expect(io.taken()).toMatch(/another password.*only now/);
  await list([], { json: true }, io);
  expect(JSON.parse(io.taken())).toEqual([{ name: "bob", sub: expect.any(String), groups: ["dev"] }]);
  await remove(["bob"], {}, io);
  await expect(remove(["bob"], {}, io)).rejects.toThrow("no user");
  const hub = captureIo({ TOOLYARD_HOME: toy.home });
  const client = await clientOf(toy);
  await listClients([], { json: true }, hub);
  expect(JSON.parse(hub.taken())).toContainEqual(expect.objectContaining({ id: client, name: "Test client" }));
  await removeClient([client], {}, hub);
  await expect(removeClient([client], {}, hub)).rejects.toThrow("no registered client");
});

test("users of one data folder do not exist in another data folder", async () => {
  const home = newHome();
  await addUser(home, "Cara");
  const io = captureIo({ TOOLYARD_HOME: newHome() });
  await list([], { json: true }, io);
  expect(JSON.parse(io.taken())).toEqual([]);
});
