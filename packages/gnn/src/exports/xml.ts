import {
  fromData,
  toData,
  type ModelData,
  type SectionData,
  type StatementData,
  type ValueData,
} from "../language/data.ts";
import { frontMatterOf } from "../language/front-matter.ts";
import type { GnnFile } from "../language/model.ts";
import { checkFileData } from "./file-data-shape.ts";
import { FormatError } from "./format-error.ts";
import { readXml, type XmlElement } from "./xml-reader.ts";
import { element, escapeXml } from "./xml-text.ts";

const VERSION = "1";

/** Writes a file as XML with this package's own elements. `fromXml` restores the file. */
export function toXml(file: GnnFile): string {
  const { form, frontMatter, models } = toData(file);
  const front = frontMatter ? [`  ${element("frontMatter", {}, linesText(frontMatter.lines))}`] : [];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<gnn version="${VERSION}" form="${form}">`,
    ...front,
    ...models.flatMap(modelLines),
    "</gnn>",
    "",
  ].join("\n");
}

function modelLines({ header, sections }: ModelData): string[] {
  const head = header.length === 0 ? [] : [`    ${element("header", {}, linesText(header))}`];
  return ["  <model>", ...head, ...sections.flatMap(sectionLines), "  </model>"];
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => element("line", {}, escapeXml(line))).join("");
}

function sectionLines(section: SectionData): string[] {
  if ("text" in section)
    return [`    ${element("section", { name: section.name }, element("text", {}, escapeXml(section.text)))}`];
  return [
    `    <section name="${escapeXml(section.name)}">`,
    "      <statements>",
    ...section.statements.map((statement) => `        ${statementText(statement)}`),
    "      </statements>",
    "    </section>",
  ];
}

function statementText(statement: StatementData): string {
  switch (statement.kind) {
    case "variable": {
      const { kind, dimensions, options, ...attributes } = statement;
      const inner = [
        ...dimensions.map((dimension) => element("dimension", {}, escapeXml(String(dimension)))),
        ...options.map((option) => element("option", { ...option })),
      ];
      return element(kind, attributes, inner.join(""));
    }
    case "connection": {
      const { kind, sources, targets, ...attributes } = statement;
      const inner = [
        ...sources.map((name) => element("source", {}, escapeXml(name))),
        ...targets.map((name) => element("target", {}, escapeXml(name))),
      ];
      return element(kind, attributes, inner.join(""));
    }
    case "assignment":
    case "parameter": {
      const { kind, value, ...attributes } = statement;
      return element(kind, attributes, valueText(value));
    }
    default: {
      const { kind, ...attributes } = statement;
      return element(kind, attributes);
    }
  }
}

function valueText(value: ValueData): string {
  if (typeof value === "number") return element("n", {}, String(value));
  if (isList(value)) return element("list", {}, value.map(valueText).join(""));
  if ("number" in value) return element("n", {}, escapeXml(value.number));
  if ("word" in value) return element("w", {}, escapeXml(value.word));
  if ("text" in value) return element("t", {}, escapeXml(value.text));
  return value.entries.map((entry) => element("entry", { key: entry.key }, valueText(entry.value))).join("");
}

function isList(value: ValueData): value is readonly ValueData[] {
  return Array.isArray(value);
}

/** Reads XML written by `toXml`. Throws a `FormatError` with the reason. */
export function fromXml(text: string): GnnFile {
  const root = readXml(text);
  if (root.name !== "gnn" || root.attributes["version"] !== VERSION)
    throw new FormatError(`The document must be <gnn version="${VERSION}">, got <${root.name}>.`);
  const front = root.children.find(({ name }) => name === "frontMatter");
  const data = {
    form: root.attributes["form"] ?? "markdown",
    ...(front ? { frontMatter: frontMatterOf(linesOf(front)) } : {}),
    models: root.children.filter(({ name }) => name === "model").map(modelOf),
  };
  return fromData(checkFileData(data));
}

function linesOf({ children }: XmlElement): string[] {
  return children.map(({ text }) => text);
}

function modelOf({ children }: XmlElement): object {
  const header = children.find(({ name }) => name === "header");
  const sections = children.filter(({ name }) => name === "section");
  return { header: header ? linesOf(header) : [], sections: sections.map(sectionOf) };
}

function sectionOf({ attributes, children }: XmlElement): object {
  const text = children.find(({ name }) => name === "text");
  if (text) return { name: attributes["name"], text: text.text };
  const statements = children.find(({ name }) => name === "statements");
  return { name: attributes["name"], statements: statements?.children.map(statementOf) };
}

function statementOf({ name: kind, attributes, children }: XmlElement): object {
  const texts = (name: string): string[] => children.filter((child) => child.name === name).map(({ text }) => text);
  switch (kind) {
    case "variable":
      return {
        kind,
        ...attributes,
        dimensions: texts("dimension").map((text) => (/^\d+$/.test(text) ? Number(text) : text)),
        options: children.filter(({ name }) => name === "option").map((option) => option.attributes),
      };
    case "connection":
      return {
        kind,
        ...attributes,
        directed: attributes["directed"] === "true",
        sources: texts("source"),
        targets: texts("target"),
      };
    case "assignment":
    case "parameter":
      return { kind, ...attributes, value: children[0] ? valueOf(children[0]) : undefined };
    default:
      return { kind, ...attributes };
  }
}

function valueOf({ name, attributes, children, text }: XmlElement): unknown {
  switch (name) {
    case "n":
      return Number.isFinite(Number(text)) && text !== "-0" ? Number(text) : { number: text };
    case "w":
      return { word: text };
    case "t":
      return { text };
    case "entry":
      return { entries: [{ key: attributes["key"], value: children[0] ? valueOf(children[0]) : undefined }] };
    case "list":
      return children.map(valueOf);
    default:
      throw new FormatError(`<${name}> is not a value; values are <n>, <w>, <t>, <entry> and <list>.`);
  }
}
