import { OptionError } from "../../../core/errors.ts";
import { Type, type Static } from "../../../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../../../core/options/option-values.ts";
import { durationOption } from "../../../core/text/duration.ts";
import { isLoopbackHost } from "../../../core/uris/loopback.ts";

const GITHUB_URL = "https://github.com";
const DEFAULT_SCOPES = { oidc: ["openid", "profile", "email"], github: ["read:user", "user:email", "read:org"] };

export const IdentityProviderSchema = Type.Object({
  kind: Type.Optional(
    Type.Enum(["oidc", "github"], {
      description: "`oidc`: OpenID Connect, with discovery. `github`: an OAuth app of GitHub or GitHub Enterprise.",
      default: "oidc",
    }),
  ),
  url: Type.Optional(
    Type.String({
      description: "Issuer identifier for `oidc`. For `github`: address of a GitHub Enterprise server.",
      examples: ["https://login.example.com/realms/team"],
    }),
  ),
  title: Type.Optional(Type.String({ description: "Name on the sign-in page. Absent: the key of the entry." })),
  client_id: Type.Optional(
    Type.String({
      description: "Client id of the hub at the provider. Absent: users do not sign in there with a browser.",
      minLength: 1,
    }),
  ),
  client_secret: Type.Optional(Type.Secret({ description: "Client secret of the hub at the provider.", minLength: 1 })),
  assertion_clients: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description:
        "Clients of `auth.builtin.machines` that may exchange identity assertions (ID-JAG) of this provider for " +
        "access tokens of its users (`oidc` only).",
      default: [],
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
      description:
        "Scopes that the hub requests. Absent: `openid profile email`, and `read:user user:email read:org` for GitHub.",
    }),
  ),
  groups_claim: Type.Optional(
    Type.String({
      description: "Claim with the user's groups (`oidc`); a dotted path such as `realm_access.roles` works.",
      default: "groups",
    }),
  ),
  allow: Type.Array(Type.String({ minLength: 1 }), {
    description:
      "Accounts that may sign in; one matching entry is enough. `email:` compares a verified address, `group:` a " +
      "group, `user:` the provider's user id or GitHub login; an entry of digits is always the id. `*` matches any " +
      "text. `everyone` admits every account of the provider (`oidc` only).",
    minItems: 1,
    examples: [["email:*@example.com", "group:toolyard-users"]],
  }),
  timeout: Type.Optional(
    durationOption({ description: "Time limit of one request to the provider.", default: "10s" }, ABOVE_ZERO),
  ),
});
export type IdentityProviderConfig = Static<typeof IdentityProviderSchema>;

export type AdmissionKind = "email" | "group" | "user" | "everyone";

/** Rule that admits accounts of an identity provider. */
export interface AdmissionRule {
  readonly kind: AdmissionKind;
  readonly pattern: string;
}

export interface IdentityProviderOptions {
  readonly id: string;
  readonly kind: "oidc" | "github";
  readonly url: string;
  readonly title: string;
  /** Client id of the hub at the provider. Empty if users cannot sign in at the provider with a browser. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Clients that may exchange identity assertions of this provider. */
  readonly assertionClients: readonly string[];
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  readonly allow: readonly AdmissionRule[];
  readonly timeoutMs: number;
}

const PLACE = "auth.builtin.providers.";

/** Applies the defaults. Throws an `OptionError` for an invalid value. */
export function resolveIdentityProviders(
  raw: Readonly<Record<string, IdentityProviderConfig>> = {},
): readonly IdentityProviderOptions[] {
  return Object.entries(raw).map(([id, entry]) => {
    const given = readOptions(IdentityProviderSchema, entry, `${PLACE}${id}.`);
    const { kind, title = id, timeout: timeoutMs } = given;
    const { scopes = DEFAULT_SCOPES[kind] } = given;
    return Object.freeze({
      id: providerId(id),
      kind,
      url: providerUrl(id, kind, given.url),
      title,
      ...waysToSignIn(id, given),
      scopes,
      groupsClaim: given.groups_claim,
      allow: given.allow.map((text) => admissionRule(id, kind, text)),
      timeoutMs,
    });
  });
}

type Ways = Pick<IdentityProviderOptions, "clientId" | "clientSecret" | "assertionClients">;

/**
 * Returns the settings for sign-ins with a browser and with identity assertions. Throws an `OptionError` if both are
 * missing.
 */
function waysToSignIn(id: string, given: IdentityProviderConfig): Ways {
  const {
    client_id: clientId = "",
    client_secret: clientSecret = "",
    assertion_clients: assertionClients = [],
  } = given;
  if (assertionClients.length > 0 && given.kind === "github")
    throw new OptionError(`\`${PLACE}${id}.assertion_clients\` needs \`kind = "oidc"\`: GitHub issues no assertions.`);
  if ((clientId === "") !== (clientSecret === ""))
    throw new OptionError(`\`${PLACE}${id}\` needs both \`client_id\` and \`client_secret\`.`);
  if (clientId !== "" || assertionClients.length > 0) return { clientId, clientSecret, assertionClients };
  throw new OptionError(
    `\`${PLACE}${id}\` needs \`client_id\` and \`client_secret\` for sign-ins with a browser, or ` +
      "`assertion_clients` for identity assertions.",
  );
}

function providerId(id: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(id)) return id;
  throw new OptionError(
    `\`auth.builtin.providers\`: a key has up to 32 lower-case letters, digits and \`_ -\`, got ${JSON.stringify(id)}.`,
  );
}

function providerUrl(id: string, kind: "oidc" | "github", given = kind === "github" ? GITHUB_URL : ""): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url && isSecure(url) && [url.username, url.password, url.search, url.hash].every((part) => part === ""))
    return given;
  throw new OptionError(
    `\`${PLACE}${id}.url\` must be an address that begins with https:// (or with http:// on this machine) and holds ` +
      `no password, got ${JSON.stringify(given)}.`,
  );
}

function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
}

function admissionRule(id: string, providerKind: "oidc" | "github", text: string): AdmissionRule {
  if (text === "everyone" && providerKind === "oidc") return { kind: "everyone", pattern: "*" };
  if (text === "everyone")
    throw new OptionError(
      `\`${PLACE}${id}.allow\` cannot contain "everyone": anybody can create an account at GitHub. Name users or ` +
        'groups, such as "user:octocat" or "group:acme/developers".',
    );
  const match = /^(email|group|user):(.+)$/.exec(text);
  if (match) return { kind: match[1] as AdmissionKind, pattern: match[2]!.toLowerCase() };
  throw new OptionError(
    `\`${PLACE}${id}.allow\` has entries such as "email:*@example.com", "group:dev", "user:ann" or "everyone", got ` +
      `${JSON.stringify(text)}.`,
  );
}
