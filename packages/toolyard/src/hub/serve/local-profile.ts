import { LOCAL_PRINCIPAL, type Principal } from "../../core/calls/call.ts";
import { OptionError } from "../../core/errors.ts";
import { withProfile } from "../../core/ports/profiles.ts";
import { PROFILES } from "../../core/services.ts";
import { nearest } from "../../core/text/suggest.ts";
import { getService } from "../../kernel/start-features.ts";
import type { Hub } from "../hub.ts";

/** Returns the local user with the rights of a profile. Throws an `OptionError` if the profile does not exist. */
export function localWithin({ services }: Pick<Hub, "services">, name: string): Principal {
  const profiles = getService(services, PROFILES);
  const profile = profiles.find(name);
  const principal = profile && withProfile(LOCAL_PRINCIPAL, profile);
  if (principal) return principal;
  throw new OptionError(
    noProfile(
      name,
      profiles.all.map((one) => one.name),
    ),
  );
}

/** Returns the message for an unknown profile. */
export function noProfile(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : knownProfiles(names);
  return `There is no profile \`${name}\`. ${hint}`;
}

function knownProfiles(names: readonly string[]): string {
  return names.length === 0
    ? "The configuration has none: add `[profiles.<name>]`."
    : `There are: ${names.slice(0, MAX_SHOWN).join(", ")}.`;
}

const MAX_SHOWN = 20;
