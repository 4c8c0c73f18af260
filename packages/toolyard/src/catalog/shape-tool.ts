import { coveredBy, definitionDigest, matchesPin } from "../core/sources/definition-digest.ts";
import { matchesAnyGlob, matchesGlob } from "../core/text/glob.ts";
import { holdsHidden, withoutHidden } from "../core/text/hidden-text.ts";
import { HINT_META_KEY } from "../core/calls/hint.ts";
import { objectMember, type JsonObject } from "../core/json/json.ts";
import type { ListingShape } from "../core/sources/listing-shape.ts";
import { factsOf } from "../core/sources/provider-kinds.ts";
import type { Source, ProblemDetails, ToolRecord } from "../core/sources/records.ts";
import {
  hiddenProblem,
  mayHideText,
  revealDefinition,
  revealSchema,
  TEXTS_CLEANED,
  withheldProblem,
} from "./hidden-texts.ts";
import { repairTool } from "./repair-definition.ts";

export type ProblemReporter = (told: ProblemDetails) => void;

/** Offered form of one record, absent if it is not offered, and the problems. */
export interface ShapedRecord<R> {
  readonly record?: R;
  readonly problems: readonly ProblemDetails[];
}

export interface ToolRules {
  readonly source: Source;
  readonly shape: ListingShape;
  /** Returns the name that problem reports use for a tool. */
  readonly keyOf: (tool: ToolRecord) => string;
}

/** Returns the tools that `include` and `exclude` keep, and the names of the others. */
export function chooseTools(
  tools: readonly ToolRecord[],
  shape: ListingShape,
): { readonly chosen: readonly ToolRecord[]; readonly excluded: readonly string[] } {
  if (shape.include.length === 0 && shape.exclude.length === 0) return { chosen: tools, excluded: [] };
  const chosen = tools.filter(({ name, isHubs }) => isHubs || isChosen(name, shape));
  const left = new Set(chosen);
  return { chosen, excluded: tools.filter((tool) => !left.has(tool)).map(({ name }) => name) };
}

/** Returns true if the tool is selected by its original or its new name. */
function isChosen(name: string, { include, exclude, rename }: ListingShape): boolean {
  const names = Object.hasOwn(rename, name) ? [name, rename[name]!] : [name];
  if (names.some((one) => matchesAnyGlob(exclude, one))) return false;
  return include.length === 0 || names.some((one) => matchesAnyGlob(include, one));
}

/**
 * Returns the tool as configured for its source. Returns the same record if nothing is configured and no text is
 * hidden.
 */
export function shapeTool(tool: ToolRecord, { source, shape, keyOf }: ToolRules): ShapedRecord<ToolRecord> {
  const pin = pinOf(tool, shape);
  if (pin.refused !== undefined) return { problems: [{ ...withheldProblem(tool.name, pin.refused), changed: true }] };
  const repaired = repairTool(pin.isCovered ? onlyCovered(tool) : tool);
  if (!repaired.record) return repaired;
  const approved = repaired.record;
  const hinted = factsOf(source.kind).isLocal ? approved : withoutHint(approved);
  const configured = hasNoSettings(source, shape) ? hinted : configure(hinted, source, shape);
  const offer = reveal(configured, keyOf);
  if (pin.warning === undefined && repaired.problems.length === 0) return offer;
  const warning = pin.warning === undefined ? [] : [{ subject: tool.name, message: pin.warning, changed: true }];
  return { ...offer, problems: [...warning, ...repaired.problems, ...offer.problems] };
}

interface Pin {
  /** Reason why the tool is not offered. */
  readonly refused?: string;
  readonly warning?: string;
  /** True if the pin is a digest of the current format, which covers all members that callers see. */
  readonly isCovered?: boolean;
}

/** Compares a tool with its pin (S12). */
function pinOf({ name, definition }: ToolRecord, { pins }: ListingShape): Pin {
  const pin = Object.hasOwn(pins, name) ? pins[name] : undefined;
  if (pin === undefined) return {};
  const match = matchesPin(definition, pin);
  if (match === "yes") return { isCovered: true };
  const digest = definitionDigest(definition);
  if (match === "old")
    return {
      warning:
        "`pins` approves it by a digest of an older rule, which omits icons and `_meta`, so it is offered. Check its " +
        `definition, then pin its current digest: ${digest}.`,
    };
  return {
    refused:
      `\`pins\` approves ${pin === "" ? "nothing yet" : `the digest ${pin}`}, but its current digest is ` +
      `${digest}. Check its definition, then pin that digest.`,
  };
}

function onlyCovered(tool: ToolRecord): ToolRecord {
  const definition = coveredBy(tool.definition);
  if (definition === tool.definition) return tool;
  const { outputSchema, ...rest } = tool;
  return { ...rest, ...(outputSchema && definition["outputSchema"] !== undefined && { outputSchema }), definition };
}

/** Returns the tool without its hint. A hint goes into the agent's prompt, so hints of remote servers are removed. */
function withoutHint(tool: ToolRecord): ToolRecord {
  const meta = objectMember(tool.definition, "_meta");
  if (!meta || !Object.hasOwn(meta, HINT_META_KEY)) return tool;
  const { [HINT_META_KEY]: _hint, ...rest } = meta;
  const { _meta, ...definition } = tool.definition;
  return { ...tool, definition: Object.keys(rest).length === 0 ? definition : { ...definition, _meta: rest } };
}

function configure(tool: ToolRecord, { limits: bounds }: Source, shape: ListingShape): ToolRecord {
  const { name } = tool;
  const { rename, descriptions, keywords, visibility, toolTimeouts } = shape;
  const own = Object.hasOwn(toolTimeouts, name) ? { timeoutMs: toolTimeouts[name]! } : undefined;
  const limits = { ...bounds, ...tool.limits, ...own };
  const changes: Partial<ToolRecord> = {
    ...(Object.hasOwn(rename, name) && { alias: rename[name]! }),
    ...(Object.hasOwn(descriptions, name) && { description: descriptions[name]! }),
    ...(keywords.length > 0 && { keywords: [...tool.keywords, ...keywords] }),
    ...(visibility !== undefined && visibility !== tool.visibility && { visibility }),
    ...(Object.keys(limits).length > Object.keys(tool.limits ?? {}).length || own ? { limits } : {}),
  };
  return Object.keys(changes).length === 0 ? tool : { ...tool, ...changes };
}

/**
 * Returns true if no settings apply. Checks the options without creating an object, because most lists are long and
 * have no settings.
 */
function hasNoSettings({ limits }: Source, shape: ListingShape): boolean {
  const { keywords, visibility } = shape;
  return limits === undefined && keywords.length === 0 && visibility === undefined && !namesTools(shape);
}

/** Returns true if an option refers to tools by name. */
function namesTools(shape: ListingShape): boolean {
  return KEYED_OPTIONS.some((option) => {
    for (const _ in shape[option]) return true;
    return false;
  });
}

function reveal(tool: ToolRecord, keyOf: ToolRules["keyOf"]): ShapedRecord<ToolRecord> {
  if (isPlain(tool)) return { record: tool, problems: NO_PROBLEMS };
  const { name, outputSchema } = tool;
  const { definition, hiddenIn } = revealDefinition(tool.definition);
  const revealed = (member: SchemaMember, schema: JsonObject): ReturnType<typeof revealSchema> =>
    schema === tool.definition[member] ? { schema: definition[member] as JsonObject } : revealSchema(member, schema);
  // The check of the definition covers its own schemas. Only a schema that the source derived from it is checked
  // separately.
  const input = revealed("inputSchema", tool.inputSchema);
  const output = outputSchema && revealed("outputSchema", outputSchema);
  const place = holdsHidden(name) ? "name" : (hiddenIn ?? input.hiddenIn ?? output?.hiddenIn);
  if (place !== undefined) return { problems: [hiddenProblem(name, place)] };
  const visible: Partial<ToolRecord> = {
    definition,
    description: withoutHidden(tool.description),
    inputSchema: input.schema,
    ...(output && { outputSchema: output.schema }),
  };
  if (!changes(tool, visible)) return { record: tool, problems: NO_PROBLEMS };
  const record: ToolRecord = { ...tool, ...visible };
  return { record, problems: [{ subject: keyOf(record), message: TEXTS_CLEANED }] };
}

type SchemaMember = "inputSchema" | "outputSchema";

/**
 * Returns true if the record equals its definition and contains no hidden text. This is true for almost all tools,
 * which need no further check.
 */
function isPlain({ name, description, inputSchema, outputSchema, definition }: ToolRecord): boolean {
  const isAll =
    name === definition["name"] &&
    description === (definition["description"] ?? "") &&
    inputSchema === definition["inputSchema"] &&
    outputSchema === definition["outputSchema"];
  return isAll && !mayHideText(definition);
}

function changes(tool: ToolRecord, members: Partial<ToolRecord>): boolean {
  return Object.entries(members).some(([name, value]) => tool[name as keyof ToolRecord] !== value);
}

const NO_PROBLEMS: readonly never[] = Object.freeze([]);

const OPTION_NAMES = {
  rename: "rename",
  descriptions: "descriptions",
  pins: "pins",
  toolTimeouts: "tool_timeouts",
} as const;
const KEYED_OPTIONS = ["rename", "descriptions", "pins", "toolTimeouts"] as const;

/** Reports names in the options that no tool of the source has, because a misspelled name would have no effect. */
export function reportIdleOptions(tools: readonly ToolRecord[], shape: ListingShape, report: ProblemReporter): void {
  // With `unlisted`, a name in the options may belong to a tool that the source does not list.
  if (shape.unlisted === true) return;
  // If the source has not been listed yet, it has only the hub's own entries, so the names cannot be checked.
  if (tools.every(({ isHubs }) => isHubs)) return;
  if (shape.include.length === 0 && !namesTools(shape)) return;
  const names = tools.map(({ name }) => name);
  const known = new Set(names);
  for (const option of KEYED_OPTIONS) {
    for (const name of Object.keys(shape[option])) {
      if (known.has(name)) continue;
      const message = `\`${OPTION_NAMES[option]}\` names it, and the source has no such tool.`;
      report({ subject: name, message });
    }
  }
  const shown = [...names, ...Object.values(shape.rename)];
  for (const pattern of shape.include) {
    if (!shown.some((name) => matchesGlob(pattern, name)))
      report({ subject: pattern, message: "`include` names it, and no tool of the source matches." });
  }
}
