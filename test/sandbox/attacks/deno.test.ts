import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("deno");

test("the engine `deno` is attacked where it is present", () => {
  expect(typeof isPresent).toBe("boolean");
});
