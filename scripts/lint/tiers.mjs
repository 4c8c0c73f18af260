// The only import rule: a file imports only its own folder and lower tiers; siblings inside providers/ and endpoints/
// may not import each other. ARCHITECTURE.md lists the tiers.
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const source = resolve(dirname(fileURLToPath(import.meta.url)), "../../packages/toolyard/src");

const TIERS = new Map(
  Object.entries({
    core: 0,
    schema: 1,
    wire: 1,
    files: 1,
    process: 1,
    outbound: 1,
    catalog: 2,
    pipeline: 2,
    upstream: 2,
    runtimes: 2,
    http: 2,
    state: 1,
    telemetry: 2,
    auth: 2,
    signin: 2,
    websearch: 2,
    extras: 2,
    models: 3,
    sandbox: 3,
    providers: 4,
    endpoints: 4,
    agent: 4,
    config: 5,
    kernel: 6,
    features: 7,
    hub: 8,
    compat: 9,
    cli: 10,
  }),
);
const ENTRY_TIER = 11;
/** Folders whose subfolders may not import each other, except for the shared ones. */
const SIBLINGS = new Map([
  ["providers", ["tool-folders", "mcp-server"]],
  ["endpoints", []],
  ["features", []],
]);

/** Returns the part of a file: `core`, `providers/stdio`, or the entry files next to the folders. */
function partOf(path) {
  const steps = relative(source, path).split(sep);
  if (steps[0] === "..") return undefined;
  if (steps.length === 1) return { name: "entry", tier: ENTRY_TIER };
  const [folder, sub] = steps;
  const tier = TIERS.get(folder);
  if (tier === undefined) return { name: folder, tier: undefined };
  const shared = SIBLINGS.get(folder);
  const isStranger = shared !== undefined && steps.length > 2 && !shared.includes(sub);
  return { name: isStranger ? `${folder}/${sub}` : folder, tier, shared: shared && !isStranger ? folder : undefined };
}

export const tiers = {
  create(context) {
    const from = partOf(context.filename);
    if (!from) return {};
    const check = (node, specifier) => {
      if (typeof specifier !== "string" || !specifier.startsWith(".")) return;
      const to = partOf(resolve(dirname(context.filename), specifier));
      if (!to || to.name === from.name) return;
      if (to.tier === undefined || from.tier === undefined) {
        context.report({
          node,
          message: `The folder of \`${specifier}\` has no tier. Name it in scripts/lint/tiers.mjs and ARCHITECTURE.md.`,
        });
        return;
      }
      // A file directly in providers/ or endpoints/, or in a shared folder there, may be imported by all.
      if (to.tier < from.tier || (to.shared !== undefined && from.name.startsWith(`${to.shared}/`))) return;
      context.report({
        node,
        message:
          `\`${from.name}\` (tier ${from.tier}) must not import \`${to.name}\` (tier ${to.tier}): ` +
          "imports point down.",
      });
    };
    const visit = (node) => check(node, node.source?.value);
    return {
      ImportDeclaration: visit,
      ExportNamedDeclaration: visit,
      ExportAllDeclaration: visit,
      ImportExpression: visit,
    };
  },
};
