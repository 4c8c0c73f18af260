// The operations of `/api/admin`, each with the types of its request body and of its answer. The compiler checks the
// handlers against this table. The build writes the JSON Schemas of the OpenAPI document from it (see
// `scripts/admin-schemas.mjs`), with the comments as descriptions. It contains only types.
import type { Approval, ApprovalRow, SignInRow, StartedSignIn } from "../access-types.ts";
import type {
  ActionResult,
  CallerRow,
  CallList,
  HubRow,
  JsonValues,
  LogList,
  NewSource,
  Overview,
  ProfileRow,
  PromptRow,
  ResourceList,
  RunResult,
  SessionInfo,
  SourceDetail,
  SourceEdit,
  SourceSummary,
  ToolDetail,
  ToolList,
} from "../api-types.ts";
import type { OpenedApp } from "../app-types.ts";
import type {
  SettingsCheck,
  SettingsDraft,
  SettingsEdit,
  SettingsInfo,
  SettingsSave,
  SettingsSaved,
} from "../settings/settings-types.ts";
import type { NewTask, ScheduleRow, StoredCalls, TaskDetail, TaskRow } from "../task-types.ts";
import type { NewUser, ProfileDetail, SetPassword, UserList } from "../user-types.ts";
import type { AgentAnswer, ChatMessage, CodeTool } from "../work-types.ts";

/**
 * Key: method, and path below `/api/admin`. `body` is absent if the operation reads no body. `events`: the events of
 * the answer for `Accept: text/event-stream`.
 */
export interface AdminContract {
  readonly "GET ": { readonly answer: OperationList };
  readonly "GET session": { readonly answer: SessionInfo };
  readonly "POST links": { readonly answer: ConsoleLink };
  readonly "GET events": { readonly events: "`hello`, `state`, `call`, `figures`, `log`, `resource`" };
  readonly "GET overview": { readonly answer: Overview };
  readonly "GET hubs": { readonly answer: { readonly hubs: readonly HubRow[] } };

  readonly "GET sources": { readonly answer: { readonly sources: readonly SourceSummary[] } };
  readonly "GET sources/*": { readonly answer: SourceDetail };
  readonly "POST sources": { readonly body: NewSource; readonly answer: ActionResult };
  readonly "POST sources/*/restart": { readonly answer: ActionResult };
  readonly "POST sources/*/refresh": { readonly answer: ActionResult };
  readonly "POST sources/*/enable": { readonly answer: ActionResult };
  readonly "POST sources/*/disable": { readonly answer: ActionResult };
  readonly "PUT sources/*": { readonly body: SourceEdit; readonly answer: SettingsSaved };
  readonly "DELETE sources/*": { readonly answer: ActionResult };

  readonly "GET settings": { readonly answer: SettingsInfo };
  readonly "GET settings/schema": { readonly answer: JsonValues };
  readonly "GET settings/versions/*": { readonly answer: SettingsText };
  readonly "POST settings/check": { readonly body: SettingsDraft; readonly answer: SettingsCheck };
  readonly "POST settings/edit": { readonly body: SettingsEdit; readonly answer: SettingsText };
  readonly "PUT settings": { readonly body: SettingsSave; readonly answer: SettingsSaved };
  readonly "POST settings/undo": { readonly body: Omit<SettingsSave, "text">; readonly answer: SettingsSaved };

  readonly "GET tools": { readonly answer: ToolList };
  readonly "GET tools/*": { readonly answer: ToolDetail };
  readonly "POST tools/*": {
    /** Arguments of the tool. */
    readonly body: JsonValues;
    readonly answer: RunResult;
    readonly events: RunEvents;
  };
  readonly "GET resources": { readonly answer: ResourceList };
  readonly "POST resources/read": {
    readonly body: { readonly uri: string };
    readonly answer: RunResult;
    readonly events: RunEvents;
  };
  readonly "GET prompts": { readonly answer: { readonly prompts: readonly PromptRow[] } };
  readonly "POST prompts/*": {
    /** Arguments of the prompt. */
    readonly body: Readonly<Record<string, string>>;
    readonly answer: RunResult;
    readonly events: RunEvents;
  };
  readonly "POST complete": {
    readonly body: CompletionRequest;
    readonly answer: RunResult;
    readonly events: RunEvents;
  };

  readonly "GET calls": { readonly answer: CallList };
  readonly "GET calls/stored": { readonly answer: StoredCalls };
  readonly "GET logs": { readonly answer: LogList };
  readonly "GET profiles": { readonly answer: { readonly profiles: readonly ProfileRow[] } };
  readonly "GET profiles/*": { readonly answer: ProfileDetail };
  readonly "GET callers": { readonly answer: { readonly callers: readonly CallerRow[] } };

  readonly "GET sign-ins": { readonly answer: { readonly signIns: readonly SignInRow[] } };
  readonly "POST sign-ins/*": { readonly answer: StartedSignIn };
  readonly "DELETE sign-ins/*": { readonly answer: ActionResult };
  readonly "GET approvals": { readonly answer: { readonly approvals: readonly ApprovalRow[] } };
  readonly "POST approvals/*/*": { readonly body: Approval; readonly answer: ActionResult };

  readonly "POST chat": {
    readonly body: ChatMessage;
    readonly answer: AgentAnswer;
    readonly events: "`step`, `text`, `reasoning`, `call`, `result`, then `reply` or `error`";
  };
  readonly "GET code/tools": { readonly answer: { readonly tools: readonly CodeTool[] } };
  readonly "POST apps": { readonly body: { readonly tool: string }; readonly answer: OpenedApp };

  readonly "GET users": { readonly answer: UserList };
  readonly "POST users": { readonly body: NewUser; readonly answer: SetPassword };
  readonly "POST users/*/password": { readonly body: Pick<NewUser, "password">; readonly answer: SetPassword };
  readonly "POST users/*/sign-out": { readonly answer: ActionResult };
  readonly "DELETE users/*": { readonly answer: ActionResult };
  readonly "DELETE clients/*": { readonly answer: ActionResult };

  readonly "GET tasks": { readonly answer: { readonly tasks: readonly TaskRow[] } };
  readonly "POST tasks": { readonly body: NewTask; readonly answer: TaskDetail };
  readonly "GET tasks/*": { readonly answer: TaskDetail };
  readonly "POST tasks/*/input": {
    /** Answers by key of the server request, such as `{"action": "accept", "content": {}}`. */
    readonly body: Readonly<Record<string, JsonValues>>;
    readonly answer: TaskDetail;
  };
  readonly "DELETE tasks/*": { readonly answer: TaskDetail };
  readonly "GET schedules": { readonly answer: { readonly schedules: readonly ScheduleRow[] } };
  readonly "GET schedules/*": { readonly answer: ScheduleRow };
  readonly "POST schedules/*": { readonly answer: TaskDetail };
  readonly "DELETE schedules/*": { readonly answer: { readonly cancelled: number } };
}

type RunEvents = "`progress` and `log`, then `result` or `error`";

/** `GET /api/admin` */
export interface OperationList {
  readonly routes: readonly {
    readonly method: "GET" | "POST" | "PUT" | "DELETE";
    /** Path below `/api/admin`; `*` is one variable part. */
    readonly path: string;
    readonly summary: string;
  }[];
}

/** `POST links` */
export interface ConsoleLink {
  /** Address of the console. Its fragment signs in a browser once. */
  readonly url: string;
  /** Seconds after which the link expires. Absent if the hub needs no sign-in. */
  readonly validSeconds?: number;
}

/** Text of a configuration file, with a placeholder for each secret. */
export interface SettingsText {
  readonly text: string;
}

/** Body of `POST complete`, as in MCP. */
export interface CompletionRequest {
  readonly ref: {
    readonly type: "ref/prompt" | "ref/resource";
    /** Name of the prompt. */
    readonly name?: string;
    /** URI or template of the resource. */
    readonly uri?: string;
  };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}
