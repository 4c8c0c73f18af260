import { admitStage } from "./admit.ts";
import { authoriseStage } from "./authorise.ts";
import { deadlineStage } from "./deadline.ts";
import { executeStage } from "./execute.ts";
import { guardStage } from "./guard.ts";
import { normaliseStage } from "./normalise.ts";
import type { PipelineDeps } from "./ports.ts";
import { recordStage } from "./record.ts";
import { resolveStage } from "./resolve.ts";
import type { StageName } from "./stage-place.ts";
import type { Stage } from "./state.ts";
import { UriTranslation } from "./uri-translation.ts";
import { validateStage } from "./validate.ts";

/** A stage of a feature, loaded. */
export interface PlacedStage {
  readonly after: StageName;
  readonly stage: Stage;
}

/**
 * The order of the stages, outermost first. A refusal is recorded too, and waiting counts against the deadline. Stages
 * of features follow the stage that they are placed after, in the order of the features.
 */
export function createStages(deps: PipelineDeps, placed: readonly PlacedStage[] = []): readonly Stage[] {
  const uris = new UriTranslation();
  const own: readonly (readonly [StageName, Stage])[] = [
    ["record", recordStage(deps)],
    ["deadline", deadlineStage(deps)],
    ["resolve", resolveStage(deps)],
    ["authorise", authoriseStage(deps)],
    ["validate", validateStage(deps, uris)],
    ["admit", admitStage(deps)],
    ["guard", guardStage(deps)],
    ["normalise", normaliseStage(deps, uris)],
    ["execute", executeStage()],
  ];
  return own.flatMap(([name, stage]) => [
    stage,
    ...placed.filter(({ after }) => after === name).map((one) => one.stage),
  ]);
}
