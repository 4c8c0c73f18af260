// The linter rules of this project.
import { linesRule } from "./lines.mjs";
import { sandboxWalls } from "./sandbox-walls.mjs";
import { slowPatterns } from "./slow-patterns.mjs";
import { textCuts } from "./text-cuts.mjs";
import { functionLength, parameters } from "./test-rules.mjs";
import { tiers } from "./tiers.mjs";
import { plainWords } from "./words.mjs";

export default {
  meta: { name: "toolyard" },
  rules: {
    "test-length": functionLength,
    "test-parameters": parameters,
    "line-length": linesRule,
    "plain-words": plainWords,
    "sandbox-walls": sandboxWalls,
    "slow-pattern": slowPatterns,
    "text-cuts": textCuts,
    tiers,
  },
};
