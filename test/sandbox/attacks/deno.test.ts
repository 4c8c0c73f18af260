import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("deno");

test("the attacks run on the engine `deno` if it is available", () => {
  expect(typeof isPresent).toBe("boolean");
});
