import { randomBytes } from "node:crypto";

/** Random per process and short enough to read out, so that ids that two hubs give out stay apart. */
export const PROCESS_TAG = randomBytes(6).toString("hex");
