import { DEFAULT_SEPARATOR } from "../../../core/names/names.ts";
import { permissionOf, supposedName } from "../../../core/ports/rights.ts";
import type { SourceReport } from "../../../core/ports/hub-port.ts";
import {
  isHubOwner,
  type SignInSummary,
  type SigningCaller,
  type SignInStarter,
} from "../../../core/ports/sign-in-coordinator.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { AdminCaller } from "../access/admin-caller.ts";
import type { SignInRow, StartedSignIn } from "../access-types.ts";
import type { ActionResult } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

const MAX_TEXT_CHARS = 2000;
const ANY_TOOL = "any-tool";

/** Shows the sign-ins to sources, and signs in and out. */
export class SignInRoutes {
  readonly #parts: Pick<ConsoleParts, "hub" | "tools" | "signIns">;

  constructor(parts: Pick<ConsoleParts, "hub" | "tools" | "signIns">) {
    this.#parts = parts;
  }

  get routes(): readonly AdminRoute[] {
    return [
      {
        method: "GET",
        path: "sign-ins",
        needs: "any",
        summary: "Sources that users sign in to, with the sign-in of the caller.",
        handle: (request) => this.#list(request),
      },
      {
        method: "POST",
        path: "sign-ins/*",
        needs: "any",
        summary: "Starts a sign-in to a source, and returns the address for the browser.",
        action: "sign_in",
        handle: (request) => this.#begin(request),
      },
      {
        method: "DELETE",
        path: "sign-ins/*",
        needs: "any",
        summary: "Ends the sign-in to a source, and revokes its tokens.",
        action: "sign_out",
        handle: (request) => this.#end(request),
      },
    ];
  }

  async #list(request: AdminRequest): Promise<{ readonly signIns: readonly SignInRow[] }> {
    const shown = await this.#shown(request);
    const rows = await Promise.all(shown.map(([report, starter]) => rowOf(report, starter, request.caller)));
    return { signIns: rows.filter((row) => row !== undefined) };
  }

  /** Returns the sources whose sign-ins the caller may see. */
  async #shown({ caller, view }: AdminRequest): Promise<readonly (readonly [SourceReport, SignInStarter])[]> {
    const { hub, signIns, tools } = this.#parts;
    const all = hub.sources().flatMap((report) => {
      const starter = signIns.sources.get(report.source.id);
      return starter ? [[report, starter] as const] : [];
    });
    if (caller.seesAll || all.length === 0) return all;
    const { entries } = await hub.list("tools", view, { waits: false });
    const used = new Set(entries.map(({ name }) => tools.sourceOf(String(name), caller.principal)));
    const permission = permissionOf(caller.principal.rights);
    // A source that was never listed counts as used if the caller may use any of its tools.
    const mayUse = ({ id, namespace }: SourceReport["source"]): boolean =>
      permission.permits(supposedName({ namespace, separator: DEFAULT_SEPARATOR, source: id }, ANY_TOOL));
    return all.filter(([{ source }, { isPersonal }]) => isPersonal && (used.has(source.id) || mayUse(source)));
  }

  async #find(request: AdminRequest): Promise<SignInStarter> {
    const id = request.names[0]!;
    const found = (await this.#shown(request)).find(([{ source }]) => source.id === id);
    if (found) return found[1];
    throw new Refusal(404, `There is no source ${JSON.stringify(id)} that you can sign in to.`);
  }

  async #begin(request: AdminRequest): Promise<StartedSignIn> {
    const starter = await this.#find(request);
    const page = await starter.begin(signingCaller(request.caller));
    const { location, "set-cookie": cookie } = page?.headers ?? {};
    if (location === undefined) throw mayNot(request.names[0]!);
    // The cookie binds the response of the authorization server to this browser.
    if (cookie !== undefined) request.exchange.answer.setHeader("set-cookie", cookie);
    return { location };
  }

  async #end(request: AdminRequest): Promise<ActionResult> {
    const source = request.names[0]!;
    const ended = await (await this.#find(request)).signOut(signingCaller(request.caller));
    if (!ended) throw mayNot(source);
    if (ended === "none") throw new Refusal(409, `No user is signed in to ${source}.`);
    const rest = ended.isRevoked ? " Its token was revoked." : "";
    return { done: true, message: `Signed out of ${source}.${rest}` };
  }
}

function signingCaller({ principal, mayChange }: AdminCaller): SigningCaller {
  return { principal, isAdministrator: mayChange };
}

async function rowOf(
  { source, status: { state, lastError } }: SourceReport,
  starter: SignInStarter,
  { principal, mayChange, seesAll }: AdminCaller,
): Promise<SignInRow | undefined> {
  const found = await starter.find(principal);
  if (!found) return undefined;
  return {
    source: source.id,
    state,
    // The reason may contain names that a caller with narrowed rights must not learn.
    ...(seesAll && lastError !== undefined && { reason: firstChars(lastError, MAX_TEXT_CHARS) }),
    isPersonal: starter.isPersonal,
    mayChange: starter.isPersonal || mayChange || isHubOwner(principal),
    ...factsOf(found),
  };
}

function factsOf(found: SignInSummary | "none"): Pick<SignInRow, "isSignedIn"> & Partial<SignInRow> {
  return found === "none" ? { isSignedIn: false } : { isSignedIn: true, ...found };
}

function mayNot(source: string): Refusal {
  return new Refusal(
    403,
    `You may not sign in to ${source} for all callers. The local caller and the administrators of the console may.`,
  );
}
