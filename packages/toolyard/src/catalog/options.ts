import { durationOption } from "../core/text/duration.ts";
import { OptionError } from "../core/errors.ts";
import { DEFAULT_SEPARATOR, MAX_MCP_NAME_LENGTH, type McpNaming } from "../core/names/names.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { readOptions } from "../core/options/option-values.ts";

/** Keys of `[catalog]` in the configuration. */
const CATALOG_OPTION_SCHEMAS = {
  separator: Type.Optional(
    Type.String({
      description: "Separator between namespace and tool name on MCP: 1 to 4 letters, digits, `_`, `.` or `-`.",
      default: DEFAULT_SEPARATOR,
      pattern: "^[A-Za-z0-9_.-]{1,4}$",
    }),
  ),
  max_name_chars: Type.Optional(
    Type.Integer({
      description:
        "Maximum length of a listed name; a longer one is shortened and ends with a digest. Model APIs " +
        "accept 64 characters, and some clients add a prefix.",
      default: 64,
      minimum: 24,
      maximum: MAX_MCP_NAME_LENGTH,
    }),
  ),
  max_description_chars: Type.Optional(
    Type.Integer({
      description: "Maximum length of a description; longer ones are truncated and reported.",
      default: 16_384,
      minimum: 64,
    }),
  ),
  list_wait_ms: Type.Optional(
    Type.Integer({
      description:
        "Maximum time that a list request waits for one source; then the last known list of the source is " +
        "used. Sources may have shorter limits.",
      default: 10_000,
      minimum: 1,
    }),
  ),
  cold_wait: Type.Optional(
    durationOption(
      {
        description:
          "Maximum time that lists, the handshake and names without a prefix wait for a source that was " +
          "never listed, counted from its start. A call with the prefix of the source waits within its own " +
          "time limit. At most 1 h.",
        default: "5s",
      },
      // A longer wait would rarely succeed, so the option is limited to one hour.
      { most: 3_600_000, must: "must be 1h at most" },
    ),
  ),
  change_delay_ms: Type.Optional(
    Type.Integer({
      description: "Time during which changes are collected before clients are notified that a list changed.",
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
  /** True if no other source may use the names of the hub's own tools (C29). */
  readonly reserveNames: boolean;
}

/** Applies the defaults. A hub that mirrors another hub has no tools of its own, so it reserves no names. */
export function resolveCatalog(
  raw: CatalogConfig = {},
  { reserveNames = true }: { readonly reserveNames?: boolean } = {},
): CatalogOptions {
  const options = readOptions(CatalogSchema, raw);
  const { separator } = options;
  if (!/^[A-Za-z0-9_.-]{1,4}$/.test(separator)) {
    throw new OptionError(
      `\`separator\` must be 1 to 4 of letters, digits, \`_\`, \`.\` and \`-\`, got \`${separator}\`.`,
    );
  }
  return Object.freeze({
    naming: Object.freeze({ separator, maxLength: options.max_name_chars }),
    maxDescriptionChars: options.max_description_chars,
    listWaitMs: options.list_wait_ms,
    coldWaitMs: options.cold_wait,
    changeDelayMs: options.change_delay_ms,
    reserveNames,
  });
}
