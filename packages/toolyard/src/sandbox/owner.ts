import type { Holder } from "../core/fairness/shares.ts";
import type { SandboxJob } from "./engine.ts";

/** Jobs that name no owner are all of one. */
const NOBODY: Holder = Object.freeze({ principal: "" });

/** Returns the owner whose share a job uses. */
export function ownerOf({ owner = NOBODY }: Pick<SandboxJob, "owner">): Holder {
  return owner;
}
