import { CALL_STATISTICS, REDACT, STARTED_AT } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";
import { CALLS_PATH } from "../paths.ts";

/** `GET /status/calls`. It has no options: it is shown to the callers of `/status`. */
export const STATISTICS = defineEndpoint({
  schema: {},
  paths: [CALLS_PATH],
  uses: [CALL_STATISTICS, STARTED_AT, REDACT],
  resolve: () => ({}),
  open: async (_options, services) => new (await import("./statistics-endpoint.ts")).StatisticsEndpoint(services),
});
