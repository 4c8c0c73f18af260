import { expect, test } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { createHub, type LibraryHub, type RegisterTools } from "../../packages/toolyard/src/index.ts";

function hubWith(registerTools: RegisterTools): Promise<LibraryHub> {
  return createHub({ variables: {}, settings: { logging: { level: "error" } }, registerTools });
}

async function inputSchemaOf(hub: LibraryHub, name: string): Promise<unknown> {
  return (await hub.list()).find((tool) => tool["name"] === name)?.["inputSchema"];
}

enum Size {
  Small = 1,
  Large = 2,
}

const parcel = z3
  .object({
    to: z3.string().min(2).max(40).describe("Where it goes"),
    size: z3.nativeEnum(Size),
    kind: z3.enum(["letter", "box"]).default("box"),
    weights: z3.array(z3.number().int().positive()).min(1),
    note: z3.string().email().nullable().optional(),
    at: z3.tuple([z3.number(), z3.number()]).optional(),
    extra: z3.record(z3.boolean()).optional(),
    how: z3.union([z3.literal("rail"), z3.object({ by: z3.string() })]).optional(),
  })
  .strict();

test("zod 3: lists its schemas as JSON Schema, and passes the parsed value to the handler", async () => {
  const hub = await hubWith((tools) => {
    tools.registerTool("send", (args) => ({ ...args, days: args.weights.length }), parcel);
  });
  expect(await inputSchemaOf(hub, "send")).toEqual({
    type: "object",
    properties: {
      to: { type: "string", minLength: 2, maxLength: 40, description: "Where it goes" },
      size: { enum: [1, 2] },
      kind: { type: "string", enum: ["letter", "box"], default: "box" },
      weights: { type: "array", items: { type: "integer", exclusiveMinimum: 0 }, minItems: 1 },
      note: { anyOf: [{ type: "string", format: "email" }, { type: "null" }] },
      at: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], minItems: 2, items: false },
      extra: { type: "object", additionalProperties: { type: "boolean" } },
      how: { anyOf: [{ const: "rail" }, { type: "object", properties: { by: { type: "string" } }, required: ["by"] }] },
    },
    required: ["to", "size", "weights"],
    additionalProperties: false,
  });
  expect(await hub.call("send", { to: "Oslo", size: 2, weights: [3, 4] })).toMatchObject({
    ok: true,
    result: { structuredContent: { to: "Oslo", size: 2, kind: "box", days: 2 } },
  });
  for (const wrong of [
    { to: "O", size: 2, weights: [3] },
    { to: "Oslo", size: 3, weights: [3] },
    { to: "Oslo", size: 1 },
  ])
    expect(await hub.call("send", wrong)).toMatchObject({ ok: false, kind: "invalid_params" });
  await hub.close();
});

test.each([
  [
    "zod 3",
    z3.object({ day: z3.string().transform((text) => text.length), code: z3.string().refine((c) => c !== "no") }),
  ],
  ["zod 4", z.object({ day: z.string().transform((text) => text.length), code: z.string().refine((c) => c !== "no") })],
])(
  "%s: the handler gets transformed values, and rules that JSON Schema cannot express are checked",
  async (_, schema) => {
    const hub = await hubWith((tools) => {
      tools.registerTool("read", ({ day, code }: { day: number; code: string }) => `${day + 1} ${code}`, schema);
    });
    expect(await hub.call("read", { day: "friday", code: "yes" })).toMatchObject({
      ok: true,
      result: { content: [{ type: "text", text: "7 yes" }] },
    });
    expect(await hub.call("read", { day: "friday", code: "no" })).toMatchObject({
      ok: false,
      kind: "invalid_params",
      message: expect.stringContaining("code: Invalid input") as string,
    });
    await hub.close();
  },
);

test("refuses a schema without JSON Schema and a map of schemas, and names the correct form", async () => {
  const mute = { "~standard": { version: 1, vendor: "mute", validate: (value: unknown) => ({ value }) } };
  await expect(hubWith((tools) => void tools.registerTool("mute", () => "", mute))).rejects.toThrow(
    /Tool `mute`: `schema`: its schema library .* zod can from 4\.2 on, and zod 3/,
  );
  await expect(hubWith((tools) => void tools.registerTool("map", () => "", { a: z.string() }))).rejects.toThrow(
    "Tool `map`: `schema`: a map of schemas is not a schema. Wrap it, as in `z.object({ … })`.",
  );
  await expect(
    hubWith((tools) => void tools.registerTool("big", () => "", z.object({ n: z.bigint() }))),
  ).rejects.toThrow("Tool `big`: `schema`: the schema cannot be converted to JSON Schema: BigInt");
});
