import type { JsonObject } from "../../../core/json/json.ts";
import type { AdminOperation } from "../../../core/ports/admin-operations.ts";
import { failuresOf } from "./responses.ts";

const NEEDS: Readonly<Record<AdminOperation["needs"], string>> = {
  any: "Every caller.",
  all: "Callers whose rights are not narrowed.",
  admin: "Administrators: `admins` of `[console]`.",
  change: "Administrators: `admins` of `[console]`. Recorded in the audit.",
};

/** Returns the paths of the administration API, which the console uses. */
export function adminPaths(operations: readonly AdminOperation[], isGuarded: boolean): [string, JsonObject][] {
  const paths = new Map<string, JsonObject>();
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths.set(operation.path, { ...paths.get(operation.path), [method]: describe(operation, isGuarded) });
  }
  return [...paths];
}

function describe(operation: AdminOperation, isGuarded: boolean): JsonObject {
  const { method, path, summary, needs, body } = operation;
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  const parameters = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  return {
    operationId: `admin_${method}_${path.replaceAll(/[^a-z0-9]+/gi, "_").replaceAll(/^_|_$/g, "")}`,
    tags: ["admin"],
    summary,
    description: NEEDS[needs],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: needsBody(operation, body), content: jsonContent(body) } }),
    responses: { "200": { description: summary, content: answerContent(operation) }, ...failuresOf(isGuarded) },
  };
}

/** A missing body counts as an empty object. */
function needsBody({ components }: AdminOperation, { required, $ref }: JsonObject): boolean {
  const target = typeof $ref === "string" ? components[$ref.slice($ref.lastIndexOf("/") + 1)] : undefined;
  return (target?.["required"] ?? required) !== undefined;
}

function answerContent({ answer, events }: AdminOperation): JsonObject {
  return {
    ...(answer && jsonContent(answer)),
    ...(events !== undefined && {
      "text/event-stream": { schema: { type: "string", description: `Events ${events}.` } },
    }),
  };
}

function jsonContent(schema: JsonObject): JsonObject {
  return { "application/json": { schema } };
}
