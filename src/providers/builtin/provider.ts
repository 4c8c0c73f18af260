import { Emitter } from "../../core/events.ts";
import { fail, type Outcome } from "../../core/outcome.ts";
import type { Provider, ProviderEvents, ProviderStatus, ResolvedCall } from "../../core/provider.ts";
import { NO_FEATURES, type Listing, type Source } from "../../core/records.ts";
import { executeCode } from "./code/execute-code.ts";
import { executeTool } from "./execute-tool.ts";
import { metaTools } from "./meta-tools.ts";
import type { BuiltinOptions } from "./options.ts";
import type { OwnTool } from "./own-tool.ts";
import type { BuiltinPorts } from "./ports.ts";
import { toolSearch } from "./tool-search.ts";

const BUILTIN_SOURCE: Source = Object.freeze({ id: "builtin", kind: "builtin", namespace: "", order: 0 });

/** With the longest time that one run of code may take. */
export type BuiltinProviderOptions = BuiltinOptions & { readonly maxWallMs: number };

/** The hub's own tools: `tool_search`, `execute_tool`, `execute_code` and `meta.*`. What they offer never changes while the hub runs. */
export class BuiltinProvider implements Provider {
  readonly source = BUILTIN_SOURCE;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #tools: ReadonlyMap<string, OwnTool>;
  readonly #listing: Listing;
  #isClosed = false;

  constructor(options: BuiltinProviderOptions, ports: BuiltinPorts, now: () => number = Date.now) {
    const meta = options.metaTools ? metaTools(this.source, ports, options, now) : [];
    const code = options.executeCode && ports.code ? [executeCode(this.source, ports, ports.code, options.maxWallMs)] : [];
    const tools = [toolSearch(this.source, ports), executeTool(this.source, ports), ...code, ...meta];
    this.#tools = new Map(tools.map((tool) => [tool.record.name, tool]));
    this.#listing = Object.freeze({ tools: tools.map((tool) => tool.record), resources: [], templates: [], prompts: [], features: NO_FEATURES, problems: [] });
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
    if (!tool) return fail("unknown_tool", `The hub itself has no ${record.type} of this name. List the tools to see what there is.`);
    return tool.run(call);
  }

  status(): ProviderStatus {
    return { state: this.#isClosed ? "closed" : "ready" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
