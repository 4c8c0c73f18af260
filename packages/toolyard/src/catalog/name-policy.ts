import type { NamePolicy } from "../core/names/name-book.ts";
import { carriedBy } from "../core/names/name-index.ts";
import {
  isUnprefixed,
  renderBindingName,
  renderMcpName,
  renderModelName,
  visibleName,
  type McpNaming,
  type NameParts,
} from "../core/names/names.ts";
import { HUB_TOOL_NAMES, META_NAMESPACE, RESERVED_TOOL_NAMES } from "../core/names/own-names.ts";
import { factsOf, isHubItself } from "../core/sources/provider-kinds.ts";
import type { PromptRecord, Source, ToolRecord } from "../core/sources/records.ts";
import { Spellings } from "../core/names/spelling.ts";
import { comparePrecedence } from "./precedence.ts";

type PolicyRow<R> = { readonly record: R };

/** Naming rules of one snapshot. */
export interface NamePolicies {
  /** Reads names that callers write, for tools and prompts. */
  readonly spellings: Spellings;
  readonly tools: NamePolicy<PolicyRow<ToolRecord>>;
  readonly prompts: NamePolicy<PolicyRow<PromptRecord>>;
}

export interface NamePolicyOptions {
  readonly naming: McpNaming;
  /** True if names of the hub's own tools and of the default tools are reserved. */
  readonly reserveNames: boolean;
  /** Tools whose names contain the prefixes of their modules. */
  readonly tools: Iterable<ToolRecord>;
}

/** Returns the naming rules for the configured sources, including those that are not present. */
export function namePolicies(
  sources: readonly Source[],
  { naming, reserveNames, tools }: NamePolicyOptions,
): NamePolicies {
  const hub = sources.filter(isHubItself).map(({ id }): [string, string] => [META_NAMESPACE, id]);
  const carried = [...hub, ...carriedBy(tools)];
  const pins = new Pins(sources, naming);
  const own = reserveNames ? [...HUB_TOOL_NAMES, ...RESERVED_TOOL_NAMES] : [];
  const reserved = new Set([...own, ...pins.bareNames]);
  const spellings = new Spellings(sources, { naming, carried, reserved });
  // A prompt cannot be mistaken for a tool, so it may have the name of a tool.
  const promptSpellings = new Spellings(sources, { naming, carried });
  return {
    spellings: promptSpellings,
    tools: {
      spellings,
      mayHave: ({ record }, name) =>
        (!reserveNames || mayHaveReserved(record, name)) && pins.leave(name, record, spellings),
    },
    prompts: { spellings: promptSpellings, mayHave: () => true },
  };
}

function mayHaveReserved(record: ToolRecord, name: string): boolean {
  const { source, isHubs = false, alias } = record;
  if (isHubItself(source)) return true;
  if (HUB_TOOL_NAMES.includes(name)) return false;
  return !RESERVED_TOOL_NAMES.has(name) || isHubs || alias === name || factsOf(source.kind).isLocal;
}

/** Names of pinned tools. No other tool gets them while the pinned tool is withheld. */
class Pins {
  /** Names without a prefix. */
  readonly bareNames: ReadonlySet<string>;
  readonly #shown = new Map<string, { readonly source: Source; readonly tool: string }>();

  constructor(sources: readonly Source[], naming: McpNaming) {
    const bare = new Set<string>();
    for (const source of sources.toSorted(comparePrecedence)) {
      for (const record of pinnedTools(source)) {
        for (const name of namesOf(record, naming))
          if (!this.#shown.has(name)) this.#shown.set(name, { source, tool: record.name });
        if (isUnprefixed(record)) bare.add(visibleName(record));
      }
    }
    this.bareNames = bare;
  }

  /**
   * Returns true if a record may have a name: no other tool pins the name, or the record's source has higher precedence
   * than the source of the pin.
   */
  leave(name: string, record: ToolRecord, spellings: Spellings): boolean {
    if (this.#shown.size === 0) return true;
    const { source } = record;
    const pinned = this.#shown.get(name);
    if (pinned && pinned.source.id !== source.id)
      return isUnprefixed(record) && comparePrecedence(source, pinned.source) < 0;
    if (pinned) return pinned.tool === record.name;
    if (!isUnprefixed(record)) return true;
    // Example: `files.read` of the source `files`, which has no namespace and pins `read`.
    const reading = spellings.read(name);
    if (!reading?.owners.has(source.id)) return true;
    return pinnedTools(source).every((one) => one.name === record.name || !reading.rests.includes(visibleName(one)));
  }
}

function pinnedTools(source: Source): readonly (NameParts & { readonly source: Source })[] {
  const { pins = {}, rename = {} } = source.shape ?? {};
  return Object.keys(pins).map((name) => ({
    source,
    name,
    ...(Object.hasOwn(rename, name) && { alias: rename[name]! }),
    ...(factsOf(source.kind).hasDottedNames === true && name.includes(".") && { qualified: true }),
  }));
}

function namesOf(record: NameParts, naming: McpNaming): readonly string[] {
  const mcpName = renderMcpName(record, naming);
  return [mcpName, renderBindingName(record), renderModelName(record, mcpName)];
}
