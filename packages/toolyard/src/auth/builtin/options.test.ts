import { describe, expect, test } from "vitest";
import { resolveBuiltin } from "./options.ts";

describe("the name of a machine client", () => {
  test.each(["ci", "build.server_1-a"])("%j is accepted", (name) => {
    expect(resolveBuiltin({ machines: { [name]: { secret: "s" } } }).machines).toMatchObject([{ id: name }]);
  });

  test.each([
    ["", "a client id has"],
    ["two words", "a client id has"],
    ["x".repeat(65), "a client id has"],
    ["toolyard-console", "the console of the hub has this client id"],
  ])("%j is refused", (name, reason) => {
    expect(() => resolveBuiltin({ machines: { [name]: { secret: "s" } } })).toThrow(reason);
  });
});
