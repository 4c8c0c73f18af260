import type { Holder } from "../core/fairness/shares.ts";
import type { SandboxJob } from "./engine.ts";

/** Owner of all jobs that name no owner. */
const NOBODY: Holder = Object.freeze({ principal: "" });

/** Returns the principal whose share a job uses. */
export function ownerOf({ owner = NOBODY }: Pick<SandboxJob, "owner">): Holder {
  return owner;
}
