import type { Access, AccessPlan } from "./access.ts";
import type { Call, ToolMode } from "./calls/call.ts";
import type { Chat } from "./ports/chat.ts";
import type { HubPort, View } from "./ports/hub-port.ts";
import type { InnerHub } from "./calls/inner-hub.ts";
import type { JsonObject } from "./json/json.ts";
import type { Models } from "./ports/models.ts";
import type { Fail } from "./calls/outcome.ts";
import type { Logger, SearchAnswer, SearchBounds } from "./ports/ports.ts";
import type { ScopeRules } from "./ports/scope-rules.ts";
import type { Profiles } from "./ports/profiles.ts";
import { serviceKey, servingKey } from "./service-key.ts";
import type { SignInCoordinator } from "./ports/sign-in-coordinator.ts";

/** Finds tools by a query or by a name. */
export interface ToolFinder {
  search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer>;
  /** Returns the tool that a spelling means to this caller, listed or not, in its wire shape; or why there is none. */
  describeTool(spelling: string, view: View): Promise<ToolDescription>;
  /** Returns the rendered name of the one tool that a spelling means to this caller. */
  nameOf(spelling: string, principal: Call["principal"]): string | undefined;
}

/** Counts what a principal may see. */
export interface ToolCounts {
  counts(principal: Call["principal"]): { readonly tools: number; readonly resources: number };
  /** Returns the number of tools without the two search tools. */
  registeredTools(principal: Call["principal"]): number;
  /** Returns a line for each server that is not ready: state, id, reason and time. */
  unreadyServers(principal: Call["principal"]): readonly string[];
}

export type ToolDescription =
  | { readonly found: true; readonly entry: JsonObject }
  | { readonly found: false; readonly failure: Fail };

/** The created hub. A feature starts earlier, so it reads the hub when it needs it. */
export interface MadeHub {
  readonly port: HubPort;
  readonly tools: ToolFinder & ToolCounts;
  /** Kinds of open endpoints: `http`, `stdio`. */
  readonly endpoints: { readonly kinds: readonly string[] };
  /** Folder to which relative paths of the configuration refer. */
  readonly folder: string;
}

/** Folders below the data folder; absent ones are not used. */
export interface DataFolders {
  /** Last known lists of servers. */
  readonly lists?: string;
  /** Vectors of tools, for searches by a model. */
  readonly embeddings?: string;
  /** Sign-ins to servers. */
  readonly vault?: string;
  /** Environments that headers of scripts require. */
  readonly environments: string;
}

/** Secrets of a source. */
export interface SourceSecrets {
  /** Returns whether a text that a source wrote contains none of the source's own secrets. */
  isFree(source: string, text: string): boolean;
  /** Hides an owner's secrets from now on, replacing its earlier ones. */
  hideFor(owner: { readonly source: string }, secrets: readonly string[]): void;
}

/** The environment of the hub: keys of vendors, proxies, certificates. */
export const VARIABLES = serviceKey<Readonly<Record<string, string | undefined>>>()("variables");
export const DATA_FOLDERS = serviceKey<DataFolders>()("dataFolders");
export const GET_HUB = serviceKey<() => MadeHub>()("getHub");
export const STARTED_AT = serviceKey<Date>()("startedAt");
/** Calls made by a running call. */
export const INNER_HUB = serviceKey<InnerHub>()("innerHub");

/** Returns how callers must authenticate: under the current configuration, or with another `[server]`. */
export const ACCESS_PLAN = serviceKey<(server?: object) => AccessPlan>()("accessPlan");

export const LOGGER = serviceKey<Logger>()("logger");
export const SECRETS = serviceKey<SourceSecrets>()("secrets");
/** Returns a text without the secrets of the configuration. */
export const REDACT = serviceKey<(text: string) => string>()("redact");
/** Returns the last lines of the log, oldest first, redacted; those about one principal's calls if its id is given. */
export const LOG_LINES = serviceKey<(count: number, principal?: string) => readonly string[]>()("logLines");
export const SCOPES = serviceKey<ScopeRules>()("scopes");
export const PROFILES = serviceKey<Profiles>()("profiles");
export const MODELS = serviceKey<Models>()("models");
export const SIGN_INS = serviceKey<SignInCoordinator>()("signIns");
/** Returns the agent as currently configured; `undefined` while no model is configured. */
export const CHAT = serviceKey<() => Chat | undefined>()("chat");

export const HUB = servingKey<HubPort>()("hub");
export const TOOLS = servingKey<ToolFinder>()("tools");
export const ACCESS = servingKey<Access>()("access");
/** Mode of requests that name none. */
export const TOOL_MODE = servingKey<ToolMode>()("defaultMode");
