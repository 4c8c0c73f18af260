import { definitionDigest } from "../core/definition-digest.ts";
import { matchesAnyGlob, matchesGlob } from "../core/glob.ts";
import type { ListingShape } from "../core/listing-shape.ts";
import type { Listing, Problem, Source, ToolRecord } from "../core/records.ts";

/**
 * A source's list as the catalog takes it: chosen, renamed, described and bounded as the configuration says, whatever
 * kind the source is. This is the one place where that happens. A list that nothing is made of stays the same object.
 */
export function shapeListing(listing: Listing, source: Source): Listing {
  const { shape } = source;
  if (!shape) return listing;
  const problems: Problem[] = [];
  const report: Report = (subject, message) => void problems.push({ source: source.id, subject, message });
  const tools = listing.tools
    .filter(({ name }) => isOffered(name, shape))
    .filter((tool) => isApproved(tool, shape, report))
    .map((tool) => shapeTool(tool, shape));
  // Nothing can be said about names before a list has been read.
  if (listing.tools.length > 0) reportIdleOptions(listing, shape, report);
  const { instructions, ...rest } = listing;
  return Object.freeze({
    ...rest,
    tools,
    ...(shape.instructions && instructions !== undefined && { instructions }),
    problems: [...listing.problems, ...problems],
  });
}

type Report = (subject: string, message: string) => void;

function isOffered(name: string, { include, exclude, rename }: ListingShape): boolean {
  const names = Object.hasOwn(rename, name) ? [name, rename[name]!] : [name];
  if (names.some((one) => matchesAnyGlob(exclude, one))) return false;
  return include.length === 0 || names.some((one) => matchesAnyGlob(include, one));
}

/** Whether a tool is as it was when somebody pinned it (S12). */
function isApproved({ name, definition }: ToolRecord, { pins }: ListingShape, report: Report): boolean {
  if (!Object.hasOwn(pins, name)) return true;
  const digest = definitionDigest(definition);
  if (digest === pins[name]) return true;
  report(
    name,
    `It is not offered: \`pins\` approves ${pins[name] === "" ? "nothing yet" : `the digest ${pins[name]}`}, and its present digest is ${digest}. Look at its definition, then pin that.`,
  );
  return false;
}

/** The record with what the configuration says of it; the same record where it says nothing. */
function shapeTool(tool: ToolRecord, shape: ListingShape): ToolRecord {
  const { name } = tool;
  const { rename, descriptions, keywords, visibility, toolTimeouts } = shape;
  const changes: Partial<ToolRecord> = {
    ...(Object.hasOwn(rename, name) && { alias: rename[name]! }),
    ...(Object.hasOwn(descriptions, name) && { description: descriptions[name]! }),
    ...(keywords.length > 0 && { keywords: [...tool.keywords, ...keywords] }),
    ...(visibility !== undefined && visibility !== tool.visibility && { visibility }),
    ...(Object.hasOwn(toolTimeouts, name) && { limits: { ...tool.limits, timeoutMs: toolTimeouts[name]! } }),
  };
  return Object.keys(changes).length === 0 ? tool : { ...tool, ...changes };
}

const OPTION_NAMES = {
  rename: "rename",
  descriptions: "descriptions",
  pins: "pins",
  toolTimeouts: "tool_timeouts",
} as const;
const KEYED_OPTIONS = ["rename", "descriptions", "pins", "toolTimeouts"] as const;

// A misspelt name in the configuration has no effect, which nobody would notice.
function reportIdleOptions({ tools }: Listing, shape: ListingShape, report: Report): void {
  const names = tools.map(({ name }) => name);
  const known = new Set(names);
  for (const option of KEYED_OPTIONS) {
    for (const name of Object.keys(shape[option])) {
      if (!known.has(name)) report(name, `\`${OPTION_NAMES[option]}\` names it, and the source has no such tool.`);
    }
  }
  const shown = [...names, ...Object.values(shape.rename)];
  for (const pattern of shape.include) {
    if (!shown.some((name) => matchesGlob(pattern, name)))
      report(pattern, "`include` names it, and no tool of the source matches.");
  }
}
