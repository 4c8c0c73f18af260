import type { Catalog } from "../catalog/catalog.ts";
import { getService, type StartedFeatures } from "../kernel/start-features.ts";
import { TELEMETRY } from "../kernel/telemetry.ts";
import { latePipeline } from "../pipeline/late-pipeline.ts";
import { resolveLimits } from "../pipeline/options.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { SchemaChecks } from "../schema/schema-checks.ts";
import { STATE } from "../state/ports/store.ts";
import type { OpenHubOptions } from "./open-hub-options.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { NotedProblems } from "./sources/noted-problems.ts";
import type { SourceSet } from "./sources/source-set.ts";

/** Parts of the hub with which the pipeline resolves calls, validates values and records problems. */
interface CallTables {
  readonly catalog: Catalog;
  readonly sources: SourceSet;
  readonly schemas: SchemaChecks;
  readonly noted: NotedProblems;
}

/**
 * Returns the function that creates the pipeline of a configuration, with the stages and listeners of the features.
 */
export function pipelineFactory(
  { catalog, sources, schemas, noted }: CallTables,
  { options: { mirror = false, watch = {} }, started: { services, contributions } }: PipelineSources,
): (config: LoadedHubConfig) => Pipeline {
  const { audit, logger, keptLogger, redactor } = getService(services, TELEMETRY);
  const { onCall, ...log } = watch;
  const listeners = [...contributions.map((one) => one.onCall), onCall].filter((one) => one !== undefined);
  const everyListeners = contributions.map((one) => one.onEveryCall).filter((one) => one !== undefined);
  return ({ tree }) => {
    return latePipeline({
      loadResolution: async () =>
        (await import("./call-resolution.ts")).callResolution({ catalog, sources }, { mirror }),
      limitStore: getService(services, STATE).limits,
      isMirror: mirror,
      schemas,
      watch: log,
      listeners,
      everyListeners,
      stages: contributions.flatMap((one) => one.stages ?? []),
      audit,
      logger,
      keptLogger,
      options: resolveLimits(tree.limits),
      hide: (value) => redactor.knownIn(value),
      onProblem: (problem) => noted.note(problem),
    });
  };
}

interface PipelineSources {
  readonly options: Pick<OpenHubOptions, "mirror" | "watch">;
  readonly started: Pick<StartedFeatures, "services" | "contributions">;
}
