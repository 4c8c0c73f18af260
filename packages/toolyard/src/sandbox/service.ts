import { serviceKey } from "../core/service-key.ts";
import type { Sandbox } from "./sandbox.ts";

/** Returns the sandbox as it is configured now. */
export const SANDBOX = serviceKey<() => Pick<Sandbox, "options" | "run">>()("sandbox");
