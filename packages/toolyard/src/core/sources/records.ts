import type { JsonObject } from "../json/json.ts";
import type { ListingShape, Visibility } from "./listing-shape.ts";
import type { Fail } from "../calls/outcome.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/**
 * Origin of records: one upstream server, or one set of folders. A tool's identity is the pair (source id, tool name).
 */
export interface Source {
  /** Id that is unique among all sources: the alias in the configuration. */
  readonly id: string;
  readonly kind: ProviderKind;
  /** Prefix of rendered names. Empty: no prefix. */
  readonly namespace: string;
  /** Position in the configuration, which determines precedence among sources of one kind. */
  readonly order: number;
  /** Limits of requests to the source, unless a tool has its own limits. */
  readonly limits?: ToolLimits;
  /** Texts for callers if the server gives no answer. @default the hub's message */
  readonly outage?: OutageReport;
  /** True if the server is part of this program, so that its messages about failures are trusted. @default false */
  readonly isBundled?: boolean;
  /** Configured changes to the source's list. @default none */
  readonly shape?: ListingShape;
}

/** Texts with which a source reports that its server gave no answer. The source kind writes them. */
export interface OutageReport {
  /** Message of the failure. */
  readonly message: string;
  /** Text of the tool result. */
  readonly text: string;
  /**
   * Returns how well an unlisted tool name fits the source: 0 if not at all, `Infinity` if the configuration of the
   * source contains the name.
   */
  fit(toolName: string, source: Source): number;
}

/** Limits of one tool. Defaults are the limits of the source, then those of the hub. */
export interface ToolLimits {
  readonly timeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly maxConcurrent?: number;
  readonly maxResultBytes?: number;
}

export interface ToolRecord {
  readonly source: Source;
  /** Name of the tool in its source, with which the provider is called; never a rendered name. */
  readonly name: string;
  /** Name that callers see instead of `name`, if the configuration renames the tool. */
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
   * Role of one of the hub's tools. `discovery` tools are listed if the view hides tools that they can find, and are
   * never search results. `meta` tools are about the hub; they are found and called like other tools, but they alone do
   * not cause the discovery tools to be listed.
   */
  readonly role?: "discovery" | "meta";
  /**
   * True for a tool of the hub itself in the list of a source. `include` and `exclude` of the source do not affect it.
   */
  readonly isHubs?: boolean;
  /**
   * True if the name contains its namespace (`module.tool`). It is then rendered unchanged, without the source's
   * prefix.
   */
  readonly qualified?: boolean;
  /**
   * Definition as the source returned it, with all members, known or not. The name is replaced when the definition is
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

/** Reason why one record, or a whole source, is not offered, with the way to fix it. */
export interface Problem {
  /** Id of the source. */
  readonly source: string;
  /** Tool name, file or URI that the problem is about. */
  readonly subject: string;
  readonly message: string;
  /** Names by which callers may call the withheld record, if they differ from the subject. */
  readonly names?: readonly string[];
  /** True if the record is offered under another name. @default false */
  readonly renamed?: boolean;
  /** True if the record is offered without a member that clients would refuse. @default false */
  readonly repaired?: boolean;
  /** True if the definition is not the approved one, or has changed since it was last read. @default false */
  readonly changed?: boolean;
  /** Reason why the record is not offered, as a clause that can follow "because". */
  readonly withheld?: string;
}

/** A problem without its source. */
export type ProblemDetails = Omit<Problem, "source">;

/**
 * Returns the problem of a record that is not offered. `names`: names that callers may use, if they differ from the
 * subject.
 */
export function notOffered(subject: string, reason: string, names: readonly string[] = []): ProblemDetails {
  return { subject, message: `not offered: ${reason}`, withheld: reason, ...(names.length > 0 && { names }) };
}

/** Everything that one source offers at one moment. Immutable. An unchanged source returns the same object. */
export interface Listing {
  readonly tools: readonly ToolRecord[];
  readonly resources: readonly ResourceRecord[];
  readonly templates: readonly TemplateRecord[];
  readonly prompts: readonly PromptRecord[];
  /**
   * True if the source chose the order of its lists, which is then kept. Otherwise the lists are shown in the order of
   * the names.
   */
  readonly isOrdered?: boolean;
  /** Instructions of the source's server, if it has any. */
  readonly instructions?: string;
  /** Server capabilities that the source supports, apart from lists. */
  readonly features: SourceFeatures;
  /** True if the list is for this caller only, so that intermediaries must not cache it for others. @default false */
  readonly isPrivate?: boolean;
  /** Server info from the handshake, if there is a server. */
  readonly server?: ServerSelf;
  readonly problems: readonly Problem[];
  /** Names of the tools that the configuration excludes. */
  readonly excluded?: readonly string[];
  /** Present if the source lists no entries: the failure of every call that uses one of its names. */
  readonly withheld?: Fail;
}

/** Server of a source as its handshake described it. */
export interface ServerSelf {
  /** `serverInfo` of MCP. */
  readonly info: JsonObject;
  /** `capabilities` of MCP, without those that the hub does not pass on. */
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
