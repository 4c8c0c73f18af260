import { CALL_STATISTICS, REDACT_FACTS, STARTED_AT } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { CALLS_PATH } from "../paths.ts";

/** Endpoint `GET /status/calls`. It has no options: the callers of `/status` may read it. */
export const STATISTICS = defineEndpoint({
  schema: {},
  paths: [CALLS_PATH],
  uses: [CALL_STATISTICS, STARTED_AT, REDACT_FACTS],
  resolve: () => ({}),
  open: async (_options, services) =>
    new LateEndpoint({
      places: [{ methods: ["GET"], path: CALLS_PATH }],
      load: async () => new (await import("./statistics-endpoint.ts")).StatisticsEndpoint(services),
    }),
});
