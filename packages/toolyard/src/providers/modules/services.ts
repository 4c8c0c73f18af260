import { serviceKey } from "../../core/service-key.ts";
import type { ModulesHost } from "./host.ts";

/** The place where the program registers its own tools; undefined if it does not. */
export const MODULES_HOST = serviceKey<ModulesHost | undefined>()("modulesHost");
