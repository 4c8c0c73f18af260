import { Emitter } from "../../core/events.ts";
import { fail, type Outcome } from "../../core/outcome.ts";
import type { Models } from "../../core/ports.ts";
import type { Provider, ProviderEvents, ProviderStatus, ResolvedCall } from "../../core/provider.ts";
import { NO_FEATURES, type Listing, type Source } from "../../core/records.ts";
import type { WebSearchOptions } from "../../websearch/options.ts";
import { WebSearch } from "../../websearch/web-search.ts";
import { ConfinedFiles } from "./confined-files.ts";
import type { DefaultTool } from "./default-tool.ts";
import { fileWriter } from "./file-writer.ts";
import { generateImageTool } from "./generate-image.ts";
import { internetSearch } from "./internet-search.ts";
import type { DefaultToolName } from "./names.ts";
import type { DefaultToolsOptions } from "./options.ts";
import { pythonInterpreter, type InterpreterParts } from "./python-interpreter.ts";

export interface DefaultsParts {
  readonly source: Source;
  readonly options: DefaultToolsOptions;
  readonly webSearch: WebSearchOptions;
  readonly models: Models;
  readonly interpreter: InterpreterParts;
  /** Proxy settings among them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What the tools are made of, ready to use. */
interface Shared extends DefaultsParts {
  readonly files: ConfinedFiles;
  readonly search: WebSearch;
}

/** One row a tool. */
const TOOLS: Readonly<Record<DefaultToolName, (shared: Shared) => DefaultTool>> = {
  file_writer: ({ source, files }) => fileWriter(source, files),
  generate_image_from_prompt: ({ source, files, models, options }) => generateImageTool(source, { models, files, root: options.fileRoots[0] ?? "", timeoutMs: options.imageTimeoutMs }),
  internet_search: ({ source, search }) => internetSearch(source, search),
  python_interpreter: ({ source, interpreter }) => pythonInterpreter(source, interpreter),
};

/** The tools that come with the package, as far as they are enabled. What they offer never changes while the source lives. */
export class DefaultsProvider implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #tools: ReadonlyMap<string, DefaultTool>;
  readonly #listing: Listing;
  readonly #search: WebSearch;
  #isClosed = false;

  constructor(parts: DefaultsParts) {
    const { source, options, webSearch, environment } = parts;
    this.source = source;
    this.#search = new WebSearch(webSearch, environment);
    const shared: Shared = { ...parts, search: this.#search, files: new ConfinedFiles({ roots: options.fileRoots, maxBytes: options.maxFileBytes }) };
    this.#tools = new Map(options.enable.map((name) => [name, TOOLS[name](shared)]));
    this.#listing = Object.freeze({ tools: Array.from(this.#tools.values(), ({ record }) => record), resources: [], templates: [], prompts: [], features: NO_FEATURES, problems: [] });
  }

  open(): void {
    // Nothing to start.
  }

  listing(): Listing {
    return this.#listing;
  }

  async call(call: ResolvedCall): Promise<Outcome> {
    const { record } = call;
    const tool = record.type === "tool" ? this.#tools.get(record.tool.name) : undefined;
    if (!tool) return fail("unknown_tool", `The default tools have no ${record.type} of this name. List the tools to see what there is.`);
    return tool.run(call);
  }

  status(): ProviderStatus {
    return { state: this.#isClosed ? "closed" : "ready" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#search.close();
  }
}
