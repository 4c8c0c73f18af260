// Compiled, never run: accepted and refused types of `registerTool`. If wrong code compiles, the compilation of this
// file fails.
import type { ModuleHub, ToolArguments, ToolContext } from "toolyard";
import { z } from "zod";
import { z as z3 } from "zod/v3";

declare const hub: ModuleHub;

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
export const same = <A, B>(..._proof: [Same<A, B>]): void => {};

// zod 4
const order = z.object({ fruit: z.string(), count: z.number().default(1), note: z.string().optional() });
hub.registerTool(
  "z4",
  (args) => same<typeof args, { fruit: string; count: number; note?: string | undefined }>(true),
  order,
);
hub.registerTool("z4", ({ fruit }: { fruit: string }, context: ToolContext) => context.log("info", fruit), order);
hub.registerTool("z4", (args) => args.when.getTime(), z.object({ when: z.iso.date().transform((at) => new Date(at)) }));
// @ts-expect-error: `count` is a number
hub.registerTool("z4", ({ count }: { count: string }) => count, order);
// @ts-expect-error: there is no `color`
hub.registerTool("z4", ({ color }) => color, order);
// @ts-expect-error: `note` may be absent
hub.registerTool("z4", ({ note }) => note.length, order);

// zod 3
const order3 = z3.object({ fruit: z3.string(), count: z3.number().default(1), note: z3.string().optional() });
hub.registerTool(
  "z3",
  (args) => same<typeof args, { fruit: string; count: number; note?: string | undefined }>(true),
  order3,
);
// @ts-expect-error: `fruit` is a string
hub.registerTool("z3", ({ fruit }: { fruit: number }) => fruit, order3);
// @ts-expect-error: there is no `color`
hub.registerTool({ name: "z3", schema: order3, handler: ({ color }) => color });

// any other Standard Schema library
declare const standard: {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: { city: string } };
    readonly types?: { readonly input: { city?: string }; readonly output: { city: string } };
  };
};
hub.registerTool("std", ({ city }) => city.toUpperCase(), standard);
// @ts-expect-error: `city` is a string
hub.registerTool("std", ({ city }: { city: number }) => city, standard);

// JSON Schema, as const and inline
const trip = {
  type: "object",
  properties: {
    from: { type: "string" },
    stops: { type: "array", items: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] } },
    by: { enum: ["rail", "road"] },
    seats: { type: "integer", default: 1 },
    fare: { type: ["number", "null"] },
    refund: { anyOf: [{ type: "boolean" }, { const: "half" }] },
    extra: {},
  },
  required: ["from"],
} as const;
interface Trip {
  from: string;
  stops?: { at: number }[];
  by?: "rail" | "road";
  seats: number;
  fare?: number | null;
  refund?: boolean | "half";
  extra?: unknown;
}
hub.registerTool("trip", (args) => args satisfies Trip, trip);
export const trips = (given: Trip): ToolArguments<typeof trip> => given;
hub.registerTool("trip", ({ by }: { by?: "rail" | "road" }) => by, trip);
hub.registerTool("in place", ({ from }) => from.length, {
  type: "object",
  properties: { from: { type: "string" } },
  required: ["from"],
});
hub.registerTool({
  name: "object form",
  handler: async ({ seats }, { signal }) => [seats.toFixed(), signal.aborted],
  inputSchema: trip,
});
hub.register_tool({ name: "snake", handler: ({ from }) => from.length, input_schema: trip });
// @ts-expect-error: `from` is a string
hub.registerTool("trip", ({ from }: { from: number }) => from, trip);
// @ts-expect-error: nobody goes by air
hub.registerTool("trip", ({ by }: { by?: "air" }) => by, trip);
// @ts-expect-error: `stops` may be absent
hub.registerTool("trip", ({ stops }) => stops.length, trip);
// @ts-expect-error: there is no `to`
hub.registerTool("trip", ({ to }) => to, trip);
// @ts-expect-error: `from` is a string
hub.registerTool({ name: "object form", handler: ({ from }: { from: number }) => from, schema: trip });
// @ts-expect-error: `from` may be absent where the schema in place does not require it
hub.registerTool("in place", ({ from }) => from.length, { type: "object", properties: { from: { type: "string" } } });

// With a schema of wide types the handler declares its own types.
const wide = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const read: Record<string, unknown> = {};
hub.registerTool("wide", ({ a }: { a: number }) => a + 1, wide);
hub.registerTool("read", ({ a }: { a: number }) => a + 1, read);
hub.registerTool("none", ({ a }: { a: number }) => a + 1, {}, "None");
hub.registerTool("none", (args) => same<typeof args.anything, unknown>(true));
hub.registerTool<{ a: number }>("named", ({ a }) => a + 1, wide);
hub.registerTool<{ a: number }>({ name: "named", handler: ({ a }) => a + 1, schema: wide });
hub.registerTool({ name: "wide", handler: ({ a }: { a: number }) => a + 1, schema: wide });
// @ts-expect-error: nothing is known of `a`
hub.registerTool("none", ({ a }) => a + 1);
// @ts-expect-error: a handler is a function
hub.registerTool("none", "handler", {});
