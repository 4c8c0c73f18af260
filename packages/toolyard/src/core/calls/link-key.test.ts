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

test("links for different callers have different texts, whatever those are called", () => {
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

test("a lasting connection's link is found without its principal", () => {
  expect(linkKeyText({ for: "connection", connection: "pipe-1" })).toBe(linkKeyText(ANNAS_PIPE));
});

test("a link for one person takes a place of theirs, one for several takes nobody's", () => {
  expect([ANNA, ANNAS_PIPE].map(linkHolder)).toEqual([
    { principal: "anna" },
    { principal: "anna", connection: "pipe-1" },
  ]);
  expect([EVERYBODY, LEGACY_CALLERS].map(linkHolder)).toEqual([undefined, undefined]);
});

test("what is asked over one person's link by itself is theirs, over one for several it is nobody's", () => {
  const holders = [ANNA, ANNAS_PIPE].map((key) => holderOf(linkCaller(key)!));
  expect(holders).toEqual([ANNA, ANNAS_PIPE].map(linkHolder));
  expect([EVERYBODY, LEGACY_CALLERS].map(linkCaller)).toEqual([undefined, undefined]);
});

test("only a lasting connection's own link is nobody else's", () => {
  expect([EVERYBODY, LEGACY_CALLERS, ANNA, ANNAS_PIPE].map(isSharedLink)).toEqual([true, true, true, false]);
});
