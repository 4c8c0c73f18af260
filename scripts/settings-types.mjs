// Writes the type of the hub's settings as one declaration with a comment for each option, so that editors show what an
// option means. The compiler infers the same type from the schema, but without the descriptions.
// Usage: node scripts/settings-types.mjs <compiled folder> <declarations folder>
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [compiled, declarations] = process.argv.slice(2).map((path) => resolve(path));
const { CONFIG_SCHEMA } = await import(pathToFileURL(join(compiled, "hub", "schema.js")).href);

const MAX_COLUMNS = 110;
const SCALARS = { string: "string", number: "number", integer: "number", boolean: "boolean" };

function typeOf(schema, indent) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return Array.from(new Set(schema.anyOf.map((member) => typeOf(member, indent)))).join(" | ");
  if (schema.type === "array") return `readonly ${grouped(schema.items ? typeOf(schema.items, indent) : "unknown")}[]`;
  if (schema.type === "object") return objectType(schema, indent);
  return SCALARS[schema.type] ?? "unknown";
}

function grouped(type) {
  return type.includes(" | ") ? `(${type})` : type;
}

function objectType(schema, indent) {
  const { properties = {}, additionalProperties } = schema;
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  const rest = isOpen
    ? `{ readonly [name: string]: ${additionalProperties === true ? "unknown" : typeOf(additionalProperties, indent)} }`
    : undefined;
  const members = Object.entries(properties).map(([name, member]) => memberText(name, member, { schema, indent }));
  if (members.length === 0) return rest ?? "{}";
  const own = `{\n${members.join("")}${indent}}`;
  return rest === undefined ? own : `${own} & ${rest}`;
}

function memberText(name, member, { schema, indent }) {
  const inner = `${indent}  `;
  const isRequired = (schema.required ?? []).includes(name);
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
  const type = typeOf(member, inner);
  return `${comment(member, inner)}${inner}readonly ${key}${isRequired ? "" : "?"}: ${type};\n`;
}

function comment({ description, default: value, examples = [] }, indent) {
  const example = examples[0] === undefined ? [] : [`@example ${JSON.stringify(examples[0])}`];
  const lines = [
    ...(description ? wrapped(description) : []),
    ...(value === undefined ? [] : [`@default ${JSON.stringify(value)}`]),
    ...example,
  ].map((line) => line.replaceAll("*/", "*\u200b/"));
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function wrapped(text) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== "" && last.length + word.length >= MAX_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

const text = `/** The keys of \`toolyard.toml\`, as \`settings\` of \`createHub\` takes them. */
export interface HubSettings ${objectType(CONFIG_SCHEMA, "")}
`;
writeFileSync(join(declarations, "hub", "settings.d.ts"), text);
const path = join(declarations, "hub", "schema.d.ts");
const declared = readFileSync(path, "utf8");
const named = declared.replace(
  /export type HubConfig = [^;]*;/,
  'export type HubConfig = import("./settings.ts").HubSettings;',
);
const published = withoutUnusedImports(named);
if (published !== declared) writeFileSync(path, published);

/** Removes imports of names that are no longer used: they would publish the declarations of every feature. */
function withoutUnusedImports(declaration) {
  return declaration.replaceAll(/^import (?:type )?\{ ([^}]*) \} from "[^"]+";\n/gm, (line, names) => {
    const rest = declaration.replace(line, "");
    const isUsed = names.split(",").some((name) => new RegExp(`\\b${name.replace("type ", "").trim()}\\b`).test(rest));
    return isUsed ? line : "";
  });
}
