import { expect, test } from "vitest";
import { OptionError } from "../core/errors.ts";
import { resolveAudit, resolveLogging } from "./options.ts";

test("writes text lines of level info to stderr and no audit by default", () => {
  expect([resolveLogging(), resolveAudit()]).toEqual([{ level: "info", format: "text" }, { to: "none" }]);
});

test("keeps configured files", () => {
  expect([
    resolveLogging({ level: "debug", format: "json", file: "/l" }),
    resolveAudit({ file: "/a" }),
    resolveAudit({ stderr: true }),
  ]).toEqual([{ level: "debug", format: "json", file: "/l" }, { to: "file", file: "/a" }, { to: "stderr" }]);
});

test("refuses invalid values and contradictory targets", () => {
  expect(() => resolveLogging({ level: "loud" as never })).toThrow(OptionError);
  expect(() => resolveAudit({ file: "/a", stderr: true })).toThrow(OptionError);
});
