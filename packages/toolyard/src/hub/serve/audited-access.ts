import type { Access } from "../../core/access.ts";
import type { Principal } from "../../core/calls/call.ts";
import type { Audit } from "../../core/ports/audit.ts";
import type { Authentication, Authenticator, Credentials } from "../../core/ports/authenticator.ts";

/** Maximum number of refusals that are recorded within `WINDOW_MS`, because many attempts must not fill the disk. */
const MAX_REFUSALS = 100;
const WINDOW_MS = 10_000;

/**
 * Returns an access like `access` that also records sign-ins in the audit: the first use of each credential, and
 * refusals.
 */
export function auditedAccess(access: Access, audit: Audit): Access {
  if (!access.isGuarded || audit.isSilent === true) return access;
  return { ...access, authenticator: new AuditedAuthenticator(access.authenticator, audit) };
}

class AuditedAuthenticator implements Authenticator {
  readonly challengeScopes?: (scopes: readonly string[], mount: string) => string;
  readonly #inner: Authenticator;
  readonly #audit: Audit;
  /** Principals whose sign-in is in the audit. A principal is the same object while its credential is valid. */
  readonly #seen = new WeakSet<Principal>();
  #windowStart = -Infinity;
  #refusals = 0;

  constructor(inner: Authenticator, audit: Audit) {
    this.#inner = inner;
    this.#audit = audit;
    if (inner.challengeScopes) this.challengeScopes = (scopes, mount) => inner.challengeScopes!(scopes, mount);
  }

  authenticate(credentials: Credentials, mount?: string): Authentication | Promise<Authentication> {
    const found = this.#inner.authenticate(credentials, mount);
    return found instanceof Promise ? found.then((one) => this.#record(one, mount)) : this.#record(found, mount);
  }

  #record(authentication: Authentication, mount: string | undefined): Authentication {
    if (authentication.admitted) this.#recordAdmitted(authentication.principal);
    else this.#recordRefused(authentication.message, { status: authentication.status ?? 401, mount });
    return authentication;
  }

  #recordAdmitted(principal: Principal): void {
    if (this.#seen.has(principal)) return;
    this.#seen.add(principal);
    const { id, identity, roles } = principal;
    this.#audit.record({
      event: "sign_in",
      action: identity?.kind ?? "token",
      endpoint: "http",
      principal: id,
      ...(identity?.clientId !== undefined && { client: identity.clientId }),
      ...(identity?.issuer !== undefined && { issuer: identity.issuer }),
      kind: "ok",
      ...(roles && { details: { roles } }),
    });
  }

  #recordRefused(reason: string, facts: { readonly status: number; readonly mount: string | undefined }): void {
    const now = performance.now();
    if (now - this.#windowStart > WINDOW_MS) {
      const omitted = this.#refusals - MAX_REFUSALS;
      if (omitted > 0)
        this.#audit.record({ event: "sign_in", action: "refused", kind: "denied", details: { omitted } });
      this.#windowStart = now;
      this.#refusals = 0;
    }
    this.#refusals += 1;
    if (this.#refusals > MAX_REFUSALS) return;
    const details = { reason, status: facts.status, ...(facts.mount !== undefined && { path: facts.mount }) };
    this.#audit.record({ event: "sign_in", action: "refused", endpoint: "http", kind: "denied", details });
  }
}
