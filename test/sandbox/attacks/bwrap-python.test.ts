import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("bwrap-python");

test("the engine `bwrap-python` is attacked if it is available", () => {
  expect(typeof isPresent).toBe("boolean");
});
