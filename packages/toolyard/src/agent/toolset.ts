import { byteLengthOf } from "./text-size.ts";
import { HINT_META_KEY } from "../core/calls/hint.ts";
import type { AgentHub } from "./agent-hub.ts";
import { objectMember, stringMember, type JsonObject } from "../core/json/json.ts";
import type { AgentOptions } from "./options.ts";
import { createToolNames, type ToolNames } from "./tool-names.ts";

/** One tool in the form for a model. */
export interface ModelTool {
  /** Name that is safe for every vendor. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

type Lists = readonly [every: readonly JsonObject[], listed: readonly JsonObject[], discovery: readonly JsonObject[]];

/** The tools that a model receives for one answer. */
export interface Toolset {
  /** Lists of the hub from which the toolset was created. The toolset is reused while they are the same objects. */
  readonly lists: Lists;
  readonly mode: "all" | "discovery";
  readonly tools: readonly ModelTool[];
  readonly names: ToolNames;
  /** Hints for individual tools, by the name with which the model calls each tool. Includes discovered tools. */
  readonly hints: readonly (readonly [tool: string, hint: string])[];
}

/** Matches the hub's own `meta.` tools. A model receives them only if they are listed like any other tool. */
const OWN_TOOL = /^meta\./;

type ListingRules = Pick<AgentOptions, "mode" | "maxListedTools" | "maxListedBytes" | "hints">;

/**
 * Lists the tools and chooses between the complete list and discovery. If the hub's lists are the same objects as in
 * `before`, returns the same toolset.
 */
export async function loadToolset(hub: AgentHub, options: ListingRules, before?: Toolset): Promise<Toolset> {
  const lists = await Promise.all([
    hub.list({ mode: "all" }),
    hub.list({ mode: "normal" }),
    hub.list({ mode: "discovery" }),
  ]);
  return before?.lists.every((list, at) => list === lists[at]) ? before : makeToolset(lists, options);
}

function makeToolset(lists: Lists, options: ListingRules): Toolset {
  const [every, listed, discovery] = lists;
  const finders = new Set(discovery.map(nameOf));
  const plain = new Set(listed.map(nameOf));
  const all = every.filter(
    (entry) => !finders.has(nameOf(entry)) && (!OWN_TOOL.test(nameOf(entry)) || plain.has(nameOf(entry))),
  );
  const mode = finders.size > 0 && isDiscovery(all, options) ? "discovery" : "all";
  const given = mode === "all" ? all : discovery;
  const names = createToolNames([...given, ...(mode === "all" ? [] : all)].map(nameOf));
  return {
    lists,
    mode,
    names,
    tools: given.map((entry) => toModelTool(entry, names)),
    hints: hintsOf(all, options.hints, { names, mode }),
  };
}

function isDiscovery(
  all: readonly JsonObject[],
  { mode, maxListedTools, maxListedBytes }: Pick<AgentOptions, "mode" | "maxListedTools" | "maxListedBytes">,
): boolean {
  if (mode !== "auto") return mode === "discovery";
  return (
    all.length > maxListedTools ||
    byteLengthOf(all.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))) > maxListedBytes
  );
}

function toModelTool(entry: JsonObject, names: ToolNames): ModelTool {
  return {
    name: names.toModel(nameOf(entry)),
    description: stringMember(entry, "description") ?? stringMember(entry, "title") ?? "",
    inputSchema: objectMember(entry, "inputSchema") ?? { type: "object" },
  };
}

function nameOf(entry: JsonObject): string {
  return stringMember(entry, "name") ?? "";
}

// In discovery mode, the model calls the tools by their names in the hub; otherwise by the names that it received.
function hintsOf(
  all: readonly JsonObject[],
  own: Readonly<Record<string, string>>,
  { names, mode }: Pick<Toolset, "names" | "mode">,
): Toolset["hints"] {
  const said = new Map<string, string>();
  for (const entry of all) {
    const hint = stringMember(objectMember(entry, "_meta") ?? {}, HINT_META_KEY);
    if (hint !== undefined) said.set(nameOf(entry), hint);
  }
  for (const [name, hint] of Object.entries(own)) {
    const tool = names.fromModel(name);
    if (tool !== undefined) said.set(tool, hint);
  }
  return Array.from(said, ([tool, hint]) => [mode === "all" ? names.toModel(tool) : tool, hint] as const);
}
