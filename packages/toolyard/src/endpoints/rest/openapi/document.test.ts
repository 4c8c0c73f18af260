import { Ajv2020 } from "ajv/dist/2020.js";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { createRandom, type Random } from "../../../../../../test/support/random.ts";
import { resolveRest } from "../options.ts";
import { createDocument, type DocumentSource } from "./document.ts";

const OBJECT = { type: "object" };
const SOURCE: DocumentSource = {
  title: "Toolyard",
  version: "1",
  basePath: "/api",
  tools: [],
  routes: [],
  hasChat: true,
  isGuarded: true,
};

async function problems(document: JsonObject): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  return valid ? [] : errors;
}

const ODD_TOOLS: readonly JsonObject[] = [
  {
    name: "plain",
    description: "Says it. At length.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    outputSchema: { type: "object", properties: { n: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } },
  },
  { name: "plain.input", inputSchema: OBJECT },
  { name: "a b/c?d#{e}~ü", title: "Odd", description: "", inputSchema: OBJECT },
  { name: "a_b_c_d__e___", inputSchema: OBJECT },
  { name: "tool", inputSchema: OBJECT },
  { name: "__proto__", inputSchema: OBJECT },
  {
    name: "refs",
    inputSchema: {
      type: "object",
      properties: {
        $ref: { type: "string" },
        $id: { type: "string" },
        "a#b": { type: "string" },
        c: { $ref: "#/definitions/x y" },
      },
      definitions: { "x y": { $ref: "#/properties/$ref" } },
    },
  },
  {
    name: "wrong",
    inputSchema: { type: "objekt", required: "all", properties: 5, $ref: 7, allOf: {}, $defs: [], enum: "x" },
  },
  {
    name: "ids",
    inputSchema: {
      $id: "https://example.com/a",
      type: "object",
      properties: { a: { $id: "https://example.com/a", $anchor: "x" }, b: { $anchor: "x" } },
    },
  },
  { name: "bare" },
];

describe("OpenAPI", () => {
  test.each([
    ["no tools", []],
    ["odd tools", ODD_TOOLS],
  ])("M11: the document of %s is valid, with and without tokens", async (_what, tools) => {
    for (const isGuarded of [true, false])
      expect(await problems(await createDocument({ ...SOURCE, tools, isGuarded }))).toEqual([]);
  });

  test("the validator of these tests refuses invalid documents", async () => {
    expect(await problems({ openapi: "3.1.0", info: { title: "x" }, paths: {} })).not.toEqual([]);
    expect(
      await problems({
        openapi: "3.1.0",
        info: { title: "x", version: "1" },
        paths: {},
        components: { schemas: { a: { $ref: "#/none" } } },
      }),
    ).not.toEqual([]);
  });

  test("lists each tool as a path with its request, its value and its failures", async () => {
    const { paths, components } = (await createDocument({ ...SOURCE, tools: ODD_TOOLS })) as {
      paths: Record<string, { post: JsonObject }>;
      components: { schemas: JsonObject };
    };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(ODD_TOOLS.map(({ name }) => `/api/tools/${encodeURIComponent(String(name))}`)),
    );
    expect(paths["/api/tools/plain"]!.post).toMatchObject({
      operationId: "call_plain",
      summary: "Says it.",
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: "#/components/schemas/plain.input" } } },
      },
      responses: {
        "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/plain.output" } } } },
        "429": { $ref: "#/components/responses/429" },
      },
    });
    expect(components.schemas["plain.output"]).toMatchObject({
      properties: { n: { $ref: "#/components/schemas/plain.output/$defs/n" } },
    });
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(path).flatMap((one) => (isJsonObject(one) && "operationId" in one ? [one["operationId"]] : [])),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("declares tokens only if callers need one", async () => {
    expect(await createDocument({ ...SOURCE, isGuarded: true })).toMatchObject({
      security: [{ token: [] }],
      paths: { "/health": { get: { security: [] } } },
    });
    const open = await createDocument({ ...SOURCE, isGuarded: false, hasChat: false });
    expect(open).not.toHaveProperty("security");
    expect(JSON.stringify(open)).not.toContain('responses/401"');
    expect(open["paths"]).not.toHaveProperty(["/api/chat"]);
  });

  test("lists configured routes with the tool's parameters, without the fixed ones", async () => {
    const { routes } = resolveRest({
      routes: {
        "GET /weather/get": { tool: "w", arguments: { units: "c" }, description: "The weather. Now." },
        "POST /weather/get": "w",
        "POST /chat": { chat: true },
        "GET /gone": "gone",
      },
    });
    const w = {
      name: "w",
      description: "Weather.",
      inputSchema: {
        type: "object",
        properties: { city: { type: "string", description: "Where." }, units: {}, opts: { $ref: "#/$defs/o" } },
        required: ["city"],
        $defs: { o: OBJECT },
      },
    };
    const document = await createDocument({
      ...SOURCE,
      routes: routes.map((route) => ({
        route,
        ...(route.target !== "chat" && route.target.tool === "w" ? { tool: w } : {}),
      })),
    });
    expect(await problems(document)).toEqual([]);
    expect(document["paths"]).toMatchObject({
      "/weather/get": {
        get: {
          summary: "The weather.",
          parameters: [{ name: "city", in: "query", required: true, description: "Where." }, { name: "opts" }],
        },
        post: { requestBody: {} },
      },
      "/chat": { post: { operationId: "post_chat" } },
      "/gone": { get: { summary: expect.stringContaining("not available now") } },
    });
  });

  test("random schemas produce valid documents", async () => {
    const random = createRandom(20260301);
    const tools = Array.from({ length: 400 }, (_, at) => ({
      name: `t${at}`,
      inputSchema: { type: "object", ...randomSchema(random, 0) },
    }));
    const document = await createDocument({ ...SOURCE, tools });
    expect(await problems(document)).toEqual([]);
    // OpenAPI's own schema does not check the schemas in a document; their meta-schema does.
    const ajv = new Ajv2020({ strict: false, logger: false });
    const schemas = (document["components"] as { schemas: Record<string, JsonObject> }).schemas;
    for (const [name, schema] of Object.entries(schemas))
      expect(ajv.validateSchema(schema), `${name} ${JSON.stringify(schema)} ${ajv.errorsText()}`).toBe(true);
  });
});

const WORDS = [
  "$ref",
  "$defs",
  "definitions",
  "$id",
  "$anchor",
  "properties",
  "items",
  "allOf",
  "anyOf",
  "not",
  "type",
  "enum",
  "default",
  "required",
  "dependencies",
  "additionalItems",
  "$schema",
  "x-own",
  "patternProperties",
  "exclusiveMinimum",
];
const TEXTS = [
  "#",
  "#/$defs/a",
  "#/definitions/a",
  "#/properties/a/items/0",
  "a",
  "https://example.com/x",
  "#a",
  "%",
  "#/%zz",
  "object",
  "string",
];

function randomSchema(random: Random, depth: number): JsonObject {
  return Object.fromEntries(
    Array.from({ length: random.below(5) }, () => [
      random.pick([...WORDS, "a", "b c"]),
      randomValue(random, depth + 1),
    ]),
  );
}

function randomValue(random: Random, depth: number): unknown {
  const kind = random.below(depth > 5 ? 3 : 6);
  if (kind === 0) return random.pick(TEXTS);
  if (kind === 1) return random.below(2) === 0;
  if (kind === 2) return random.pick([0, -1, 1.5, null]);
  if (kind === 3) return Array.from({ length: random.below(3) }, () => randomValue(random, depth + 1));
  if (kind === 4) return { a: randomSchema(random, depth), "b c": randomSchema(random, depth) };
  return randomSchema(random, depth);
}
