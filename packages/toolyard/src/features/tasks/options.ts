import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import type { Subject } from "../../core/ports/permission.ts";
import { durationOption } from "../../core/text/duration.ts";
import { bytesOption } from "../../core/text/bytes.ts";

const MODES = ["never", "auto", "always"] as const;
const TOOL_MODES = [...MODES, "required"] as const;

/**
 * Mode of a tool. `never`: the request waits for the result. `auto`: a long call becomes a task. `always`: every call
 * becomes a task. `required`: like `always`, and clients of 2026-07-28 that do not declare tasks are refused.
 */
export type TaskMode = (typeof TOOL_MODES)[number];

const TasksSchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Enum(MODES, {
        description:
          "Which calls become tasks, for clients that declare the extension `io.modelcontextprotocol/tasks`. " +
          "`auto`: calls that take longer than `after`. `always`: every call. `never`: none. Other clients wait for " +
          "the result.",
        default: "auto",
      }),
    ),
    after: Type.Optional(
      durationOption({ description: "Duration of a call after which it becomes a task with `auto`.", default: "10s" }),
    ),
    tools: Type.Optional(
      Type.Record(Type.Enum(TOOL_MODES), {
        description:
          "Modes of single tools, by pattern as in `[server.tokens.<name>] allow`: `report_*`, `jira::*` (all tools " +
          "of the source jira). The first matching pattern decides. `required`: as `always`, and modern clients " +
          "without the extension get an error. Default: `mode`.",
        default: {},
      }),
    ),
    ttl: Type.Optional(
      durationOption({ description: "Time after its end for which a task can be read.", default: "24h" }),
    ),
    max_tasks: Type.Optional(
      Type.Integer({
        description: "Maximum number of stored tasks of one hub. The oldest finished task is removed first.",
        default: 1000,
        minimum: 1,
      }),
    ),
    max_running: Type.Optional(
      Type.Integer({
        description:
          "Maximum number of unfinished tasks of one caller, on all hubs of a store together. Further calls wait for " +
          "their result instead.",
        default: 50,
        minimum: 1,
      }),
    ),
    max_stored: Type.Optional(
      bytesOption({
        description:
          "Maximum size of the results of all tasks of one hub together. The oldest finished task is removed first.",
        default: "64MB",
      }),
    ),
  },
  { description: "Calls that continue after their request ended (MCP extension tasks, REST, command line)." },
);

export const TASK_SECTIONS = { tasks: Type.Optional(TasksSchema) };

export type TasksConfig = Static<typeof TasksSchema>;

/** Sections of the configuration that tasks read. */
export interface TaskReads {
  readonly tasks?: TasksConfig;
}

export interface TaskOptions {
  readonly mode: TaskMode;
  readonly afterMs: number;
  readonly ttlMs: number;
  readonly maxTasks: number;
  readonly maxRunning: number;
  readonly maxStoredBytes: number;
  /** False if no call can become a task. */
  readonly isOffered: boolean;
  /** True if the mode of some tools is `required`. */
  readonly hasRequired: boolean;
  /** Returns the mode of a tool. */
  modeOf(subject: Subject): TaskMode;
  /**
   * Returns true if lists shall state that a tool supports tasks: its server states it, or the configuration names the
   * tool or a mode. `findSubject` is called only if the configuration has patterns.
   */
  supports(isDeclared: boolean, findSubject: () => Subject | undefined): boolean;
}

/** Throws an `OptionError` for an invalid pattern. */
export function resolveTasks(raw: TasksConfig = {}): TaskOptions {
  const options = readOptions(TasksSchema, raw, "tasks.");
  const rules = Object.entries(options.tools).map(([pattern, mode]) => {
    if (pattern.trim() === "")
      throw new OptionError("`tasks.tools` has an empty pattern. Write a name such as `report_*`.");
    return { mode, permission: permissionOf({ allow: [pattern] }) };
  });
  const ruleFor = (subject: Subject) => rules.find(({ permission }) => permission.permits(subject))?.mode;
  return Object.freeze({
    mode: options.mode,
    afterMs: options.after,
    ttlMs: options.ttl,
    maxTasks: options.max_tasks,
    maxRunning: options.max_running,
    maxStoredBytes: options.max_stored,
    isOffered: [options.mode, ...rules.map(({ mode }) => mode)].some((mode) => mode !== "never"),
    hasRequired: rules.some(({ mode }) => mode === "required"),
    modeOf: (subject: Subject) => ruleFor(subject) ?? options.mode,
    supports: (isDeclared: boolean, findSubject: () => Subject | undefined) => {
      const subject = rules.length > 0 ? findSubject() : undefined;
      const rule = subject && ruleFor(subject);
      if ((rule ?? options.mode) === "never") return false;
      return isDeclared || rule !== undefined || raw.mode !== undefined;
    },
  });
}
