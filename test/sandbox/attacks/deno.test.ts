import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("deno");

test("the engine `deno` is attacked if it is available", () => {
  expect(typeof isPresent).toBe("boolean");
});
