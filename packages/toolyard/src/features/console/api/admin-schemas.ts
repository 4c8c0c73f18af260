import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../../core/json/json.ts";
import type { AdminBodies } from "../../../core/ports/admin-operations.ts";
import { distFolder } from "../../../sandbox/node-flags.ts";

/** JSON Schemas that the build writes from `AdminContract`. */
interface AdminSchemas {
  /** Schemas by the name of their component in the OpenAPI document. */
  readonly components: Readonly<Record<string, JsonObject>>;
  /** Key: method, and path below `/api/admin`. */
  readonly operations: Readonly<Record<string, OperationSchemas>>;
}

interface OperationSchemas extends Omit<AdminBodies, "components"> {
  /** Names of all components that the schemas of the operation need. */
  readonly needs: readonly string[];
}

/** Reads the schemas of all operations: a function that returns those of one operation. */
export async function readAdminSchemas(): Promise<(key: string) => AdminBodies> {
  const text = await readFile(join(distFolder(), "console", "admin-schemas.json"), "utf8");
  const { components, operations } = JSON.parse(text) as AdminSchemas;
  return (key) => {
    const { needs, ...schemas } = operations[key]!;
    return { ...schemas, components: Object.fromEntries(needs.map((name) => [name, components[name]!])) };
  };
}
