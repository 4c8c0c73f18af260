import type { Access, AccessPlan } from "./access.ts";
import type { Call, ToolMode } from "./calls/call.ts";
import type { Chat } from "./ports/chat.ts";
import type { HubControl } from "./ports/hub-control.ts";
import type { HubPort, View } from "./ports/hub-port.ts";
import type { LogFeed } from "./ports/log-feed.ts";
import type { Identity } from "./calls/identity.ts";
import type { InnerHub } from "./calls/inner-hub.ts";
import type { Audit } from "./ports/audit.ts";
import type { CallStatistics } from "./ports/call-statistics.ts";
import type { JsonObject } from "./json/json.ts";
import type { Metrics } from "./ports/metrics.ts";
import type { Models } from "./ports/models.ts";
import type { Fail } from "./calls/outcome.ts";
import type { Logger, SearchAnswer, SearchBounds } from "./ports/ports.ts";
import type { Schedules } from "./ports/schedules.ts";
import type { ScopeRules } from "./ports/scope-rules.ts";
import type { Subject } from "./ports/permission.ts";
import type { Profiles } from "./ports/profiles.ts";
import { serviceKey, servingKey } from "./service-key.ts";
import type { SignInCoordinator } from "./ports/sign-in-coordinator.ts";
import type { Tasks } from "./ports/tasks.ts";

/** Finds tools by a query or by a name. */
export interface ToolFinder {
  search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer>;
  /**
   * Resolves with the tool that a spelling means for this caller, listed or not, in its MCP form; or with the reason
   * why there is none.
   */
  describeTool(spelling: string, view: View): Promise<ToolDescription>;
  /** Returns the rendered name of the only tool that a spelling means for this caller. */
  nameOf(spelling: string, principal: Call["principal"]): string | undefined;
  /** Returns the id of the source of the only tool that a spelling means for this caller. */
  sourceOf(spelling: string, principal: Call["principal"]): string | undefined;
  /** Returns the subject with which patterns are compared, for the only tool that a spelling means for this caller. */
  subjectOf(spelling: string, principal: Call["principal"]): Subject | undefined;
}

/** Counts of what a principal may see. */
export interface ToolCounts {
  counts(principal: Call["principal"]): { readonly tools: number; readonly resources: number };
  /** Returns the number of tools without the two search tools. */
  registeredTools(principal: Call["principal"]): number;
  /** Returns one line for each server that is not ready, with state, id, reason and time. */
  unreadyServers(principal: Call["principal"]): readonly string[];
}

export type ToolDescription =
  | { readonly found: true; readonly entry: JsonObject }
  | { readonly found: false; readonly failure: Fail };

/** The hub after its creation. Features are created before the hub, so they get it later. */
export interface MadeHub {
  readonly port: HubPort;
  readonly tools: ToolFinder & ToolCounts;
  /** Kinds of open endpoints: `http`, `stdio`. */
  readonly endpoints: { readonly kinds: readonly string[] };
  /** Folder in which relative paths of the configuration start. */
  readonly folder: string;
}

/** Folders below the data folder. An absent folder is not used. */
export interface DataFolders {
  /** Folder of the last known lists of servers. */
  readonly lists?: string;
  /** Folder of tool vectors for searches by a model. */
  readonly embeddings?: string;
  /** Folder of the task journals. */
  readonly tasks?: string;
  /** Folder of sign-ins to servers. */
  readonly vault?: string;
  /** Folder of the environments that headers of scripts require. */
  readonly environments: string;
}

/** Redaction of a source's secrets. */
export interface SourceSecrets {
  /** Returns true if a text that a source wrote contains none of the source's own secrets. */
  isFree(source: string, text: string): boolean;
  /** Redacts the secrets of an owner from now on, and no longer redacts its previous secrets. */
  hideFor(owner: { readonly source: string }, secrets: readonly string[]): void;
}

/** Environment variables of the hub: API keys of vendors, proxies, certificates. */
export const VARIABLES = serviceKey<Readonly<Record<string, string | undefined>>>()("variables");
export const DATA_FOLDERS = serviceKey<DataFolders>()("dataFolders");
export const GET_HUB = serviceKey<() => MadeHub>()("getHub");
export const STARTED_AT = serviceKey<Date>()("startedAt");
/** Returns the configuration and the sources of the hub, for administrators. */
export const HUB_CONTROL = serviceKey<() => HubControl>()("hubControl");
/** Access to the hub for running calls. */
export const INNER_HUB = serviceKey<InnerHub>()("innerHub");

/** Returns the required authentication, according to the current configuration or to another `[server]`. */
export const ACCESS_PLAN = serviceKey<(server?: object) => AccessPlan>()("accessPlan");

/** Receiver of events for the audit. */
export const AUDIT = serviceKey<Audit>()("audit");
export const LOGGER = serviceKey<Logger>()("logger");
export const SECRETS = serviceKey<SourceSecrets>()("secrets");
/** Returns a text without the secrets of the configuration. */
export const REDACT = serviceKey<(text: string) => string>()("redact");
/** Returns a copy of a JSON value without secrets. JSON text must not be redacted: the result may be invalid JSON. */
export const REDACT_FACTS = serviceKey<(facts: JsonObject) => JsonObject>()("redactFacts");
/**
 * Returns the last `count` lines of the log, oldest first, redacted. With a principal's id, only lines of its calls.
 */
export const LOG_LINES = serviceKey<(count: number, principal?: string) => readonly string[]>()("logLines");
export const CALL_STATISTICS = serviceKey<CallStatistics>()("callStatistics");
export const METRICS = serviceKey<Metrics>()("metrics");
/** The last lines of the log with their facts, and new ones as they are written. */
export const LOG_FEED = serviceKey<LogFeed>()("logFeed");
/** Returns the names of the roles that an identity has, or `undefined` if it needs a role and has none. */
export const ROLE_NAMES = serviceKey<(identity: Identity) => readonly string[] | undefined>()("roleNames");
export const SCOPES = serviceKey<ScopeRules>()("scopes");
export const TASKS = serviceKey<Tasks>()("tasks");
export const SCHEDULES = serviceKey<Schedules>()("schedules");
export const PROFILES = serviceKey<Profiles>()("profiles");
export const MODELS = serviceKey<Models>()("models");
export const SIGN_INS = serviceKey<SignInCoordinator>()("signIns");
/** Returns the agent of the current configuration, or `undefined` if no model is configured. */
export const CHAT = serviceKey<() => Chat | undefined>()("chat");

export const HUB = servingKey<HubPort>()("hub");
export const TOOLS = servingKey<ToolFinder>()("tools");
export const ACCESS = servingKey<Access>()("access");
/** Tool mode of requests that name no tool mode. */
export const TOOL_MODE = servingKey<ToolMode>()("defaultMode");
