import type { JsonObject } from "../json/json.ts";
import type { ListingShape, Visibility } from "./listing-shape.ts";
import type { Fail } from "../calls/outcome.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/**
 * The origin of records: one upstream server, one set of folders. A tool's identity is the pair (source id, tool name).
 */
export interface Source {
  /** Unique among all sources; the alias in the configuration. */
  readonly id: string;
  readonly kind: ProviderKind;
  /** Prefix of the rendered names; empty for none. */
  readonly namespace: string;
  /** Position in the configuration, for precedence among sources of one kind. */
  readonly order: number;
  /** Limits of requests to the source, unless a tool sets its own. */
  readonly limits?: ToolLimits;
  /** The answer to callers when the server gives none. @default the hub's message */
  readonly outage?: OutageReport;
  /** The server is part of this program, so that its statements about its failures are trusted. @default false */
  readonly isBundled?: boolean;
  /** Configured changes to its list. @default none */
  readonly shape?: ListingShape;
}

/** How a source reports that its server gave no answer. The source kind writes the texts. */
export interface OutageReport {
  /** The message of the failure. */
  readonly message: string;
  /** The text of the tool result. */
  readonly text: string;
  /** Rates how well the name of an unlisted tool fits the source: 0 not at all, `Infinity` if it is configured. */
  fit(toolName: string, source: Source): number;
}

/** Limits of one tool; absent ones default to the source's, then the hub's. */
export interface ToolLimits {
  readonly timeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly maxConcurrent?: number;
  readonly maxResultBytes?: number;
}

export interface ToolRecord {
  readonly source: Source;
  /** The tool's name in its source, never rendered; the provider is called with it. */
  readonly name: string;
  /** The name that callers see instead of `name`, if the configuration renames it. */
  readonly alias?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly keywords: readonly string[];
  readonly visibility: Visibility;
  readonly limits?: ToolLimits;
  /** Further names that resolve to this tool and are never listed. */
  readonly hiddenNames?: readonly string[];
  /**
   * `discovery`: listed if the view hides tools that it can find, and never a search hit itself. `meta`: about the hub;
   * found and called like any other, but hiding only these does not list the discovery tools.
   */
  readonly role?: "discovery" | "meta";
  /** True for the hub's own tool in the list of a source: selections of the source's tools do not affect it. */
  readonly isHubs?: boolean;
  /** Names already contain their namespace (`module.tool`): rendered unchanged, without the source's prefix. */
  readonly qualified?: boolean;
  /**
   * The definition as the source returned it, with every member, known or not; the name is replaced when it is
   * rendered.
   */
  readonly definition: JsonObject;
}

export interface ResourceRecord {
  readonly source: Source;
  readonly uri: string;
  readonly definition: JsonObject;
}

export interface TemplateRecord {
  readonly source: Source;
  readonly uriTemplate: string;
  readonly definition: JsonObject;
}

export interface PromptRecord {
  readonly source: Source;
  readonly name: string;
  readonly definition: JsonObject;
}

/** A reason why one record, or a whole source, is not offered, worded so that the user can fix it. */
export interface Problem {
  /** Source id. */
  readonly source: string;
  /** Tool name, file or URI that the problem is about. */
  readonly subject: string;
  readonly message: string;
  /** The names that callers may use for the withheld thing, if they differ from the subject. */
  readonly names?: readonly string[];
  /** True if it is offered, but under another name. @default false */
  readonly renamed?: boolean;
  /** True if it is offered without a member that clients would refuse. @default false */
  readonly repaired?: boolean;
  /**
   * True if it is not offered because the hub lacks a feature that it needs, so that there is nothing to fix. @default
   * false
   */
  readonly unsupported?: boolean;
  /** The reason why it is not offered: the text after a "because". */
  readonly withheld?: string;
}

/** A problem without its source. */
export type ProblemDetails = Omit<Problem, "source">;

/**
 * Returns the problem of something that is not offered. `names`: the names that callers may use, if they differ from
 * the subject.
 */
export function notOffered(subject: string, reason: string, names: readonly string[] = []): ProblemDetails {
  return { subject, message: `not offered: ${reason}`, withheld: reason, ...(names.length > 0 && { names }) };
}

/** Everything that one source offers at one moment. Immutable; an unchanged source returns the same object again. */
export interface Listing {
  readonly tools: readonly ToolRecord[];
  readonly resources: readonly ResourceRecord[];
  readonly templates: readonly TemplateRecord[];
  readonly prompts: readonly PromptRecord[];
  /** True if the lists are in an order of the source's choice, which is kept; otherwise they are shown by name. */
  readonly isOrdered?: boolean;
  /** The usage text of the source's server, if it has one. */
  readonly instructions?: string;
  /** Server capabilities besides lists that the source offers. */
  readonly features: SourceFeatures;
  /** True if the list is for this caller only, so that intermediaries must not cache it for others. @default false */
  readonly isPrivate?: boolean;
  /** The server's description of itself, if there is a server. */
  readonly server?: ServerSelf;
  readonly problems: readonly Problem[];
  /** Names of tools that the configuration excludes. */
  readonly excluded?: readonly string[];
  /** Present if no entry of the source itself is listed: the answer to a call by one of its names. */
  readonly withheld?: Fail;
}

/** A source's server as its handshake described it. */
export interface ServerSelf {
  /** MCP's `serverInfo`. */
  readonly info: JsonObject;
  /** MCP's `capabilities`, without those that the hub does not pass on. */
  readonly capabilities: JsonObject;
}

export interface SourceFeatures {
  readonly completions: boolean;
  readonly subscribe: boolean;
  readonly logging: boolean;
}

export const NO_FEATURES: SourceFeatures = Object.freeze({ completions: false, subscribe: false, logging: false });

export const EMPTY_LISTING: Listing = Object.freeze({
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  features: NO_FEATURES,
  problems: [],
});
