import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import type { DescribedProfile } from "../../core/ports/profiles.ts";
import { rightsWithin, type Rights } from "../../core/ports/rights.ts";
import { parseToolMode } from "../../endpoints/tool-mode.ts";

const PATTERNS = "Patterns as in `[server.tokens.<name>] allow`; `id::pattern` means names at the source with this id.";

export const ProfileSchema = Type.Object(
  {
    title: Type.Optional(
      Type.String({
        description: "Title of the hub for clients of this profile, instead of `Toolyard`.",
        minLength: 1,
      }),
    ),
    sources: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Ids of sources, or globs over them. Only their tools, prompts and resources are in the profile. Default: " +
          "all sources.",
      }),
    ),
    tools: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          `Tools in the profile. ${PATTERNS} Default: every tool; without \`sources\`, none if \`prompts\` or ` +
          "`resources` is set.",
      }),
    ),
    prompts: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Prompts in the profile. Default: every prompt; without `sources`, none if `tools` or `resources` is set.",
      }),
    ),
    resources: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Resources and resource templates in the profile, as patterns over URIs. Default: every resource; without " +
          "`sources`, none if `tools` or `prompts` is set.",
      }),
    ),
    deny: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Tools, prompts and URIs that are not in the profile.",
        default: [],
      }),
    ),
    read_only: Type.Optional(
      Type.Boolean({ description: "Only tools that are read-only by annotation.", default: false }),
    ),
    tool_mode: Type.Optional(
      Type.Enum(["normal", "discovery", "show_all", "all"], {
        description: "The tools that lists contain if a request names no mode. Default: `[server] tool_mode`.",
      }),
    ),
    instructions: Type.Optional(
      Type.String({
        description: "Instructions for the model, instead of those of the hub and its sources.",
        minLength: 1,
      }),
    ),
    roles: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Only callers with one of these `[roles]` may use the profile. Other callers get the error " +
          "for a profile that does not exist. The local user may use every profile. Default: all callers.",
      }),
    ),
  },
  { description: "One profile, served at `/mcp/<name>`. It never widens the rights of its callers." },
);

export type ProfileConfig = Static<typeof ProfileSchema>;
export type ProfilesConfig = Readonly<Record<string, ProfileConfig>>;

export const PROFILE_SECTIONS = {
  profiles: Type.Optional(
    Type.Record(ProfileSchema, {
      description: "Selections of what the hub offers, each with its own address.",
      default: {},
    }),
  ),
};

/** Valid name of a profile. It is part of a path, a command line and an environment variable's name. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Throws an `OptionError` for a profile that cannot be served. */
export function resolveProfiles(
  profiles: ProfilesConfig = {},
  roles: Readonly<Record<string, unknown>> = {},
): readonly DescribedProfile[] {
  return Object.entries(profiles).map(([name, config]) => {
    if (!NAME.test(name))
      throw new OptionError(
        `\`profiles.${name}\`: the name of a profile is a part of its address. Use up to 64 letters, digits, \`-\` ` +
          "and `_`, and begin with a letter or a digit.",
      );
    const unknown = config.roles?.find((role) => !Object.hasOwn(roles, role));
    if (unknown !== undefined)
      throw new OptionError(
        `\`profiles.${name}.roles\` names the role \`${unknown}\`, which is not in \`[roles]\`. ` +
          `Add \`[roles.${unknown}]\`, or correct the name.`,
      );
    return resolveProfile(name, config);
  });
}

function resolveProfile(name: string, config: ProfileConfig): DescribedProfile {
  const { title, instructions, tool_mode: mode, roles } = config;
  return Object.freeze({
    name,
    rights: rightsOf(name, config),
    ...(mode !== undefined && { toolMode: parseToolMode(mode) }),
    ...(roles && { roles }),
    ...(title !== undefined && { title }),
    ...(instructions !== undefined && { instructions }),
  });
}

function rightsOf(name: string, { sources, tools, prompts, resources, deny, read_only }: ProfileConfig): Rights {
  // If a profile selects one kind of entries, for example only tools, it contains no entries of the other kinds.
  const isSelected = tools ?? prompts ?? resources;
  const others = sources === undefined && isSelected !== undefined ? NONE : undefined;
  const lists = { sources, tools: tools ?? others, prompts: prompts ?? others, resources: resources ?? others };
  return rightsWithin({
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list !== undefined)),
    ...(deny && { deny }),
    ...(read_only && { readOnly: true }),
    origin: `profile ${name}`,
  });
}

const NONE: readonly string[] = Object.freeze([]);
