import type { HubEntry } from "../../config/connect/clients.ts";
import { resolveHttp } from "../../http/options.ts";
import { assertProfile } from "./named-profile.ts";
import { launcherWords } from "./launcher.ts";
import { ownUrl } from "./own-url.ts";
import type { LoadedHubConfig } from "../../hub/schema.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";

export interface EntryOptions {
  readonly http?: boolean;
  readonly own?: boolean;
  readonly tokenEnv?: string;
  /** Tool mode of the client's lists. `undefined`: the configured mode. */
  readonly mode?: string;
  /** Protocol of the client. `undefined`: the configured protocol. */
  readonly era?: "auto" | "legacy";
  /** Profile of the client. `undefined`: the whole hub. */
  readonly profile?: string;
  /** Patterns of tools, prompts and URIs to withhold from the client. @default [] */
  readonly deny?: readonly string[];
}

/** Returns the client's entry for the hub of this configuration, with absolute paths. */
export async function hubEntry(config: LoadedHubConfig, options: EntryOptions, io: Io): Promise<HubEntry> {
  assertProfile(config, options);
  if (options.http) return addressEntry(config, options);
  const { TOOLYARD_HOME: home } = io.env;
  const launcher = launcherWords(io);
  return {
    ...fewTools(config, options),
    command: launcher.command,
    args: [
      ...launcher.args,
      "serve",
      "--stdio",
      ...(options.own ? [] : ["--shared"]),
      ...config.files.flatMap((file) => ["--config", file]),
      ...(options.mode === undefined ? [] : ["--tool-mode", options.mode]),
      ...(options.era === undefined ? [] : ["--era", options.era]),
      ...(options.profile === undefined ? [] : ["--profile", options.profile]),
      ...(options.deny ?? []).flatMap((pattern) => ["--deny", pattern]),
    ],
    env: home === undefined ? {} : { TOOLYARD_HOME: home },
  };
}

function fewTools({ tree }: LoadedHubConfig, { mode, profile }: EntryOptions): { readonly listsFew?: boolean } {
  const ofProfile = profile === undefined ? undefined : tree.profiles?.[profile]?.tool_mode;
  return (mode ?? ofProfile ?? tree.server?.tool_mode) === "discovery" ? { listsFew: true } : {};
}

async function addressEntry(config: LoadedHubConfig, options: EntryOptions): Promise<HubEntry> {
  const { tree } = config;
  const { own, tokenEnv, mode, era, profile } = options;
  if (own)
    throw new UsageError(
      "--own is a hub for one client alone, and --http is the one that `toolyard serve` runs. Leave one out.",
    );
  const http = resolveHttp(tree.server ?? {});
  if (http.port === 0)
    throw new UsageError("--http needs a port that stays the same, and `[server] port` is 0. Set one, such as 8808.");
  const query = new URLSearchParams({
    ...(mode !== undefined && { tool_mode: mode }),
    ...(era !== undefined && { era }),
  }).toString();
  return {
    url: `${await ownUrl(http)}/mcp${profile === undefined ? "" : `/${profile}`}${query === "" ? "" : `?${query}`}`,
    ...fewTools(config, options),
    ...(http.tokens.length > 0 ? { tokenVariable: tokenEnv ?? "TOOLYARD_TOKEN" } : {}),
  };
}
