import { EVERY_METHOD, USUAL_METHODS, type RoutePlace } from "../../http/router.ts";
import { DOCS_PATH, OPENAPI_PATH } from "../paths.ts";
import type { RestOptions } from "./options.ts";

/** Returns every path that REST mounts. */
export function restPlaces({ basePath: base, routes, hasDescription }: RestOptions): readonly RoutePlace[] {
  const own = new Map<string, readonly string[]>([
    [`${base}/tools`, ["GET"]],
    [`${base}/tools/*`, ["GET", "POST"]],
    [`${base}/tasks`, ["GET"]],
    [`${base}/tasks/*`, ["GET", "POST", "DELETE"]],
    [`${base}/resources`, ["GET"]],
    [`${base}/chat`, ["POST"]],
  ]);
  if (hasDescription) for (const path of [OPENAPI_PATH, DOCS_PATH]) own.set(path, ["GET"]);
  const paths = new Set(routes.map(({ path }) => path));
  return [
    ...[...own].map(([path, answered]) => ({ path, methods: methodsOf(answered) })),
    ...[...paths].map((path) => ({ path, methods: [EVERY_METHOD] })),
    otherPathsBelow(base),
  ];
}

/** Returns the route for all other paths below the base path. */
export function otherPathsBelow(base: string): RoutePlace {
  return { path: `${base}/*`, methods: USUAL_METHODS };
}

/** Returns the methods of a path. `HEAD` is a `GET` without its body, and `OPTIONS` lists the methods. */
export function methodsOf(answered: readonly string[]): readonly string[] {
  return [...answered, ...(answered.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
}
