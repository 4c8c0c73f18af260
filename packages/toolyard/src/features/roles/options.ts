import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";

const MembersSchema = Type.Object(
  {
    tokens: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Names of entries of `[server.tokens]`.",
        default: [],
      }),
    ),
    users: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Names of users, or ids of users as `toolyard whoami` shows them.",
        default: [],
      }),
    ),
    groups: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Groups of users, as the issuer names them.",
        default: [],
      }),
    ),
    clients: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Ids of OAuth clients that sign in for themselves, without a user.",
        default: [],
      }),
    ),
    claims: Type.Optional(
      Type.Record(Type.Union([Type.String(), Type.Boolean(), Type.Number(), Type.Array(Type.String())]), {
        description:
          "Claims of the access token with the values that they must have. A list permits each of its values. All " +
          "claims must match.",
      }),
    ),
    everyone: Type.Optional(
      Type.Boolean({ description: "Every caller that is authenticated, in any way.", default: false }),
    ),
    issuer: Type.Optional(
      Type.String({
        description:
          "Only users, groups, clients and claims of this issuer. Set it if several issuers are accepted, because " +
          "each chooses its names. Default: every accepted issuer.",
        minLength: 1,
      }),
    ),
  },
  { description: "The callers that have the role. One of the lists must match." },
);

export const RoleSchema = Type.Object(
  {
    allow: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Patterns over names of tools and prompts, and over URIs; only these may be used. `id::pattern` means " +
          "names at the source with this id. Default: everything.",
      }),
    ),
    deny: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Patterns of tools, prompts and URIs that may not be used, even if another role of the caller permits them.",
        default: [],
      }),
    ),
    read_only: Type.Optional(
      Type.Boolean({ description: "Only tools that are read-only by annotation.", default: false }),
    ),
    sources: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Ids of sources, or globs over them; only their tools, prompts and resources. Default: all.",
      }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Scopes of `[scopes]` that callers with this role may have. Entries of `[server.tokens]` have them; an " +
          "OAuth access token must contain them. Default for OAuth callers: all.",
      }),
    ),
    rate_per_minute: Type.Optional(
      Type.Integer({
        description:
          "Calls per minute of each client of a caller with this role; 0 means no limit. The highest value of the " +
          "caller's roles counts. Default: `[limits] rate_per_minute`.",
        minimum: 0,
      }),
    ),
    members: Type.Optional(MembersSchema),
  },
  { description: "Rights, and the callers that have them." },
);

const ScopeSchema = Type.Object(
  {
    required_by: Type.Array(Type.String({ minLength: 1 }), {
      description:
        "Patterns of the tools, prompts and resources that need the scope, as in `deny`. Lists show them; a call " +
        "without the scope is refused with a challenge that names it.",
      minItems: 1,
    }),
    description: Type.Optional(
      Type.String({
        description: "Operations that the scope permits, as shown to users when a client requests the scope.",
        minLength: 1,
      }),
    ),
  },
  { description: "One scope of access tokens." },
);

export type RoleConfig = Static<typeof RoleSchema>;
export type RolesConfig = Readonly<Record<string, RoleConfig>>;
export type ScopesConfig = Readonly<Record<string, Static<typeof ScopeSchema>>>;

export const ROLE_SECTIONS = {
  roles: Type.Optional(
    Type.Record(RoleSchema, {
      description:
        "Rights by role. With at least one role, callers that sign in by OAuth need one. Tokens without a role keep " +
        "the rights of their entry.",
      default: {},
    }),
  ),
  scopes: Type.Optional(Type.Record(ScopeSchema, { description: "Scopes that operations need.", default: {} })),
};

/** Sections of the configuration that roles are read from. */
export interface RoleReads {
  readonly roles?: RolesConfig;
  readonly scopes?: ScopesConfig;
  readonly server?: { readonly tokens?: Readonly<Record<string, unknown>> };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Syntax of a scope (RFC 6749, section 3.3). A challenge contains the scope in quotes. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;

/** Throws an `OptionError` for roles and scopes that cannot be used. */
export function assertRoles({ roles = {}, scopes = {}, server = {} }: RoleReads): void {
  for (const name of Object.keys(scopes)) {
    if (!SCOPE.test(name))
      throw new OptionError(
        `\`scopes\`: ${JSON.stringify(name)} is no scope. Use up to 128 printable ASCII characters without blanks, ` +
          "quotes and backslashes.",
      );
  }
  for (const [name, { scopes: held = [], members }] of Object.entries(roles)) {
    if (!NAME.test(name))
      throw new OptionError(
        `\`roles.${name}\`: use up to 64 letters, digits, \`-\`, \`_\` and \`.\` for a role's name, and begin with a ` +
          "letter or a digit.",
      );
    assertKnown(`roles.${name}.scopes`, { names: held, known: scopes, section: "scopes" });
    const tokens = server.tokens ?? {};
    assertKnown(`roles.${name}.members.tokens`, {
      names: members?.tokens ?? [],
      known: tokens,
      section: "server.tokens",
    });
  }
}

interface References {
  readonly names: readonly string[];
  readonly known: object;
  readonly section: string;
}

function assertKnown(option: string, { names, known, section }: References): void {
  const unknown = names.find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new OptionError(
    `\`${option}\` names \`${unknown}\`, which is not in \`[${section}]\`. Add it there, or correct the name.`,
  );
}
