import { serviceKey } from "../../core/service-key.ts";
import type { OpeningParts, WorkParts } from "./parts.ts";

/** Services of the hub that the console uses. */
export const CONSOLE_PARTS = serviceKey<OpeningParts>()("consoleParts");
/** Services that work for callers: tasks, schedules, users, the agent. */
export const WORK_PARTS = serviceKey<WorkParts>()("workParts");
