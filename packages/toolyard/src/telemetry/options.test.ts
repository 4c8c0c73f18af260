import { expect, test } from "vitest";
import { OptionError } from "../core/errors.ts";
import { resolveAudit, resolveLogging } from "./options.ts";

test("without a configuration lines for people of level info go to stderr, and there is no audit", () => {
  expect([resolveLogging(), resolveAudit()]).toEqual([{ level: "info", format: "text" }, { to: "none" }]);
});

test("files are taken over", () => {
  expect([
    resolveLogging({ level: "debug", format: "json", file: "/l" }),
    resolveAudit({ file: "/a" }),
    resolveAudit({ stderr: true }),
  ]).toEqual([{ level: "debug", format: "json", file: "/l" }, { to: "file", file: "/a" }, { to: "stderr" }]);
});

test("what makes no sense is refused", () => {
  expect(() => resolveLogging({ level: "loud" as never })).toThrow(OptionError);
  expect(() => resolveAudit({ file: "/a", stderr: true })).toThrow(OptionError);
});
