import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { parse } from "smol-toml";
import { messageOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** The metadata in comments of a Python script, as specified by PEP 723. */
export interface InlineMetadata {
  /** The TOML text between the marks, without the comment signs. */
  readonly text: string;
  /** Requirements in the syntax of PEP 508. */
  readonly dependencies: readonly string[];
  /** Version specifier of PEP 440: `>=3.11`. */
  readonly requiresPython?: string;
  /** True if the block has a table `tool`, which may name files next to the script. */
  readonly hasToolTable: boolean;
  /**
   * True if the block names places from which packages are fetched. A model may have written such a block. @default
   * false
   */
  readonly namesPlaces?: true;
  /** Reason why the block cannot be used. Its requirements are then empty. */
  readonly problem?: string;
}

const OPENING = "# /// script";
const CLOSING = "# ///";
/** Maximum size of the start of a file in which a block is searched. */
const MAX_BYTES = 256 * 1024;

/** Returns the metadata of a script; undefined if it has none, or cannot be read. */
export function readInlineMetadata(file: string): InlineMetadata | undefined {
  const text = beginningOf(file);
  return text?.includes(OPENING) ? parseInlineMetadata(text) : undefined;
}

/** Returns the metadata in the text of a script, like `readInlineMetadata`. */
export function parseInlineMetadata(source: string): InlineMetadata | undefined {
  const blocks = blocksIn(source.split(/\r\n|\r|\n/));
  const [text] = blocks;
  if (text === undefined) return undefined;
  if (blocks.length > 1) return unusable(text, "it has two blocks `# /// script`; keep one");
  let table: JsonObject;
  try {
    table = parse(text) as JsonObject;
  } catch (error) {
    const [first = ""] = messageOf(error).split("\n", 1);
    return unusable(text, `its TOML cannot be read: ${first.replace(/^Invalid TOML document: /, "")}`);
  }
  return readTable(text, table);
}

function readTable(text: string, table: JsonObject): InlineMetadata {
  const { dependencies = [], tool, "requires-python": requiresPython } = table;
  if (!Array.isArray(dependencies) || !dependencies.every((one) => typeof one === "string"))
    return unusable(text, '`dependencies` must be a list of texts, such as ["requests>=2"]');
  if (requiresPython !== undefined && typeof requiresPython !== "string")
    return unusable(text, '`requires-python` must be a text, such as ">=3.11"');
  return {
    text,
    dependencies: dependencies as readonly string[],
    ...(requiresPython !== undefined && { requiresPython }),
    hasToolTable: tool !== undefined,
    ...((dependencies.some(isPlace) || hasPlaces(tool)) && { namesPlaces: true }),
  };
}

/** Settings of uv that only select among versions of the configured indexes. */
const CHOOSING: ReadonlySet<string> = new Set([
  "compile-bytecode",
  "constraint-dependencies",
  "exclude-newer",
  "exclude-newer-package",
  "fork-strategy",
  "link-mode",
  "override-dependencies",
  "prerelease",
  "resolution",
]);

/** Returns whether a requirement contains the address of a package, as in `name @ https://…`. Names contain no `@`. */
function isPlace(requirement: unknown): boolean {
  return typeof requirement === "string" && requirement.includes("@");
}

function hasPlaces(tool: unknown): boolean {
  const uv = isJsonObject(tool) ? tool["uv"] : undefined;
  if (uv === undefined) return false;
  if (!isJsonObject(uv)) return true;
  return Object.entries(uv).some(([key, value]) => !CHOOSING.has(key) || (Array.isArray(value) && value.some(isPlace)));
}

function unusable(text: string, problem: string): InlineMetadata {
  return { text, dependencies: [], hasToolTable: false, problem };
}

/**
 * Returns the metadata blocks. A block ends at the last closing line of the contiguous comment lines after its opening
 * line.
 */
function blocksIn(lines: readonly string[]): readonly string[] {
  const blocks: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at] !== OPENING) continue;
    let end = at + 1;
    while (end < lines.length && /^#(?: |$)/.test(lines[end]!)) end += 1;
    const closing = lines.lastIndexOf(CLOSING, end - 1);
    if (closing <= at) continue;
    blocks.push(
      lines
        .slice(at + 1, closing)
        .map((line) => line.slice(2))
        .join("\n"),
    );
    at = closing;
  }
  return blocks;
}

function beginningOf(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, MAX_BYTES));
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } catch {
    // The error is ignored here: the run of the script reports the failure.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
