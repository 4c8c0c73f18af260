import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("bwrap");

test("the engine `bwrap` is attacked where it is present", () => {
  expect(typeof isPresent).toBe("boolean");
});
