import { LOGGER, SCHEDULES as SCHEDULES_SERVICE, TASKS } from "../../core/services.ts";
import { SCHEDULES as SCHEDULES_ENDPOINT } from "../../endpoints/schedules/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { resolveSchedules, SCHEDULE_SECTIONS, type Schedule, type ScheduleReads } from "./options.ts";
import { ScheduleTable } from "./schedule-table.ts";

/** Feature: calls of tools at set times, in a hub that is served over HTTP. */
export const SCHEDULES = defineFeature({
  name: "schedules",
  schema: SCHEDULE_SECTIONS,
  uses: [LOGGER, TASKS],
  provides: [SCHEDULES_SERVICE],
  endpoints: [SCHEDULES_ENDPOINT],
  check: (config: ScheduleReads) => void resolveSchedules(config),
  start: ({ logger, tasks }, config: () => ScheduleReads) => {
    const table = new ScheduleTable({ schedules: liveSchedules(config), tasks, logger });
    return { services: { schedules: table }, close: async () => table.close() };
  },
});

/** Returns the schedules of the current configuration: the same array as long as the configuration is the same. */
function liveSchedules(config: () => ScheduleReads): () => readonly Schedule[] {
  let known: { readonly from: ScheduleReads["schedules"]; readonly schedules: readonly Schedule[] } | undefined;
  return () => {
    const { schedules: from } = config();
    if (!known || known.from !== from) known = { from, schedules: resolveSchedules({ schedules: from ?? {} }) };
    return known.schedules;
  };
}
