import { describe, expect, test } from "vitest";
import { parseInlineMetadata } from "./inline-metadata.ts";

const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;

describe("reads the metadata block", () => {
  test("returns dependencies, the required Python and the presence of a tool's table", () => {
    const read = parseInlineMetadata(
      lines(
        "#!/usr/bin/env python3",
        "# /// script",
        '# requires-python = ">=3.11"',
        "# dependencies = [",
        '#   "requests<3",',
        "#",
        '#   "rich",',
        "# ]",
        "# [tool.uv]",
        '# exclude-newer = "2026-01-01T00:00:00Z"',
        "# ///",
        "import requests",
      ),
    );
    expect(read).toMatchObject({
      dependencies: ["requests<3", "rich"],
      requiresPython: ">=3.11",
      hasToolTable: true,
    });
    expect(read!.problem).toBeUndefined();
  });

  test("accepts line ends of Windows", () => {
    expect(parseInlineMetadata('# /// script\r\n# dependencies = ["a"]\r\n# ///\r\nx = 1\r\n')).toMatchObject({
      dependencies: ["a"],
      text: 'dependencies = ["a"]',
    });
  });

  test("ends a block at the last closing line of its comment", () => {
    const read = parseInlineMetadata(
      lines("# /// script", "# dependencies = []", "# [tool.x]", '# text = """', "# ///", '# """', "# ///"),
    );
    expect(read!.text).toContain("///");
    expect(read!.problem).toBeUndefined();
  });

  test("ignores blocks of other types", () => {
    const read = parseInlineMetadata(lines("# /// pyproject", "# x = 1", "# ///", "", "# /// script", "# ///"));
    expect(read).toEqual({ text: "", dependencies: [], hasToolTable: false });
  });
});

test.each([
  ["an address", 'dependencies = ["a @ https://files.example/a.whl"]', true],
  ["a repository", 'dependencies = ["a@git+https://files.example/a"]', true],
  ["an index of its own", '[[tool.uv.index]]\nname = "corp"\nurl = "https://files.example/simple"', true],
  ["a folder", '[tool.uv.sources]\na = { path = "../a" }', true],
  ["an address in place of a version", '[tool.uv]\noverride-dependencies = ["a @ file:///a.whl"]', true],
  ["what nobody knows", "[tool.uv]\nsome-later-setting = true", true],
  ["names and versions", "dependencies = [\"a[x]>=1,<2; python_version < '3.12'\"]", undefined],
  ["a choice among versions", '[tool.uv]\nexclude-newer = "2026-01-01T00:00:00Z"\nprerelease = "allow"', undefined],
  ["a table of another program", "[tool.black]\nline-length = 99", undefined],
])("detects that a metadata block names package sources: %s", (_, toml, expected) => {
  const source = ["# /// script", ...toml.split("\n").map((line) => `# ${line}`), "# ///"].join("\n");
  expect(parseInlineMetadata(source)!.namesPlaces).toBe(expected);
});

test.each([
  ["a block without an end", lines("# /// script", '# dependencies = ["a"]', "", "# ///")],
  ["an opening with a blank behind it", lines("# /// script ", "# ///")],
  ["an indented block", lines("  # /// script", "  # ///")],
  ["a comment without a blank in it", lines("# /// script", '#dependencies = ["a"]', "# ///")],
  ["another type", lines("# /// scripts", "# ///")],
])("does not read %s as a header", (_, source) => {
  expect(parseInlineMetadata(source)).toBeUndefined();
});

test.each([
  ["two blocks", lines("# /// script", "# ///", "", "# /// script", "# ///"), "two blocks"],
  ["no TOML", lines("# /// script", "# dependencies = [", "# ///"), "TOML cannot be read"],
  ["numbers for requirements", lines("# /// script", "# dependencies = [1]", "# ///"), "`dependencies` must be"],
  ["one text for a list", lines("# /// script", '# dependencies = "a"', "# ///"), "`dependencies` must be"],
  ["a number for Python", lines("# /// script", "# requires-python = 3.11", "# ///"), "`requires-python` must be"],
])("reports %s as unusable, and requires nothing", (_, source, problem) => {
  expect(parseInlineMetadata(source)).toMatchObject({ dependencies: [], problem: expect.stringContaining(problem) });
});
