import { stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, objectMember, stringMember } from "../core/json/json.ts";
import { firstChars } from "../core/text/truncate.ts";
import { isPythonName } from "./python-names.ts";

export type SignatureLanguage = "python" | "typescript";

export interface ToolSchemas {
  readonly input: JsonObject;
  readonly output?: JsonObject | undefined;
}

/** Maximum depth up to which members of objects are written out. */
const MAX_DEPTH = 4;
/** Maximum number of members of one object, and of values of one enumeration, that are written out. */
const MAX_MEMBERS = 40;
const MAX_COMMENT_CHARS = 160;
const MAX_REFERENCES = 8;

/**
 * Formats how a tool is called from code: `tools.weather.forecast(args: { city: string; days?: number }):
 * Promise<unknown>`, or `tools.weather.forecast(city: str, days: int = 3)`. Descriptions follow as comments, one line
 * each.
 */
export function signatureOf(language: SignatureLanguage, path: string, { input, output }: ToolSchemas): string {
  return language === "python" ? pythonSignature(path, input, output) : typescriptSignature(path, input, output);
}

function typescriptSignature(path: string, input: JsonObject, output: JsonObject | undefined): string {
  const reader = new TypeReader("typescript", input);
  const type = reader.type(input, 0);
  const isEmpty = Object.keys(propertiesOf(input)).length === 0;
  const optional = requiredOf(input).length === 0 ? "?" : "";
  const parameters = isEmpty && input["additionalProperties"] !== true ? "" : `args${optional}: ${type}`;
  const result = output ? new TypeReader("typescript", output).type(output, 0) : "unknown";
  return `${path}(${parameters}): Promise<${result}>`;
}

function pythonSignature(path: string, input: JsonObject, output: JsonObject | undefined): string {
  const reader = new TypeReader("python", input);
  const required = new Set(requiredOf(input));
  const all = Object.entries(propertiesOf(input)).slice(0, MAX_MEMBERS);
  const parameter = ([name, schema]: [string, unknown]): string => {
    const type = reader.type(schema, 1);
    if (required.has(name)) return `${name}: ${type}`;
    const preset =
      isJsonObject(schema) && schema["default"] !== undefined ? literal("python", schema["default"]) : "None";
    return `${name}: ${type} = ${preset}`;
  };
  const sorted = [...all.filter(([name]) => required.has(name)), ...all.filter(([name]) => !required.has(name))];
  const notes = sorted.flatMap(([name, schema]) =>
    isJsonObject(schema) && commentOf(schema) !== "" ? [`  # ${name}: ${commentOf(schema)}`] : [],
  );
  // If a name is not allowed in Python, all arguments are passed as keys of a dict.
  const isPlain = sorted.every(([name]) => isPythonName(name));
  const inside = isPlain
    ? sorted.map(parameter).join(", ")
    : `{${sorted.map(([name, schema]) => `${JSON.stringify(name)}: ${reader.type(schema, 1)}`).join(", ")}}`;
  return [`${path}(${inside}) -> ${output ? new TypeReader("python", output).type(output, 0) : "Any"}`, ...notes].join(
    "\n",
  );
}

const SCALARS: Readonly<Record<string, Readonly<Record<SignatureLanguage, string>>>> = {
  string: { python: "str", typescript: "string" },
  integer: { python: "int", typescript: "number" },
  number: { python: "float", typescript: "number" },
  boolean: { python: "bool", typescript: "boolean" },
  null: { python: "None", typescript: "null" },
};

/** Reads schemas of one root, following `$ref`s to a limited depth. */
class TypeReader {
  readonly #language: SignatureLanguage;
  readonly #root: JsonObject;
  #references = 0;

  constructor(language: SignatureLanguage, root: JsonObject) {
    this.#language = language;
    this.#root = root;
  }

  type(given: unknown, depth: number): string {
    const schema = this.#followed(given);
    if (!isJsonObject(schema)) return this.#any();
    if (schema["const"] !== undefined) return this.#literals([schema["const"]]);
    if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return this.#literals(schema["enum"]);
    for (const key of ["oneOf", "anyOf"])
      if (Array.isArray(schema[key])) return this.#union(schema[key].map((one) => this.type(one, depth + 1)));
    const { type } = schema;
    // Duplicates are removed, because a type that is listed a thousand times would be written a thousand times on each
    // level.
    if (Array.isArray(type)) return this.#union([...new Set(type)].map((one) => this.#named(one, schema, depth)));
    return this.#named(
      type ?? (schema["properties"] ? "object" : schema["items"] ? "array" : undefined),
      schema,
      depth,
    );
  }

  #named(type: unknown, schema: JsonObject, depth: number): string {
    if (type === "array") return this.#array(schema, depth);
    if (type === "object") return this.#object(schema, depth);
    const words = typeof type === "string" && Object.hasOwn(SCALARS, type) ? SCALARS[type] : undefined;
    return words ? words[this.#language] : this.#any();
  }

  #array(schema: JsonObject, depth: number): string {
    const item = this.type(schema["items"], depth + 1);
    if (this.#language === "python") return `list[${item}]`;
    return /[ |]/.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
  }

  #object(schema: JsonObject, depth: number): string {
    const members = Object.entries(propertiesOf(schema));
    const isPython = this.#language === "python";
    if (members.length === 0 || depth >= MAX_DEPTH) {
      if (isPython) return "dict";
      const others = schema["additionalProperties"];
      return `Record<string, ${isJsonObject(others) ? this.type(others, depth + 1) : "unknown"}>`;
    }
    const required = new Set(requiredOf(schema));
    const shown = members.slice(0, MAX_MEMBERS).map(([name, member]) => {
      const type = this.type(member, depth + 1);
      if (isPython) return `${JSON.stringify(name)}${required.has(name) ? "" : "?"}: ${type}`;
      const comment = isJsonObject(member) && commentOf(member) !== "" ? ` /* ${commentOf(member)} */` : "";
      return (
        `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}${required.has(name) ? "" : "?"}: ` +
        `${type}${comment}`
      );
    });
    const rest = members.length > MAX_MEMBERS ? ["…"] : [];
    return isPython ? `{${[...shown, ...rest].join(", ")}}` : `{ ${[...shown, ...rest].join("; ")} }`;
  }

  #union(types: readonly string[]): string {
    return [...new Set(types)].join(" | ") || this.#any();
  }

  #literals(values: readonly unknown[]): string {
    const shown = values.slice(0, MAX_MEMBERS).map((value) => literal(this.#language, value));
    return this.#language === "python" ? `Literal[${shown.join(", ")}]` : shown.join(" | ");
  }

  #any(): string {
    return this.#language === "python" ? "Any" : "unknown";
  }

  #followed(schema: unknown): unknown {
    if (!isJsonObject(schema)) return schema;
    const reference = stringMember(schema, "$ref");
    if (reference === undefined) return schema;
    this.#references += 1;
    if (!reference.startsWith("#/") || this.#references > MAX_REFERENCES) return undefined;
    let at: unknown = this.#root;
    for (const step of reference.slice(2).split("/")) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
    }
    return this.#followed(at);
  }
}

function literal(language: SignatureLanguage, value: unknown): string {
  if (language === "python") {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
  }
  return stringifyExact(value) ?? "null";
}

/** Returns the description on one line, with the limits that the type does not express. */
function commentOf(schema: JsonObject): string {
  const bounds = [
    ...(schema["minimum"] !== undefined ? [`≥ ${String(schema["minimum"])}`] : []),
    ...(schema["maximum"] !== undefined ? [`≤ ${String(schema["maximum"])}`] : []),
    ...(stringMember(schema, "format") !== undefined ? [stringMember(schema, "format")!] : []),
  ];
  const text = firstChars(stringMember(schema, "description") ?? "", 4 * MAX_COMMENT_CHARS)
    .replaceAll("*/", "* /")
    .replaceAll(/\s+/g, " ")
    .trim();
  const short = text.length > MAX_COMMENT_CHARS ? `${firstChars(text, MAX_COMMENT_CHARS - 1).trimEnd()}…` : text;
  return bounds.length === 0 ? short : `${short}${short === "" ? "" : " "}(${bounds.join(", ")})`;
}

function propertiesOf(schema: JsonObject): JsonObject {
  return objectMember(schema, "properties") ?? {};
}

function requiredOf(schema: JsonObject): readonly string[] {
  return Array.isArray(schema["required"])
    ? schema["required"].filter((name): name is string => typeof name === "string")
    : [];
}
