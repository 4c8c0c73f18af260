import { defineEndpoint } from "../endpoint.ts";
import { HUB, REDACT, STARTED_AT } from "../../core/services.ts";
import { STATUS_PATH } from "../paths.ts";
import { CERTIFICATE } from "../services.ts";

/** `GET /status`. It has no options: there is nothing in it that its callers may not know. */
export const STATUS = defineEndpoint({
  schema: {},
  paths: [STATUS_PATH],
  uses: [HUB, STARTED_AT, REDACT, CERTIFICATE],
  resolve: () => ({}),
  open: async (_options, services) => new (await import("./status-endpoint.ts")).StatusEndpoint(services),
});
