import { Emitter } from "../../core/events.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type {
  ListingRequest,
  Preparation,
  Provider,
  ProviderEvents,
  ProviderStatus,
  ResolvedCall,
} from "../../core/sources/provider.ts";
import {
  EMPTY_LISTING,
  type Listing,
  notOffered,
  type Problem,
  type Source,
  type ToolLimits,
  type ToolRecord,
  type ProblemDetails,
} from "../../core/sources/records.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";
import { childEnvironment, searchEnvironment } from "../../process/environment.ts";
import type { HubPorts } from "../../runtimes/calling/hub-access.ts";
import { missingCommands } from "../../runtimes/scripts/command-line.ts";
import { ScriptHost } from "../../runtimes/scripts/script-host.ts";
import type { RunSettings } from "../../runtimes/scripts/run-settings.ts";
import type { FolderReader } from "./node.ts";
import type { Installs } from "../installs.ts";
import { Preparations, type Dependencies } from "./prepare/preparations.ts";
import type { ToolRequirements } from "./prepare/needs.ts";
import { unsetProblem } from "./run-tables.ts";
import { findUnfit, isDemanding, type Unfit } from "./fitness.ts";
import { FolderSweep, type SweepResult } from "./sweep.ts";

/** A folder tool: its definition and the data to run it, from one reading. Plain data. */
export interface FolderTool {
  readonly name: string;
  /** Path from the tools folder, for messages. */
  readonly place: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly visibility: Visibility;
  readonly limits: ToolLimits;
  readonly settings: RunSettings;
  /** Definition for MCP callers; `inputSchema` is an object schema. */
  readonly definition: JsonObject;
  /** Commands of which one must exist on this machine; empty if the tool needs none. */
  readonly needs: readonly string[];
  /** Environment variables of the hub without which the tool is not offered. */
  readonly required: readonly string[];
}

export interface FolderContent<T extends FolderTool> {
  readonly tools: readonly T[];
  readonly problems: readonly ProblemDetails[];
}

/** Dependencies of a provider of folder tools. */
export interface FolderServices extends HubPorts, PrepareServices {
  readonly logger: Logger;
}

/** Dependencies for installs. Without `installs`, nothing is installed and script headers have no effect. */
export interface PrepareServices {
  /** Installs the requirements of folder tools. */
  readonly installs?: () => Promise<Installs>;
  /** Folder of the environments for script headers. */
  readonly environmentsFolder?: string;
  /** Variables of the hub's own environment, for proxies and certificates. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** True: nothing is installed unless requested. */
  readonly lazy?: boolean | undefined;
}

export interface FolderProviderOptions<T extends FolderTool> {
  readonly source: Source;
  readonly logger: Logger;
  readonly roots: readonly string[];
  readonly reader: FolderReader<FolderContent<T>>;
  readonly libraries: readonly string[];
  readonly maxOutputBytes: number;
  readonly ports: HubPorts;
  readonly dependencies: Dependencies;
  readonly services: PrepareServices;
  /** Returns the code of a tool. Returns `undefined` if the hub does not choose an interpreter for it. */
  codeOf(tool: T): ToolRequirements | undefined;
  /** Default time limit of tools; absent: the hub's limit. */
  readonly timeoutMs: number | undefined;
  /**
   * Returns the tools that cannot be offered, by place, with reasons. Only for checks that must read the tools' files.
   * @default not checked
   */
  readonly findFaults?: (tools: readonly T[]) => Promise<FolderFaults>;
  run(tool: T, call: ResolvedCall, host: ScriptHost): Promise<Outcome>;
}

/** Maximum fraction of the time for checks of the disk for calls to other sources: one part in 50. */
const LOOK_SHARE = 50;
/**
 * Maximum milliseconds between two checks for calls to other sources. A new tool may have the name of another source's
 * tool.
 */
const MAX_REST_MS = 1000;

/** Faults by the place of the tool. */
type FolderFaults = ReadonlyMap<string, string>;

/**
 * Folder tools that run in child processes. Each `listing()` detects every change on disk before the request. For calls
 * to other sources, checks are less frequent, because those calls must not wait for folders that do not concern them.
 */
export class FolderProvider<T extends FolderTool> implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #options: FolderProviderOptions<T>;
  readonly #host: ScriptHost;
  readonly #sweep: FolderSweep<FolderContent<T>>;
  readonly #preparations: Preparations | undefined;
  #listing: Listing = EMPTY_LISTING;
  #listedFrom: SweepResult<FolderContent<T>> | undefined;
  #checkedAt = 0;
  #missing = "";
  #needs: ReadonlyMap<string, readonly string[]> = new Map();
  #demanding: readonly T[] = [];
  #tools = new Map<string, T>();
  #refused: ReadonlySet<string> = new Set();
  readonly #byDefinition = new WeakMap<JsonObject, T>();
  /** Time until which calls to other sources cause no further check. */
  #restsUntil = 0;
  #isClosed = false;

  constructor(options: FolderProviderOptions<T>) {
    const { source, roots, reader, logger } = options;
    this.source = source;
    this.#options = options;
    this.#preparations = createPreparations(options, () => this.events.changed.emit());
    this.#host = new ScriptHost({ ...options, ...(this.#preparations && { interpreters: this.#preparations }) });
    this.#sweep = new FolderSweep({ roots, reader, logger }, () => this.events.changed.emit());
  }

  open(): void {
    this.#sweep.open();
    // A hub that runs one command installs only what is requested, so nothing is started here.
    if (this.#options.services.lazy !== true) this.#preparations?.beginWith(() => this.#codes());
  }

  async preparations(): Promise<readonly Preparation[]> {
    return (await this.#preparations?.list(await this.#codes())) ?? [];
  }

  async #codes(): Promise<readonly ToolRequirements[]> {
    const { values } = await this.#sweep.current();
    return values.flatMap(({ tools }) => tools).flatMap((tool) => this.#options.codeOf(tool) ?? []);
  }

  listing(wish?: ListingRequest): Listing | Promise<Listing> {
    const mayRest = wish?.isForOther === true && performance.now() < this.#restsUntil;
    return mayRest ? this.#listing : this.#fresh();
  }

  async #fresh(): Promise<Listing> {
    const begun = performance.now();
    const listing = await this.#look();
    const ended = performance.now();
    this.#restsUntil = ended + Math.min((ended - begun) * LOOK_SHARE, MAX_REST_MS);
    return listing;
  }

  async #look(): Promise<Listing> {
    // The list waits until the installs have started: a caller that waits for installs reads the list first.
    await this.#preparations?.begun;
    const result = await this.#sweep.current();
    if (result === this.#listedFrom && this.#checkedAt === this.#sweep.sweeps) return this.#listing;
    // Runtimes are checked after each sweep, because a new or removed runtime changes no file in the folders.
    this.#checkedAt = this.#sweep.sweeps;
    if (result !== this.#listedFrom) {
      this.#needs = distinctNeeds(result);
      this.#demanding = result.values.flatMap((content) => content.tools.filter(isDemanding));
    }
    const missing = findMissing(this.#needs);
    const unfit = await findUnfit(this.#demanding);
    const tools = result.values.flatMap((content) => content.tools);
    const faults: FolderFaults = new Map([...unsetFaults(tools), ...((await this.#options.findFaults?.(tools)) ?? [])]);
    const unprepared = this.#preparations?.failures ?? new Map<string, string>();
    const missingKey = JSON.stringify([...missing, ...unfit, ...faults, ...unprepared]);
    if (result === this.#listedFrom && missingKey === this.#missing) return this.#listing;
    this.#listedFrom = result;
    this.#missing = missingKey;
    this.#listing = this.#list(result, { missing, unfit: [...unfit, ...unpreparedText(unprepared)], faults });
    return this.#listing;
  }

  async call(call: ResolvedCall): Promise<Outcome> {
    const { record } = call;
    const tool =
      record.type === "tool"
        ? (this.#byDefinition.get(record.tool.definition) ?? this.#tools.get(record.tool.name))
        : undefined;
    if (tool) return this.#options.run(tool, call, this.#host);
    return fail("unknown_tool", "The tool is no longer there: its folder was removed. List the tools again.");
  }

  status(): ProviderStatus {
    if (this.#isClosed) return { state: "closed" };
    const [problem] = this.#listing.problems;
    const installing = this.#preparations?.installation;
    return {
      state: "ready",
      ...(installing && { installing }),
      ...(problem ? { lastError: `${problem.subject}: ${problem.message}` } : {}),
      info: { folders: this.#options.roots, running: this.#host.living.size },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#sweep.close(), this.#host.close()]);
  }

  #list(result: SweepResult<FolderContent<T>>, { missing, unfit, faults }: Verdicts): Listing {
    const problems: Problem[] = result.problems.map(({ place, message }) => this.#problem({ subject: place, message }));
    const tools = new Map<string, T>();
    for (const { tools: found, problems: remarks } of result.values) {
      problems.push(...remarks.map((remark) => this.#problem(remark)));
      for (const tool of found) {
        const fault = faults.get(tool.place);
        if (fault !== undefined) {
          problems.push(this.#problem(notOffered(tool.place, fault, [tool.name])));
          continue;
        }
        const first = tools.get(tool.name);
        if (!first) tools.set(tool.name, tool);
        else
          problems.push(
            this.#problem(
              notOffered(
                tool.place,
                `the name \`${tool.name}\` is taken by \`${first.place}\`, which comes first; rename one of them`,
              ),
            ),
          );
      }
    }
    for (const tool of tools.values()) {
      const reason = tool.needs.length > 0 ? missing.get(needsKey(tool)) : undefined;
      if (reason !== undefined)
        problems.push(this.#problem({ subject: tool.name, message: `cannot be called now: ${reason}` }));
    }
    problems.push(...unfit.map(([subject, message]) => this.#problem({ subject, message })));
    this.#tools = tools;
    this.#logRefused(problems);
    return Object.freeze({
      ...EMPTY_LISTING,
      tools: Array.from(tools.values(), (tool) => this.#record(tool)),
      problems,
    });
  }

  /** Logs each rejected tool once per reason. */
  #logRefused(problems: readonly Problem[]): void {
    const refused = problems.filter(({ withheld }) => withheld !== undefined);
    const lines = refused.map(({ subject, message }) => `${subject} is ${message}`);
    for (const line of lines) if (!this.#refused.has(line)) this.#options.logger.warning(line);
    this.#refused = new Set(lines);
  }

  // The definition is the key, because it is the same object for an unchanged tool, while the record may be created
  // again.
  #record(tool: T): ToolRecord {
    const { timeoutMs } = this.#options;
    const limits = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...tool.limits };
    const { outputSchema } = tool.definition;
    this.#byDefinition.set(tool.definition, tool);
    return Object.freeze({
      source: this.source,
      name: tool.name,
      description: tool.description,
      inputSchema: tool.definition["inputSchema"] as JsonObject,
      ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
      keywords: tool.keywords,
      visibility: tool.visibility,
      ...(Object.keys(limits).length > 0 ? { limits } : {}),
      definition: tool.definition,
    });
  }

  #problem(told: ProblemDetails): Problem {
    return { source: this.source.id, ...told };
  }
}

/**
 * Returns faults for missing environment variables. They are checked each time, because a program may set them while
 * its hub runs.
 */
function unsetFaults(tools: readonly FolderTool[]): FolderFaults {
  return new Map(
    tools.flatMap((tool) => {
      const problem = unsetProblem(tool);
      return problem === undefined ? [] : [[tool.place, problem] as const];
    }),
  );
}

function unpreparedText(failures: ReadonlyMap<string, string>): Unfit {
  return Array.from(failures, ([tool, message]) => [tool, `cannot be called now: ${message}`] as const);
}

function createPreparations<T extends FolderTool>(
  { dependencies, logger, services }: FolderProviderOptions<T>,
  onChange: () => void,
): Preparations | undefined {
  const { installs, environmentsFolder: environments, variables = {} } = services;
  if (!installs || environments === undefined) return undefined;
  const env = childEnvironment({ inherit: Object.keys(variables).filter((name) => INSTALLER_VARIABLE.test(name)) });
  return new Preparations({ dependencies, installs, environments, env, logger, onChange });
}

/** Matches environment variables for package indexes, credentials and caches of installers. */
const INSTALLER_VARIABLE = /^(?:UV_|PIP_|npm_config_)/i;

/** Reasons why tools are not offered, or cannot be called on this machine. */
interface Verdicts {
  readonly missing: ReadonlyMap<string, string>;
  readonly unfit: Unfit;
  readonly faults: FolderFaults;
}

function needsKey(tool: FolderTool): string {
  return tool.needs.join("\0");
}

/** Returns the runtimes that the tools need, without duplicates. */
function distinctNeeds<T extends FolderTool>({
  values,
}: SweepResult<FolderContent<T>>): ReadonlyMap<string, readonly string[]> {
  const tools = values.flatMap((content) => content.tools).filter((tool) => tool.needs.length > 0);
  return new Map(tools.map((tool) => [needsKey(tool), tool.needs]));
}

/** Returns the runtimes that are missing on this machine, with reasons. */
function findMissing(needs: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  const env = searchEnvironment();
  for (const [key, commands] of needs) {
    const reason = missingCommands(commands, { env });
    if (reason !== undefined) missing.set(key, reason);
  }
  return missing;
}
