import { expect, test } from "vitest";
import { OptionError } from "../core/errors.ts";
import { resolveAudit } from "./audit/options.ts";
import { resolveLogging } from "./options.ts";

test("writes text lines of level info to stderr and no audit by default", () => {
  expect([resolveLogging(), resolveAudit()]).toEqual([
    { level: "info", format: "text" },
    { isOnStderr: false, hasArguments: false },
  ]);
});

test("keeps configured files", () => {
  expect([
    resolveLogging({ level: "debug", format: "json", file: "/l" }),
    resolveAudit({ file: "/a" }),
    resolveAudit({ stderr: true }),
  ]).toMatchObject([
    { level: "debug", format: "json", file: "/l" },
    { file: { path: "/a", isChained: false }, isOnStderr: false },
    { isOnStderr: true },
  ]);
});

test("refuses invalid values and contradictory targets", () => {
  expect(() => resolveLogging({ level: "loud" as never })).toThrow(OptionError);
  expect(() => resolveAudit({ file: "/a", stderr: true })).toThrow(OptionError);
});
