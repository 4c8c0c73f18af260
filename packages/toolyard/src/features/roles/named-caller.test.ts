import { expect, test } from "vitest";
import { resolveHttp } from "../../http/options.ts";
import { findCaller, type CallerPlaces } from "./named-caller.ts";

const PLACES: CallerPlaces = {
  http: resolveHttp({ tokens: { builder: { token: "a".repeat(32) } }, insecure: true }),
  roles: { reader: { allow: ["*"] } },
  grantRights: () => ({ rights: { allow: [], deny: [], readOnly: false }, roles: [] }) as never,
  users: ["ann"],
};

test.each([
  ["ann", "There is no token `ann`. Did you mean `user:ann`?"],
  ["bilder", "There is no token `bilder`. Did you mean `builder`?"],
  ["unlike", "There is no token `unlike`. `[server]` has: builder."],
  ["role:raeder", "There is no role `raeder`. Did you mean `reader`?"],
  ["role:other", "There is no role `other`. `[roles]` has: reader."],
])("suggests the caller that %j may mean", (text, problem) => {
  expect(findCaller(text, PLACES)).toEqual({ problem: expect.stringContaining(problem) as string });
});

test.each(["builder", "token:builder", "role:reader", "user:ann", "local"])("finds the caller %s", (text) => {
  expect(findCaller(text, PLACES)).toHaveProperty("principal");
});
