import { expect, test } from "vitest";
import {
  EVERYBODY,
  isSharedLink,
  LEGACY_CALLERS,
  linkCaller,
  linkHolder,
  linkKeyText,
  type LinkKey,
} from "./link-key.ts";
import { holderOf } from "../fairness/shares.ts";

const ANNA: LinkKey = { for: "principal", principal: "anna" };
const ANNAS_PIPE: LinkKey = { for: "connection", principal: "anna", connection: "pipe-1" };

test("returns different keys for links of different callers, for any names", () => {
  const keys: LinkKey[] = [
    EVERYBODY,
    LEGACY_CALLERS,
    ANNA,
    ANNAS_PIPE,
    { for: "principal", principal: "everybody" },
    { for: "principal", principal: "era legacy" },
    { for: "connection", principal: "anna", connection: "anna" },
  ];
  expect(new Set(keys.map(linkKeyText)).size).toBe(keys.length);
});

test("returns the same key for the link of a lasting connection with and without its principal", () => {
  expect(linkKeyText({ for: "connection", connection: "pipe-1" })).toBe(linkKeyText(ANNAS_PIPE));
});

test("a link for one principal counts towards the share of that principal, a shared link towards none", () => {
  expect([ANNA, ANNAS_PIPE].map(linkHolder)).toEqual([
    { principal: "anna" },
    { principal: "anna", connection: "pipe-1" },
  ]);
  expect([EVERYBODY, LEGACY_CALLERS].map(linkHolder)).toEqual([undefined, undefined]);
});

test("requests outside a call count towards the link's principal, or towards none if the link is shared", () => {
  const holders = [ANNA, ANNAS_PIPE].map((key) => holderOf(linkCaller(key)!));
  expect(holders).toEqual([ANNA, ANNAS_PIPE].map(linkHolder));
  expect([EVERYBODY, LEGACY_CALLERS].map(linkCaller)).toEqual([undefined, undefined]);
});

test("only the link of a lasting connection is exclusive", () => {
  expect([EVERYBODY, LEGACY_CALLERS, ANNA, ANNAS_PIPE].map(isSharedLink)).toEqual([true, true, true, false]);
});
