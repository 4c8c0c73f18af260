import type { ModuleHub } from "toolyard";
import { registerModule } from "../../service/modules.ts";

export const register_tools = (hub: ModuleHub): void => registerModule("render", hub);
