import { admitStage } from "./admit.ts";
import { authoriseStage } from "./authorise.ts";
import { deadlineStage } from "./deadline.ts";
import { executeStage } from "./execute.ts";
import { guardStage } from "./guard.ts";
import { normaliseStage } from "./normalise.ts";
import type { PipelineDeps } from "./ports.ts";
import { recordStage } from "./record.ts";
import { resolveStage } from "./resolve.ts";
import type { Stage } from "./state.ts";
import { validateStage } from "./validate.ts";

/** The order of the stages, outermost first. A refusal is recorded too, and waiting counts against the deadline. */
export function createStages(deps: PipelineDeps): readonly Stage[] {
  return [
    recordStage(deps),
    deadlineStage(deps),
    resolveStage(deps),
    authoriseStage(deps),
    validateStage(deps),
    admitStage(deps),
    guardStage(deps),
    normaliseStage(deps),
    executeStage(),
  ];
}
