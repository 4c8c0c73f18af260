import type { Catalog } from "../catalog/catalog.ts";
import type { AnyFeature } from "../kernel/feature.ts";
import type { Services } from "../kernel/start-features.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { NotedProblems } from "./sources/noted-problems.ts";
import type { Planner } from "./sources/plan.ts";
import type { SourceSet } from "./sources/source-set.ts";

/** Parts of every hub, independent of its features. */
export interface Kernel {
  readonly features: readonly AnyFeature[];
  readonly services: Services;
  readonly catalog: Catalog;
  readonly sources: SourceSet;
  readonly planner: Planner;
  readonly noted: NotedProblems;
  /** Creates the pipeline. Called at the start, and again after a change of `[limits]`. */
  readonly createPipeline: (config: LoadedHubConfig) => Pipeline;
  /** Closes everything that the features and the kernel opened: files, threads, the lease. */
  close(): Promise<void>;
}
