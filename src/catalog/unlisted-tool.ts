import { isUnprefixed, renderMcpName, renderQualifiedName, type McpNaming } from "../core/names.ts";
import type { NamePolicy } from "../core/name-book.ts";
import { EMPTY_LISTING, type Source, type ToolRecord } from "../core/records.ts";
import type { NamedSubject } from "../core/rights.ts";
import type { Reading } from "../core/spelling.ts";
import type { NameClaims } from "./name-claims.ts";
import { chooseTools, shapeTool } from "./shape-tool.ts";
import type { SourcePart } from "./source-part.ts";

/** A tool that a source accepts by its name without listing it. */
export interface UnlistedTool {
  readonly tool: ToolRecord;
  /** As it would be listed, with the source's prefix. */
  readonly name: string;
  readonly subject: NamedSubject;
}

export interface UnlistedRules {
  readonly naming: McpNaming;
  readonly claims: NameClaims;
  readonly policy: NamePolicy<{ readonly record: ToolRecord }> | undefined;
}

/** Whether a source accepts tools that it does not list, and has been listed at least once. */
export function acceptsUnlisted({ source, listing }: SourcePart): boolean {
  return source.shape?.unlisted === true && listing !== EMPTY_LISTING && listing.withheld === undefined;
}

/**
 * The tool that a spelling with a prefix means at a source with `unlisted = true`. Nothing if the source lists a tool
 * of that name and the configuration or the hub withholds it: `include`, `exclude`, `pins`, a definition that cannot be
 * used.
 */
export function unlistedTool(part: SourcePart, reading: Reading, rules: UnlistedRules): UnlistedTool | undefined {
  const { source } = part;
  const [called] = reading.rests;
  if (called === undefined || !acceptsUnlisted(part)) return undefined;
  const given = recordOf(source, called);
  const names = [called, given.name];
  if (part.problems.some(({ withheld, subject }) => withheld !== undefined && names.includes(subject)))
    return undefined;
  if (rules.policy?.mayHave({ record: given }, reading.name) === false) return undefined;
  const tool = shapedTool(given);
  return tool && { tool, ...namesOf(tool, rules) };
}

/** Why a source with `unlisted = true` does not take a call by this name. */
export function whyNotUnlisted(part: SourcePart, reading: Reading): string | undefined {
  const [called] = reading.rests;
  if (called === undefined || !acceptsUnlisted(part)) return undefined;
  const { source } = part;
  const given = recordOf(source, called);
  if (isPinned(given)) return `\`pins\` of the source ${source.id} names it, and the source does not list it`;
  return isChosen(given) ? undefined : `\`include\` and \`exclude\` of the source ${source.id} leave it out`;
}

function recordOf(source: Source, called: string): ToolRecord {
  const renamed = Object.entries(source.shape!.rename).find(([, to]) => to === called);
  const name = renamed?.[0] ?? called;
  const inputSchema = { type: "object" };
  const definition = { name, inputSchema };
  return { source, name, description: "", inputSchema, keywords: [], visibility: "ondemand", definition };
}

function shapedTool(given: ToolRecord): ToolRecord | undefined {
  if (isPinned(given) || !isChosen(given)) return undefined;
  const { source } = given;
  return shapeTool(given, { source, shape: source.shape!, keyOf: ({ name }) => name }).record;
}

/** A pin approves a definition, and there is none. */
function isPinned({ source, name }: ToolRecord): boolean {
  return Object.hasOwn(source.shape!.pins, name);
}

function isChosen(given: ToolRecord): boolean {
  return chooseTools([given], given.source.shape!).chosen.length > 0;
}

function namesOf(tool: ToolRecord, { naming, claims }: UnlistedRules): Omit<UnlistedTool, "tool"> {
  const ownName = renderMcpName(tool, naming);
  const name = isUnprefixed(tool) ? renderQualifiedName(tool, naming, "mcp") : ownName;
  const { id, namespace } = tool.source;
  const prefix = name.slice(0, (isUnprefixed(tool) ? id : namespace).length + naming.separator.length);
  const subject: NamedSubject = {
    type: "name",
    name,
    ownName,
    prefixes: [prefix],
    separator: naming.separator,
    isReadOnly: false,
    isDiscovery: false,
  };
  return { name, subject: claims.subjectOf({ record: tool, subject }) };
}
