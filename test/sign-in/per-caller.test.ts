// Each caller signs in for itself. `PEOPLE=50 SERVERS=3` simulates a crowd, as `npm run soak:people` does.
import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Principal } from "../../packages/toolyard/src/core/calls/call.ts";
import { EVERYTHING } from "../../packages/toolyard/src/core/ports/rights.ts";
import { startAuthServer } from "../fixtures/auth-server.ts";
import { startPersonal, wordOf } from "../fixtures/personal-server.ts";
import { Crowd, foreignWords, missingWords } from "./crowd.ts";
import { Home } from "./harness.ts";

const count = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const SIZE = { people: count("PEOPLE", 3), servers: count("SERVERS", 2), workers: count("WORKERS", 2) };
const ANN: Principal = { id: "ann", rights: EVERYTHING };
const BEN: Principal = { id: "ben", rights: EVERYTHING };

test(
  "no data of one user reaches another, on any surface, with workers",
  { timeout: 60_000 + SIZE.people * SIZE.servers * 10_000 },
  async () => {
    await using crowd = await Crowd.open(SIZE);
    let left = SIZE.people;
    let open = (): void => {};
    const everybody = new Promise<void>((resolve) => (open = resolve));
    // All users are connected before the first server notifies.
    const ready = (): Promise<void> => {
      left -= 1;
      if (left === 0) open();
      return everybody;
    };
    const heard = await Promise.all(crowd.people.map((person, at) => crowd.visit(person, { ready, withCode: at < 3 })));
    for (const [at, person] of crowd.people.entries()) {
      expect(foreignWords(crowd, person, heard[at]!)).toEqual([]);
      expect(missingWords(crowd, person, heard[at]!)).toEqual([]);
      expect(await crowd.intrude(person, crowd.people[(at + 1) % SIZE.people]!)).toEqual([]);
    }
    expect(crowd.servers.flatMap(({ crossed }) => crossed)).toEqual([]);
    const told = [crowd.served.stderr, await crowd.audit(), ...heard.flatMap((one) => [...one.values()])].join("\n");
    expect(crowd.served.stderr).not.toContain("-knows-");
    for (const secret of crowd.auth.secrets) expect(told).not.toContain(secret);
    const sent = crowd.servers.flatMap(({ seen }) => seen.map(({ url, headers }) => JSON.stringify([url, headers])));
    for (const { token } of crowd.people) expect(sent.filter((one) => one.includes(token))).toEqual([]);
    for (const one of sent) expect(one).not.toContain("r3fresh");
  },
);

test("shows a user without a sign-in only the tool `sign_in`, and no tool of another user", async () => {
  await using auth = await startAuthServer();
  await using server = await startPersonal(auth, "far");
  await using home = new Home();
  const config = { url: server.url, credentials: "per-caller" } as const;
  await home.login(config, { as: "ann" });
  const provider = home.open(config);
  const names = async (principal: Principal): Promise<readonly string[]> =>
    (await provider.listing({ link: provider.linkFor!(principal) })).tools.map(({ name }) => name);
  expect(await names(ANN)).toEqual(["whoami", "stir", "of_ann"]);
  expect(await names(BEN)).toEqual(["sign_in"]);
  expect((await provider.listing()).tools).toEqual([]);
});

test("offers the tools that a server lists without a sign-in, and requests them without a token", async () => {
  await using auth = await startAuthServer();
  await using server = await startPersonal(auth, "far", { guards: () => false });
  await using home = new Home();
  const config = { url: server.url, credentials: "per-caller" } as const;
  await home.login(config, { as: "ann" });
  const provider = home.open(config);
  const names = async (principal: Principal): Promise<readonly string[]> =>
    (await provider.listing({ link: provider.linkFor!(principal) })).tools.map(({ name }) => name);
  expect(await names(BEN)).toEqual(["whoami", "stir", "of_nobody"]);
  expect(server.seen.flatMap(({ headers }) => headers["authorization"] ?? [])).toEqual([]);
  expect(await names(ANN)).toEqual(["whoami", "stir", "of_ann"]);
  expect(await names(BEN)).toEqual(["whoami", "stir", "of_nobody"]);
});

test.each(["shared", "local"])("a principal does not use the sign-in of %s", async (owner) => {
  await using auth = await startAuthServer();
  await using server = await startPersonal(auth, "far");
  await using home = new Home();
  const config = { url: server.url, credentials: "per-caller" } as const;
  if (owner === "shared") await home.login({ url: server.url });
  else await home.login(config, { as: owner });
  const provider = home.open(config);
  const listed = await provider.listing({ link: provider.linkFor!({ ...BEN, id: owner === "local" ? "ben" : owner }) });
  expect(listed.tools.map(({ name }) => name)).toEqual(["sign_in"]);
  expect(server.seen.flatMap(({ headers }) => headers["authorization"] ?? [])).toEqual([]);
  const own = await provider.listing({ link: provider.linkFor!(LOCAL_PRINCIPAL) });
  expect(own.tools.map(({ description }) => description).includes(wordOf("far", "local"))).toBe(owner === "local");
});

test("one user's failures do not open the circuit of another", async () => {
  await using auth = await startAuthServer();
  await using server = await startPersonal(auth, "far");
  await using home = new Home();
  const provider = home.open({ url: server.url, credentials: "per-caller" });
  for (const person of [ANN, BEN]) await provider.listing({ link: provider.linkFor!(person) });
  expect(provider.serverFor!(ANN)).toBe(provider.serverFor!(ANN));
  expect(provider.serverFor!(ANN)).not.toBe(provider.serverFor!(BEN));
});
