// Bundles the compiled code into dist/. Loading a file costs Node about as much as running its code, so the code of the
// hub's own process is in few files: for every command, for every hub, and for later loads, each named for its main
// module. Separate programs (children, threads, hooks) are kept file by file, since some may read no other folder.
import { isBuiltin } from "node:module";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { rolldown } from "rolldown";
import { vendored } from "./vendor.mjs";

/** Main module of the command. It enables Node's compile cache, and then loads `START`. */
const COMMAND = "cli/main.js";
const START = "cli/run-command.js";
/** Files in this folder are found by name on demand. */
const FOUND_BY_NAME = "compat/bindings/mcp_bindings";
const MCP_SERVER = "providers/mcp-server/provider.js";
const SERVING = [
  "hub/serve/serve.js",
  "endpoints/mcp/mcp-parts.js",
  "endpoints/mcp/mcp-endpoint.js",
  "features/console/home-redirect.js",
  "http/adapters/node/listener.js",
  "hub/reload.js",
  "cli/hub-access/shared-hub.js",
  "config/watch.js",
  "process/stdout-guard.js",
];
const MODULES = [
  "providers/modules/modules-provider.js",
  "providers/modules/running-module.js",
  "runtimes/typescript/import-module.js",
];
const SCRIPTS = ["providers/scripts/provider.js", "providers/folders/provider.js", "runtimes/scripts/run-script.js"];
const STDIO = "providers/stdio/stdio-provider.js";
const REMOTE = ["providers/http/http-provider.js", "outbound/client/http-client.js"];
/** Modules that read and check the configuration of a command. */
const SETTINGS = ["cli/hub-access/settings.js", "cli/input/consent.js", "cli/faults.js"];
const IN_A_TERMINAL = [
  "cli/hub-access/session.js",
  "cli/hub-access/still-starting.js",
  "cli/output/table.js",
  "hub/sources/local-sources.js",
];
const CALLING = [
  "pipeline/pipeline.js",
  "hub/call-resolution.js",
  "schema/guarded-schemas.js",
  "schema/describe-schema.js",
  "endpoints/mcp/modern/create-calls.js",
  "features/console/recorder/timing-stage.js",
  "features/console/recorder/call-recorder.js",
];
/**
 * Modules in one file, since one task loads all: the modules of `with` and their imports, restricted to `folders`. A
 * module belongs to the first file that lists it. A file needs no later file of the list, so that no two files import
 * each other.
 */
const TOGETHER = [
  // These modules are in a separate file, so that the command loads nothing else before the cache is enabled.
  { name: "data-folder", with: [COMMAND], folders: ["core/"] },
  // These modules are in a separate file, so that the processes of other packages do not load the hub for them.
  { name: "texts", with: ["text.js"], folders: ["core/"] },
  { name: "basics", with: [START], folders: ["core/"] },
  { name: "start", with: [START], folders: [""] },
  { name: "toml", with: ["../../../node_modules/smol-toml/dist/index.js"], folders: ["../../../node_modules/"] },
  { name: "hub", with: ["hub/open-hub.js"], folders: [""] },
  // Small modules that several of the files below need: separate, so that no task loads the file of another one. Those
  // that every served hub loads are separate from those that only some sources need.
  { name: "wire", with: SERVING, folders: ["core/", "wire/", "schema/"] },
  { name: "served-files", with: SERVING, folders: ["files/", "process/"] },
  {
    name: "source-wire",
    with: [MCP_SERVER, ...MODULES, ...SCRIPTS, ...REMOTE],
    folders: ["core/", "wire/", "schema/"],
  },
  { name: "process", with: [...SCRIPTS, MCP_SERVER, STDIO], folders: ["files/", "process/"] },
  { name: "settings", with: SETTINGS, folders: [""] },
  { name: "command", with: IN_A_TERMINAL, folders: [""] },
  { name: "builtin", with: ["providers/builtin/provider.js"], folders: [""] },
  { name: "modules", with: MODULES, folders: [""] },
  { name: "serving", with: SERVING, folders: [""] },
  { name: "calling", with: CALLING, folders: [""] },
  { name: "scripts", with: SCRIPTS, folders: [""] },
  { name: "mcp-server", with: [MCP_SERVER], folders: [""] },
  { name: "stdio", with: [STDIO], folders: [""] },
  { name: "remote", with: REMOTE, folders: [""] },
];
/** Programs that Node gets by path: children, threads, module hooks. */
const PROGRAMS = [
  "extras/install/main.js",
  "http/adapters/workers/main.js",
  "providers/stdio/install/supervised-install-main.js",
  "runtimes/typescript/hooks.js",
  "runtimes/typescript/native-import.js",
  "runtimes/typescript/register.js",
  "sandbox/child/main.js",
  "sandbox/deno/inside/boot.js",
  "sandbox/deno/source-worker.js",
  "sandbox/javascript/worker.js",
  "sandbox/python/worker.js",
  "schema/threads/worker.js",
  "signin/keyring-main.js",
];
/**
 * Small packages of pure JavaScript, which are copied into dist/: Node would load them file by file, and an
 * installation has fewer packages, each in the tested version. In the manifest they are development dependencies;
 * NOTICE has their licenses.
 */
export const BUNDLED = new Set([
  "chokidar",
  "commander",
  "croner",
  "htmlparser2",
  "jose",
  "jsonc-parser",
  "oauth4webapi",
  "picocolors",
  "smol-toml",
]);
const NOTICE = "NOTICE";
/**
 * Placeholder for a module's own URL. It is replaced by the URL of the module's place in dist/, in any file that
 * contains the module.
 */
const PLACE = "toolyard-dist:";

/** Bundles the tree `compiled` of the package in the folder `root` into dist/; removes files of an earlier build. */
export async function bundle(root, compiled) {
  const dist = join(root, "dist");
  const vendor = await vendored(root);
  const main = await bundled(root, compiled);
  const notice = noticeOf([...main.output, ...vendor.output]);
  const files = new Map([...programs(compiled), ...main.files, [vendor.path, vendor.code], [NOTICE, notice]]);
  for (const [path, text] of files) writeChanged(path === NOTICE ? join(root, NOTICE) : join(dist, path), text);
  for (const path of scriptsIn(dist)) {
    if (!path.startsWith("servers/") && !files.has(path) && existsSync(join(compiled, path))) rmSync(join(dist, path));
    if (path.startsWith("chunks/") && !files.has(path)) rmSync(join(dist, path));
  }
}

async function bundled(root, compiled) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const named = Object.values(exports).map((one) => relative("dist", one.default ?? ""));
  const found = scriptsIn(join(compiled, FOUND_BY_NAME)).map((path) => join(FOUND_BY_NAME, path));
  const entries = [
    COMMAND,
    ...found,
    ...named.filter((path) => path.endsWith(".js") && existsSync(join(compiled, path))),
  ];
  const build = await rolldown({
    cwd: compiled,
    input: Object.fromEntries(entries.map((path) => [path.slice(0, -".js".length), join(compiled, path)])),
    platform: "node",
    external: isExternal,
    plugins: [places(compiled)],
    // If a package has two forms, its ES modules are bundled, because they can be analysed.
    resolve: { mainFields: ["module", "main"] },
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.generate({
    format: "esm",
    comments: { legal: true, annotation: false, jsdoc: false },
    chunkFileNames: ({ name, facadeModuleId, moduleIds }) =>
      `chunks/${isTogether(name) ? `${name}.js` : fileOf(compiled, facadeModuleId ?? moduleIds.at(-1))}`,
    codeSplitting: { groups: groupsOf(compiled) },
  });
  await build.close();
  return { output, files: withoutFacades(output).map(({ fileName, code }) => [fileName, oneByte(fileName, code)]) };
}

/**
 * Removes files that only export names of another file, which the bundler writes for late imports of modules that share
 * a file. Late imports then name the other file, so that Node opens one file less for each.
 */
function withoutFacades(output) {
  const facades = new Map(
    output.flatMap(({ fileName, code }) => {
      const found = fileName.startsWith("chunks/") && FACADE.exec(code);
      return found ? [[fileName, { names: found[1], target: join(dirname(fileName), found[2]) }]] : [];
    }),
  );
  return output
    .filter(({ fileName }) => !facades.has(fileName))
    .map((chunk) => ({
      ...chunk,
      code: chunk.code.replaceAll(LATE_IMPORT, (text, path) => {
        const facade = facades.get(join(dirname(chunk.fileName), path));
        return facade === undefined ? text : importThrough(facade, dirname(chunk.fileName));
      }),
    }));
}

/** Returns the late import of a facade's names from their file. */
function importThrough({ names, target }, folder) {
  const path = relative(folder, target).replaceAll("\\", "/");
  const members = names.split(", ").map((name) => {
    const [own, shown = own] = name.split(" as ");
    return `${shown}: all.${own}`;
  });
  return `import("${path.startsWith(".") ? path : `./${path}`}").then((all) => ({ ${members.join(", ")} }))`;
}

const FACADE = /^export \{ ([^{}]+) \} from "(\.[^"]+)";\n*$/;
const LATE_IMPORT = /\bimport\("(\.[^"]+)"\)/g;

/** Returns whether Node loads an import from the installation. False for bundled packages and their dependencies. */
function isExternal(id, importer = "") {
  if (/^[./]/.test(id)) return false;
  return isBuiltin(id) || !(BUNDLED.has(id) || /[\\/]node_modules[\\/]/.test(importer));
}

/** Returns the text of NOTICE: the name, version and license of every package whose code is in the output. */
function noticeOf(output) {
  const ids = output.flatMap(({ moduleIds }) => moduleIds).map((id) => id.replaceAll("\\", "/"));
  const folders = new Set(ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []));
  const parts = Array.from(folders).toSorted().map(licenseOf);
  const table = readFileSync(new URL("embeddings/NOTICE.md", import.meta.url), "utf8").trim();
  const text = "Files in `dist/` contain code of the packages and data made of the works below.";
  return [text, table, ...parts].join(`\n\n${"-".repeat(80)}\n\n`);
}

function licenseOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e\b/i.test(one));
  if (file === undefined) throw new Error(`${name} is bundled, and has no license file.`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

/**
 * Escapes non-ASCII characters in strings, templates and regular expressions. For a file with one of these V8 keeps two
 * bytes for each character of its source, so that the file takes twice the memory.
 */
function oneByte(fileName, code) {
  if (BEYOND_ASCII_RAW.test(code)) throw new Error(`${fileName}: a raw template has a character beyond ASCII.`);
  return code.replaceAll(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const BEYOND_ASCII = /[^\0-\x7f]/g;
/**
 * Matches a raw template with a non-ASCII character. It cannot be escaped, because a raw template contains the escape
 * itself.
 */
const BEYOND_ASCII_RAW = /String\.raw`[^`]*[^\0-\x7f`]/;

const isTogether = (name) => TOGETHER.some((group) => group.name === name);

function places(compiled) {
  return {
    name: "places",
    transform(code, id) {
      if (!code.includes("import.meta.url")) return undefined;
      const own = `new URL(${JSON.stringify(PLACE + inTree(compiled, id))}, import.meta.url).href`;
      const asked = placesAsked(this.parse(code)).toSorted((one, other) => other.start - one.start);
      return asked.reduce((text, { start, end }) => text.slice(0, start) + own + text.slice(end), code);
    },
    renderChunk(code, { fileName }) {
      if (!code.includes(PLACE)) return undefined;
      const up = "../".repeat(fileName.split("/").length - 1) || "./";
      return code.replaceAll(PLACE, up);
    },
  };
}

/**
 * Returns the nodes for `import.meta.url` in parsed code. A search in the text would also find it in strings, such as
 * texts of generated programs.
 */
function placesAsked(node) {
  if (node === null || typeof node !== "object") return [];
  if (node.type === "MemberExpression" && node.object.type === "MetaProperty" && node.property.name === "url")
    return [node];
  return Object.values(node).flatMap(placesAsked);
}

function groupsOf(compiled) {
  return TOGETHER.map(({ name, with: entries, folders }, at) => {
    let ids;
    const isIn = (path, context) =>
      // The command belongs to no group: it awaits its imports, so none of them may import the file of the command.
      path !== COMMAND &&
      folders.some((folder) => path.startsWith(folder)) &&
      (ids ??= reached(
        context,
        entries.map((entry) => join(compiled, entry)),
      )).has(join(compiled, path));
    return {
      name: (id, context) => (isIn(inTree(compiled, id), context) ? name : undefined),
      priority: TOGETHER.length - at,
      debugName: name,
    };
  });
}

/** Returns these modules and all modules that they load. */
function reached(context, entries) {
  const missing = entries.find((entry) => !existsSync(entry));
  if (missing !== undefined) throw new Error(`${missing} is listed in scripts/bundle.mjs, and does not exist.`);
  const ids = new Set(entries);
  for (const id of ids) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) ids.add(imported);
  return ids;
}

/** Returns the files of `PROGRAMS`, and their imports. */
function programs(compiled) {
  const found = new Map();
  const paths = new Set(PROGRAMS);
  for (const path of paths) {
    const text = readFileSync(join(compiled, path), "utf8");
    found.set(path, text);
    const missing = [...BUNDLED].find((name) => text.includes(`from "${name}"`) || text.includes(`import("${name}")`));
    if (missing !== undefined) throw new Error(`${path} is kept as it is, and imports ${missing}, which is bundled.`);
    for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g))
      paths.add(join(dirname(path), name));
  }
  return found;
}

function scriptsIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".js"))
    .map((entry) => inTree(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith("."));
}

function fileOf(compiled, id) {
  // The wrapper of CommonJS modules is not a file.
  return id.startsWith("\0") ? "rolldown.js" : inTree(compiled, id).replace(/^.*\/node_modules\//, "packages/");
}

function inTree(folder, path) {
  return relative(folder, path).replaceAll("\\", "/");
}

/** Writes a file only if it has changed, because other processes may be running the existing file. */
function writeChanged(path, text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
