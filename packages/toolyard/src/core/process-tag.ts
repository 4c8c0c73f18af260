import { randomBytes } from "node:crypto";

/** Short random text that is different in each process, so that ids of two hubs differ. */
export const PROCESS_TAG = randomBytes(6).toString("hex");
