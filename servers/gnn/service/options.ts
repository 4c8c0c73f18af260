import type { Environment } from "../../shared/environment.ts";
import { rootsOf } from "../../shared/roots.ts";

/** Folders in which the tools may read and write. Throws an `OptionError` for a relative one. */
export function rootsOfGnn(environment: Environment): readonly string[] {
  return rootsOf(environment, "GNN_ROOTS", "/home/me/models");
}
