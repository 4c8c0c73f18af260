// The contract of `/api/admin`: paths, and the JSON types of their answers. The page imports this file, so it imports
// nothing itself. Paths are relative to `/api/admin`. Failures are `{error: {kind, message, retryable}}`, as on REST.

/** Header that requests of a browser session carry: the key of the session, which only the page has. */
export const KEY_HEADER = "x-toolyard-console";

/**
 * Header that names the hub of a store that answers the request. Another hub passes the request on. 410: the hub has
 * ended.
 */
export const HUB_HEADER = "x-toolyard-console-hub";

export type JsonValues = Readonly<Record<string, unknown>>;

/** `GET session` */
export interface SessionInfo {
  readonly title: string;
  readonly version: string;
  /** `open`: no credentials are needed. `session`: a cookie of this browser. `token`: an `Authorization` header. */
  readonly by: "open" | "session" | "token";
  readonly caller: { readonly id: string; readonly name?: string; readonly roles: readonly string[] };
  /**
   * True if the caller's rights are not narrowed. If false, the page shows only tools, resources, prompts and the
   * caller's own calls.
   */
  readonly seesAll: boolean;
  /** True if the caller may change sources and settings. */
  readonly mayChange: boolean;
  /**
   * Limits of an administrator with narrowed rights, one line for each. The page then explains why it does not show the
   * hub.
   */
  readonly adminLimits?: readonly string[];
  /** True if the hub has no authentication. Nothing can then be changed in the console. */
  readonly isReadOnlyHub: boolean;
  /** True if the caller may use `execute_code`. */
  readonly hasCode: boolean;
  /** True if a language model is configured. */
  readonly hasChat: boolean;
  /** Address of the MCP endpoint. */
  readonly mcpUrl: string;
  /** Configuration files in force; empty if `seesAll` is false. */
  readonly files: readonly string[];
  /** Id of the hub that answers. Absent if the hub shares no store with others. */
  readonly hub?: string;
}

/** `GET hubs`: `{hubs: HubRow[]}`: the hubs of the store that serve the console. The first one answers. */
export interface HubRow {
  readonly id: string;
  /** Address at which other hubs reach it (`store.advertise`). */
  readonly url?: string;
  /** True if its configuration differs from that of the hub that answers, except for settings of one machine. */
  readonly isDifferent: boolean;
}

export type SourceState = "starting" | "ready" | "degraded" | "down" | "needs_authorisation" | "disabled" | "closed";

/** `GET sources`: `{sources: SourceSummary[]}` */
export interface SourceSummary {
  readonly id: string;
  readonly kind: string;
  readonly state: SourceState;
  /** Reason why the source is not ready, in one sentence. */
  readonly reason?: string;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly restarts: number;
  /** Start of the current state (ISO 8601). */
  readonly since?: string;
  /** Present while the source downloads something: the last line of its progress. */
  readonly installing?: string;
  readonly problems: readonly SourceProblem[];
  readonly calls: CallFigures;
  /** File that configures the source. @default the source is not configured in a file */
  readonly file?: string;
  /** True if the console can change the entry. */
  readonly isEditable: boolean;
  /** Address of the sign-in page, if the source supports sign-in. */
  readonly signIn?: string;
}

export interface SourceProblem {
  readonly subject: string;
  readonly message: string;
  /** `changed`: a pinned definition differs. `repaired`, `renamed`: offered with a change. */
  readonly severity: "fault" | "changed" | "repaired" | "renamed";
}

/** `GET sources/{id}` */
export interface SourceDetail extends SourceSummary {
  /** Last lines of stderr, oldest first. */
  readonly stderr: readonly string[];
  readonly pid?: number;
  /** Protocol revision, era, server name and version, endpoint, folder. */
  readonly info: JsonValues;
  readonly toolNames: readonly string[];
  /** Entry in the configuration file, with a placeholder for each secret. */
  readonly entry?: JsonValues;
  /** Path of the entry in the file, such as `["mcp", "stdio_servers", "files"]`. */
  readonly entryPath?: readonly string[];
  /** Digest of the file. A change of the entry names the digest that it is based on. */
  readonly digest?: string;
  /** Reason why the console cannot change the entry. */
  readonly readOnlyReason?: string;
  /** Commands of the command-line program that do the same as the actions. */
  readonly commands: readonly string[];
}

/** `POST sources/{id}/restart|refresh|enable|disable`, `POST sources`, `PUT sources/{id}`, `DELETE sources/{id}` */
export interface ActionResult {
  readonly done: true;
  /** File that was changed. @default none */
  readonly file?: string;
  /** One sentence for the user. */
  readonly message: string;
}

/** Body of `PUT sources/{id}`: the whole entry. Members that it does not have are removed. */
export interface SourceEdit {
  readonly entry: JsonValues;
  readonly digest: string;
}

/** Body of `POST sources`: a server on stdio (`command`) or a remote one (`url`). */
export interface NewSource {
  readonly name: string;
  /** Program and arguments; one word with blanks is a command line. */
  readonly command?: readonly string[];
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Name of the variable that holds the bearer token. */
  readonly tokenEnv?: string;
}

/**
 * Number of calls, with percentiles of the duration in milliseconds, which are computed from the calls that are kept.
 */
export interface CallFigures {
  readonly calls: number;
  readonly errors: number;
  readonly p50?: number;
  readonly p95?: number;
  readonly p99?: number;
}

/** `GET overview` */
export interface Overview {
  readonly status: "ok" | "attention";
  readonly version: string;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly memoryBytes: number;
  readonly states: Readonly<Partial<Record<SourceState, number>>>;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  /** Figures since the start of the hub. */
  readonly calls: CallFigures;
  /** Calls and errors of the last 60 minutes, oldest first. */
  readonly minutes: readonly { readonly calls: number; readonly errors: number }[];
  readonly attention: readonly Attention[];
}

export interface Attention {
  readonly kind:
    | "sign_in"
    | "failing"
    | "changed_tool"
    | "withheld_tool"
    | "configuration"
    | "refused_configuration"
    | "failed_schedule"
    | "failed_task"
    | "waiting_task";
  /** Id of the source, or name of the schedule or tool, that needs attention. */
  readonly source?: string;
  /** Id of the task. */
  readonly task?: string;
  readonly text: string;
  /** Address at which the user can solve the problem, such as a sign-in page. */
  readonly link?: string;
}

/** `GET tools?query=&server=&offset=&limit=` */
export interface ToolList {
  readonly tools: readonly ToolRow[];
  readonly total: number;
  readonly offset: number;
  /** Version of the list. It changes if and only if the list changes. */
  readonly version: string;
  /** Suggestions if nothing matched. */
  readonly near?: readonly string[];
}

export interface ToolRow {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly source?: string;
  /** Score of a search hit: 0 to 1, and the parts of the score. */
  readonly score?: number;
  readonly why?: {
    readonly words: number;
    readonly meaning: number;
    readonly neighbours: number;
    readonly server: number;
  };
}

/** `GET tools/{name}` */
export interface ToolDetail {
  readonly name: string;
  readonly source?: string;
  /** Definition of the tool as MCP lists it. */
  readonly definition: JsonValues;
  readonly calls: CallFigures;
}

/**
 * `POST tools/{name}` with the arguments as body. With `Accept: text/event-stream`: events `progress`, `log`, then
 * `result` or `error`.
 */
export interface RunResult {
  /** MCP's whole result. */
  readonly result: JsonValues;
  readonly durationMs: number;
}

/** `GET resources` */
export interface ResourceList {
  readonly resources: readonly ResourceRow[];
  readonly templates: readonly TemplateRow[];
}

export interface ResourceRow {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

export interface TemplateRow extends Omit<ResourceRow, "uri" | "size"> {
  /** RFC 6570 */
  readonly uriTemplate: string;
}

/** `GET prompts`: `{prompts: PromptRow[]}` */
export interface PromptRow {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

/** Stages of the pipeline in the order in which a call passes them. */
export const STAGES = ["resolve", "authorise", "validate", "admit", "guard", "execute", "finish"] as const;

/** `GET calls?tool=&who=&outcome=&source=&limit=`: `{calls: CallRecord[], total}`, newest first. */
export interface CallRecord {
  /** Number of the call in this hub, from 1. */
  readonly number: number;
  readonly id: string;
  /** ISO 8601 */
  readonly time: string;
  readonly who: string;
  readonly client?: string;
  readonly endpoint: string;
  readonly method: string;
  readonly target: string;
  readonly source?: string;
  /** `ok` or an outcome code. */
  readonly outcome: string;
  readonly durationMs: number;
  /**
   * Duration of each stage in milliseconds, in the order of `STAGES`. Stages that the call did not reach are missing at
   * the end.
   */
  readonly stages: readonly number[];
  readonly attempts: number;
  readonly resultBytes: number;
  /** Id of the call that made this call. */
  readonly parent?: string;
}
export interface CallList {
  readonly calls: readonly CallRecord[];
  /** Number of this caller's calls since the start of the hub. */
  readonly total: number;
}

/** `GET logs?level=&source=&text=&limit=`: oldest first. */
export interface LogRecord {
  readonly number: number;
  readonly time: string;
  readonly level: "debug" | "info" | "warning" | "error";
  readonly text: string;
  readonly source?: string;
}
export interface LogList {
  readonly lines: readonly LogRecord[];
}

/** `GET profiles`: `{profiles: ProfileRow[]}` */
export interface ProfileRow {
  readonly name: string;
  readonly title?: string;
  readonly url: string;
  readonly toolMode?: string;
  readonly roles?: readonly string[];
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly rights: string;
}

/** `GET callers`: tokens, users and clients that have called, and those of the configuration. */
export interface CallerRow {
  readonly id: string;
  readonly kind: "local" | "token" | "user" | "client";
  readonly name: string;
  readonly rights?: string;
  readonly roles: readonly string[];
  readonly calls: CallFigures;
  /** Names of the caller's programs, as the programs report them. */
  readonly programs: readonly string[];
  /** ISO 8601 */
  readonly lastCall?: string;
}

/**
 * `GET events?topics=calls,logs,state`: server-sent events, resumed by `Last-Event-ID`. The first event is `hello`. It
 * contains the start time of the hub, so that a page detects a restart.
 */
export interface EventTypes {
  readonly hello: { readonly startedAt: string };
  /** Sent when sources, lists or the configuration changed. The page then reads them again. */
  readonly state: { readonly what: "sources" | "lists" | "tasks" };
  readonly call: CallRecord;
  /**
   * Sent at most once a second: totals, and the number of calls and log lines that were not sent because there were too
   * many.
   */
  readonly figures: { readonly calls: number; readonly errors: number; readonly skipped: number };
  readonly log: LogRecord;
  /** With `topics=resource&uri=…`: the resource changed. Read it again. */
  readonly resource: { readonly uri: string };
}
