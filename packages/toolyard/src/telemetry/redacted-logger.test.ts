import { expect, test } from "vitest";
import type { JsonObject } from "../core/json/json.ts";
import type { Logger } from "../core/ports/ports.ts";
import { redactedLogger } from "./redacted-logger.ts";
import { Redactor } from "./redactor.ts";

test("S14: passes every line, level and fact to a program's own logger without secrets", () => {
  const lines: unknown[][] = [];
  const recorder = (bound: JsonObject): Logger => {
    const at = (level: string) => (message: string, facts?: JsonObject) =>
      void lines.push([level, message, { ...bound, ...facts }]);
    return {
      debug: at("debug"),
      info: at("info"),
      warning: at("warning"),
      error: at("error"),
      with: (facts) => recorder({ ...bound, ...facts }),
    };
  };
  const redactor = new Redactor();
  const logger = redactedLogger(recorder({}), redactor);
  redactor.add("s3cret-value");
  logger.debug("plain");
  logger.info("is s3cret-value", { count: 1, text: "s3cret-value" });
  logger.with({ source: "far", at: "s3cret-value" }).warning("bound");
  logger.error("failed", { password: "x" });
  expect(lines).toEqual([
    ["debug", "plain", {}],
    ["info", "is ***", { count: 1, text: "***" }],
    ["warning", "bound", { source: "far", at: "***" }],
    ["error", "failed", { password: "***" }],
  ]);
});
