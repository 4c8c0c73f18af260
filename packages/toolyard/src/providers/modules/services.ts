import { serviceKey } from "../../core/service-key.ts";
import type { ModulesHost } from "./host.ts";

/** Host with which the program registers its own tools; undefined if it registers none. */
export const MODULES_HOST = serviceKey<ModulesHost | undefined>()("modulesHost");
