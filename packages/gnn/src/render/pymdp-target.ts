import type { DiscreteProgram, Program } from "../programs/program.ts";
import { ProgramError } from "../programs/program-error.ts";
import { pythonAgents, type LibraryDefaults } from "./python-data.ts";
import { pythonHead, PYTHON_RUN } from "./python-run.ts";
import type { RenderTarget } from "./target.ts";

/** A version of PyMDP. */
interface Version {
  readonly title: string;
  readonly defaults: LibraryDefaults;
  /** Throws a `ProgramError` for constructs that this version does not support. */
  readonly expect: (program: DiscreteProgram) => void;
  /** Code of the imports, and code of the class `Mind`. */
  readonly parts: () => readonly [string, string];
}

/** Creates the target for a version of PyMDP. */
export function pymdpTarget({ title, defaults, expect, parts }: Version): RenderTarget {
  return {
    title,
    extension: ".py",
    mimeType: "text/x-python",
    families: ["discrete", "factored", "hierarchical", "multi-agent", "learning"],
    lacks: ["weights"],
    write: (program, options) => {
      const discrete = expectDiscrete(program);
      expect(discrete);
      const [imports, mind] = parts();
      return [pythonHead(title), imports, pythonAgents(discrete, options, defaults), mind, PYTHON_RUN].join("\n");
    },
  };
}

function expectDiscrete(program: Program): DiscreteProgram {
  if (program.kind === "discrete") return program;
  throw new ProgramError(
    "F",
    "F, H, Q and R: PyMDP has discrete states only. Render a linear-Gaussian model to numpy, jax, pytorch, " +
      "rxinfer or stan.",
  );
}
