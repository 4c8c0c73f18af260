import { bytesOption } from "../../core/text/bytes.ts";
import { durationOption } from "../../core/text/duration.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readGiven, readOptions } from "../../core/options/option-values.ts";
import { present } from "../../core/json/present.ts";
import type { PartialRunSettings, RunSettings } from "../../runtimes/scripts/run-settings.ts";

/** Returns `base` with the members of the tool's own settings. */
export function mergeRunSettings(base: RunSettings, { limits, isolation, run }: PartialRunSettings): RunSettings {
  return {
    limits: { ...base.limits, ...limits },
    isolation: { ...base.isolation, ...isolation },
    run: { ...base.run, ...run },
  };
}

const LimitsSchema = Type.Object(
  {
    memory: Type.Optional(bytesOption({ description: "Maximum memory of one process." })),
    cpu: Type.Optional(
      durationOption({ description: "Maximum CPU time of one process, in whole seconds; waiting does not count." }),
    ),
    procs: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Maximum number of processes and threads of the user; does not limit root, unless isolated.",
      }),
    ),
    files: Type.Optional(Type.Integer({ minimum: 8, description: "Maximum number of open files of one process." })),
    file_size: Type.Optional(bytesOption({ description: "Maximum size of one written file." })),
    output: Type.Optional(
      bytesOption({
        description: "Maximum output of one call, on all its descriptors together. Absent: `max_output`.",
      }),
    ),
  },
  {
    description:
      "Limits of a call other than time, for tools without their own. The operating system enforces them: " +
      "Linux with `prlimit`.",
  },
);

const IsolationSchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Enum(["process", "bwrap"], {
        description: "`bwrap`: behind bubblewrap, where only the tool's folder and the system's programs are visible.",
        default: "process",
      }),
    ),
    network: Type.Optional(
      Type.Boolean({ description: "If true, an isolated tool has network access.", default: false }),
    ),
    read: Type.Optional(
      Type.Array(Type.String(), {
        description: "Further files and folders that an isolated tool may read; relative ones start at its own folder.",
        default: [],
      }),
    ),
    write: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Folders that an isolated tool may write to, created if missing; relative ones start at its own folder.",
        default: [],
      }),
    ),
    program: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Bubblewrap itself: a name on PATH, or a full path.",
        default: "bwrap",
      }),
    ),
  },
  { description: "Isolation of tools from the machine, for tools without their own." },
);

const RunSchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Enum(["spawn", "warm"], {
        description:
          "`spawn`: a process for each call. `warm`: a persistent interpreter, for Python, JavaScript and " +
          "TypeScript.",
        default: "spawn",
      }),
    ),
    workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 32,
        description: "Maximum number of warm interpreters of one tool; each runs one call at a time.",
        default: 2,
      }),
    ),
    max_calls: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Number of calls after which a warm interpreter is replaced.",
        default: 1000,
      }),
    ),
    idle: Type.Optional(
      durationOption({ description: "Time without a call after which a warm interpreter ends.", default: "5m" }),
    ),
  },
  { description: "How often a process is started, for tools that do not set their own." },
);

/** Members of an options schema that set the defaults of a provider's tools. */
export const RUN_OPTIONS = {
  limits: Type.Optional(LimitsSchema),
  isolation: Type.Optional(IsolationSchema),
  run: Type.Optional(RunSchema),
};

/** Option of these providers: the dependencies that are installed for tools without consent. */
export const DEPENDENCIES_OPTION = Type.Optional(
  Type.Enum(["headers", "auto", "never"], {
    description:
      "Packages that the hub installs when it starts. `headers`: those in PEP 723 headers of scripts, if `uv` " +
      "is available. `auto`: also those in requirements.txt and package.json next to tools. `never`: none. " +
      "`toolyard prepare` installs all of them.",
    default: "headers",
  }),
);

/** The three tables of run settings as written. */
export interface RunConfig {
  readonly limits?: Static<typeof LimitsSchema>;
  readonly isolation?: Static<typeof IsolationSchema>;
  readonly run?: Static<typeof RunSchema>;
}

/**
 * Returns a section's values merged with the defaults. `place`: name of the section in errors. Throws an `OptionError`.
 */
export function resolveRunOptions(raw: RunConfig, place: string): RunSettings {
  const { max_calls: maxCalls, idle: idleMs, ...run } = readOptions(RunSchema, raw.run, `${place}.run.`);
  return Object.freeze({
    limits: toLimits(raw.limits, `${place}.`),
    isolation: readOptions(IsolationSchema, raw.isolation, `${place}.isolation.`),
    run: { ...run, maxCalls, idleMs },
  });
}

/** Converts the three tables, already checked, to settings. Throws an `OptionError` for an invalid size or time. */
export function toRunSettings(raw: RunConfig, place = ""): PartialRunSettings {
  const { max_calls: maxCalls, idle: idleMs, ...run } = readGiven(RunSchema, raw.run, `${place}run.`);
  return {
    limits: toLimits(raw.limits, place),
    isolation: readGiven(IsolationSchema, raw.isolation, `${place}isolation.`),
    run: present({ ...run, maxCalls, idleMs }),
  };
}

function toLimits(raw: RunConfig["limits"], place: string): RunSettings["limits"] {
  const limits = readGiven(LimitsSchema, raw, `${place}limits.`);
  return present({
    memoryBytes: limits.memory,
    cpuMs: limits.cpu,
    processes: limits.procs,
    openFiles: limits.files,
    fileBytes: limits.file_size,
    outputBytes: limits.output,
  });
}
