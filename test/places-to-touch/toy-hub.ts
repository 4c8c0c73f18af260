import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../packages/toolyard/src/config/load.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { openHubWith, type Hub } from "../../packages/toolyard/src/hub/open-hub.ts";
import type { CONFIG_SCHEMA } from "../../packages/toolyard/src/hub/schema.ts";
import { serveHttp, type ServedHttp } from "../../packages/toolyard/src/hub/serve/serve.ts";
import type { AnyFeature } from "../../packages/toolyard/src/kernel/feature.ts";
import { configSchema } from "../../packages/toolyard/src/kernel/feature-sections.ts";
import type { StoreKinds } from "../../packages/toolyard/src/state/ports/store.ts";
import { openStore, STORES } from "../../packages/toolyard/src/state/stores.ts";

/** A hub with a given list of features and of store kinds, served on a free port. */
export class ToyHub implements AsyncDisposable {
  readonly hub: Hub;
  readonly served: ServedHttp;
  readonly home: string;

  private constructor(hub: Hub, served: ServedHttp, home: string) {
    this.hub = hub;
    this.served = served;
    this.home = home;
  }

  static async open(
    features: readonly AnyFeature[],
    settings: JsonObject,
    stores: StoreKinds = STORES,
  ): Promise<ToyHub> {
    return ToyHub.reopen(features, settings, { home: await mkdtemp(join(tmpdir(), "toolyard-toy-")), stores });
  }

  /** Opens a hub with the data of an earlier one. */
  static async reopen(
    features: readonly AnyFeature[],
    settings: JsonObject,
    { home, port = 0, stores = STORES }: { home: string; port?: number; stores?: StoreKinds },
  ): Promise<ToyHub> {
    const variables = { TOOLYARD_HOME: home };
    const schema = configSchema(features, stores) as typeof CONFIG_SCHEMA;
    const config = await loadConfig({ files: [], variables, schema, flags: settings });
    const store = openStore(config.tree, NO_REDIS, stores);
    const hub = await openHubWith({ config, variables, features, store, logger: SILENT_LOGGER });
    return new ToyHub(hub, await serveHttp(hub, { ...config.tree.server, port }), home);
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.served.address.url}${path}`, { redirect: "manual", ...init });
  }

  /** Calls a tool by REST. */
  call(tool: string, args: JsonObject = {}, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.fetch(`/api/tools/${tool}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(args),
    });
  }

  /** Closes the hub and keeps its data. */
  async close(): Promise<void> {
    await this.served.close();
    await this.hub.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await rm(this.home, { recursive: true, force: true });
  }
}

const NO_REDIS = { importRedis: () => Promise.reject(new Error("This test has no Redis.")) };
