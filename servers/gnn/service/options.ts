import { delimiter, isAbsolute } from "node:path";
import { OptionError } from "toolyard";
import type { Environment } from "../../shared/environment.ts";

/** Folders of `GNN_ROOTS`, with `:` between them (`;` on Windows). Throws an `OptionError` for a relative one. */
export function rootsOf(environment: Environment): readonly string[] {
  const roots = (environment["GNN_ROOTS"] ?? "")
    .split(delimiter)
    .map((root) => root.trim())
    .filter((root) => root !== "");
  const relative = roots.find((root) => !isAbsolute(root));
  if (relative === undefined) return roots;
  throw new OptionError(
    `GNN_ROOTS must be absolute paths with ${delimiter} between them, such as /home/me/models, got ` +
      `${JSON.stringify(relative)}.`,
  );
}
