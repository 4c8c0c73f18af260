import { expect, test } from "vitest";
import { toolPath } from "./tool-path.ts";

/** Returns the path of a tool if every short path reaches that tool. */
function pathIn(language: "python" | "typescript", name: string): string {
  return toolPath(name, { language, reaches: () => name });
}

test.each([
  ["weather__forecast", "tools.weather.forecast", "tools.weather.forecast"],
  ["text.upper", "tools.text.upper", "tools.text.upper"],
  ["echo", "tools.echo", "tools.echo"],
  ["gh__a__b", "tools.gh.a__b", "tools.gh.a__b"],
  ["gh__import", 'tools["gh__import"]', "tools.gh.import"],
  ["class__read", 'tools["class__read"]', "tools.class.read"],
  ["export.lambda", 'tools["export.lambda"]', "tools.export.lambda"],
  ["None", 'tools["None"]', "tools.None"],
  ["gh__print", "tools.gh.print", "tools.gh.print"],
  ["gh__match", "tools.gh.match", "tools.gh.match"],
  ["gh___private", "tools.gh._private", "tools.gh._private"],
  ["gh____init__", 'tools["gh____init__"]', "tools.gh.__init__"],
  ["gh___path", 'tools["gh___path"]', "tools.gh._path"],
  ["gh__sync", "tools.gh.sync", "tools.gh.sync"],
  ["gh__a.sync", 'tools["gh__a.sync"]', "tools.gh.a.sync"],
  ["gh__$now", 'tools["gh__$now"]', "tools.gh.$now"],
  ["gh__then", "tools.gh.then", "tools.gh.then"],
  ["gh__toString", "tools.gh.toString", 'tools["gh__toString"]'],
  ["gh__toJSON", "tools.gh.toJSON", 'tools["gh__toJSON"]'],
  ["gh__constructor", "tools.gh.constructor", "tools.gh.constructor"],
  ["my-server__read", 'tools["my-server__read"]', 'tools["my-server__read"]'],
  ["gh__7zip", 'tools["gh__7zip"]', 'tools["gh__7zip"]'],
  ["gh__", "tools.gh__", "tools.gh__"],
  ['a"b', 'tools["a\\"b"]', 'tools["a\\"b"]'],
])("writes `%s` as %s in Python and %s in JavaScript", (name, python, javascript) => {
  expect([pathIn("python", name), pathIn("typescript", name)]).toEqual([python, javascript]);
});

test("does not use a short path that leads to another tool or to no tool", () => {
  const language = "typescript";
  expect(toolPath("a__b__pay", { language, reaches: () => "a__other" })).toBe('tools["a__b__pay"]');
  expect(toolPath("a__b__pay", { language, reaches: () => undefined })).toBe('tools["a__b__pay"]');
  expect(toolPath("a__b__pay", { language, reaches: (path) => (path === "a.b__pay" ? "a__b__pay" : undefined) })).toBe(
    "tools.a.b__pay",
  );
});
