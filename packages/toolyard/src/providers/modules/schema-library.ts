import { FailError, messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { isZod3, zod3ToJsonSchema, type Zod3Schema } from "../../schema/zod3.ts";

/** Parses arguments with a library's schema. Rejects with a `FailError` of kind `invalid_params`. */
export type Parse = (args: JsonObject) => Promise<JsonObject>;

export interface LibrarySchema {
  readonly schema: JsonObject;
  readonly parse?: Parse;
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Members of Standard Schema and Standard JSON Schema that are used. */
interface Standard {
  readonly validate?: (value: unknown) => unknown;
  readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => JsonObject };
}

/**
 * Reads a schema of a library; undefined if it is no such schema. `where`: tool and member for messages. Throws an
 * `OptionError` for a schema that cannot be converted to JSON Schema.
 */
export function readLibrarySchema(value: object, where: string): LibrarySchema | undefined {
  const standard = (value as { "~standard"?: Standard })["~standard"];
  if (isZod3(value)) return { schema: zod3ToJsonSchema(value), parse: standard ? parseOf(standard) : zod3Parse(value) };
  if (standard === undefined) return assertNoShape(value, where);
  const toInput = standard.jsonSchema?.input;
  if (typeof toInput !== "function") throw new OptionError(`${where}: ${CANNOT_SAY}`);
  try {
    return { schema: toInput({ target: "draft-2020-12" }), ...(standard.validate ? { parse: parseOf(standard) } : {}) };
  } catch (error) {
    throw new OptionError(`${where}: the schema cannot be converted to JSON Schema: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function assertNoShape(value: object, where: string): undefined {
  const members = Object.values(value);
  if (
    members.length > 0 &&
    members.every((member) => isZod3(member) || (isJsonObject(member) && "~standard" in member))
  )
    throw new OptionError(`${where}: a map of schemas is not a schema. Wrap it, as in \`z.object({ … })\`.`);
}

const CANNOT_SAY =
  "its schema library cannot produce JSON Schema. Pass the JSON Schema itself, or update the " +
  "library: zod can from 4.2 on, and zod 3; valibot with `toStandardJsonSchema` of " +
  "`@valibot/to-json-schema`.";

function parseOf(standard: Standard): Parse {
  return async (args) => {
    const answer = (await standard.validate!(args)) as { value?: JsonObject; issues?: readonly Issue[] };
    if (answer.issues) throw refused(answer.issues);
    return answer.value!;
  };
}

function zod3Parse(schema: Zod3Schema): Parse {
  return async (args) => {
    const answer = await schema.safeParseAsync!(args);
    if (!answer.success) throw refused(answer.error.issues);
    return answer.data as JsonObject;
  };
}

function refused(issues: readonly Issue[]): FailError {
  const words = issues.map(({ path = [], message }) => {
    const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  return new FailError(fail("invalid_params", `Invalid arguments: ${words.join("; ")}`));
}
