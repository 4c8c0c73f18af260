import { Type } from "../../core/options/option-schema.ts";
import { HUB, LOGGER, STARTED_AT } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";
import { READY_PATH } from "../paths.ts";
import { READINESS_OPTION_SCHEMAS, resolveReadiness } from "./options.ts";

/** Endpoint `GET /readyz`. The listener itself serves `/healthz`. */
export const READINESS = defineEndpoint({
  schema: { server: Type.Optional(Type.Object(READINESS_OPTION_SCHEMAS)) },
  paths: [READY_PATH],
  uses: [HUB, LOGGER, STARTED_AT],
  resolve: ({ server }) => resolveReadiness(server),
  open: async (options, services) =>
    new (await import("./readiness-endpoint.ts")).ReadinessEndpoint({ ...options, ...services }),
});
