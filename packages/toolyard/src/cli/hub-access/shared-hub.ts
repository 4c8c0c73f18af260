import { fstatSync, ftruncateSync } from "node:fs";
import { locateConfig } from "../../config/locate.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { messageOf } from "../../core/errors.ts";
import type { Hub } from "../../hub/hub.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import type { Reloader } from "../../hub/reload.ts";
import type { LoadedHubConfig } from "../../hub/schema.ts";
import type { ServerConfig } from "../../hub/serve/endpoints.ts";
import type { FirstCaller } from "../../hub/serve/first-caller.ts";
import type { ServedHub } from "../../hub/serve/serve.ts";
import { configIdentity } from "../../hub/shared/identity.ts";
import { sharedPlace, type SharedPlace } from "../../hub/shared/place.ts";
import {
  listenIfFree,
  openSharedEndpoint,
  type SharedEndpoint,
  type SharedEndpointOptions,
} from "../../hub/shared/shared-endpoint.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";

interface Options extends SharedOptions {
  readonly forClients?: boolean;
  readonly watch: boolean;
}

interface SharedHubContext {
  readonly options: Options;
  readonly io: Io;
}

/** Time between the disconnection of the last client and the end of a shared hub. */
const LINGER_MS = 30_000;

export function readLinger(text: string | undefined): number {
  return text === undefined ? LINGER_MS : parseDuration(text, "--linger");
}

/** Loads the configuration without the flags of one command, because clients compare it before they share a hub. */
export function sharedConfig({ options, io }: SharedHubContext): Promise<LoadedHubConfig> {
  return loadHubConfig({ files: filesOf({ options, io }), variables: io.env });
}

export function placeOf({ options, io }: { readonly options: SharedOptions; readonly io: Io }): Promise<SharedPlace> {
  return sharedPlace({ files: filesOf({ options, io }), cwd: io.cwd, variables: io.env });
}

function filesOf({ options, io }: { readonly options: SharedOptions; readonly io: Io }): readonly string[] {
  return locateConfig(options.config ?? [], io.env, io.cwd);
}

export interface ServedSharing extends SharedHubContext {
  readonly reloader: Reloader;
  /** Ends this process gracefully. */
  readonly onStop: () => void;
}

interface ClientsOnly extends ServedSharing {
  readonly firstCaller: FirstCaller;
  readonly lingerMs: number;
}

/** Serves a hub for clients of this user only. The hub ends `lingerMs` after the last client has disconnected. */
export async function serveClients(hub: Hub, clients: ClientsOnly): Promise<ServedHub> {
  const { options, lingerMs, firstCaller } = clients;
  const wanted = { ...(await endpointOptions(hub, clients)), isBesideHttp: false, firstCaller };
  const endpoint = options.forClients ? await listenIfFree(wanted) : await openSharedEndpoint(wanted);
  if (!endpoint) {
    hub.logger.info("Another hub of this configuration runs, and clients join that one.");
    return { done: Promise.resolve(), close: async () => {} };
  }
  const stopWatching = options.forClients ? watchLog() : () => {};
  return {
    done: endpoint.unused(lingerMs),
    close: () => {
      stopWatching();
      return endpoint.close();
    },
  };
}

/** Serves clients that share this hub, in addition to HTTP, unless a shared hub already exists. */
export async function besideHttp(hub: Hub, sharing: ServedSharing): Promise<SharedEndpoint | undefined> {
  try {
    const endpoint = await openSharedEndpoint({ ...(await endpointOptions(hub, sharing)), isBesideHttp: true });
    if (!endpoint)
      hub.logger.warning(
        "A shared hub of this configuration runs already, and clients that share a hub stay with that one. It ends " +
          "30 s after its last client, or with `toolyard stop`.",
      );
    return endpoint;
  } catch (error) {
    // The HTTP endpoint is open, so a failure to share the hub is only a warning.
    hub.logger.warning("Clients cannot share this hub.", { reason: messageOf(error) });
    return undefined;
  }
}

async function endpointOptions(hub: Hub, sharing: ServedSharing): Promise<Omit<SharedEndpointOptions, "isBesideHttp">> {
  const { options, io, reloader, onStop } = sharing;
  return {
    hub,
    onStop,
    place: await placeOf(sharing),
    server: (): ServerConfig => hub.config.tree.server ?? {},
    identity: async () => {
      const { config } = hub;
      // Without `--watch`, the hub uses the configuration that it read at the start, so the file is not read again.
      if (!options.watch) return configIdentity({ ...config, tree: config.withoutFlags() }, io.env);
      // The client has already read the changed file, but the watcher waits until the editor has finished, so the
      // change is applied here.
      await reloader.apply();
      return configIdentity(await sharedConfig(sharing), io.env);
    },
  };
}

/** Maximum size of the log of a hub without a terminal. A larger log is emptied. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const LOG_LOOK_MS = 60_000;

/**
 * Checks regularly whether the file that receives standard error is too large. Returns a function that stops the
 * checks.
 */
function watchLog(): () => void {
  const look = (): void => {
    const { fd } = process.stderr;
    const stats = fstatSync(fd);
    if (stats.isFile() && stats.size > MAX_LOG_BYTES) ftruncateSync(fd);
  };
  const timer = setInterval(look, LOG_LOOK_MS).unref();
  return () => clearInterval(timer);
}
