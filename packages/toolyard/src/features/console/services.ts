import { serviceKey } from "../../core/service-key.ts";
import type { CallRecorder } from "./recorder/call-recorder.ts";

/** Returns the last calls of the hub; `undefined` while the console is disabled. */
export const RECENT_CALLS = serviceKey<CallRecorder | undefined>()("recentCalls");
