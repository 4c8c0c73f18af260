import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("bwrap");

test("the engine `bwrap` is attacked if it is available", () => {
  expect(typeof isPresent).toBe("boolean");
});
