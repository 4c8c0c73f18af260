import { durationOption, parseDuration } from "../core/duration.ts";
import { OptionError } from "../core/errors.ts";
import { DEFAULT_SEPARATOR, MAX_MCP_NAME_LENGTH, type McpNaming } from "../core/names.ts";
import { Type, type Static } from "../core/option-schema.ts";

/** Keys that the catalog owns in the configuration. */
const CATALOG_OPTION_SCHEMAS = {
  separator: Type.Optional(
    Type.String({
      description: "Stands between namespace and name of a tool on MCP: 1 to 4 of letters, digits, `_`, `.` and `-`.",
      default: DEFAULT_SEPARATOR,
      pattern: "^[A-Za-z0-9_.-]{1,4}$",
    }),
  ),
  max_name_chars: Type.Optional(
    Type.Integer({
      description:
        "Longest name that is listed; a longer one is shortened and ends in a digest. " +
        "The APIs of models take 64, and some clients put a prefix before it.",
      default: 64,
      minimum: 24,
      maximum: MAX_MCP_NAME_LENGTH,
    }),
  ),
  max_description_chars: Type.Optional(
    Type.Integer({
      description: "Longest description that is passed on; what is longer is cut and reported.",
      default: 16_384,
      minimum: 64,
    }),
  ),
  list_wait_ms: Type.Optional(
    Type.Integer({
      description:
        "Longest time that a list waits for one source before its last known list is used. " +
        "Sources keep shorter bounds of their own.",
      default: 10_000,
      minimum: 1,
    }),
  ),
  cold_wait: Type.Optional(
    durationOption({
      description:
        "How long lists, the handshake and names without a prefix wait for a source that was never listed, " +
        "counted from its start. A name with its prefix waits as long as its call may take. 1 h at most.",
      default: "5s",
    }),
  ),
  change_delay_ms: Type.Optional(
    Type.Integer({
      description: "Time in which changes are gathered before clients are told that a list changed.",
      default: 30,
      minimum: 0,
    }),
  ),
} as const;

export const CatalogSchema = Type.Object(CATALOG_OPTION_SCHEMAS, { description: "Names and lists." });
export type CatalogConfig = Static<typeof CatalogSchema>;

export interface CatalogOptions {
  readonly naming: McpNaming;
  readonly maxDescriptionChars: number;
  readonly listWaitMs: number;
  readonly coldWaitMs: number;
  readonly changeDelayMs: number;
  /** Whether the names of the hub's own tools are refused to every other source (C29). */
  readonly reserveNames: boolean;
}

/** A hub that shows another hub as it is has no tools of its own, so it reserves no names. */
export function resolveCatalog(
  raw: CatalogConfig = {},
  { reserveNames = true }: { readonly reserveNames?: boolean } = {},
): CatalogOptions {
  const {
    separator = DEFAULT_SEPARATOR,
    max_name_chars = 64,
    max_description_chars = 16_384,
    list_wait_ms = 10_000,
    cold_wait = "5s",
    change_delay_ms = 30,
  } = raw;
  if (!/^[A-Za-z0-9_.-]{1,4}$/.test(separator)) {
    throw new OptionError(
      `\`separator\` must be 1 to 4 of letters, digits, \`_\`, \`.\` and \`-\`, got \`${separator}\`.`,
    );
  }
  return Object.freeze({
    naming: Object.freeze({ separator, maxLength: inRange("max_name_chars", max_name_chars) }),
    maxDescriptionChars: atLeast(64, "max_description_chars", max_description_chars),
    listWaitMs: atLeast(1, "list_wait_ms", list_wait_ms),
    coldWaitMs: coldWait(cold_wait),
    changeDelayMs: atLeast(0, "change_delay_ms", change_delay_ms),
    reserveNames,
  });
}

/** Who wants to wait longer waits for nothing, most of the time. */
const MAX_COLD_WAIT_MS = 3_600_000;

function coldWait(value: number | string): number {
  const waitMs = parseDuration(value, "cold_wait");
  if (waitMs <= MAX_COLD_WAIT_MS) return waitMs;
  throw new OptionError(`\`cold_wait\` must be 1h at most, got \`${value}\`.`);
}

function inRange(key: string, value: number): number {
  if (Number.isInteger(value) && value >= 24 && value <= MAX_MCP_NAME_LENGTH) return value;
  throw new OptionError(`\`${key}\` must be a whole number from 24 to ${MAX_MCP_NAME_LENGTH}, got \`${value}\`.`);
}

function atLeast(minimum: number, key: string, value: number): number {
  if (Number.isInteger(value) && value >= minimum) return value;
  throw new OptionError(`\`${key}\` must be a whole number of at least ${minimum}, got \`${value}\`.`);
}
