// The boundaries inside packages/toolyard/src/sandbox: code of one process must not be imported in another. Files
// directly in that folder are for all its folders. A folder may import itself, these files, and the folders listed
// here. Tests may import anything.
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const sandbox = resolve(dirname(fileURLToPath(import.meta.url)), "../../packages/toolyard/src/sandbox");

const MAY_IMPORT = new Map(
  Object.entries({
    // The three engines do not import each other.
    bwrap: [],
    "bwrap-python": ["processes"],
    deno: ["processes", "javascript"],
    // Code that runs inside the children.
    child: ["python"],
    processes: ["child", "python"],
    javascript: [],
    python: [],
  }),
);
/** The only file that imports every engine. */
const CHOOSER = "create-engine.ts";

const folderOf = (path) => {
  const steps = relative(sandbox, path).split(sep);
  if (steps[0] === "..") return undefined;
  return steps.length === 1 ? "" : steps[0];
};

function problemOf(filename, specifier) {
  const from = folderOf(filename);
  const to = folderOf(resolve(dirname(filename), specifier));
  if (from === undefined || !to || from === to || filename.endsWith(".test.ts")) return undefined;
  if (from === "") {
    if (relative(sandbox, filename) === CHOOSER) return undefined;
    return `Only \`${CHOOSER}\` and tests in \`sandbox/\` itself may import \`sandbox/${to}\`.`;
  }
  if (!MAY_IMPORT.has(from)) return `\`sandbox/${from}\` has no line in scripts/lint/sandbox-walls.mjs.`;
  if (MAY_IMPORT.get(from).includes(to)) return undefined;
  return `\`sandbox/${from}\` must not import \`sandbox/${to}\`, see scripts/lint/sandbox-walls.mjs.`;
}

export const sandboxWalls = {
  create(context) {
    if (folderOf(context.filename) === undefined) return {};
    const visit = (node) => {
      const specifier = node.source?.value;
      if (typeof specifier !== "string" || !specifier.startsWith(".")) return;
      const message = problemOf(context.filename, specifier);
      if (message !== undefined) context.report({ node, message });
    };
    return {
      ImportDeclaration: visit,
      ExportNamedDeclaration: visit,
      ExportAllDeclaration: visit,
      ImportExpression: visit,
    };
  },
};
