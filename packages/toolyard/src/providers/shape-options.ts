import { durationOption } from "../core/text/duration.ts";
import { OptionError } from "../core/errors.ts";
import type { ListingShape } from "../core/sources/listing-shape.ts";
import { Type, type OptionSchema, type Static } from "../core/options/option-schema.ts";
import { ABOVE_ZERO, readEntries, readOptions } from "../core/options/option-values.ts";

const TOOL_TIMEOUT = durationOption({}, ABOVE_ZERO);

/** Members of an options schema that change a source's lists, for every kind of source. */
export const SHAPE_MEMBERS = {
  include: Type.Optional(
    Type.Array(Type.String(), {
      description: "Tools that are offered, by name, with `*` and `?`. Empty: all.",
      default: [],
    }),
  ),
  exclude: Type.Optional(
    Type.Array(Type.String(), {
      description: "Tools that are not offered, by name, with `*` and `?`; wins over `include`.",
      default: [],
    }),
  ),
  rename: Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), {
      description: "New names of tools, by the source's tool name.",
      default: {},
    }),
  ),
  descriptions: Type.Optional(
    Type.Record(Type.String(), {
      description: "Descriptions that replace the source's own, by the source's tool name.",
      default: {},
    }),
  ),
  pins: Type.Optional(
    Type.Record(Type.String(), {
      description:
        "Digests of approved tool definitions, by the source's tool name. A tool with a changed definition " +
        "is not offered, and `check` shows its new digest. Set a pin to an empty text to see the current " +
        "digest.",
      default: {},
      examples: [{ pay: "" }],
    }),
  ),
  keywords: Type.Optional(
    Type.Array(Type.String(), { description: "Further words with which search finds these tools.", default: [] }),
  ),
  tool_timeouts: Type.Optional(
    Type.Record(TOOL_TIMEOUT, {
      description: "`timeout` of single tools, by the source's tool name.",
      default: {},
      examples: [{ parse_pdf: "10m" }],
    }),
  ),
  validation: Type.Optional(
    Type.Enum(["coerce", "strict", "off"], {
      description:
        'Validation of arguments. `coerce`: `"3"` and `"true"` are read as a number and a boolean if the ' +
        "schema has no other scalar type. `strict`: they are refused. `off`: arguments are sent to the " +
        "source unchanged.",
      default: "coerce",
    }),
  ),
} satisfies Record<string, OptionSchema>;

const ShapeSchema = Type.Object(SHAPE_MEMBERS);
export type ShapeConfig = Static<typeof ShapeSchema>;

/** Returns the checked options with defaults. `place`: prefix of option names in messages. Throws an `OptionError`. */
export function resolveShape(config: ShapeConfig, place = ""): ListingShape {
  const { tool_timeouts: toolTimeouts, ...lists } = readOptions(ShapeSchema, config, place);
  assertDistinct(lists.rename, place);
  return Object.freeze({
    ...lists,
    toolTimeouts: readEntries(TOOL_TIMEOUT, toolTimeouts, `${place}tool_timeouts.`),
    instructions: true,
  });
}

function assertDistinct(rename: Readonly<Record<string, string>>, place: string): void {
  const seen = new Map<string, string>();
  for (const [from, to] of Object.entries(rename)) {
    const other = seen.get(to);
    if (other !== undefined)
      throw new OptionError(
        `\`${place}rename\` gives ${JSON.stringify(other)} and ${JSON.stringify(from)} the same name ` +
          `${JSON.stringify(to)}.`,
      );
    seen.set(to, from);
  }
}
