import { Emitter } from "../core/events.ts";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import type { Provider, ProviderEvents, ProviderStatus, ResolvedCall } from "../core/sources/provider.ts";
import { NO_FEATURES, type Listing, type Source, type ToolRecord } from "../core/sources/records.ts";

/** One tool of this program, with its handler. */
export interface FixedTool {
  readonly record: ToolRecord;
  run(call: ResolvedCall): Outcome | Promise<Outcome>;
}

/** Returns a handler that loads its code with its first call. */
export function lateHandler(load: () => Promise<FixedTool["run"]>): FixedTool["run"] {
  let run: FixedTool["run"] | undefined;
  return (call) => (run ? run(call) : load().then((loaded) => (run = loaded)(call)));
}

export interface FixedToolsOptions {
  /** First words of the message about an unknown name. */
  readonly whose: string;
  /** Releases the tools' resources. @default none to release */
  readonly onClose?: () => Promise<void>;
}

/** A source of in-process tools with a fixed list. */
export class FixedTools implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #whose: string;
  readonly #tools: ReadonlyMap<string, FixedTool>;
  readonly #listing: Listing;
  readonly #onClose: () => Promise<void>;
  #isClosed = false;

  constructor(source: Source, tools: readonly FixedTool[], { whose, onClose = async () => {} }: FixedToolsOptions) {
    this.source = source;
    this.#whose = whose;
    this.#tools = new Map(tools.map((tool) => [tool.record.name, tool]));
    this.#listing = Object.freeze({
      tools: tools.map((tool) => tool.record),
      resources: [],
      templates: [],
      prompts: [],
      features: NO_FEATURES,
      problems: [],
    });
    this.#onClose = onClose;
  }

  open(): void {
    // Nothing must be started.
  }

  listing(): Listing {
    return this.#listing;
  }

  async call(call: ResolvedCall): Promise<Outcome> {
    const { record } = call;
    const tool = record.type === "tool" ? this.#tools.get(record.tool.name) : undefined;
    if (!tool)
      return fail(
        "unknown_tool",
        `${this.#whose} no ${record.type} of this name. List the tools to see the available names.`,
      );
    return tool.run(call);
  }

  status(): ProviderStatus {
    return { state: this.#isClosed ? "closed" : "ready" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#onClose();
  }
}
