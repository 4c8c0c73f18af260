import { describe, expect, test } from "vitest";
import { groupsOfUser, isAdmitted } from "./account.ts";
import { resolveIdentityProviders, type IdentityProviderConfig } from "./options.ts";

const OIDC = { client_id: "hub", client_secret: "s", url: "https://id.example", allow: ["everyone"] };

function resolve(given: Partial<IdentityProviderConfig>, id = "work") {
  return resolveIdentityProviders({ [id]: { ...OIDC, ...given } as IdentityProviderConfig })[0]!;
}

describe("options of an identity provider", () => {
  test("have defaults for OpenID Connect and for GitHub", () => {
    expect(resolve({})).toMatchObject({ kind: "oidc", title: "work", scopes: ["openid", "profile", "email"] });
    const { url: _, ...github } = OIDC;
    const resolved = resolveIdentityProviders({ gh: { ...github, kind: "github", allow: ["user:octocat"] } })[0];
    expect(resolved).toMatchObject({ url: "https://github.com", allow: [{ kind: "user", pattern: "octocat" }] });
  });

  test.each<[string, Partial<IdentityProviderConfig>, string]>([
    ["everybody at GitHub", { kind: "github" }, "anybody can create an account"],
    ["an entry of another form", { allow: ["ann@example.com"] }, "email:*@example.com"],
    ["an entry without a pattern", { allow: ["group:"] }, "email:*@example.com"],
    ["an address without TLS", { url: "http://id.example" }, "begins with https://"],
    ["an address with a password", { url: "https://a:b@id.example" }, "holds no password"],
    ["no address", { url: "" }, "begins with https://"],
  ])("refuse %s", (_, given, message) => {
    expect(() => resolve(given)).toThrow(message);
  });

  test.each(["", "Work", "a:b", "a/b", "..", "x".repeat(33)])("refuse the key %j", (id) => {
    expect(() => resolve({}, id)).toThrow("a key has up to 32");
  });
});

describe("the rules of `allow`", () => {
  const ann = { subject: "u1", login: "Ann", email: "ann@corp.example", groups: ["Dev"] };

  test.each([
    ["email:*@corp.example", true],
    ["email:*@CORP.example", true],
    ["email:*@orp.example", false],
    ["email:ann", false],
    ["group:dev", true],
    ["group:de", false],
    ["user:u1", true],
    ["user:ann", true],
    ["user:an", false],
    ["everyone", true],
  ])("the rule %s matches the user: %s", (rule, expected) => {
    expect(isAdmitted(ann, resolve({ allow: [rule] }))).toBe(expected);
  });

  test("an address that is not verified matches no rule", () => {
    expect(isAdmitted({ subject: "u1", groups: [] }, resolve({ allow: ["email:*"] }))).toBe(false);
  });
});

describe("groups of a user", () => {
  const account = { provider: "work", issuer: "https://id.example", subject: "u1", groups: ["dev"] };

  test("get the prefix of their provider", () => {
    expect(groupsOfUser({ groups: ["dev"], hash: "h", account }, [resolve({})])).toEqual(["dev", "work:dev"]);
    expect(groupsOfUser({ groups: [], account }, [resolve({})])).toEqual(["work:dev"]);
  });

  test("are dropped, and the account is refused, if their provider was removed or has another address", () => {
    for (const providers of [[], [resolve({}, "other")], [resolve({ url: "https://evil.example" })]]) {
      expect(groupsOfUser({ groups: ["dev"], hash: "h", account }, providers)).toEqual(["dev"]);
      expect(groupsOfUser({ groups: [], account }, providers)).toBeUndefined();
    }
  });

  test("are not returned for an account that no rule admits any more", () => {
    expect(groupsOfUser({ groups: [], account }, [resolve({ allow: ["group:other"] })])).toBeUndefined();
  });
});
