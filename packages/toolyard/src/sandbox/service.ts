import { serviceKey } from "../core/service-key.ts";
import type { Sandbox } from "./sandbox.ts";

/** Returns the sandbox with the current configuration. */
export const SANDBOX = serviceKey<() => Pick<Sandbox, "options" | "run">>()("sandbox");
