import type { Principal } from "../../core/calls/call.ts";
import type { Identity } from "../../core/calls/identity.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { Permission, Subject } from "../../core/ports/permission.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import type { ScopeRules } from "../../core/ports/scope-rules.ts";
import type { LiveRoles } from "./live-roles.ts";
import type { RoleReads, ScopesConfig } from "./options.ts";

/** A scope, and a permission that denies exactly the operations that need the scope. */
type CompiledScope = readonly [scope: string, without: Permission];

/** Scopes of the current configuration. */
export class LiveScopes implements ScopeRules {
  readonly #config: () => RoleReads;
  readonly #roles: LiveRoles;
  #compiled: { readonly from: ScopesConfig | undefined; readonly scopes: readonly CompiledScope[] } | undefined;

  constructor(config: () => RoleReads, roles: LiveRoles) {
    this.#config = config;
    this.#roles = roles;
  }

  get isEmpty(): boolean {
    return this.#scopes.length === 0;
  }

  required(subject: Subject): readonly string[] {
    // As with `deny`, a subject needs the scope if it might be an operation that needs the scope.
    return this.#scopes.filter(([, without]) => !without.permits(subject)).map(([scope]) => scope);
  }

  refusal(principal: Principal, subject: Subject, name: string): Fail | undefined {
    const { identity, scopes = identity?.scopes } = principal;
    // A caller without credentials is the local user, who needs no scopes, or an anonymous caller without rights.
    if (!identity || !scopes || this.isEmpty) return undefined;
    const required = this.required(subject);
    const missing = required.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0) return undefined;
    const barred = missing.find((scope) => !this.#roles.permitsScope(identity, scope));
    if (barred !== undefined)
      return fail("denied", `${name} needs the scope ${barred}, which no role of yours permits.`);
    return fail("denied", `${name} needs the scope ${missing.join(", ")}. ${adviceFor(identity)}`, {
      requiredScopes: required,
      details: { scopes: required },
    });
  }

  get #scopes(): readonly CompiledScope[] {
    const { scopes } = this.#config();
    if (!this.#compiled || this.#compiled.from !== scopes) this.#compiled = { from: scopes, scopes: compile(scopes) };
    return this.#compiled.scopes;
  }
}

function adviceFor({ kind, name }: Identity): string {
  return kind === "token"
    ? `A role of the token ${name} must have it among its \`scopes\`.`
    : "Sign in again and ask for it.";
}

function compile(scopes: ScopesConfig = {}): readonly CompiledScope[] {
  return Object.entries(scopes).map(([scope, { required_by: deny }]) => [scope, permissionOf({ deny })]);
}
