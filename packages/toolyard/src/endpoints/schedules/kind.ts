import { REDACT_FACTS, SCHEDULES as SCHEDULES_SERVICE } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";
import { SCHEDULES_PATH } from "../paths.ts";

/** Endpoint `/status/schedules`: states and runs of schedules. Runs start while it is open. */
export const SCHEDULES = defineEndpoint({
  schema: {},
  paths: [SCHEDULES_PATH],
  uses: [SCHEDULES_SERVICE, REDACT_FACTS],
  resolve: () => ({}),
  open: async (_options, services) => new (await import("./schedules-endpoint.ts")).SchedulesEndpoint(services),
});
