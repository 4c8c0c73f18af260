import { join } from "node:path";
import { Catalog } from "../catalog/catalog.ts";
import { resolveCatalog } from "../catalog/options.ts";
import { loadConfig, type LoadOptions } from "../config/load.ts";
import { dataFolder } from "../core/data-folder.ts";
import type { Client } from "../core/calls/call.ts";
import { nextHubId } from "../core/hub-id.ts";
import type { Logger } from "../core/ports/ports.ts";
import { isHubItself } from "../core/sources/provider-kinds.ts";
import { resolveLimits } from "../pipeline/options.ts";
import { latePipeline } from "../pipeline/late-pipeline.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { useTransformCache } from "../runtimes/typescript/cache-folder.ts";
import type { CallWatch, PipelineDeps } from "../pipeline/ports.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { ModulesHost } from "../providers/modules/host.ts";
import { keepLease } from "../state/lease.ts";
import type { HubState, Store } from "../state/ports/store.ts";
import { SignInDesk } from "../core/ports/sign-in-desk.ts";
import { vaultFolder } from "../signin/vault-place.ts";
import { STORES } from "../state/stores.ts";
import { SchemaChecks } from "../schema/schema-checks.ts";
import { createTelemetry, type Telemetry } from "./telemetry.ts";
import { createBuiltinPorts } from "./builtin-ports.ts";
import { createInnerHub } from "./inner-hub.ts";
import { Hub } from "./hub.ts";
import { LiveSandbox } from "./live/sandbox.ts";
import { LiveSearch } from "./live/search.ts";
import { LiveModels } from "./live/models.ts";
import { Planner, type SourceFilter } from "./sources/plan.ts";
import { resolveMirrored } from "./mirror.ts";
import { resolveCall, whyLate } from "./resolve.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "./schema.ts";
import { SourceSet } from "./sources/source-set.ts";

export type { Hub } from "./hub.ts";
export type { SourceFilter } from "./sources/plan.ts";

export interface OpenHubOptions {
  readonly config: LoadedHubConfig;
  /** The environment: data folder, proxies, certificates. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** @default as `[logging]` says, on standard error */
  readonly logger?: Logger;
  /** What calls fail with is printed on standard error anyway, so the log there leaves it out. @default false */
  readonly printsFailures?: boolean;
  /** True: connects to upstreams when they are needed; false: at once. @default as each is configured */
  readonly lazy?: boolean;
  /** @default all sources */
  readonly only?: SourceFilter;
  /** Shows the one configured source as it is: no tools of the hub's own, no reserved names. @default false */
  readonly mirror?: boolean;
  /** Counts requests to the one server over all connections to it. @default each connection counts its own */
  readonly requestIds?: RequestIds;
  /** Registers what the calling program offers itself. @default none */
  readonly modulesHost?: ModulesHost;
  /**
   * The era of the first client of the pipe that is going to be served; eager sources on stdio start when it is known.
   * @default they start at once
   */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** What this hub shares with others. @default one of its own, in memory */
  readonly store?: Store;
  /** How calls are told while they happen. */
  readonly watch?: CallWatch;
}

/** Reads and checks configuration layers against the schema of all parts. */
export function loadHubConfig(options: Omit<LoadOptions, "schema">): Promise<LoadedHubConfig> {
  return loadConfig({ ...options, schema: CONFIG_SCHEMA });
}

/**
 * Makes a hub and starts its sources in the background. Rejects with an `OptionError` when an option cannot be used.
 */
export async function openHub(options: OpenHubOptions): Promise<Hub> {
  const store = options.store ?? STORES.memory();
  const hub = makeHub(options, await store.join(nextHubId()));
  try {
    await hub.reconfigure(options.config);
    return hub;
  } catch (error) {
    await hub.close();
    throw error;
  }
}

function makeHub(options: OpenHubOptions, state: HubState): Hub {
  const { config, variables, mirror = false } = options;
  const { tree } = config;
  useTransformCache(join(dataFolder(variables), "typescript"));
  const telemetry = createTelemetry(tree, variables, options);
  const { logger, redactor } = telemetry;
  const hide = (source: string, text: string): string => redactor.definition(source, text);
  const catalog = new Catalog(resolveCatalog(tree.catalog, { reserveNames: !mirror }), [], { hide, logger });
  const leave = keepLease(state);
  const schemas = new SchemaChecks();
  const sources = new SourceSet(logger);
  const search = new LiveSearch({
    config: () => hub.config.tree,
    variables,
    logger,
    ...(mirror ? {} : { folder: join(dataFolder(variables), "embeddings") }),
  });
  catalog.searchWith(() => search.current());
  const signIns = new SignInDesk(mirror ? undefined : vaultFolder(dataFolder(variables)));
  const sandbox = new LiveSandbox(() => hub.config.tree);
  const models = new LiveModels(() => hub.config.tree.models, variables);
  const hub: Hub = new Hub({
    config,
    variables,
    catalog,
    sources,
    isHosted: options.modulesHost !== undefined,
    isMirror: mirror,
    state,
    createPipeline: (current) =>
      pipelineOf(current, {
        catalog,
        sources,
        resolve: mirror ? resolveMirrored : resolveCall,
        isMirror: mirror,
        limitStore: state.limits,
        schemas,
        telemetry,
        ...(options.watch && { watch: options.watch }),
        onProblem: (problem) => hub.noteProblem(problem),
      }),
    logger,
    redact: (text) => redactor.text(text),
    redactIn: (value) => redactor.knownIn(value),
    redactDefinition: (source, value) => redactor.definitionIn(source, value),
    hide: (secrets) => redactor.addAll(secrets),
    assignSecrets: (planned) => redactor.give(new Map(planned.map(({ id, key }) => [id, key]))),
    closeParts: async () => {
      schemas.close();
      await Promise.all([models.close(), search.close(), sandbox.close()]);
      await leave();
      await telemetry.close();
    },
    signIns,
    planner: createPlanner(options, { hub: () => hub, telemetry, models, sandbox, signIns }),
  });
  return hub;
}

interface PipelineParts extends Pick<PipelineDeps, "limitStore" | "schemas" | "onProblem" | "watch" | "isMirror"> {
  readonly catalog: Catalog;
  readonly sources: SourceSet;
  readonly telemetry: Telemetry;
  readonly resolve: typeof resolveCall;
}

function pipelineOf(
  { tree }: LoadedHubConfig,
  { catalog, sources, telemetry, resolve, ...parts }: PipelineParts,
): Pipeline {
  const { audit, logger, keptLogger, redactor } = telemetry;
  const options = resolveLimits(tree.limits);
  return latePipeline({
    ...parts,
    resolve: (call) => resolve(call, { catalog, sources }),
    whyLate: (call, provider) => whyLate(call, provider, { catalog, sources }),
    audit,
    logger,
    keptLogger,
    options,
    hide: (value) => redactor.knownIn(value),
  });
}

interface PlannerParts {
  readonly hub: () => Hub;
  readonly telemetry: Telemetry;
  readonly models: LiveModels;
  readonly sandbox: LiveSandbox;
  readonly signIns: SignInDesk;
}

function createPlanner(
  {
    config,
    variables,
    lazy,
    mirror = false,
    only = () => true,
    modulesHost,
    firstCallerEra,
    requestIds,
  }: OpenHubOptions,
  { hub, telemetry, models, sandbox, signIns }: PlannerParts,
): Planner {
  const { logger, logLines, redactor } = telemetry;
  const innerHub = createInnerHub(hub);
  const { coldWaitMs } = resolveCatalog(config.tree.catalog);
  const installsFolder = join(dataFolder(variables), "installs");
  return new Planner(
    {
      logger,
      innerHub,
      models,
      ...(firstCallerEra ? { firstCallerEra } : {}),
      builtin: createBuiltinPorts(hub, { innerHub, sandbox, logLines }),
      ...(requestIds ? { requestIds } : {}),
      sandbox: () => sandbox.current(),
      // Another hub is shown as it is now, and to each token in its own way: what it listed before is no answer.
      ...(mirror
        ? {}
        : {
            cacheFolder: join(dataFolder(variables), "lists"),
            vaultFolder: vaultFolder(dataFolder(variables)),
            desk: signIns,
          }),
      installsFolder,
      installs: async () => (await import("./installs.ts")).createInstalls(installsFolder),
      environmentsFolder: join(dataFolder(variables), "environments"),
      coldWaitMs,
      isSecretFree: (source, text) => redactor.definition(source, text) === text,
      hideFor: (owner, secrets) => redactor.replace(owner, secrets),
      variables,
      lazy,
      ...(modulesHost ? { modulesHost } : {}),
    },
    (source) => only(source) && !(mirror && isHubItself(source)),
  );
}
