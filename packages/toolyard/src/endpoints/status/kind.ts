import { defineEndpoint } from "../endpoint.ts";
import { GET_HUB, HUB, HUB_CONTROL, PROFILES, REDACT_FACTS, STARTED_AT } from "../../core/services.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { STATUS_PATH } from "../paths.ts";
import { CERTIFICATE } from "../services.ts";

/** Endpoint `GET /status`. It has no options: all its callers may read everything in it. */
export const STATUS = defineEndpoint({
  schema: {},
  paths: [STATUS_PATH],
  uses: [HUB, STARTED_AT, REDACT_FACTS, CERTIFICATE, PROFILES, GET_HUB, HUB_CONTROL],
  resolve: () => ({}),
  open: async (_options, services) =>
    new LateEndpoint({
      places: [{ methods: ["GET"], path: STATUS_PATH }],
      load: async () => new (await import("./status-endpoint.ts")).StatusEndpoint(services),
    }),
});
