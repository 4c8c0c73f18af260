import { isUnprefixed, renderMcpName, renderQualifiedName, visibleName, type McpNaming } from "../core/names/names.ts";
import { isPlainName, looselyMatches, looseName } from "../core/loose-name.ts";
import type { NamePolicy } from "../core/names/name-book.ts";
import { EMPTY_LISTING, type Listing, type Source, type ToolRecord } from "../core/sources/records.ts";
import type { NamedSubject } from "../core/ports/permission.ts";
import type { SpellingParts } from "../core/names/spelling.ts";
import type { NameClaims } from "./name-claims.ts";
import { chooseTools, shapeTool } from "./shape-tool.ts";
import type { SourcePart } from "./source-part.ts";

/** Tool that a source accepts by its name without listing it. */
export interface UnlistedTool {
  readonly tool: ToolRecord;
  /** Name that the tool would have in a list, with the source's prefix. */
  readonly name: string;
  readonly subject: NamedSubject;
}

export interface UnlistedRules {
  readonly naming: McpNaming;
  readonly claims: NameClaims;
  readonly policy: NamePolicy<{ readonly record: ToolRecord }> | undefined;
}

/** Returns true if a source accepts tools that it does not list, and was listed at least once. */
export function acceptsUnlisted({ source, listing }: SourcePart): boolean {
  return source.shape?.unlisted === true && listing !== EMPTY_LISTING && listing.withheld === undefined;
}

/**
 * Returns the tool of a spelling with the prefix of a source with `unlisted = true`. Returns `undefined` if the source
 * lists the tool but the hub does not offer it: because of `include`, `exclude`, `pins` or an unusable definition.
 */
export function unlistedTool(part: SourcePart, reading: SpellingParts, rules: UnlistedRules): UnlistedTool | undefined {
  const { source } = part;
  const [called] = reading.rests;
  if (called === undefined || !acceptsUnlisted(part) || !isPlainName(called)) return undefined;
  const given = recordOf(source, called);
  if (isLooselyListed(part, given)) return undefined;
  if (rules.policy?.mayHave({ record: given }, reading.name) === false) return undefined;
  const tool = shapedTool(given);
  return tool && { tool, ...shownAs(tool, rules) };
}

/** Returns the reason why a source with `unlisted = true` refuses a call to this name. */
export function whyNotUnlisted(part: SourcePart, reading: SpellingParts): string | undefined {
  const [called] = reading.rests;
  if (called === undefined || !acceptsUnlisted(part)) return undefined;
  const { source } = part;
  const given = recordOf(source, called);
  if (!isPlainName(called))
    return `the source ${source.id} does not list it, and a name with such characters or so many parts is not sent`;
  if (isLooselyListed(part, given))
    return `the source ${source.id} has a tool of nearly this name, which is called by its own name only`;
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

/**
 * Returns true if the source lists, renames or withholds a tool that the server may accept under this name. Such a tool
 * can be called only by its own name, so that pins, `confirm_destructive` and rights apply to it.
 */
function isLooselyListed({ listing, problems }: SourcePart, given: ToolRecord): boolean {
  const names = new Set(namesOf(given).map(looseName));
  const isMeant = (name: string): boolean => names.has(looseName(name));
  const renamed = Object.entries(given.source.shape!.rename).filter(([from]) => from !== given.name);
  return (
    [...names].some((name) => looseNames(listing).has(name)) ||
    problems.some(({ withheld, subject }) => withheld !== undefined && isMeant(subject)) ||
    renamed.some((pair) => pair.some(isMeant))
  );
}

const listedLoosely = new WeakMap<Listing, ReadonlySet<string>>();

/** Returns the loose forms of the names of a listing, computed once. */
function looseNames(listing: Listing): ReadonlySet<string> {
  let names = listedLoosely.get(listing);
  if (!names) listedLoosely.set(listing, (names = new Set(listing.tools.map(({ name }) => looseName(name)))));
  return names;
}

/**
 * Returns true if a pin matches one of the tool's names. Such a tool cannot be called while it is unlisted, because
 * there is no definition to compare with the pin.
 */
function isPinned(given: ToolRecord): boolean {
  return Object.keys(given.source.shape!.pins).some((pinned) => namesOf(given).some((n) => looselyMatches(pinned, n)));
}

/**
 * Returns true if the tool is selected. `include` matches the name as written; `exclude` matches every spelling that
 * the server may accept for the tool.
 */
function isChosen(given: ToolRecord): boolean {
  const { shape } = given.source;
  const names = namesOf(given);
  if (shape!.exclude.some((pattern) => names.some((name) => looselyMatches(pattern, name)))) return false;
  return chooseTools([given], shape!).chosen.length > 0;
}

/** Returns the name at the server, and the name that `rename` sets. */
function namesOf({ source, name }: ToolRecord): readonly string[] {
  const { rename } = source.shape!;
  return Object.hasOwn(rename, name) ? [name, rename[name]!] : [name];
}

function shownAs(tool: ToolRecord, { naming, claims }: UnlistedRules): Omit<UnlistedTool, "tool"> {
  const name = isUnprefixed(tool) ? renderQualifiedName(tool, naming, "mcp") : renderMcpName(tool, naming);
  const { id, namespace } = tool.source;
  const prefix = name.slice(0, (isUnprefixed(tool) ? id : namespace).length + naming.separator.length);
  const subject: NamedSubject = {
    type: "name",
    name,
    // Patterns of roles are compared with the full name of the tool, including the prefix.
    ownName: `${prefix}${visibleName(tool)}`,
    prefixes: [prefix],
    separator: naming.separator,
    isReadOnly: false,
    isDiscovery: false,
    isUnlisted: true,
    source: id,
  };
  return { name, subject: claims.subjectOf({ record: tool, subject }) };
}
