import type { View } from "../../../core/ports/hub-port.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import { sendValue } from "../../../endpoints/rest/answer.ts";
import type { RestExchange } from "../../../endpoints/rest/rest-exchange.ts";
import type { AdminCaller } from "../access/admin-caller.ts";

/** One request to the API, with its caller and the variable parts of its path. */
export interface AdminRequest {
  readonly exchange: RestExchange;
  readonly caller: AdminCaller;
  /** Everything that the caller may use. */
  readonly view: View;
  /** Decoded, in the order of the path. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
}

/** `any`: every authenticated caller. `all`: callers whose rights are not narrowed. `change`: administrators. */
export type RouteNeed = "any" | "all" | "change";

/** Returns the JSON value of the answer; `undefined` if it has answered itself. */
export type AdminHandler = (request: AdminRequest) => unknown;

export interface AdminRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/api/admin`; `*` is one part, which may contain an encoded slash. */
  readonly path: string;
  readonly needs: RouteNeed;
  readonly summary: string;
  readonly handle: AdminHandler;
}

/** Finds the route of a request and answers it. Throws a `Refusal`. */
export async function answerRoute(
  routes: readonly AdminRoute[],
  path: string,
  request: Omit<AdminRequest, "names">,
): Promise<void> {
  const method = request.exchange.http.method === "HEAD" ? "GET" : request.exchange.http.method;
  const steps = path.split("/");
  const here = routes.filter((route) => matches(route.path.split("/"), steps));
  if (here.length === 0) throw new Refusal(404, `There is nothing at this path. ${ADVICE}`);
  const route = here.find((one) => one.method === method);
  if (!route) throw new Refusal(405, "Method not allowed.", { allow: here.map((one) => one.method).join(", ") });
  assertMay(request.caller, route.needs);
  const parts = route.path.split("/");
  const names = steps.filter((_step, at) => parts[at] === "*").map(decode);
  const value = await route.handle({ ...request, names });
  if (value !== undefined) sendValue(request.exchange.answer, value);
}

const ADVICE = "`/openapi.json` lists the paths of the console's API.";

function matches(parts: readonly string[], steps: readonly string[]): boolean {
  return parts.length === steps.length && parts.every((part, at) => part === "*" || part === steps[at]);
}

function assertMay({ seesAll, mayChange, isReadOnlyHub, principal }: AdminCaller, needs: RouteNeed): void {
  if (needs !== "any" && !seesAll) throw new Refusal(403, "This is shown to callers without narrowed rights only.");
  if (needs !== "change" || mayChange) return;
  const name = principal.identity?.name ?? principal.id;
  throw new Refusal(
    403,
    isReadOnlyHub
      ? "The console of a hub without authentication is read-only. " +
          "Set `[server] token`, `[server.tokens]` or `[auth]` to change the hub here."
      : `${name} may not change this hub. \`admins\` of \`[console]\` lists the callers that may.`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, "A name in the path is not a valid piece of a URL. Encode it with `encodeURIComponent`.");
  }
}

/** Reads a whole number of the query. Throws a 400. */
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
