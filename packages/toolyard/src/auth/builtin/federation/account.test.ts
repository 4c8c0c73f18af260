import { describe, expect, test } from "vitest";
import { isAdmitted } from "./account.ts";
import type { AdmissionKind } from "./options.ts";

const OCTOCAT = { subject: "583231", login: "octocat", groups: [] };
const DIGITS = { subject: "77", login: "583231", groups: [] };
const OIDC = { subject: "583231", groups: [] };

const admits = (account: Parameters<typeof isAdmitted>[0], pattern: string, kind: AdmissionKind = "user"): boolean =>
  isAdmitted(account, { allow: [{ kind, pattern }] });

describe("isAdmitted", () => {
  test.each([
    ["an id", OCTOCAT, "583231"],
    ["a login", OCTOCAT, "octocat"],
    ["a pattern of logins", OCTOCAT, "octo*"],
    ["a pattern of ids", OCTOCAT, "5832*"],
    ["any user", OCTOCAT, "*"],
    ["the id of a user with a login of digits", DIGITS, "77"],
    ["an id of a provider without logins", OIDC, "583231"],
  ])("admits an account by %s", (_case, account, pattern) => expect(admits(account, pattern)).toBe(true));

  test.each([
    ["a login of digits by the id of another user", DIGITS, "583231"],
    ["a login of digits by a pattern of ids", DIGITS, "5832*"],
    ["a login of digits by a pattern with one free digit", DIGITS, "58323?"],
    ["another login", OCTOCAT, "octo"],
    ["an id by a pattern with a letter", OCTOCAT, "583231a*"],
    ["a login by a rule of groups", OCTOCAT, "octocat", "group"],
    ["a login by a rule of addresses", OCTOCAT, "octocat", "email"],
  ] as const)("refuses to match %s", (_case, account, pattern, kind: AdmissionKind = "user") =>
    expect(admits(account, pattern, kind)).toBe(false),
  );
});
