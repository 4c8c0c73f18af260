// Lists of untrusted servers that are large in different ways, with at most one megabyte per tool.
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { tool } from "./attack.ts";

export interface LargeList {
  readonly name: string;
  readonly tools: readonly JsonObject[];
}

function listOf(name: string, inputSchema: JsonObject): LargeList {
  return { name, tools: [tool("big", { inputSchema: { type: "object", ...inputSchema } })] };
}

function membersOf(count: number, make: (at: number) => unknown): JsonObject {
  return { properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`prop_${at}`, make(at)])) };
}

export const LARGE_LISTS: readonly LargeList[] = [
  listOf(
    "a schema of 9,000 properties with words",
    membersOf(9000, (at) => ({ type: "string", description: `A property with a description, number ${at}` })),
  ),
  listOf(
    "a schema of 50,000 properties",
    membersOf(50_000, () => ({})),
  ),
  listOf("a schema of 14,000 branches", {
    anyOf: Array.from({ length: 14_000 }, (_, at) => ({ properties: { k: { const: `v${at}` } }, required: ["k"] })),
  }),
  listOf("90,000 values of enum", { properties: { x: { enum: Array.from({ length: 90_000 }, (_, at) => `v${at}`) } } }),
  listOf("300,000 empty lists", { default: Array.from({ length: 300_000 }, () => []) }),
  listOf("one description of 900 KB", { properties: { x: { type: "string", description: "word ".repeat(180_000) } } }),
  listOf(
    "9,000 descriptions with something hidden",
    membersOf(9000, (at) => ({
      type: "string",
      description: `A property\u200b with a description, number ${at}`,
    })),
  ),
  listOf("one description with much hidden", {
    properties: { x: { type: "string", description: "wo\u200brd ".repeat(90_000) } },
  }),
  {
    name: "500 tools of 2 KB",
    tools: Array.from({ length: 500 }, (_, at) =>
      tool(`tool_${at}`, {
        description: `The tool ${at} has a useful effect. `.repeat(8),
        inputSchema: {
          type: "object",
          ...membersOf(25, (index) => ({
            type: "string",
            description: `A property with a short description ${index}`,
          })),
        },
      }),
    ),
  },
];
