import type { HubContent, RenderedList, View } from "../../../core/ports/hub-port.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import { isJsonObject, objectMember, stringMember } from "../../../core/json/json.ts";
import type { HeaderLookup, HeaderMismatch } from "../../../wire/modern/headers.ts";
import type { RpcRequest } from "../../../wire/messages.ts";
import { findParamHeaders, findParamMismatch, type ParamHeader } from "../../../wire/modern/param-headers.ts";

/** Headers of all tools in a list; tools without headers have an empty list. */
type HeadersByTool = ReadonlyMap<string, readonly ParamHeader[]>;

interface HeadersOfView {
  readonly byTool: HeadersByTool;
  /** True if the map covers every listed tool. A name that is not in the map is then another spelling, or no tool. */
  readonly isWhole: boolean;
}

type HeaderFinding = HeaderMismatch | undefined;

/**
 * Compares `Mcp-Param-*` headers with the arguments that they repeat, for tools whose schema requires such headers.
 */
export class ToolHeaders {
  readonly #hub: HubContent;
  readonly #byList = new WeakMap<RenderedList, HeadersByTool>();
  /** Headers by view. They are kept until a list changes, because reading a list for each call would be expensive. */
  readonly #current = new Map<string, HeadersOfView>();
  readonly #stop: () => void;
  /** Number of list changes so far. */
  #round = 0;

  constructor(hub: HubContent) {
    this.#hub = hub;
    this.#stop = hub.events.listsChanged.on(({ lists }) => {
      if (!lists.includes("tools")) return;
      this.#round += 1;
      this.#current.clear();
    });
  }

  /**
   * Returns the difference between the headers and the arguments of a call. Returns synchronously if the tool is known,
   * or is known not to be listed. `headers` are absent on a transport without headers.
   */
  findMismatch(
    { method, params = {} }: RpcRequest,
    view: View,
    headers: HeaderLookup | undefined,
  ): HeaderFinding | Promise<HeaderFinding> {
    if (method !== "tools/call" || !headers) return undefined;
    const name = stringMember(params, "name");
    const args = params["arguments"];
    if (name === undefined || !isJsonObject(args)) return undefined;
    // A space separates the parts of the key, because neither a mode nor a form of names contains one.
    const { principal, mode } = view;
    const key = `${mode} ${String(principal.toolNames)} ${callerKey(principal)}`;
    const held = this.#current.get(key);
    const declared = held?.byTool.get(name) ?? (held?.isWhole === true ? NO_HEADERS : undefined);
    // Few tools declare headers.
    if (declared) return declared.length === 0 ? undefined : findParamMismatch(declared, args, headers);
    return this.#find(key, view, name).then(({ byTool }) =>
      findParamMismatch(byTool.get(name) ?? NO_HEADERS, args, headers),
    );
  }

  close(): void {
    this.#stop();
  }

  async #find(key: string, view: View, name: string): Promise<HeadersOfView> {
    const round = this.#round;
    // A call to a known tool does not wait for sources that are starting.
    const known = this.#read(await this.#hub.list("tools", view, { waits: false }));
    const isWhole = !known.has(name);
    const byTool = isWhole ? this.#read(await this.#hub.list("tools", view)) : known;
    const found = { byTool, isWhole };
    if (this.#current.size >= MAX_VIEWS) this.#current.clear();
    // If a list changed during the read, the result is not kept, so the next call reads the list again.
    if (round === this.#round) this.#current.set(key, found);
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

const NO_HEADERS: readonly ParamHeader[] = [];
const MAX_VIEWS = 1000;
