// Writes the JSON Schemas of `/api/admin` from the TypeScript types of its contract, for the OpenAPI document. The
// types are the only declaration: the compiler checks the handlers and the page against them. The schemas permit
// further members, so that a later version may add some. Fails on a form of type that it cannot convert.
// Usage: adminSchemas(<packages/toolyard>, <file to write>)
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";

const FOLDER = join("src", "features", "console");
const CONTRACT = join("api", "contract.ts");
const PREFIX = "admin.";
const KEYWORDS = {
  TSStringKeyword: { type: "string" },
  TSNumberKeyword: { type: "number" },
  TSBooleanKeyword: { type: "boolean" },
  TSUnknownKeyword: {},
};

export function adminSchemas(root, to) {
  const folder = join(root, FOLDER);
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith("-types.ts"));
  const writer = new SchemaWriter([...files.toSorted(), CONTRACT].map((file) => join(folder, file)));
  const operations = Object.fromEntries(
    writer.members("AdminContract").map((member) => [member.key, writer.operation(member.type)]),
  );
  writeFileSync(to, JSON.stringify({ components: Object.fromEntries(writer.components), operations }));
}

class SchemaWriter {
  /** Schemas of interfaces, by the name of their component. */
  components = new Map();
  #declarations = new Map();

  constructor(files) {
    for (const file of files) this.#read(file);
  }

  #read(file) {
    const text = readFileSync(file, "utf8");
    for (const { declaration, start } of parseAst(text, { lang: "ts" }).body.map(withStart)) {
      if (declaration?.type !== "TSInterfaceDeclaration" && declaration?.type !== "TSTypeAliasDeclaration") continue;
      const { name } = declaration.id;
      if (this.#declarations.has(name)) throw new Error(`${file}: the type ${name} exists twice.`);
      this.#declarations.set(name, { node: declaration, text, notes: notesBefore(text, start) });
    }
  }

  #declaration(name) {
    const found = this.#declarations.get(name);
    if (found) return found;
    throw new Error(`The type ${name} is in no file of the contract: ${FOLDER}/**/*-types.ts, ${CONTRACT}.`);
  }

  /** Returns the members of an interface, and of those that it extends. */
  members(name) {
    const { node, text } = this.#declaration(name);
    const inherited = node.extends.flatMap(({ expression, typeArguments }) =>
      this.#membersOf(expression.name, typeArguments?.params ?? [], text),
    );
    return [...inherited, ...node.body.body.map((member) => toMember(member, text))];
  }

  #membersOf(name, parameters, text) {
    if (name !== "Omit" && name !== "Pick") return this.members(name);
    const [base, keys] = parameters;
    const named = literals(keys);
    const isKept = name === "Pick" ? (key) => named.includes(key) : (key) => !named.includes(key);
    return this.#membersOf(base.typeName.name, base.typeArguments?.params ?? [], text).filter(({ key }) => isKept(key));
  }

  operation({ node, text }) {
    const members = Object.fromEntries(node.members.map((one) => toMember(one, text)).map((one) => [one.key, one]));
    const { body, answer, events } = members;
    const schemas = {
      ...(body && { body: this.#member(body) }),
      ...(answer && { answer: this.#member(answer) }),
      ...(events && { events: this.#schema(events.type.node, text).const }),
    };
    return { ...schemas, needs: this.#needs(schemas) };
  }

  /** Returns the names of all components that a schema refers to, directly or through others. */
  #needs(value, found = new Set()) {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      this.#needs(this.components.get(name), found);
    }
    return [...found];
  }

  #member({ type: { node, text }, notes }) {
    return { ...this.#schema(node, text), ...notes };
  }

  #object(members) {
    const required = members.filter(({ isOptional }) => !isOptional).map(({ key }) => key);
    return {
      type: "object",
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(members.map((member) => [member.key, this.#member(member)])),
    };
  }

  #schema(node, text) {
    const keyword = KEYWORDS[node.type];
    if (keyword) return { ...keyword };
    switch (node.type) {
      case "TSTypeOperator":
      case "TSParenthesizedType":
        return this.#schema(node.typeAnnotation, text);
      case "TSLiteralType":
        return { const: node.literal.value };
      case "TSUnionType":
        return this.#union(node.types.map((type) => this.#schema(type, text)));
      case "TSArrayType":
        return { type: "array", items: this.#schema(node.elementType, text) };
      case "TSTypeLiteral":
        return this.#object(node.members.map((member) => toMember(member, text)));
      case "TSTypeReference":
        return this.#reference(node.typeName.name, node.typeArguments?.params ?? [], text);
      default:
        throw new Error(`Cannot convert the type ${text.slice(node.start, node.end)} (${node.type}) to a JSON Schema.`);
    }
  }

  #union(schemas) {
    const isEnum = schemas.every((schema) => typeof schema.const === "string");
    return isEnum ? { type: "string", enum: schemas.map((schema) => schema.const) } : { anyOf: schemas };
  }

  #reference(name, parameters, text) {
    if (name === "Omit" || name === "Pick") return this.#object(this.#membersOf(name, parameters, text));
    // Members of `Partial<Record<…>>` are optional, as those of every record are in JSON.
    if (name === "Readonly" || name === "Partial") return this.#schema(parameters[0], text);
    if (name === "Record") return this.#record(...parameters.map((type) => this.#schema(type, text)));
    const { node, text: own, notes } = this.#declaration(name);
    if (node.type === "TSTypeAliasDeclaration") return { ...this.#schema(node.typeAnnotation, own), ...notes };
    const key = `${PREFIX}${name}`;
    if (!this.components.has(key)) {
      // Set before its members are converted, because a type may contain itself.
      this.components.set(key, {});
      Object.assign(this.components.get(key), this.#object(this.members(name)), notes);
    }
    return { $ref: `#/components/schemas/${key}` };
  }

  #record(keys, values) {
    return {
      type: "object",
      ...(keys.enum && { propertyNames: { enum: keys.enum } }),
      ...(Object.keys(values).length > 0 && { additionalProperties: values }),
    };
  }
}

function withStart(statement) {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  return { declaration, start: statement.start };
}

function toMember({ type, key, optional, typeAnnotation, start, end }, text) {
  if (type !== "TSPropertySignature") throw new Error(`Not a property: ${text.slice(start, end)}`);
  return {
    key: key.name ?? key.value,
    isOptional: optional,
    type: { node: typeAnnotation.typeAnnotation, text },
    notes: notesBefore(text, start),
  };
}

function literals(node) {
  return node.type === "TSUnionType" ? node.types.flatMap(literals) : [node.literal.value];
}

/** Returns the text of the documentation comment that ends before a position. */
function notesBefore(text, start) {
  const before = text.slice(0, start).trimEnd();
  if (!before.endsWith("*/")) return {};
  const open = before.lastIndexOf("/*");
  if (!before.startsWith("/**", open)) return {};
  const lines = before.slice(open + 3, -2).split("\n");
  const words = lines.map((line) => line.replace(/^\s*\* ?/, "").trim()).join(" ");
  return {
    description: words
      .replace(/@default (.*)$/, "Default: $1.")
      .replace(/\s+/g, " ")
      .trim(),
  };
}
