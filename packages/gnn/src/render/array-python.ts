import type { Program } from "../programs/program.ts";
import { pythonAgents, pythonMatrices } from "./python-data.ts";
import { PYTHON_FILTER, PYTHON_MIND } from "./python-mind.ts";
import { pythonHead, PYTHON_RUN } from "./python-run.ts";
import type { RenderOptions, RenderTarget } from "./target.ts";

/** An array library: its name, and the operations that programs need. */
interface ArrayLibrary {
  readonly title: string;
  readonly operations: string;
}

/** Creates the target for programs that do their own inference with an array library. */
export function arrayTarget({ title, operations }: ArrayLibrary): RenderTarget {
  return {
    title,
    extension: ".py",
    mimeType: "text/x-python",
    families: ["discrete", "factored", "hierarchical", "multi-agent", "learning", "linear-gaussian"],
    write: (program, options) => [pythonHead(title), IMPORTS, operations, ...bodyOf(program, options)].join("\n"),
  };
}

const IMPORTS = `import itertools
import json
import sys

import numpy as np`;

function bodyOf(program: Program, options: RenderOptions): readonly string[] {
  if (program.kind === "discrete")
    return [pythonAgents(program, options, { gamma: 1, alpha: 1, iterations: 16 }), PYTHON_MIND, PYTHON_RUN];
  return [pythonMatrices(program), PYTHON_FILTER];
}
