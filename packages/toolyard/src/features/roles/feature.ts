import type { Grant } from "../../core/calls/identity.ts";
import { ROLE_NAMES, SCOPES } from "../../core/services.ts";
import { WHOAMI } from "../../endpoints/whoami/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LiveRoles } from "./live-roles.ts";
import { LiveScopes } from "./live-scopes.ts";
import { assertRoles, ROLE_SECTIONS, type RoleReads } from "./options.ts";

/** Feature: rights by role, scopes that operations need, and the address at which callers read their rights. */
export const ROLES = defineFeature({
  name: "roles",
  schema: ROLE_SECTIONS,
  provides: [SCOPES, ROLE_NAMES],
  changesEndpoints: true,
  endpoints: [WHOAMI],
  check: (config: RoleReads) => assertRoles(config),
  start: (_services, config: () => RoleReads) => {
    const roles = new LiveRoles(config);
    const scopes = new LiveScopes(config, roles);
    return {
      grantRights: (identity) => roles.grant(identity),
      stages: [{ after: "authorise", load: async () => (await import("./scope-stage.ts")).scopeStage(scopes) }],
      services: { scopes, roleNames: (identity) => rolesOf(roles.grant(identity)) },
    };
  },
});

function rolesOf(grant: Grant | undefined): readonly string[] | undefined {
  return grant && (grant.roles ?? []);
}
