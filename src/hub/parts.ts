import { remoteName } from "../config/layers.ts";
import { resolveBuiltin } from "../providers/builtin/options.ts";
import { resolveDefaultTools } from "../providers/defaults/options.ts";
import { resolveFolders } from "../providers/folders/options.ts";
import { resolveHttp } from "../providers/http/options.ts";
import { resolveModules } from "../providers/modules/options.ts";
import { resolveScripts } from "../providers/scripts/options.ts";
import { resolveStdio } from "../providers/stdio/options.ts";
import { resolveModels } from "../models/options.ts";
import { OptionError } from "../core/errors.ts";
import { isLoopbackHost } from "../http/host-names.ts";
import { resolveSandbox } from "../sandbox/options.ts";
import { resolveWebSearch } from "../websearch/options.ts";
import type { HubConfig } from "./schema.ts";
import type { WantedSource } from "./plan.ts";

/**
 * Reads out of a configuration which sources of one kind it wants. Options are resolved here; code is loaded when a
 * source is made.
 */
type Part = (config: HubConfig, place: Place) => readonly WantedSource[];

/** Where a configuration is used. */
export interface Place {
  /** What relative paths count from. */
  readonly folder: string;
  /** A program registers tools of its own, whatever the configuration says. */
  readonly isHosted?: boolean;
  /** A door is open through which anybody on the network may call, whatever the configuration says by now. */
  readonly isForAll?: boolean;
}

/** The one list of source kinds, in the order of precedence. A new kind is one more line. */
const PARTS: readonly Part[] = [builtin, modules, scripts, folders, stdio, http, defaults];

/** Everything that a configuration wants. Throws an `OptionError` that names the section. */
export function wantedSources(config: HubConfig, place: Place): readonly WantedSource[] {
  // Models are asked when they are needed; whether they can be is known now.
  resolveModels(config.models);
  return PARTS.flatMap((part) => part(config, place));
}

function builtin({ builtin: raw, sandbox, server }: HubConfig, { isForAll = false }: Place): readonly WantedSource[] {
  const given = resolveBuiltin(raw);
  const { maxWallMs } = resolveSandbox(sandbox);
  const isGuarded =
    isLoopbackHost(server?.host ?? "127.0.0.1") ||
    server?.token !== undefined ||
    Object.keys(server?.tokens ?? {}).length > 0;
  if (raw?.execute_code === true && !isGuarded) {
    throw new OptionError(
      "`builtin.execute_code` is on, and anybody on the network may call this hub. Set a token, listen on 127.0.0.1, or switch it off.",
    );
  }
  const options = { ...given, executeCode: given.executeCode && isGuarded && !isForAll, maxWallMs };
  return [
    {
      id: "builtin",
      kind: "builtin",
      namespace: "",
      options,
      make: async (_source, services) =>
        new (await import("../providers/builtin/provider.ts")).BuiltinProvider(options, services.builtin),
    },
  ];
}

function modules({ modules: raw }: HubConfig, { isHosted }: Place): readonly WantedSource[] {
  const options = resolveModules(raw);
  if (options.paths.length === 0 && !isHosted) return [];
  return [
    {
      id: "modules",
      kind: "modules",
      namespace: options.namespace,
      options,
      make: async (source, { logger, caller, models, coldWaitMs, modulesHost: host }) =>
        (await import("../providers/modules/modules-provider.ts")).createModulesProvider({
          source,
          options,
          logger,
          caller,
          models,
          coldWaitMs,
          ...(host ? { host } : {}),
        }),
    },
  ];
}

function scripts({ scripts: raw }: HubConfig, { folder }: Place): readonly WantedSource[] {
  if (raw === undefined) return [];
  const options = resolveScripts(raw, folder);
  return [
    {
      id: "scripts",
      kind: "scripts",
      namespace: "",
      options,
      make: async (source, { logger, caller, models }) =>
        (await import("../providers/scripts/provider.ts")).createScriptsProvider(source, options, {
          logger,
          caller,
          models,
        }),
    },
  ];
}

function folders({ folders: raw }: HubConfig, { folder }: Place): readonly WantedSource[] {
  if (raw === undefined) return [];
  const options = resolveFolders(raw, folder);
  return [
    {
      id: "folders",
      kind: "folders",
      namespace: "",
      options,
      make: async (source, { logger, caller, models }) =>
        (await import("../providers/folders/provider.ts")).createFoldersProvider(source, options, {
          logger,
          caller,
          models,
        }),
    },
  ];
}

function stdio({ mcp }: HubConfig): readonly WantedSource[] {
  return Object.entries(mcp?.stdio_servers ?? {}).map(([id, raw]): WantedSource => {
    const options = named(`mcp.stdio_servers.${id}`, () => resolveStdio(raw));
    return {
      id,
      kind: "stdio",
      namespace: options.upstream.namespace ?? id,
      limits: options.upstream.limits,
      options,
      make: async (source, { logger, cacheFolder, coldWaitMs, isSecretFree, lazy, firstCallerEra }) => {
        const { createStdioProvider } = await import("../providers/stdio/stdio-provider.ts");
        return createStdioProvider({
          source,
          options: { ...options, upstream: startOf(options.upstream, lazy) },
          logger,
          coldWaitMs,
          isSecretFree,
          ...(cacheFolder === undefined ? {} : { cacheFolder }),
          ...(firstCallerEra ? { firstCallerEra } : {}),
        });
      },
    };
  });
}

function http({ mcp }: HubConfig): readonly WantedSource[] {
  return (mcp?.remote_servers ?? []).map((raw, index): WantedSource => {
    const id = remoteName(raw);
    const { alias: _alias, ...rest } = raw;
    const options = named(`mcp.remote_servers[${index}]`, () => resolveHttp(rest));
    return {
      id,
      kind: "http",
      namespace: options.upstream.namespace ?? id,
      limits: options.upstream.limits,
      ...(options.service && { service: options.service }),
      // `URL` objects have no members of their own to compare.
      options: { ...options, url: options.url.href },
      make: async (source, { logger, cacheFolder, coldWaitMs, isSecretFree, hideFor, lazy, variables }) => {
        const { createHttpProvider } = await import("../providers/http/http-provider.ts");
        return createHttpProvider({
          source,
          options: { ...options, upstream: startOf(options.upstream, lazy) },
          logger,
          coldWaitMs,
          isSecretFree,
          hideFor,
          environment: variables,
          ...(cacheFolder === undefined ? {} : { cacheFolder }),
        });
      },
    };
  });
}

function defaults(
  { default_tools: raw, web_search: rawSearch, sandbox: rawSandbox }: HubConfig,
  { folder }: Place,
): readonly WantedSource[] {
  const options = resolveDefaultTools(raw, folder);
  const webSearch = resolveWebSearch(rawSearch);
  const { maxWallMs } = resolveSandbox(rawSandbox);
  if (options.enable.length === 0) return [];
  return [
    {
      id: "default_tools",
      kind: "defaults",
      namespace: "",
      // `URL` objects have no members of their own to compare.
      options: { ...options, webSearch: { ...webSearch, baseUrl: webSearch.baseUrl.href }, maxWallMs },
      make: async (source, { models, sandbox, variables }) =>
        new (await import("../providers/defaults/provider.ts")).DefaultsProvider({
          source,
          options,
          webSearch,
          models,
          interpreter: { sandbox, maxWallMs },
          environment: variables,
        }),
    },
  ];
}

function startOf<U extends { readonly start: "eager" | "lazy" }>(upstream: U, lazy: boolean | undefined): U {
  return lazy === undefined ? upstream : { ...upstream, start: lazy ? "lazy" : "eager" };
}

/** Says which entry an option stands in, since the option's own words cannot know. */
function named<T>(where: string, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof OptionError) throw new OptionError(`${where}: ${error.message}`, { cause: error });
    throw error;
  }
}
