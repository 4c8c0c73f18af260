import { Catalog } from "../catalog/catalog.ts";
import { resolveCatalog } from "../catalog/options.ts";
import { LOGGER } from "../core/services.ts";
import { DIALECTS } from "../endpoints/services.ts";
import { isHubItself } from "../core/sources/provider-kinds.ts";
import { getService, startFeatures, type Services, type FeatureStart } from "../kernel/start-features.ts";
import { TELEMETRY } from "../kernel/telemetry.ts";
import { SchemaChecks } from "../schema/schema-checks.ts";
import { keepLease } from "../state/lease.ts";
import { STATE } from "../state/ports/store.ts";
import type { Kernel } from "./kernel.ts";
import { pipelineFactory } from "./kernel-pipeline.ts";
import type { OpenHubOptions } from "./open-hub-options.ts";
import type { LoadedHubConfig } from "./schema.ts";
import { NotedProblems } from "./sources/noted-problems.ts";
import { Planner } from "./sources/plan.ts";
import { SourceSet } from "./sources/source-set.ts";

/** Services that exist before the features start, and the current configuration. */
export interface KernelBase extends Pick<FeatureStart, "services" | "contributions"> {
  /** Returns the current configuration. */
  readonly tree: () => LoadedHubConfig["tree"];
}

/** Starts the features and creates the kernel with their contributions. */
export function createKernel(options: OpenHubOptions, base: KernelBase): Kernel {
  const { features, config, mirror = false, only = () => true } = options;
  const started = startFeatures(features, { ...base, config: base.tree });
  const dialects = async () => (await Promise.all(started.contributions.map((one) => one.dialects?.() ?? []))).flat();
  const services: Services = { ...started.services, [DIALECTS.id]: dialects };
  const logger = getService(services, LOGGER);
  const { redactor } = getService(services, TELEMETRY);
  const hide = (source: string, text: string): string => redactor.definition(source, text);
  const catalog = new Catalog(resolveCatalog(config.tree.catalog, { reserveNames: !mirror }), [], { hide, logger });
  const evidence = started.contributions.find((one) => one.evidence)?.evidence;
  if (evidence) catalog.searchWith(evidence);
  const sources = new SourceSet(logger);
  const noted = new NotedProblems();
  const schemas = new SchemaChecks();
  const state = getService(services, STATE);
  state.reportTo?.(logger);
  const leave = keepLease(state);
  return {
    features,
    services,
    catalog,
    sources,
    noted,
    planner: new Planner(features, services, (source) => only(source) && !(mirror && isHubItself(source))),
    createPipeline: pipelineFactory({ catalog, sources, schemas, noted }, { options, started }),
    close: async () => {
      schemas.close();
      try {
        // Features remove their records from the store when they close, so the hub's lease is released after that.
        await started.close();
      } finally {
        await leave();
      }
    },
  };
}
