import type { Access } from "../access.ts";
import type { JsonObject } from "../json/json.ts";

/** JSON Schemas of one operation, in the form of OpenAPI 3.1. */
export interface AdminBodies {
  /** Schema of the request body. @default the operation reads no body */
  readonly body?: JsonObject;
  /** Schema of the answer. @default the answer is only a stream of events */
  readonly answer?: JsonObject;
  /** Events of the answer for `Accept: text/event-stream`. @default none */
  readonly events?: string;
  /** Entries of `components.schemas` that `body` and `answer` need. */
  readonly components: Readonly<Record<string, JsonObject>>;
}

/** One operation of the administration API, for its description. */
export interface AdminOperation extends AdminBodies {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the base path of the hub; variable parts are in braces: `/api/admin/sources/{name}`. */
  readonly path: string;
  readonly summary: string;
  /** Callers that may use it: every caller, callers with rights that are not narrowed, or administrators. */
  readonly needs: "any" | "all" | "admin" | "change";
}

type LoadOperations = () => Promise<readonly AdminOperation[]>;

/** Operations by the access of their address: a hub may serve the console at one address and not at another. */
const served = new WeakMap<object, LoadOperations>();

/** Registers the operations of the administration API that is served with this access. */
export function describeAdmin(access: Pick<Access, "isGuarded">, load: LoadOperations): void {
  served.set(access, load);
}

/** Resolves with the operations that are served with this access. The list is empty without the console. */
export async function adminOperationsOf(access: Pick<Access, "isGuarded">): Promise<readonly AdminOperation[]> {
  return (await served.get(access)?.()) ?? [];
}
