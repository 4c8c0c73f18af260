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
import { UriTranslation } from "./uri-translation.ts";
import { validateStage } from "./validate.ts";

/** The order of the stages, outermost first. A refusal is recorded too, and waiting counts against the deadline. */
export function createStages(deps: PipelineDeps): readonly Stage[] {
  const uris = new UriTranslation();
  return [
    recordStage(deps),
    deadlineStage(deps),
    resolveStage(deps),
    authoriseStage(deps),
    validateStage(deps, uris),
    admitStage(deps),
    guardStage(deps),
    normaliseStage(deps, uris),
    executeStage(),
  ];
}
