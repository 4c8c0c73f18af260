import type { Principal } from "../../core/calls/call.ts";
import type { Identity } from "../../core/calls/identity.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { describeRights } from "../../core/ports/rights-text.ts";
import { safeJson } from "../../core/text/hidden-text.ts";
import { JSON_CONTENT } from "../../http/answer/send.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import type { Endpoint } from "../endpoint.ts";
import { WHOAMI_PATH } from "../paths.ts";

/**
 * `GET /whoami`: the caller's identity, roles, scopes and rights, as JSON. It names no tool that the caller may not
 * use.
 */
export class WhoamiEndpoint implements Endpoint {
  mount(listener: Mountable): void {
    listener.route({ methods: ["GET"], path: WHOAMI_PATH }, ({ answer, principal }) => {
      const body = safeJson(JSON.stringify(whoami(principal)));
      answer.send(200, ["cache-control", "no-store", ...JSON_CONTENT], body);
    });
  }

  giveUp(): void {}

  close(): void {}
}

function identityFacts({ kind, name, groups, issuer, clientId, expiresAt }: Identity): JsonObject {
  return {
    kind,
    name,
    groups,
    ...(issuer !== undefined && { issuer }),
    ...(clientId !== undefined && { clientId }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  };
}

/** Describes a caller to itself. Omits its claims, because a proxy may log the response. */
export function whoami({ id, identity, profile, ratePerMinute, rights, roles, scopes }: Principal): JsonObject {
  const held = scopes ?? identity?.scopes;
  return {
    id,
    ...(identity && identityFacts(identity)),
    roles: roles ?? [],
    ...(held && { scopes: held }),
    ...(profile && { profile: profile.name }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    rights: describeRights(rights),
  };
}
