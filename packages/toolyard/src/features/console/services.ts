import { serviceKey } from "../../core/service-key.ts";
import type { HubParts } from "./parts.ts";

/** Services of the hub that the console uses. */
export const CONSOLE_PARTS = serviceKey<HubParts>()("consoleParts");
