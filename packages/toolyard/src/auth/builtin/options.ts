import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { ABOVE_ZERO, readEntries, readOptions } from "../../core/options/option-values.ts";
import { durationOption } from "../../core/text/duration.ts";
import {
  IdentityProviderSchema,
  resolveIdentityProviders,
  type IdentityProviderOptions,
} from "./federation/options.ts";

/** Scope of every issued token, unless the client requests other scopes. */
export const BASE_SCOPE = "mcp";
/** Client id of the hub's own console. Registered clients get random ids, and no machine client may have this one. */
export const CONSOLE_CLIENT = "toolyard-console";
const DAY_MS = 24 * 60 * 60_000;

const MachineSchema = Type.Object({
  secret: Type.Secret({ description: "Client secret, at least 16 characters.", minLength: 16 }),
  client_credentials: Type.Optional(
    Type.Boolean({
      description: "Lets the client act for itself. Without it, the client needs a provider's `assertion_clients`.",
      default: true,
    }),
  ),
});

export const BuiltinSchema = Type.Object(
  {
    dynamic_registration: Type.Optional(
      Type.Boolean({
        description:
          "Lets clients register themselves (RFC 7591). Clients with a client ID metadata document do not " +
          "need it. Each " +
          "sign-in asks the user for consent.",
        default: true,
      }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" }), {
        description: "Scopes that clients may request besides `mcp`, such as those that tools require.",
        default: [],
      }),
    ),
    machines: Type.Optional(
      Type.Record(MachineSchema, {
        description: "Clients that act for themselves, by client id (grant `client_credentials`).",
        default: {},
      }),
    ),
    providers: Type.Optional(
      Type.Record(IdentityProviderSchema, {
        description: "Identity providers at which users may sign in instead of with a password, by a short key.",
        default: {},
      }),
    ),
    access_token: Type.Optional(
      durationOption(
        { description: "Lifetime of access tokens.", default: "30m" },
        { least: 60_000, most: DAY_MS, must: "must be from 1 minute to 1 day" },
      ),
    ),
    refresh_token: Type.Optional(
      durationOption({ description: "Lifetime of refresh tokens. Each use renews it.", default: "30d" }, ABOVE_ZERO),
    ),
    session: Type.Optional(
      durationOption({ description: "Time for which a browser need not sign in again.", default: "8h" }, ABOVE_ZERO),
    ),
  },
  { description: "The authorization server inside of the hub, for the mode `builtin`." },
);
export type AuthServerConfig = Static<typeof BuiltinSchema>;

/** A client that authenticates with a secret. */
export interface MachineClient {
  readonly id: string;
  readonly secret: string;
  /** True if the client may get tokens for itself, without a user. */
  readonly actsForItself: boolean;
}

export interface AuthServerOptions {
  readonly dynamicRegistration: boolean;
  /** Scopes that clients may request. The first one is `mcp`. */
  readonly scopes: readonly string[];
  readonly machines: readonly MachineClient[];
  readonly providers: readonly IdentityProviderOptions[];
  readonly accessTokenMs: number;
  readonly refreshTokenMs: number;
  readonly sessionMs: number;
}

/** Applies the defaults. Throws an `OptionError` for an invalid value. */
export function resolveBuiltin(raw: AuthServerConfig = {}, needed: readonly string[] = []): AuthServerOptions {
  const options = readOptions(BuiltinSchema, raw, "auth.builtin.");
  const machines = readMachines(options.machines);
  const providers = resolveProviders(raw, machines);
  assertUsable(machines, providers);
  return Object.freeze({
    dynamicRegistration: options.dynamic_registration,
    scopes: [...new Set([BASE_SCOPE, ...needed, ...options.scopes])],
    machines,
    providers,
    accessTokenMs: options.access_token,
    refreshTokenMs: options.refresh_token,
    sessionMs: options.session,
  });
}

function readMachines(raw: NonNullable<AuthServerConfig["machines"]>): readonly MachineClient[] {
  const entries = Object.entries(readEntries(MachineSchema, raw, "auth.builtin.machines."));
  return entries.map(([id, { secret, client_credentials: actsForItself = true }]) => ({
    id: machineId(id),
    secret,
    actsForItself,
  }));
}

/** Throws an `OptionError` if a client can get no token, neither for itself nor with an assertion. */
function assertUsable(machines: readonly MachineClient[], providers: readonly IdentityProviderOptions[]): void {
  const unused = machines.find(
    ({ id, actsForItself }) =>
      !actsForItself && !providers.some(({ assertionClients }) => assertionClients.includes(id)),
  );
  if (!unused) return;
  throw new OptionError(
    `\`auth.builtin.machines.${unused.id}.client_credentials\` is false, and no provider names the client in ` +
      "`assertion_clients`, so it could get no token. Name it there, or remove `client_credentials`.",
  );
}

/**
 * Throws an `OptionError` if a provider accepts assertions from a client that has no secret in the hub's configuration.
 */
function resolveProviders(
  raw: AuthServerConfig,
  machines: readonly MachineClient[],
): readonly IdentityProviderOptions[] {
  const providers = resolveIdentityProviders(raw.providers);
  for (const { id, assertionClients } of providers) {
    const unknown = assertionClients.find((client) => !machines.some((machine) => machine.id === client));
    if (unknown !== undefined)
      throw new OptionError(
        `\`auth.builtin.providers.${id}.assertion_clients\` names ${JSON.stringify(unknown)}, which is no entry of ` +
          "`auth.builtin.machines`. Add it there with a secret.",
      );
  }
  return providers;
}

function machineId(id: string): string {
  if (id === CONSOLE_CLIENT)
    throw new OptionError(
      `\`auth.builtin.machines.${id}\`: the console of the hub has this client id. Choose another.`,
    );
  if (/^[A-Za-z0-9._-]{1,64}$/.test(id)) return id;
  throw new OptionError(
    `\`auth.builtin.machines\`: a client id has up to 64 letters, digits and \`. _ -\`, got ${JSON.stringify(id)}.`,
  );
}
