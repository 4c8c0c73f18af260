import type { Environment } from "toolyard/service/environment";
import { rootsOf } from "toolyard/service/roots";

/** Returns the folders in which the tools may read and write. Throws an `OptionError` for a relative path. */
export function rootsOfGnn(environment: Environment): readonly string[] {
  return rootsOf(environment, "GNN_ROOTS", "/home/me/models");
}
