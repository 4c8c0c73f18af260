import { matchesAnyGlob, matchesGlob } from "../../core/glob.ts";
import { stringMember, type JsonObject } from "../../core/json.ts";
import type { Listing, Problem, Source, ToolLimits, ToolRecord } from "../../core/records.ts";
import { definitionDigest } from "../../upstream/definition-digest.ts";
import { normaliseInputSchema } from "../../schema/normalise.ts";
import type { ServerListing } from "../../upstream/listing.ts";
import type { ResolvedUpstream } from "./options.ts";

/** What a server offers as records of this source: chosen, renamed and described as its configuration says. */
export function toListing(listing: ServerListing, source: Source, options: ResolvedUpstream): Listing {
  const problems: Problem[] = listing.problems.map((problem) => ({ source: source.id, ...problem }));
  const chosen = listing.tools.filter((definition) => isOffered(nameOf(definition), options));
  const tools = chosen
    .filter((definition) => isApproved(definition, source, options, problems))
    .map((definition) => toTool(definition, source, options, problems));
  // Nothing can be said about names before a list has been read.
  if (listing.tools.length > 0)
    problems.push(
      ...findIdleOptions(listing, options).map(({ subject, message }) => ({ source: source.id, subject, message })),
    );
  return Object.freeze({
    tools,
    resources: listing.resources.map((definition) => ({ source, uri: String(definition["uri"]), definition })),
    templates: listing.templates.map((definition) => ({
      source,
      uriTemplate: String(definition["uriTemplate"]),
      definition,
    })),
    prompts: listing.prompts.map((definition) => ({ source, name: nameOf(definition), definition })),
    ...(options.instructions && listing.instructions !== undefined && { instructions: listing.instructions }),
    isOrdered: true,
    features: listing.features,
    ...(listing.isPrivate && { isPrivate: true }),
    ...(listing.server && { server: listing.server }),
    problems,
  });
}

function nameOf(definition: JsonObject): string {
  return String(definition["name"]);
}

function isOffered(name: string, { include, exclude, rename }: ResolvedUpstream): boolean {
  const names = Object.hasOwn(rename, name) ? [name, rename[name]!] : [name];
  if (names.some((one) => matchesAnyGlob(exclude, one))) return false;
  return include.length === 0 || names.some((one) => matchesAnyGlob(include, one));
}

/** Whether a tool is as it was when somebody pinned it (S12). */
function isApproved(definition: JsonObject, source: Source, { pins }: ResolvedUpstream, problems: Problem[]): boolean {
  const name = nameOf(definition);
  if (!Object.hasOwn(pins, name)) return true;
  const digest = definitionDigest(definition);
  if (digest === pins[name]) return true;
  const message = `It is not offered: \`pins\` approves ${pins[name] === "" ? "nothing yet" : `the digest ${pins[name]}`}, and its present digest is ${digest}. Look at its definition, then pin that.`;
  problems.push({ source: source.id, subject: name, message });
  return false;
}

function toTool(definition: JsonObject, source: Source, options: ResolvedUpstream, problems: Problem[]): ToolRecord {
  const name = nameOf(definition);
  const { schema, warning } = normaliseInputSchema(definition["inputSchema"]);
  if (warning !== undefined) problems.push({ source: source.id, subject: name, message: warning });
  const alias = Object.hasOwn(options.rename, name) ? options.rename[name] : undefined;
  const outputSchema = definition["outputSchema"] as JsonObject | undefined;
  const limits = limitsOf(name, options);
  return {
    source,
    name,
    ...(alias !== undefined && { alias }),
    description: Object.hasOwn(options.descriptions, name)
      ? options.descriptions[name]!
      : (stringMember(definition, "description") ?? ""),
    inputSchema: schema,
    ...(outputSchema !== undefined && { outputSchema }),
    keywords: options.keywords,
    visibility: options.visibility,
    ...(Object.keys(limits).length > 0 && { limits }),
    definition,
  };
}

function limitsOf(name: string, { limits, toolTimeouts }: ResolvedUpstream): ToolLimits {
  return Object.hasOwn(toolTimeouts, name) ? { ...limits, timeoutMs: toolTimeouts[name]! } : limits;
}

// A misspelt name in the configuration has no effect, which nobody would notice.
function findIdleOptions({ tools }: ServerListing, options: ResolvedUpstream): { subject: string; message: string }[] {
  const names = tools.map(nameOf);
  const known = new Set(names);
  const keyed = (["rename", "descriptions", "pins", "toolTimeouts"] as const).flatMap((option) =>
    Object.keys(options[option])
      .filter((name) => !known.has(name))
      .map((name) => ({
        subject: name,
        message: `\`${OPTION_NAMES[option]}\` names it, and the server has no such tool.`,
      })),
  );
  const shown = [...names, ...Object.values(options.rename)];
  const patterns = options.include
    .filter((pattern) => !shown.some((name) => matchesGlob(pattern, name)))
    .map((pattern) => ({ subject: pattern, message: "`include` names it, and no tool of the server matches." }));
  return [...keyed, ...patterns];
}

const OPTION_NAMES = {
  rename: "rename",
  descriptions: "descriptions",
  pins: "pins",
  toolTimeouts: "tool_timeouts",
} as const;
