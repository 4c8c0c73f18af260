import { REDACT_FACTS, SCHEDULES as SCHEDULES_SERVICE } from "../../core/services.ts";
import { defineEndpoint } from "../endpoint.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { SCHEDULES_PATH } from "../paths.ts";

/** Endpoint `/status/schedules`: states and runs of schedules. Runs start while it is open. */
export const SCHEDULES = defineEndpoint({
  schema: {},
  paths: [SCHEDULES_PATH],
  uses: [SCHEDULES_SERVICE, REDACT_FACTS],
  resolve: () => ({}),
  open: async (_options, services) => {
    const end = services.schedules.begin();
    const late = new LateEndpoint({
      places: [
        { methods: ["GET"], path: SCHEDULES_PATH },
        { methods: ["GET", "POST", "DELETE"], path: `${SCHEDULES_PATH}/*` },
      ],
      load: async () => new (await import("./schedules-endpoint.ts")).SchedulesEndpoint(services),
    });
    return { mount: (listener) => late.mount(listener), giveUp: () => late.giveUp(), close: end };
  },
});
