import { serviceKey } from "../../core/service-key.ts";
import type { ModulesHost } from "./host.ts";

/** Where the program registers tools of its own; nothing where it does not. */
export const MODULES_HOST = serviceKey<ModulesHost | undefined>()("modulesHost");
