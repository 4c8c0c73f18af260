import { expect, test } from "vitest";
import { bareLine } from "./program-line.ts";

test("removes npm's prefix of each line, and keeps lines of other programs", () => {
  expect(bareLine("npm error 404 Not Found - GET http://localhost/none")).toBe("Not Found - GET http://localhost/none");
  expect(bareLine("npm ERR! code E404")).toBe("E404");
  expect(bareLine("npm error 404")).toBe("");
  expect(bareLine("npm error errno 13")).toBe("errno 13");
  expect(bareLine("error: no such package")).toBe("error: no such package");
  expect(bareLine("npm errors are listed")).toBe("npm errors are listed");
});
