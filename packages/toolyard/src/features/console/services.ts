import { serviceKey } from "../../core/service-key.ts";
import type { HubParts, WorkParts } from "./parts.ts";

/** Services of the hub that the console uses. */
export const CONSOLE_PARTS = serviceKey<HubParts>()("consoleParts");
/** Services with which callers work: tasks, schedules. */
export const WORK_PARTS = serviceKey<WorkParts>()("workParts");
