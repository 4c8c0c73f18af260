import { Emitter } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import { fail, type Outcome } from "../../core/outcome.ts";
import type { Logger } from "../../core/ports.ts";
import type { Provider, ProviderEvents, ProviderStatus, ResolvedCall } from "../../core/provider.ts";
import { EMPTY_LISTING, type Listing, type Problem, type Source, type ToolRecord } from "../../core/records.ts";
import { childEnvironment } from "../../process/environment.ts";
import { missingCommands } from "../../runtimes/scripts/command-line.ts";
import { runScript } from "../../runtimes/scripts/run-script.ts";
import { ScriptHost } from "../../runtimes/scripts/script-host.ts";
import { FolderSweep, type SweepResult } from "../folder-sweep.ts";
import type { ScriptsOptions } from "./options.ts";
import { createScriptReader, type ScriptFolder, type ScriptTool } from "./script-reader.ts";

/** Script tools of some folders. Each `listing()` sees every change made on disk before it was asked for. */
export function createScriptsProvider(source: Source, options: ScriptsOptions, logger: Logger): Provider {
  return new ScriptsProvider(source, options, logger);
}

class ScriptsProvider implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #options: ScriptsOptions;
  readonly #host: ScriptHost;
  readonly #sweep: FolderSweep<ScriptFolder>;
  #listing: Listing = EMPTY_LISTING;
  #listedFrom: SweepResult<ScriptFolder> | undefined;
  #missing = "";
  #tools = new Map<string, ScriptTool>();
  #byDefinition = new WeakMap<JsonObject, ScriptTool>();
  #isClosed = false;

  constructor(source: Source, options: ScriptsOptions, logger: Logger) {
    this.source = source;
    this.#options = options;
    this.#host = new ScriptHost({ libraries: options.librariesPaths, maxOutputBytes: options.maxOutputBytes });
    const reader = createScriptReader(options);
    this.#sweep = new FolderSweep({ roots: options.toolsPaths, reader, logger }, () => this.events.changed.emit());
  }

  open(): void {
    this.#sweep.open();
  }

  async listing(): Promise<Listing> {
    const result = await this.#sweep.current();
    const missing = findMissing(result);
    // A runtime that was installed or removed changes no file of the folders.
    const missingKey = JSON.stringify(Array.from(missing));
    if (result === this.#listedFrom && missingKey === this.#missing) return this.#listing;
    this.#listedFrom = result;
    this.#missing = missingKey;
    this.#listing = this.#list(result, missing);
    return this.#listing;
  }

  async call(call: ResolvedCall): Promise<Outcome> {
    const { record } = call;
    const tool = record.type === "tool" ? (this.#byDefinition.get(record.tool.definition) ?? this.#tools.get(record.tool.name)) : undefined;
    if (!tool) return fail("unknown_tool", "The tool is no longer there: its folder was removed. List the tools again.");
    return runScript(tool.script, call.arguments, call, this.#host);
  }

  status(): ProviderStatus {
    if (this.#isClosed) return { state: "closed" };
    const [problem] = this.#listing.problems;
    return {
      state: "ready",
      ...(problem ? { lastError: `${problem.subject}: ${problem.message}` } : {}),
      info: { folders: this.#options.toolsPaths, running: this.#host.living.size },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#sweep.close(), this.#host.close()]);
  }

  #list(result: SweepResult<ScriptFolder>, missing: ReadonlyMap<string, string>): Listing {
    const problems: Problem[] = result.problems.map(({ place, message }) => this.#problem(place, message));
    const places = new Map<string, string>();
    const tools: ToolRecord[] = [];
    this.#tools = new Map();
    for (const { tool, problems: found } of result.values) {
      problems.push(...found.map(({ subject, message }) => this.#problem(subject, message)));
      if (!tool) continue;
      const first = places.get(tool.script.name);
      if (first !== undefined) {
        problems.push(this.#problem(tool.place, `not offered: the name \`${tool.script.name}\` is taken by \`${first}\`, which comes first; rename one of them`));
        continue;
      }
      places.set(tool.script.name, tool.place);
      const reason = tool.needs.length > 0 ? missing.get(needsKey(tool)) : undefined;
      if (reason !== undefined) problems.push(this.#problem(tool.script.name, `cannot be called now: ${reason}`));
      this.#tools.set(tool.script.name, tool);
      tools.push(this.#record(tool));
    }
    return Object.freeze({ ...EMPTY_LISTING, tools, problems });
  }

  // The record of an unchanged tool may be made anew; its definition is the same object, by which the catalog may tell.
  #record(tool: ScriptTool): ToolRecord {
    const { timeoutMs } = this.#options;
    const limits = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...tool.limits };
    this.#byDefinition.set(tool.definition, tool);
    return Object.freeze({
      source: this.source,
      name: tool.script.name,
      description: tool.description,
      inputSchema: tool.definition["inputSchema"] as JsonObject,
      keywords: tool.keywords,
      visibility: tool.visibility,
      ...(Object.keys(limits).length > 0 ? { limits } : {}),
      definition: tool.definition,
    });
  }

  #problem(subject: string, message: string): Problem {
    return { source: this.source.id, subject, message };
  }
}

function needsKey(tool: ScriptTool): string {
  return tool.needs.join("\0");
}

/** Which runtimes are not on this machine, and why; each is looked for once. */
function findMissing({ values }: SweepResult<ScriptFolder>): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  const seen = new Set<string>();
  const env = childEnvironment();
  for (const { tool } of values) {
    if (!tool || tool.needs.length === 0) continue;
    const key = needsKey(tool);
    if (seen.has(key)) continue;
    seen.add(key);
    const reason = missingCommands(tool.needs, { env });
    if (reason !== undefined) missing.set(key, reason);
  }
  return missing;
}
