import { expect, test } from "vitest";
import { attackSuite } from "./suite.ts";

const isPresent = await attackSuite("bwrap");

test("the attacks run on the engine `bwrap` if it is available", () => {
  expect(typeof isPresent).toBe("boolean");
});
