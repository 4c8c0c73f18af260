import { Type } from "../../core/option-schema.ts";
import { defineDoor } from "../door.ts";
import { resolveRest, RestSchema } from "./options.ts";

/** REST: every tool is one POST away. */
export const REST = defineDoor({
  schema: { rest: Type.Optional(RestSchema) },
  resolve: ({ rest }) => {
    const options = resolveRest(rest);
    return options.enabled ? options : undefined;
  },
  open: async (options, front) => new (await import("./rest-door.ts")).RestDoor(front, options),
});
