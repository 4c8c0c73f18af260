import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { Findings } from "../tool-folders/findings.ts";
import { parseParameters } from "./parameters.ts";

function read(toml: string) {
  const findings = new Findings();
  const schema = parseParameters(parse(toml)["parameters"], findings);
  return { schema, faults: findings.faults, remarks: findings.remarks };
}

describe("C26: parameters", () => {
  test.each([
    ["string", { type: "string" }],
    ["number", { type: "number" }],
    ["integer", { type: "integer" }],
    ["boolean", { type: "boolean" }],
    ["object", { type: "object" }],
    ["array", { type: "array" }],
    ["array:integer", { type: "array", items: { type: "integer" } }],
    ["array:array:string", { type: "array", items: { type: "array", items: { type: "string" } } }],
    ["int", { type: "integer" }],
    ["float", { type: "number" }],
  ])("accepts type %s", (type, schema) => {
    expect(read(`[parameters.x]\ntype = "${type}"`)).toEqual({
      schema: { type: "object", properties: { x: schema } },
      faults: [],
      remarks: [],
    });
  });

  test.each([
    ["strng", 'did you mean "string"?'],
    ["date", "accepted are string"],
    ["string:array", "accepted are"],
    ["array:strin", 'did you mean "string"?'],
    ["constructor", "accepted are"],
  ])("rejects type %s, and lists the valid ones", (type, message) => {
    expect(read(`[parameters.x]\ntype = "${type}"`).faults).toEqual([expect.stringContaining(message)]);
  });

  test("rejects a parameter without a type", () => {
    expect(read('[parameters.x]\ndescription = "d"').faults).toEqual([
      expect.stringContaining("`parameters.x` has no `type`"),
    ]);
  });

  test("gives the same schema for tables and the list form, with `required` in written order", () => {
    const table = read(
      '[parameters.b]\ntype = "string"\nrequired = true\ndescription = "B"\n[parameters.a]\ntype = "number"\n' +
        'required = true\n[parameters.c]\ntype = "boolean"',
    );
    const list = read(
      '[[parameters]]\nname = "b"\ntype = "string"\nrequired = true\ndescription = "B"\n[[parameters]]\n' +
        'name = "a"\ntype = "number"\nrequired = true\n[[parameters]]\nname = "c"\ntype = "boolean"',
    );
    expect(table).toEqual(list);
    expect(table.schema).toEqual({
      type: "object",
      properties: { b: { type: "string", description: "B" }, a: { type: "number" }, c: { type: "boolean" } },
      required: ["b", "a"],
    });
    expect(table.faults).toEqual([]);
  });

  test("converts limits, patterns, choices, defaults and nested properties to JSON Schema", () => {
    const { schema, faults } = read(`[parameters]
n = { type = "integer", min = 1, max = 9, default = 3 }
s = { type = "string", min = 1, max = 5, pattern = "^a+$", default = "a" }
l = { type = "array:string", min = 1, max = 2 }
e = { type = "string", enum = ["a", "b"], default = "b" }
o = { type = "object", properties = { p = { type = "number", required = true } } }
`);
    expect(faults).toEqual([]);
    expect(schema["properties"]).toEqual({
      n: { type: "integer", minimum: 1, maximum: 9, default: 3 },
      s: { type: "string", minLength: 1, maxLength: 5, pattern: "^a+$", default: "a" },
      l: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2 },
      e: { type: "string", enum: ["a", "b"], default: "b" },
      o: { type: "object", properties: { p: { type: "number" } }, required: ["p"] },
    });
  });

  test.each([
    ['type = "integer"\ndefault = 1.5', "`parameters.x.default` is 1.5, which is no integer"],
    ['type = "integer"\ndefault = 1\nmin = 2', "`parameters.x.default` is outside `min` and `max`"],
    ['type = "string"\nenum = ["a", 1]', "holds 1, which is no string"],
    ['type = "string"\nenum = []', "must be a list of values"],
    ['type = "string"\nenum = ["a"]\ndefault = "b"', "not among the values of `enum`"],
    ['type = "number"\nmin = 3\nmax = 2', "`parameters.x.min` is above `max`"],
    ['type = "number"\nmin = nan', "must be a number"],
    ['type = "string"\nmin = -1', "must be a whole number from 0"],
    ['type = "boolean"\nmin = 1', "has no meaning for boolean"],
    ['type = "string"\npattern = "("', "is no regular expression"],
    ['type = "number"\npattern = "a"', "for strings only"],
    ['type = "string"\nrequired = "yes"', "must be true or false"],
    ['type = "string"\ndefault = "abc"\nmax = 2', "`parameters.x.default` is outside `min` and `max`"],
    ['type = "array:string"\ndefault = []\nmin = 1', "`parameters.x.default` is outside `min` and `max`"],
    ['type = "array:integer"\ndefault = [1, "a"]', 'holds "a", which is no integer'],
    ['type = "string"\ndefault = "a"\npattern = "^b"', "does not match `pattern`"],
    ['type = "string"\nproperties = {}', 'needs `type = "object"`'],
  ])("rejects %j", (toml, message) => {
    expect(read(`[parameters.x]\n${toml}`).faults).toEqual([expect.stringContaining(message)]);
  });

  test("rejects a parameter that is not a table, and a list entry without a name or with a duplicate one", () => {
    expect(read('[parameters]\nx = "string"').faults).toEqual([expect.stringContaining("must be a table")]);
    expect(read('[[parameters]]\ntype = "string"').faults).toEqual([expect.stringContaining("needs a `name`")]);
    expect(
      read('[[parameters]]\nname = "x"\ntype = "string"\n[[parameters]]\nname = "x"\ntype = "number"').faults,
    ).toEqual([expect.stringContaining("there twice")]);
  });

  test("accepts a parameter named like a member of every object", () => {
    const { schema } = read('[parameters.__proto__]\ntype = "string"\n[parameters.constructor]\ntype = "string"');
    expect(Object.keys(schema["properties"] as object)).toEqual(["__proto__", "constructor"]);
  });
});
