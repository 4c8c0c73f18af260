import { admitStage } from "./admit.ts";
import { authoriseStage } from "./authorise.ts";
import { deadlineStage } from "./deadline.ts";
import { executeStage } from "./execute.ts";
import { guardStage } from "./guard.ts";
import { normaliseStage } from "./normalise.ts";
import type { PipelineDeps } from "./ports.ts";
import { recordStage } from "./record.ts";
import { resolveStage } from "./resolve.ts";
import { timeIndexOf, type StageName } from "./stage-place.ts";
import type { Stage } from "./state.ts";
import { UriTranslation } from "./uri-translation.ts";
import { validateStage } from "./validate.ts";

/** Loaded stage of a feature. */
export interface PlacedStage {
  readonly after: StageName;
  readonly stage: Stage;
}

export interface TimedStage {
  readonly stage: Stage;
  /** Index of the stage's start in the times of a call, or 0 if the stage is not timed. */
  readonly timeIndex: number;
}

/**
 * Creates the stages in their order, the outermost first. In this order, refusals are recorded too, and waiting counts
 * towards the deadline. Stages of features follow the stage after which they are placed, in the order of the features.
 */
export function createStages(deps: PipelineDeps, placed: readonly PlacedStage[] = []): readonly TimedStage[] {
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
    { stage, timeIndex: timeIndexOf(name) },
    ...placed.filter(({ after }) => after === name).map((one) => ({ stage: one.stage, timeIndex: 0 })),
  ]);
}
