import { expect, test } from "vitest";
import { childEnvironment, searchEnvironment } from "./environment.ts";

const parent = {
  PATH: "/bin",
  HOME: "/h",
  LC_ALL: "C",
  API_TOKEN: "secret",
  EXTRA: "x",
  https_proxy: "p",
  "BASH_FUNC_x%%": "() { :; }",
  LC_F: "() { :; }",
};

test("S8: a child gets the allow-listed variables and no others", () => {
  expect(childEnvironment({}, parent, "linux")).toEqual({ PATH: "/bin", HOME: "/h", LC_ALL: "C", https_proxy: "p" });
});

test("a child's own variables win, and names in `inherit` pass when they are set", () => {
  expect(childEnvironment({ own: { HOME: "/mine", A: "1" }, inherit: ["EXTRA", "NOT_SET"] }, parent, "linux")).toEqual({
    PATH: "/bin",
    HOME: "/mine",
    LC_ALL: "C",
    https_proxy: "p",
    EXTRA: "x",
    A: "1",
  });
});

test("names count without case on Windows, and a variable is never there twice", () => {
  const env = childEnvironment(
    { own: { PATH: "mine" }, inherit: ["extra"] },
    { Path: "theirs", SYSTEMROOT: "C:\\Windows", EXTRA: "x", TOKEN: "t" },
    "win32",
  );
  expect(env).toEqual({ PATH: "mine", SYSTEMROOT: "C:\\Windows", EXTRA: "x" });
});

test("what decides where commands are found is there, and nothing else", () => {
  expect(searchEnvironment({ PATH: "/bin", HOME: "/root", API_TOKEN: "secret" })).toEqual({ PATH: "/bin" });
  expect(searchEnvironment({})).toEqual({});
});
