// The rules of this project's own, for the linter.
import { functionLength } from "./function-length.mjs";
import { linesRule } from "./lines.mjs";
import { sandboxWalls } from "./sandbox-walls.mjs";
import { tiers } from "./tiers.mjs";

export default {
  meta: { name: "toolyard" },
  rules: { "function-length": functionLength, "line-length": linesRule, "sandbox-walls": sandboxWalls, tiers },
};
