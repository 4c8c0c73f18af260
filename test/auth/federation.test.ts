import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { generateKeyPair } from "jose";
import { link, list } from "../../packages/toolyard/src/cli/commands/user.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { captureIo } from "./captured-io.ts";
import { FalseProvider, GithubStandIn } from "./provider-stand-ins.ts";
import { RealProvider } from "./real-provider.ts";
import {
  accountsOf,
  addUser,
  authorizationOf,
  clientOf,
  redeem,
  statusWith,
  Visitor,
  type Step,
} from "./builtin-yard.ts";

const ENTRY = { client_id: "hub", client_secret: "secret" };

let toy: ToyHub;
let client: string;
let real: RealProvider;
let settings: Record<string, unknown>;
let port: number;
const bad = new FalseProvider();
const github = new GithubStandIn();

beforeAll(async () => {
  // The provider needs the hub's redirect address, and the hub the address of the provider.
  const first = await ToyHub.open(FEATURES, {});
  port = Number(new URL(first.served.address.url).port);
  await first.close();
  real = await RealProvider.start("upstream-oidc.mjs", `http://127.0.0.1:${port}/federation/work`);
  await Promise.all([bad.listen(), github.listen()]);
  settings = {
    auth: {
      modes: ["builtin"],
      builtin: {
        providers: {
          work: {
            ...ENTRY,
            client_secret: "secret/of+the hub",
            url: real.url,
            title: "Work <account>",
            allow: ["email:*@corp.example", "group:guests"],
          },
          bad: { ...ENTRY, url: bad.url, allow: ["everyone"] },
          hubgit: { ...ENTRY, kind: "github", url: github.url, allow: ["group:acme/developers"] },
        },
      },
    },
    roles: {
      dev: { members: { groups: ["work:dev"] }, allow: ["*"] },
      guest: { members: { everyone: true }, allow: ["nothing"] },
    },
  };
  toy = await ToyHub.reopen(FEATURES, settings as never, { home: first.home, port });
  await addUser(toy.home, "Ann", ["admin"]);
  client = await clientOf(toy);
}, 60_000);

afterAll(async () => {
  await toy[Symbol.asyncDispose]();
  await Promise.all([real, bad, github].map((server) => server[Symbol.asyncDispose]()));
});

afterEach(() => {
  bad.reset();
  github.user = { id: 583231, login: "octocat" };
});

/** Follows the redirects of another site with its cookies. Resolves with the first address of the hub. */
async function throughProvider(start: string, account = ""): Promise<string> {
  const cookies = new Map([["account", account]]);
  let next = new URL(start);
  const { origin } = next;
  while (next.origin === origin) {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(next, { redirect: "manual", headers: { cookie } });
    for (const one of answer.headers.getSetCookie()) {
      const pair = one.split(";")[0]!;
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`${next.href} answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
  }
  return next.href;
}

/** Chooses a provider on the sign-in page. Resolves with the address to which the provider sends the browser back. */
async function chosen(visitor: Visitor, provider: string, account = ""): Promise<string> {
  const page = await visitor.open(authorizationOf(toy, client).url);
  return throughProvider(await linkOf(visitor, page, provider), account);
}

async function linkOf(visitor: Visitor, page: Step, provider: string): Promise<string> {
  const link = new RegExp(`href="([^"]*provider=${provider}[^"]*)"`).exec(page.text)![1]!.replaceAll("&amp;", "&");
  return (await visitor.open(new URL(link, visitor.at).href)).location!;
}

/** Resolves with the page after a sign-in at a provider. */
async function pageAfter(provider: string, account = "", visitor = new Visitor(toy)): Promise<Step> {
  return visitor.open(await chosen(visitor, provider, account));
}

async function tokenAfter(provider: string, account = ""): Promise<string> {
  const [visitor, request] = [new Visitor(toy), authorizationOf(toy, client)];
  const page = await visitor.open(request.url);
  const back = await throughProvider(await linkOf(visitor, page, provider), account);
  const done = await visitor.submit(await visitor.open(back), { action: "allow" });
  const code = new URL(done.location!).searchParams.get("code")!;
  return (await redeem(toy, client, { code, verifier: request.verifier })).access_token!;
}

const users = () => accountsOf(toy.home).users.list();

describe("a sign-in at a real OpenID provider in its own process", () => {
  test("gives the user the roles of the provider's groups, after consent of the hub's own page", async () => {
    const token = await tokenAfter("work", "ann");
    expect(await statusWith(toy, token)).toBe(200);
    expect((await users()).find(({ name }) => name === "work:ann@corp.example")).toMatchObject({
      account: { provider: "work", subject: "ann", groups: ["dev"] },
      groups: [],
    });
    const who = await toy.fetch("/whoami", { headers: { authorization: `Bearer ${token}` } });
    expect(JSON.stringify(await who.json())).toContain("work:dev");
  });

  test("gives a user of another group no role of the first group", async () => {
    expect(await statusWith(toy, await tokenAfter("work", "mallory"))).toBe(403);
  });

  test("never links a local user by name or by an e-mail address that is not verified", async () => {
    const page = await pageAfter("work", "mallory");
    expect(page.text).toContain("work:mallory");
    expect(page.text).not.toContain("as Ann.");
    expect((await users()).find(({ name }) => name === "Ann")).not.toHaveProperty("account");
  });

  test("treats two accounts with the same verified address as two users", async () => {
    expect((await pageAfter("work", "ann")).text).toContain("work:ann@corp.example.");
    expect((await pageAfter("work", "twin")).text).toContain("work:ann@corp.example (twin).");
  });

  test("refuses an account whose address matches but is not verified, and adds no user", async () => {
    const page = await pageAfter("work", "eve");
    expect([page.status, page.text]).toEqual([403, expect.stringContaining("This account may not use the hub")]);
    expect((await users()).some(({ name }) => name.includes("eve"))).toBe(false);
  });

  test("shows the sign-in page again if the user cancels at the provider", async () => {
    const page = await pageAfter("work");
    expect(page.text).toContain("The sign-in was cancelled");
    expect(page.text).toContain("Sign in with Work &lt;account&gt;");
  });

  test("signs in a local user by a linked account, with the groups of the user and of the account", async () => {
    await addUser(toy.home, "Tess", ["admin"]);
    const account = { provider: "work", issuer: real.url, subject: "eve", groups: [] };
    await accountsOf(toy.home).users.link("Tess", account);
    expect((await pageAfter("work", "eve")).text).toContain("as Tess.");
    await accountsOf(toy.home).users.remove("Tess");
  });
});

test("`toolyard user link` links a configured provider only, and `user list` shows the account", async () => {
  await addUser(toy.home, "Lea");
  const file = join(toy.home, "link.json");
  writeFileSync(file, JSON.stringify(settings));
  const io = captureIo({ TOOLYARD_HOME: toy.home });
  const run = (...names: readonly string[]) => link(names, { config: [file] }, io);
  await expect(run("Lea", "nowhere", "u9")).rejects.toThrow("Configured: work, bad, hubgit");
  await expect(run("Lea", "bad", "")).rejects.toThrow("1 to 256 characters");
  await expect(run("Nobody", "bad", "u9")).rejects.toThrow("There is no user");
  await run("Lea", "bad", "u9");
  await expect(run("Ann", "bad", "u9")).rejects.toThrow("belongs to the user `Lea`");
  io.taken();
  await list([], {}, io);
  expect(io.taken()).toMatch(/Lea .*password, bad/);
});

describe("# a response of a provider", () => {
  test("continues only in the browser that started the sign-in", async () => {
    const back = await chosen(new Visitor(toy), "bad");
    expect((await new Visitor(toy).open(back)).text).toContain("has expired");
    const other = new Visitor(toy);
    await other.open(authorizationOf(toy, client).url);
    expect((await other.open(back)).text).not.toContain('value="allow"');
  });

  test("works once", async () => {
    const visitor = new Visitor(toy);
    const back = await chosen(visitor, "bad");
    expect((await visitor.open(back)).text).toContain('value="allow"');
    expect((await visitor.open(back)).text).not.toContain('value="allow"');
  });

  test("of one provider is refused at the callback address of another", async () => {
    const visitor = new Visitor(toy);
    const back = (await chosen(visitor, "bad")).replace("/federation/bad", "/federation/work");
    expect((await visitor.open(back)).text).toContain("has expired");
  });

  test.each([
    ["an unknown state", { state: "forged" }],
    ["the issuer of another provider (mix-up)", { iss: "https://other.example" }],
    ["an issuer that differs by a slash", { iss: "SLASH" }],
    ["an empty code", { code: "" }],
    ["an error", { error: "server_error" }],
  ])("with %s is refused", async (_, response) => {
    bad.response = "iss" in response && response.iss === "SLASH" ? { iss: `${bad.url}/` } : response;
    const page = await pageAfter("bad");
    expect(page.text).not.toContain('value="allow"');
    expect([400, 403]).toContain(page.status);
  });

  test("without the announced `iss` is refused", async () => {
    const visitor = new Visitor(toy);
    const back = new URL(await chosen(visitor, "bad"));
    back.searchParams.delete("iss");
    expect((await visitor.open(back.href)).text).toContain("from another provider");
  });

  test("is not started without the CSRF token of the page", async () => {
    const visitor = new Visitor(toy);
    await visitor.open(authorizationOf(toy, client).url);
    const page = await visitor.open(`${visitor.at}?provider=bad&csrf=forged`);
    expect([page.location, page.status]).toEqual([undefined, 200]);
  });
});

describe("an ID token", () => {
  const now = Math.floor(Date.now() / 1000);

  test("that is correct signs the user in", async () => {
    expect((await pageAfter("bad")).text).toContain("as bad:u1.");
  });

  test.each<[string, Record<string, unknown>]>([
    ["with another nonce", { nonce: "another" }],
    ["without a nonce", { nonce: undefined }],
    ["of another issuer", { iss: "https://other.example" }],
    ["for another client", { aud: "other" }],
    ["for several clients without `azp`", { aud: ["hub", "other"] }],
    ["with the `azp` of another client", { azp: "other" }],
    ["that has expired", { exp: now - 3600 }],
    ["from the future", { nbf: now + 3600 }],
    ["without `exp`", { exp: undefined }],
    ["without `sub`", { sub: undefined }],
    ["with a control character in `sub`", { sub: "a\u0000b" }],
    ["with too many groups", { groups: Array.from({ length: 1001 }, (_, at) => `g${at}`) }],
  ])("%s is refused", async (_, claims) => {
    bad.claims = claims;
    const page = await pageAfter("bad");
    expect(page.text).not.toContain('value="allow"');
    expect(page.status).toBe(403);
  });

  test("without a signature, or signed with another key, is refused", async () => {
    bad.isUnsigned = true;
    expect((await pageAfter("bad")).status).toBe(403);
    bad.isUnsigned = false;
    bad.otherKey = (await generateKeyPair("ES256")).privateKey;
    expect((await pageAfter("bad")).status).toBe(403);
  });
});

describe("a sign-in at GitHub", () => {
  test("names the user by its login, and gives it the groups of its teams", async () => {
    expect((await pageAfter("hubgit")).text).toContain("as hubgit:octocat.");
    expect((await users()).find(({ name }) => name === "hubgit:octocat")).toMatchObject({
      account: { subject: "583231", email: "octo@corp.example", groups: ["acme", "acme/developers"] },
    });
  });

  test("does not give a new owner of a login the user of the earlier owner", async () => {
    await pageAfter("hubgit");
    github.user = { id: 42, login: "octocat" };
    expect((await pageAfter("hubgit")).text).toContain("as hubgit:octocat (42).");
  });

  test.each<[string, Record<string, unknown>]>([
    ["without an id", { login: "octocat" }],
    ["with an id as text", { id: "583231", login: "octocat" }],
    ["without a login", { id: 583231 }],
  ])("refuses a user %s", async (_, user) => {
    github.user = user;
    expect((await pageAfter("hubgit")).status).toBe(403);
  });
});

test("a user that the provider does not admit any more loses access", async () => {
  const token = await tokenAfter("work", "ann");
  await toy.close();
  const { auth, ...rest } = settings as { auth: { builtin: { providers: Record<string, object> } } };
  const { work, ...others } = auth.builtin.providers;
  const reopen = async (providers: object): Promise<number> => {
    const now = { ...rest, auth: { ...auth, builtin: { providers } } };
    toy = await ToyHub.reopen(FEATURES, now as never, { home: toy.home, port });
    const status = (): Promise<number> => statusWith(toy, token);
    // The first request may use a pooled connection to the hub that was closed.
    return status().catch(status);
  };
  expect(await reopen({ ...others, work })).toBe(200);
  await toy.close();
  expect(await reopen({ ...others, work: { ...work, allow: ["group:guests"] } })).toBe(401);
  await toy.close();
  expect(await reopen(others)).toBe(401);
}, 30_000);
