import * as fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json/json.ts";
import { removeFromJson, setInJson } from "./json-edit.ts";

function editJson(text: string, [table, name]: readonly [string, string], entry?: JsonObject): Promise<string> {
  return entry ? setInJson(text, [table, name], entry) : removeFromJson(text, table, [name]);
}

const ENTRY = { command: "x", args: ["y"] };
const PLACE = ["servers", "hub"] as const;

describe("setting", () => {
  test("sets a member after the last one: its comment and a trailing comma stay in place", async () => {
    const text = '// mine\n{\n    "theme": "dark", // at night\n    "list": [1, 2,], // short\n}\n';
    expect(await editJson(text, PLACE, ENTRY)).toBe(
      '// mine\n{\n    "theme": "dark", // at night\n    "list": [1, 2,], // short\n    "servers": {\n' +
        '        "hub": {\n            "command": "x",\n            "args": [\n                "y"\n' +
        "            ]\n        }\n    },\n}\n",
    );
  });

  test("sets a member in an existing table, with tabs and line breaks of Windows", async () => {
    const text = '{\r\n\t"servers": {\r\n\t\t"a": { "command": "a" } // one\r\n\t}\r\n}';
    expect(await editJson(text, PLACE, { command: "x" })).toBe(
      '{\r\n\t"servers": {\r\n\t\t"a": { "command": "a" }, // one\r\n\t\t"hub": {\r\n\t\t\t"command": "x"\r\n' +
        "\t\t}\r\n\t}\r\n}",
    );
  });

  test("sets a member on one line, in an empty table, in an empty file, and replaces an existing entry", async () => {
    expect(await editJson('{"servers":{"a":{}}}', PLACE, { c: 1 })).toBe('{"servers":{"a":{}, "hub": {"c":1}}}');
    expect(await editJson('{\n  "servers": { /* none */ }\n}', PLACE, { c: 1 })).toBe(
      '{\n  "servers": { /* none */\n    "hub": {\n      "c": 1\n    }\n  }\n}',
    );
    expect(await editJson("", PLACE, { c: 1 })).toBe('{\n  "servers": {\n    "hub": {\n      "c": 1\n    }\n  }\n}\n');
    expect(await editJson('{"servers": {"hub": {"c": 1}, "b": {}}}', PLACE, { c: 2 })).toContain('"b": {}');
  });
});

describe("removing", () => {
  test("removes a member with its lines, at any position, and nothing else", async () => {
    const text = (name: string, body: string): string => `{\n  "servers": {\n${body}\n  } // ${name}\n}\n`;
    const [a, hub, b] = [
      '    "a": {}, // first',
      '    "hub": {\n      "c": 1\n    }, // second',
      '    "b": {} // third',
    ];
    expect(await editJson(text("mid", [a, hub, b].join("\n")), PLACE)).toBe(text("mid", [a, b].join("\n")));
    expect(await editJson(text("first", [hub, b].join("\n")), PLACE)).toBe(text("first", b));
    expect(await editJson(text("last", [a, hub].join("\n")), PLACE)).toBe(text("last", a));
    expect(await editJson(text("bare", `${a}\n    "hub": {}`), PLACE)).toBe(text("bare", '    "a": {} // first'));
    expect(await editJson('{"servers": {"a": 1, "hub": {}, "b": 2}}', PLACE)).toBe('{"servers": {"a": 1, "b": 2}}');
  });
});

test("for any layout, a change has the intended effect, and undoing it restores the original", async () => {
  const space = fc.constantFrom("", " ", "\n", "\n  ", " // c\n", "/* c */");
  const key = fc.constantFrom("a", "b", "hub", "servers", "x y", "//");
  const tree = fc.dictionary(
    key,
    fc.oneof(fc.integer(), fc.dictionary(key, fc.array(fc.constantFrom("{", "//", ","))), fc.constant({})),
  );
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(space, { minLength: 12, maxLength: 12 }),
      fc.boolean(),
      async (members, spaces, trails) => {
        const { servers: _other, ...others } = members;
        let at = 0;
        const gap = (): string => spaces[(at += 1) % spaces.length]!;
        const write = (value: unknown): string => {
          if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
          const inner = Object.entries(value).map(
            ([name, member]) => `${gap()}${JSON.stringify(name)}:${gap()}${write(member)}${gap()}`,
          );
          return `{${inner.join(",")}${trails && inner.length > 0 ? "," : ""}${gap()}}`;
        };
        const servers = { a: {}, b: { c: 1 } };
        const text = write({ ...others, servers });
        const set = await editJson(text, PLACE, ENTRY);
        expect(parse(set, [], { allowTrailingComma: true })).toEqual({
          ...others,
          servers: { ...servers, hub: ENTRY },
        });
        const back = await editJson(set, PLACE);
        expect(parse(back, [], { allowTrailingComma: true })).toEqual({ ...others, servers });
      },
    ),
    { numRuns: 300 },
  );
});
