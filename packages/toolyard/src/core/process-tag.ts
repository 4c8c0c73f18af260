import { randomBytes } from "node:crypto";

/** Random per process and short enough to read aloud, so that ids of two hubs differ. */
export const PROCESS_TAG = randomBytes(6).toString("hex");
