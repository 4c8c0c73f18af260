import { join } from "node:path";
import { resolveCatalog } from "../catalog/options.ts";
import { dataFolder } from "../core/data-folder.ts";
import type { ServicesOf } from "../core/service-key.ts";
import type { HubControl } from "../core/ports/hub-control.ts";
import type { DataFolders, MadeHub } from "../core/services.ts";
import { createAccess, planAccess } from "../kernel/access.ts";
import type { Contribution } from "../kernel/feature.ts";
import type { KernelHubKey } from "../kernel/kernel-keys.ts";
import type { InstallPlaces } from "../providers/services.ts";
import { vaultFolder } from "../signin/vault-place.ts";
import type { HubState } from "../state/ports/store.ts";
import { createInnerHub } from "./inner-hub.ts";
import type { OpenHubOptions } from "./open-hub-options.ts";
import type { LoadedHubConfig } from "./schema.ts";

interface KernelStart {
  readonly state: HubState;
  /** Returns the hub, which is created after its features have started. */
  readonly getHub: () => MadeHub;
  readonly control: () => HubControl;
  readonly config: () => LoadedHubConfig;
  /** Returns the contributions of the features. Empty until they have started. */
  readonly contributions: () => readonly Contribution[];
}

/** Creates the services of the kernel that live as long as the hub. */
export function createKernelServices(
  options: OpenHubOptions,
  { state, getHub, control, config, contributions }: KernelStart,
): ServicesOf<KernelHubKey> {
  const { variables, logger, printsFailures, isQuiet, modulesHost, lazy, firstCallerEra, requestIds } = options;
  return {
    variables,
    dataFolders: foldersOf(options),
    getHub,
    hubControl: control,
    innerHub: createInnerHub(getHub),
    startedAt: new Date(),
    accessPlan: (server = config().tree.server) => planAccess(contributions(), server),
    createAccess: (http) => createAccess(contributions(), http),
    logSettings: { logger, printsFailures, isQuiet },
    state,
    installs: installPlaces(variables),
    starts: {
      lazy,
      ...(firstCallerEra && { firstCallerEra }),
      requestIds,
      coldWaitMs: resolveCatalog(options.config.tree.catalog).coldWaitMs,
    },
    modulesHost,
  };
}

// No folder for listings and sign-ins of a mirrored hub: its listings are shown live and separately for each token, and
// it handles its own sign-ins.
function foldersOf({ variables, mirror = false }: OpenHubOptions): DataFolders {
  const data = dataFolder(variables);
  const environments = join(data, "environments");
  if (mirror) return { environments };
  return {
    environments,
    lists: join(data, "lists"),
    embeddings: join(data, "embeddings"),
    tasks: join(data, "tasks"),
    vault: vaultFolder(data),
  };
}

function installPlaces(variables: OpenHubOptions["variables"]): InstallPlaces {
  const folder = join(dataFolder(variables), "installs");
  return { folder, open: async () => (await import("./installs.ts")).createInstalls(folder) };
}
