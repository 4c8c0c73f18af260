import type { JsonObject } from "../json/json.ts";
import type { ListingShape, Visibility } from "./listing-shape.ts";
import type { Fail } from "../calls/outcome.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/**
 * Where records come from: one upstream server, one set of folders. Identity of a tool is the pair (source id, tool
 * name).
 */
export interface Source {
  /** Unique among all sources; the alias in configuration. */
  readonly id: string;
  readonly kind: ProviderKind;
  /** Prefix of the rendered names; empty for none. */
  readonly namespace: string;
  /** Place in the configuration, for precedence among sources of one kind. */
  readonly order: number;
  /** Bounds of whatever the source is asked for, where a tool sets none of its own. */
  readonly limits?: ToolLimits;
  /** What callers get when the server gives no answer. @default the hub's message */
  readonly outage?: OutageReport;
  /** The server is a part of this program, so that what it says about its failures counts. @default false */
  readonly isBundled?: boolean;
  /** What the configuration makes of its list. @default nothing */
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

/** Bounds of one tool; what is absent follows the source, then the hub. */
export interface ToolLimits {
  readonly timeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly maxConcurrent?: number;
  readonly maxResultBytes?: number;
}

export interface ToolRecord {
  readonly source: Source;
  /** The tool's name in its source, never rendered; what the provider is called with. */
  readonly name: string;
  /** What callers see in place of `name`, where configuration renames it. */
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
   * `discovery`: listed when the view needs a way to what it hides, and never a search hit itself. `meta`: tells about
   * the hub; found and called like any other, but hiding it alone is no reason to list the discovery tools.
   */
  readonly role?: "discovery" | "meta";
  /** The hub's own, in the list of a source: what is chosen of the source's tools says nothing of it. */
  readonly isHubs?: boolean;
  /** Names already carry their namespace (`module.tool`): rendered as they stand, without the source's prefix. */
  readonly qualified?: boolean;
  /**
   * The definition as the source gave it, with every member, known or not; the name is replaced when it is rendered.
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

/** Something that keeps one record, or a whole source, from being offered, said so that it can be mended. */
export interface Problem {
  /** Source id. */
  readonly source: string;
  /** Tool name, file or URI that the problem is about. */
  readonly subject: string;
  readonly message: string;
  /** What callers may call that which is not offered because of it, where that is not the subject. */
  readonly names?: readonly string[];
  /** It is offered all the same, under another name. @default false */
  readonly renamed?: boolean;
  /** It is offered without a member that clients would refuse. @default false */
  readonly repaired?: boolean;
  /** It is not offered since the hub does not serve what it needs, so nobody has to mend it. @default false */
  readonly unsupported?: boolean;
  /** It is not offered, and this is why: what follows a "because". */
  readonly withheld?: string;
}

/** What a problem says, without whose it is. */
export type ProblemDetails = Omit<Problem, "source">;

/** What is told of something that is not offered. `names`: what callers may call it, where that is not the subject. */
export function notOffered(subject: string, reason: string, names: readonly string[] = []): ProblemDetails {
  return { subject, message: `not offered: ${reason}`, withheld: reason, ...(names.length > 0 && { names }) };
}

/** Everything one source offers at one moment. Immutable; an unchanged source hands out the same object again. */
export interface Listing {
  readonly tools: readonly ToolRecord[];
  readonly resources: readonly ResourceRecord[];
  readonly templates: readonly TemplateRecord[];
  readonly prompts: readonly PromptRecord[];
  /** The lists stand in an order of the source's choice, which is kept; otherwise they are shown by name. */
  readonly isOrdered?: boolean;
  /** What the source's server says about its use, if it says something. */
  readonly instructions?: string;
  /** Server capabilities beyond the lists that the source offers. */
  readonly features: SourceFeatures;
  /** What it lists is for this one caller, so nobody on the way may keep it for others. @default false */
  readonly isPrivate?: boolean;
  /** What the source's server says of itself, where there is one. */
  readonly server?: ServerSelf;
  readonly problems: readonly Problem[];
  /** Names of tools that the configuration leaves out. */
  readonly excluded?: readonly string[];
  /** Nothing of the source's own is listed, and this is what a call by one of its names is answered. */
  readonly withheld?: Fail;
}

/** A server of a source as its handshake described it. */
export interface ServerSelf {
  /** MCP's `serverInfo`. */
  readonly info: JsonObject;
  /** MCP's `capabilities`, without those that do not cross the hub. */
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
