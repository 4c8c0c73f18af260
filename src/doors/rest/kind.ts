import { Type } from "../../core/option-schema.ts";
import { defineDoor } from "../door.ts";
import { DOCS_PATH, OPENAPI_PATH } from "../paths.ts";
import { resolveRest, RestSchema } from "./options.ts";

/** REST: every tool is one POST away. */
export const REST = defineDoor({
  schema: { rest: Type.Optional(RestSchema) },
  paths: [OPENAPI_PATH, DOCS_PATH],
  resolve: ({ rest }, taken) => {
    const options = resolveRest(rest, taken);
    return options.enabled ? options : undefined;
  },
  open: async (options, front) => new (await import("./rest-door.ts")).RestDoor(front, options),
});
