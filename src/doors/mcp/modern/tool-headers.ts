import type { HubPort, RenderedList, View } from "../../../core/hub-port.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json.ts";
import {
  findParamHeaders,
  findParamMismatch,
  type HeaderLookup,
  type HeaderMismatch,
  type ParamHeader,
} from "../../../wire/modern/headers.ts";

/** All tools of a list, also those without headers. */
type HeadersByTool = ReadonlyMap<string, readonly ParamHeader[]>;

/**
 * Compares `Mcp-Param-*` headers with the arguments they repeat, for tools that ask for such headers in their schema.
 */
export class ToolHeaders {
  readonly #hub: HubPort;
  readonly #byList = new WeakMap<RenderedList, HeadersByTool>();
  /** By view, as long as no list changed: most calls need no list at all. */
  readonly #current = new Map<string, HeadersByTool>();
  readonly #stop: () => void;

  constructor(hub: HubPort) {
    this.#hub = hub;
    this.#stop = hub.events.listsChanged.on(({ lists }) => {
      if (lists.includes("tools")) this.#current.clear();
    });
  }

  async findMismatch(params: JsonObject, view: View, headerOf: HeaderLookup): Promise<HeaderMismatch | undefined> {
    const name = stringMember(params, "name");
    const args = params["arguments"];
    if (name === undefined || !isJsonObject(args)) return undefined;
    const declared = (await this.#headersOf(view, name)).get(name);
    return declared && findParamMismatch(declared, args, headerOf);
  }

  close(): void {
    this.#stop();
  }

  async #headersOf(view: View, name: string): Promise<HeadersByTool> {
    const key = JSON.stringify([view.mode, view.principal.id]);
    const held = this.#current.get(key);
    if (held?.has(name)) return held;
    // A call to a tool that is known does not wait for sources that are still starting.
    const known = this.#read(await this.#hub.list("tools", view, { waits: false }));
    const found = known.has(name) ? known : this.#read(await this.#hub.list("tools", view));
    if (this.#current.size >= MAX_VIEWS) this.#current.clear();
    this.#current.set(key, found);
    return found;
  }

  #read(list: RenderedList): HeadersByTool {
    let found = this.#byList.get(list);
    if (!found) this.#byList.set(list, (found = headersOfList(list)));
    return found;
  }
}

function headersOfList(list: RenderedList): HeadersByTool {
  const found = new Map<string, readonly ParamHeader[]>();
  for (const entry of list.entries) {
    const { headers } = findParamHeaders(objectMember(entry, "inputSchema") ?? {});
    const name = stringMember(entry, "name");
    if (name !== undefined) found.set(name, headers);
  }
  return found;
}

const MAX_VIEWS = 1000;
