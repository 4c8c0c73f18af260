import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { META } from "./envelope.ts";
import { decodeHeaderValue, encodeHeaderValue, findStandardMismatch, nameSource, standardHeaders } from "./headers.ts";
import { findParamHeaders, findParamMismatch, paramHeaders } from "./param-headers.ts";

test("writes plain ASCII unchanged, and all other text inside the sentinel", () => {
  expect(encodeHeaderValue("get_weather")).toBe("get_weather");
  expect(encodeHeaderValue("Zürich")).toBe("=?base64?WsO8cmljaA==?=");
  expect(encodeHeaderValue(" padded ")).toBe("=?base64?IHBhZGRlZCA=?=");
  expect(encodeHeaderValue("")).toBe("=?base64??=");
  expect(encodeHeaderValue("=?base64?x?=")).toBe("=?base64?PT9iYXNlNjQ/eD89?=");
});

test("encodes any text as a valid header value and decodes it again", () => {
  assert(
    property(string({ unit: "grapheme" }), (text) => {
      const value = encodeHeaderValue(text);
      expect(value).toMatch(/^[\t\x20-\x7e]*$/);
      expect(decodeHeaderValue(value)).toBe(text);
    }),
    { seed: 7 },
  );
});

test("rejects a sentinel around other data than base64 of UTF-8", () => {
  expect(decodeHeaderValue("=?base64?not base64?=")).toBeUndefined();
  expect(decodeHeaderValue("=?base64?/w==?=")).toBeUndefined();
  expect(decodeHeaderValue("  echo\t")).toBe("echo");
});

test("Mcp-Name contains the name, the URI or the task id", () => {
  expect(nameSource("tools/call", { name: "echo" })).toEqual({ member: "name", value: "echo" });
  expect(nameSource("resources/read", { uri: "a:b" })).toEqual({ member: "uri", value: "a:b" });
  expect(nameSource("tasks/get", {})).toEqual({ member: "taskId" });
  expect(nameSource("constructor", { name: "echo" })).toBeUndefined();
});

test("derives the standard headers from the body", () => {
  const params = { name: "grüß", _meta: { [META.protocolVersion]: "2026-07-28" } };
  expect(standardHeaders("tools/call", params)).toEqual({
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "=?base64?Z3LDvMOf?=",
  });
  expect(standardHeaders("tools/list", undefined)).toEqual({ "Mcp-Method": "tools/list" });
});

const schema = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    place: { type: "object", properties: { floor: { type: "integer", "x-mcp-header": "Floor" } } },
    dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
  },
};

test("finds annotations at any depth of properties", () => {
  expect(findParamHeaders(schema)).toEqual({
    ok: true,
    headers: [
      { path: ["region"], name: "Region", type: "string" },
      { path: ["place", "floor"], name: "Floor", type: "integer" },
      { path: ["dry"], name: "Dry-Run", type: "boolean" },
    ],
  });
});

const invalid: [string, object][] = [
  ["an empty name", { properties: { a: { type: "string", "x-mcp-header": "" } } }],
  ["a name that is no string", { properties: { a: { type: "string", "x-mcp-header": 1 } } }],
  ["a name that is no token", { properties: { a: { type: "string", "x-mcp-header": "My Header" } } }],
  ["a line break in the name", { properties: { a: { type: "string", "x-mcp-header": "A\r\nB" } } }],
  [
    "two names that differ in case only",
    { properties: { a: { type: "string", "x-mcp-header": "X" }, b: { type: "string", "x-mcp-header": "x" } } },
  ],
  ["an object", { properties: { a: { type: "object", "x-mcp-header": "X" } } }],
  ["a number", { properties: { a: { type: "number", "x-mcp-header": "X" } } }],
  ["no type", { properties: { a: { "x-mcp-header": "X" } } }],
  ["the root", { type: "string", "x-mcp-header": "X" }],
  ["items", { properties: { a: { type: "array", items: { type: "string", "x-mcp-header": "X" } } } }],
  ["oneOf", { oneOf: [{ properties: { a: { type: "string", "x-mcp-header": "X" } } }] }],
  ["$defs", { $defs: { a: { type: "string", "x-mcp-header": "X" } } }],
];

test.each(invalid)("a tool is invalid if an annotation has %s", (_, inputSchema) => {
  expect(findParamHeaders({ type: "object", ...inputSchema })).toMatchObject({
    ok: false,
    reason: expect.stringContaining("x-mcp-header"),
  });
});

test("a property with the name x-mcp-header is not an annotation", () => {
  expect(findParamHeaders({ type: "object", properties: { "x-mcp-header": { type: "string" } } })).toEqual({
    ok: true,
    headers: [],
  });
});

const { headers } = findParamHeaders(schema);

test("converts arguments to Mcp-Param headers", () => {
  expect(paramHeaders(headers, { region: "Zürich", place: { floor: 3 }, dry: false })).toEqual({
    "Mcp-Param-Region": "=?base64?WsO8cmljaA==?=",
    "Mcp-Param-Floor": "3",
    "Mcp-Param-Dry-Run": "false",
  });
});

test("writes no header for an argument that is absent, null, not a scalar or not exact", () => {
  expect(paramHeaders(headers, { region: null, place: { floor: 2 ** 60 }, dry: {} })).toEqual({});
});

function lookup(given: Record<string, string>) {
  return { header: (name: string) => given[name] };
}

test("accepts headers that equal the body", () => {
  const args = { region: "Zürich", place: { floor: 3 } };
  const given = lookup({ "mcp-param-region": "=?base64?WsO8cmljaA==?=", "mcp-param-floor": "3.0" });
  expect(findParamMismatch(headers, args, given)).toBeUndefined();
  expect(
    findStandardMismatch("tools/call", { name: "echo" }, lookup({ "mcp-method": "tools/call", "mcp-name": " echo " })),
  ).toBeUndefined();
});

test("names headers that are missing, differ or contain invalid base64", () => {
  expect(findParamMismatch(headers, { region: "eu" }, lookup({}))).toMatchObject({ header: "Mcp-Param-Region" });
  expect(findParamMismatch(headers, { place: { floor: 3 } }, lookup({ "mcp-param-floor": "4" }))).toMatchObject({
    header: "Mcp-Param-Floor",
  });
  expect(findStandardMismatch("tools/call", { name: "echo" }, lookup({ "mcp-method": "tools/call" }))).toMatchObject({
    header: "Mcp-Name",
  });
  expect(findStandardMismatch("tools/call", {}, lookup({ "mcp-method": "tools/list" }))).toMatchObject({
    header: "Mcp-Method",
  });
  const broken = lookup({ "mcp-method": "tools/call", "mcp-name": "=?base64?!?=" });
  expect(findStandardMismatch("tools/call", { name: "echo" }, broken)).toMatchObject({
    problem: expect.stringContaining("base64"),
  });
});

test("ignores a header that the body does not require", () => {
  expect(findParamMismatch(headers, {}, lookup({ "mcp-param-region": "eu" }))).toBeUndefined();
});
