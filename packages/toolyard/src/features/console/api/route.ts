import type { FailKind } from "../../../core/calls/kinds.ts";
import { FailError, messageOf } from "../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import type { Audit } from "../../../core/ports/audit.ts";
import type { View } from "../../../core/ports/hub-port.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import { sendText, sendValue } from "../../../endpoints/rest/answer.ts";
import { refusalText } from "../../../endpoints/rest/refusal-text.ts";
import type { RestExchange } from "../../../endpoints/rest/rest-exchange.ts";
import type { AdminContract } from "./contract.ts";
import type { AdminCaller } from "../access/admin-caller.ts";

/** One request to the API, with its caller and the variable parts of its path. */
export interface AdminRequest {
  readonly exchange: RestExchange;
  readonly caller: AdminCaller;
  /** View of the caller, which contains everything that it may use. */
  readonly view: View;
  /** Decoded variable parts of the path, in order. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
}

/**
 * `any`: every authenticated caller. `all`: callers whose rights are not narrowed. `admin`: administrators. `change`:
 * administrators, with a line in the audit.
 */
export type RouteNeed = "any" | "all" | "admin" | "change";

/** Refusal whose answer has members besides `error`. */
export class RefusalWithBody extends Refusal {
  readonly body: object;

  constructor(status: number, message: string, body: object) {
    super(status, message);
    this.body = body;
  }
}

/**
 * Returns the JSON value of the answer, or `undefined` if the handler has already answered. A thrown `FailError` is the
 * answer of a failed call.
 */
export type AdminHandler<A> = (request: AdminRequest) => A | undefined | void | Promise<A | undefined | void>;

/** Facts of a route besides its place and its handler. */
export interface RouteFacts {
  readonly needs: RouteNeed;
  readonly summary: string;
  /**
   * Name of a change in the audit. A request other than GET is recorded if it needs `change` or has a name. @default
   * the path
   */
  readonly action?: string;
  /** Event of the audit. The second name in the path of an `approval` is the tool. @default "administration" */
  readonly event?: "administration" | "approval";
}

/**
 * Route of one operation of the contract. The compiler refuses a route that is not in the contract, and a handler whose
 * answer has another type.
 */
type RouteOf<K extends keyof AdminContract> = K extends `${infer M} ${infer P}`
  ? RouteFacts & {
      readonly method: M;
      /** Path below `/api/admin`; `*` is one part, which may contain an encoded slash. */
      readonly path: P;
      readonly handle: AdminHandler<AdminContract[K] extends { readonly answer: infer A } ? A : never>;
    }
  : never;
export type AdminRoute = { [K in keyof AdminContract]: RouteOf<K> }[keyof AdminContract];

/** The routes, and the audit that records changes and refused changes. */
export interface AdminApi {
  readonly routes: readonly AdminRoute[];
  readonly audit: Pick<Audit, "record">;
}

/** Finds the route of a request and answers it. Throws a `Refusal`. */
export async function answerRoute(
  { routes, audit }: AdminApi,
  path: string,
  request: Omit<AdminRequest, "names">,
): Promise<void> {
  const method = request.exchange.http.method === "HEAD" ? "GET" : request.exchange.http.method;
  const steps = path.split("/");
  const here = routes.filter((route) => matches(route.path.split("/"), steps));
  if (here.length === 0) throw new Refusal(404, `There is nothing at this path. ${ADVICE}`);
  const route = here.find((one) => one.method === method);
  if (!route) throw new Refusal(405, "Method not allowed.", { allow: here.map((one) => one.method).join(", ") });
  const parts = route.path.split("/");
  const names = steps.filter((_step, at) => parts[at] === "*").map(decode);
  const run = async (): Promise<unknown> => {
    assertMay(request.caller, route.needs);
    return route.handle({ ...request, names });
  };
  const { principal } = request.caller;
  const isRecorded = method !== "GET" && (route.needs === "change" || route.action !== undefined);
  try {
    const value = await (isRecorded ? recorded({ route, names, principal }, audit, run) : run());
    if (value !== undefined) sendValue(request.exchange.answer, value);
  } catch (error) {
    if (error instanceof FailError) return request.exchange.fail(error.failure, true);
    if (!(error instanceof RefusalWithBody)) throw error;
    const text = `{${refusalText(error).slice(1, -1)},${JSON.stringify(error.body).slice(1)}`;
    sendText(request.exchange.answer, text, { status: error.status });
  }
}

interface ChangeFacts {
  readonly route: AdminRoute;
  readonly names: readonly string[];
  readonly principal: AdminCaller["principal"];
}

/** Runs a change. Records it in the audit with its caller, even if the change is refused or fails. */
async function recorded(
  { route, names: [source, target], principal: { id, identity, profile } }: ChangeFacts,
  audit: AdminApi["audit"],
  run: () => Promise<unknown>,
): Promise<unknown> {
  const record = (kind: FailKind | "ok", details: JsonObject): void =>
    audit.record({
      event: route.event ?? "administration",
      action: route.action ?? route.path,
      ...(route.event === "approval" && { target, ...(kind === "ok" && { decision: "approved" }) }),
      principal: id,
      ...(identity?.clientId !== undefined && { client: identity.clientId }),
      ...(identity?.issuer !== undefined && { issuer: identity.issuer }),
      endpoint: "console",
      ...(profile && { profile: profile.name }),
      ...(source !== undefined && { source }),
      kind,
      details,
    });
  try {
    const value = await run();
    record("ok", isJsonObject(value) ? { message: value["message"] } : {});
    return value;
  } catch (error) {
    record(kindOf(error), { reason: messageOf(error) });
    throw error;
  }
}

function kindOf(error: unknown): FailKind {
  if (error instanceof FailError) return error.failure.kind;
  if (!(error instanceof Refusal) || error.status >= 500) return "internal";
  return error.status === 403 ? "denied" : "invalid_params";
}

const ADVICE = "`GET /api/admin` lists the paths.";

function matches(parts: readonly string[], steps: readonly string[]): boolean {
  return parts.length === steps.length && parts.every((part, at) => part === "*" || part === steps[at]);
}

function assertMay(caller: AdminCaller, needs: RouteNeed): void {
  const { seesAll, mayChange, isReadOnlyHub, principal, adminLimits } = caller;
  if (needs !== "any" && !seesAll) throw new Refusal(403, narrowedText(adminLimits));
  if ((needs !== "change" && needs !== "admin") || mayChange) return;
  const name = principal.identity?.name ?? principal.id;
  throw new Refusal(
    403,
    isReadOnlyHub
      ? "The console of a hub without authentication is read-only. " +
          "Set `[server] token`, `[server.tokens]` or `[auth]` to change the hub here."
      : `${name} may not change this hub. \`admins\` of \`[console]\` lists the callers that may.`,
  );
}

function narrowedText(limits: readonly string[] | undefined): string {
  if (!limits) return "This is shown to callers without narrowed rights only.";
  return (
    "`admins` of `[console]` names you, but your rights are narrowed, and this needs rights without limits. Limits: " +
    `${limits.join("; ")}. Remove them in \`[roles]\` or \`[server.tokens]\`. A further role without limits also ` +
    "removes those of roles, except `deny`."
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, "A name in the path is not a valid piece of a URL. Encode it with `encodeURIComponent`.");
  }
}

/** Reads a whole number from the query. Throws a `Refusal` with status 400. */
export function readCount(
  query: URLSearchParams,
  name: string,
  { usual, most }: { usual: number; most: number },
): number {
  const text = query.get(name);
  if (text === null) return usual;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new Refusal(
    400,
    `\`${name}\` must be a whole number from 0 to ${most}, got ${JSON.stringify(firstChars(text, MAX_QUOTED))}.`,
  );
}

const MAX_QUOTED = 40;
