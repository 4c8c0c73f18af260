import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expandHome } from "./home-path.ts";

test.each([
  ["~", homedir()],
  ["~/notes.md", join(homedir(), "notes.md")],
  ["~/a/../b", join(homedir(), "b")],
])("expands %j to a path in the home folder", (path, expected) => {
  expect(expandHome(path)).toBe(join(expected));
});

test.each(["~ada/notes.md", "./~/x", "--dir=~/x", "a~", "", "~~", "~.bak"])("returns %j unchanged", (path) => {
  expect(expandHome(path)).toBe(path);
});
