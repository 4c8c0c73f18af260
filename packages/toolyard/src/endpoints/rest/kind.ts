import { TRACING } from "../../core/ports/tracing.ts";
import { Type } from "../../core/options/option-schema.ts";
import { ACCESS, CHAT, HUB, LOGGER, TASKS, TOOL_MODE, TOOLS } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { DOCS_PATH, OPENAPI_PATH } from "../paths.ts";
import { resolveRest, RestSchema } from "./options.ts";
import { restPlaces } from "./places.ts";
import { refusalText } from "./refusal-text.ts";

/** REST endpoint: each tool is called by one POST request. */
export const REST = defineEndpoint({
  schema: { rest: Type.Optional(RestSchema) },
  paths: [OPENAPI_PATH, DOCS_PATH],
  uses: [HUB, TOOLS, LOGGER, CHAT, TASKS, ACCESS, TOOL_MODE, TRACING],
  resolve: ({ rest }, taken) => {
    const options = resolveRest(rest, taken);
    return options.enabled ? options : undefined;
  },
  open: async (options, services) =>
    new LateEndpoint({
      places: restPlaces(options),
      refusalBody: refusalText,
      load: async () => new (await import("./rest-endpoint.ts")).RestEndpoint(services, options),
    }),
});
