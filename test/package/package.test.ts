import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE, ROOT } from "../cli/harness.ts";
import { SCRIPTS, SCRIPTS_TOML } from "../cli/files.ts";

const run = promisify(execFile);
const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as Record<string, never> & {
  version: string;
  bin: Record<string, string>;
  exports: Record<string, unknown>;
  engines: { node: string };
};
/**
 * Maximum size of the packed package without its table of embeddings; a larger one contains unneeded files. The page of
 * the console with its two editors has 230 kB of it.
 */
const MAX_PACKED_BYTES = 2_100_000;
/** Maximum sizes of the packed packages of the servers. The library has CMaps and dictionaries of 1.4 MB, packed. */
const MAX_PACKED_SERVERS = { gnn: 300_000, library: 1_800_000 };
/** Maximum packages and bytes that `npm install toolyard` installs and downloads, with the optional keyring. */
const MAX_INSTALLED = { packages: 20, bytes: 20_000_000, downloadedBytes: 12_000_000 };
const MAX_WITHOUT_OPTIONAL = { packages: 16, bytes: 17_000_000, downloadedBytes: 9_000_000 };
/** Packages, or parts of their names, that a hub without extras and servers does not need. */
const ELSEWHERE = [
  "unpdf",
  "libsql",
  "tesseract-wasm",
  "pg",
  "@hpcc-js",
  "@resvg",
  "ai",
  "@ai-sdk",
  "@toolyard/python-wasi",
  "yaml",
];

interface PackedPackage {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

let folder: string;
let packed: PackedPackage;
let tarball: string;
/** Folder of the package in the copy that is packed. */
let checkout: string;
const servers: PackedPackage[] = [];
const serverTarballs: string[] = [];

// The package is packed from a copy, since packing builds again while other tests use the build.
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-package-")));
  const copy = join(folder, "checkout");
  await mkdir(copy);
  for (const part of [
    "packages",
    "scripts",
    "docs",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "LICENSE",
    "CHANGELOG.md",
    ".npmrc",
    ".gitignore",
  ]) {
    await cp(join(ROOT, part), join(copy, part), { recursive: true, filter: isSource });
  }
  await linkModules(join(copy, "node_modules"));
  // Files of an earlier build must not get into the package.
  checkout = join(copy, "packages/toolyard");
  await mkdir(join(checkout, "dist"));
  await writeFile(join(checkout, "dist", "left-over.js"), "");
  packed = await pack("toolyard");
  tarball = join(folder, packed.filename);
  // Packing `toolyard` also builds these.
  for (const name of Object.keys(MAX_PACKED_SERVERS)) servers.push(await pack(name, "--ignore-scripts"));
  serverTarballs.push(...servers.map(({ filename }) => join(folder, filename)));
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Packs a package of the copy. */
async function pack(name: string, ...options: readonly string[]): Promise<PackedPackage> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder, ...options], {
    cwd: join(folder, "checkout/packages", name),
    maxBuffer: 16 * 1024 * 1024,
  });
  return (JSON.parse(stdout.slice(stdout.indexOf("["))) as PackedPackage[])[0]!;
}

const isSource = (path: string): boolean => !/[/\\]packages[/\\][a-z]+[/\\](?:dist|build|node_modules)$/.test(path);

/** Links the installed packages, and the workspace packages to those of the copy. */
async function linkModules(modules: string): Promise<void> {
  await mkdir(modules);
  const own = new Set(["toolyard", "@toolyard"]);
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((one) => !own.has(one)))
    await symlink(join(ROOT, "node_modules", name), join(modules, name));
  await symlink("../packages/toolyard", join(modules, "toolyard"));
  await mkdir(join(modules, "@toolyard"));
  for (const name of ["gnn", "library"]) await symlink(`../../packages/${name}`, join(modules, "@toolyard", name));
}

/** Returns true if a path is in the folder of an `exports` pattern such as `folder/*.d.ts`. */
function fits(path: string, pattern: string): boolean {
  const [before = "", after = ""] = pattern.split("*");
  return path.startsWith(before) && path.endsWith(after) && !path.slice(before.length).includes("/");
}

/** Returns files of `src/runtimes/` that are not compiled, by their path in `dist`. */
function uncompiled(): string[] {
  const source = join(PACKAGE, "src");
  const files = ["runtimes", "sandbox", "extras"].flatMap((folder) =>
    readdirSync(join(source, folder), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.name.endsWith(".ts") && !entry.parentPath.includes("__pycache__"),
    ),
  );
  return files.map(({ parentPath, name }) => `dist/${relative(source, join(parentPath, name))}`).toSorted();
}

test("the packages of the servers are within their size limits, with the licences of third-party data", () => {
  const limits = Object.values(MAX_PACKED_SERVERS);
  expect(servers.filter(({ size }, at) => size > limits[at]!)).toEqual([]);
  const paths = servers.flatMap(({ files }) => files.map(({ path }) => path));
  const data = ["documents/cmaps/LICENSE", "search/translations/LICENSE-CECILL-C.txt", "search/translations/NOTICE.md"];
  expect(paths).toEqual(expect.arrayContaining(data.map((path) => `dist/${path}`)));
});

describe("the package", () => {
  test("contains the needed files and no others", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith("dist/") && !path.startsWith("docs/")).toSorted()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "NOTICE",
      "README.md",
      "npm-shrinkwrap.json",
      "package.json",
    ]);
    expect(paths.filter((path) => path.startsWith("docs/") && !path.endsWith(".md"))).toEqual([
      "docs/guide/sources/gnn-thermostat.svg",
      "docs/reference/toolyard.schema.json",
    ]);
    const hasPage = /^dist\/console\/assets\/[\w.-]+\.(?:css|js|svg)\.br$/;
    expect(paths.filter((path) => hasPage.test(path)).length).toBeGreaterThan(2);
    // Files that children run without compilation: exactly these.
    const others = paths.filter(
      (path) => path.startsWith("dist/") && !/\.(js|d\.ts)$/.test(path) && !hasPage.test(path),
    );
    expect(others.toSorted()).toEqual(
      [
        ...uncompiled(),
        "dist/console/admin-schemas.json",
        "dist/console/index.html",
        "dist/console/licenses.md",
        "dist/models/table/token-vectors.bin",
        ...["gnn", "library"].map((name) => `dist/${name}.d.mts`),
        "dist/servers/lists.json",
        "dist/vendor/sucrase.cjs",
      ].toSorted(),
    );
    expect(paths.filter((path) => /\.test\.|fixture|left-over|\.map$/.test(path))).toEqual([]);
    const table = gzipSync(readFileSync(join(PACKAGE, "src/models/table/token-vectors.bin")));
    expect(packed.size - table.length).toBeLessThan(MAX_PACKED_BYTES);
  });

  test("contains only the declarations that its entries reach, and code without comments", () => {
    const paths = new Set(packed.files.map(({ path }) => path).filter((path) => path.endsWith(".d.ts")));
    const entries = [...JSON.stringify(MANIFEST.exports).matchAll(/"\.\/([^"]+\.d\.ts)"/g)].map(([, path]) => path!);
    const [patterns, files] = [
      entries.filter((path) => path.includes("*")),
      entries.filter((path) => !path.includes("*")),
    ];
    const reached = new Set([
      ...files,
      ...patterns.flatMap((pattern) => [...paths].filter((path) => fits(path, pattern))),
    ]);
    for (const path of reached) {
      const text = readFileSync(join(checkout, path), "utf8");
      for (const [, name] of text.matchAll(/"(\.\.?\/[^"]+)\.[jt]s"/g)) reached.add(join(path, "..", `${name}.d.ts`));
    }
    expect([...paths].toSorted()).toEqual([...reached].toSorted());
    expect(readFileSync(join(checkout, "dist/index.d.ts"), "utf8")).toContain("createHub");
    const declared = readFileSync(join(checkout, "dist/kernel/toolyard.d.ts"), "utf8");
    expect(declared).toContain("/** Calls a tool by any spelling of its name. */");
    const scripts = packed.files.map(({ path }) => path).filter((path) => path.startsWith("dist/chunks/"));
    const texts = scripts.map((path) => readFileSync(join(checkout, path), "utf8"));
    const hub = texts.filter((text) => text.includes("\n// hub/hub.js\n"));
    expect(hub).toHaveLength(1);
    expect(hub[0]).not.toMatch(/^\s*\/\*\*/m);
  });

  test("contains every page of docs/ that its README links to", () => {
    const linked = [...readFileSync(join(PACKAGE, "README.md"), "utf8").matchAll(/\]\((docs\/[^)#]+)/g)].map(
      ([, path]) => path!,
    );
    expect(linked).toContain("docs/reference/configuration.md");
    for (const page of linked)
      expect(
        packed.files.some(({ path }) => path === page || path.startsWith(page)),
        page,
      ).toBe(true);
  });

  test("contains every file that its manifest names, and an executable command", () => {
    const paths = new Map(packed.files.map(({ path, mode }) => [path, mode]));
    const named = [
      MANIFEST.bin["toolyard"]!,
      ...JSON.stringify(MANIFEST.exports).matchAll(/"\.\/([^"]+\.[^"/]+)"/g),
    ].map((one) => (typeof one === "string" ? one : one[1]!));
    expect(named).toContain("dist/index.d.ts");
    for (const name of named)
      expect(
        [...paths.keys()].some((path) => path === name || (name.includes("*") && fits(path, name))),
        name,
      ).toBe(true);
    expect(paths.get(MANIFEST.bin["toolyard"]!)! & 0o111).not.toBe(0);
    expect(MANIFEST.engines.node).toBe(">=20.19.0");
  });

  test("the shrinkwrap has each dependency with its exact version and digest", () => {
    const read = (path: string): Shrinkwrap => JSON.parse(readFileSync(path, "utf8")) as Shrinkwrap;
    const { packages } = read(join(checkout, "npm-shrinkwrap.json"));
    const root = read(join(ROOT, "package-lock.json")).packages;
    const { dependencies, optionalDependencies } = MANIFEST as unknown as Record<string, Record<string, string>>;
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
      expect(packages[`node_modules/${name}`], name).toMatchObject({ version });
    for (const [place, { version, integrity }] of Object.entries(packages))
      if (place !== "") expect({ version, integrity }, place).toEqual(pinOf(root[place]!));
    expect(JSON.stringify(packages)).not.toMatch(/https?:|"dev":/);
  });

  test("installs alone into an empty folder, within its size limit, and runs the example of its README", async () => {
    const home = join(folder, "empty");
    await install(home, tarball);
    assertSmall(home, MAX_INSTALLED);
    const modules = readdirSync(join(home, "node_modules"));
    expect(modules.filter((name) => ELSEWHERE.includes(name))).toEqual([]);
    for (const [name, text] of Object.entries({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML, ...CONSUMER })) {
      await mkdir(join(home, name, ".."), { recursive: true });
      await writeFile(join(home, name), text);
    }
    const toolyard = commandIn(home);
    expect(await toolyard("--version")).toBe(`${MANIFEST.version}\n`);
    expect(await toolyard("list", "--config", "toolyard.toml")).toMatch(/^work +Works, fails or waits$/m);
    expect(await toolyard("call", "work", "how=well")).toBe('{"text":"","how":"well"}\n');
    expect(await toolyard("search", "works, or fails")).toContain("work");
    expect(await toolyard("check")).toContain("Everything answers.");
    expect(await toolyard("connect", "--dry-run", "cursor")).toContain("toolyard");
    // TypeScript needs the transformer, which is a normal dependency.
    expect(await toolyard("call", "typed.hello", "--config", "typed.toml")).toBe("hello\n");
    await writeFile(join(home, "sum.js"), "console.log(6 * 7);\n");
    expect(await toolyard("run", "sum.js")).toContain("42");
    // The services are included, each as a separate program.
    await writeFile(join(home, "services.toml"), "[services]\ndatetime = true\n");
    expect(
      JSON.parse(await toolyard("call", "get_current_datetime", "timezone=UTC", "--config", "services.toml")),
    ).toMatchObject({ timezone: "UTC" });
    await expect(toolyard("services", "nothing")).rejects.toThrow(
      "The services are datetime, web-search, weather, geocoding, gnn, library.",
    );
    const program = await run(process.execPath, ["program.mjs"], { cwd: home, env: envIn(home) });
    expect(program.stdout).toBe("well\n");
    await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: home });
  }, 300_000);

  test("installs with the servers; their exports, types and commands work, and a hub starts them", async () => {
    const home = join(folder, "servers");
    await install(home, tarball, ...serverTarballs);
    for (const [name, text] of Object.entries({ ...WITH_SERVERS, "model.md": MODEL }))
      await writeFile(join(home, name), text);
    const toolyard = commandIn(home);
    const program = await run(process.execPath, ["servers.mjs"], { cwd: home, env: envIn(home) });
    expect(program.stdout).toBe("true function true\n");
    expect(await toolyard("gnn", "explain", "model.md")).toContain("Marsh");
    expect(await toolyard("call", "gnn.check", 'text="## GNNSection"', "--config", "gnn.toml")).toContain("GNN");
    await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: home });
  }, 300_000);

  test("installs without optional packages, smaller, and calls its tools", async () => {
    const home = join(folder, "lean");
    await install(home, "--omit=optional", tarball);
    const manifest = MANIFEST as unknown as Record<"dependencies" | "optionalDependencies", object>;
    const has = (name: string): boolean => existsSync(join(home, "node_modules", name));
    expect(Object.keys(manifest.dependencies).filter((name) => !has(name))).toEqual([]);
    expect(Object.keys(manifest.optionalDependencies)).toEqual(["@napi-rs/keyring"]);
    expect(has("@napi-rs/keyring")).toBe(false);
    assertSmall(home, MAX_WITHOUT_OPTIONAL);
    for (const [name, text] of Object.entries({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML })) {
      await mkdir(join(home, name, ".."), { recursive: true });
      await writeFile(join(home, name), text);
    }
    expect(await commandIn(home)("call", "work", "how=well", "--config", "toolyard.toml")).toBe(
      '{"text":"","how":"well"}\n',
    );
  }, 300_000);
});

interface Shrinkwrap {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

const pinOf = ({ version, integrity }: Shrinkwrap["packages"][string]) => ({ version, integrity });

const envIn = (home: string) => ({ PATH: process.env["PATH"], HOME: home, TOOLYARD_HOME: join(home, "data") });

/** Returns a function that runs the command installed in a folder and returns its output. */
function commandIn(home: string): (...args: readonly string[]) => Promise<string> {
  return async (...args) =>
    (await run(join(home, "node_modules/.bin/toolyard"), args, { cwd: home, env: envIn(home) })).stdout;
}

/** Installs packed packages in a folder; npm's cache has the downloads of `npm ci`. */
async function install(home: string, ...words: readonly string[]): Promise<void> {
  await mkdir(home);
  await writeFile(join(home, "package.json"), '{"private": true, "type": "module"}');
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...words], { cwd: home });
}

function assertSmall(home: string, most: typeof MAX_INSTALLED): void {
  const modules = join(home, "node_modules");
  const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as Shrinkwrap;
  const others = Object.keys(packages).filter((place) => place !== "node_modules/toolyard");
  const downloads = others.map((place) => gzipSync(contentsOf(join(home, place))).length);
  const found = {
    packages: Object.keys(packages).length,
    bytes: bytesIn(modules),
    // Each package is packed separately.
    downloadedBytes: downloads.reduce((sum, size) => sum + size, packed.size),
  };
  for (const [part, size] of Object.entries(found))
    expect(size, `${part} of ${JSON.stringify(found)}`).toBeLessThanOrEqual(most[part as keyof typeof found]);
}

/** Concatenates the files of a package, without nested packages. */
function contentsOf(place: string): Buffer {
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.parentPath.slice(place.length).includes("node_modules"),
  );
  return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

const CONSUMER = {
  "program.mjs": `import { createHub } from "toolyard";
const hub = await createHub({ config: "toolyard.toml" });
const outcome = await hub.call("work", { how: "well" });
console.log(outcome.ok ? outcome.result.structuredContent.how : outcome.message);
await hub.close();
`,
  "typed.toml": '[modules]\npaths = ["modules"]\n',
  "modules/typed/mcp.ts": `import { type ModuleHub, VERSION } from "toolyard";
enum Words { Hello = "hello" }
export function registerTools(hub: ModuleHub): void {
  hub.registerTool("typed.hello", () => (VERSION === "" ? "no version" : Words.Hello), {}, "Says hello");
}
`,
  "consumer.ts": `import { createHub, type ModuleHub, type Outcome } from "toolyard";
const hub = await createHub({ settings: { server: { port: 0 } } });
const outcome: Outcome = await hub.call("meta.ping", {}, { timeoutMs: 1000 });
export const message: string = outcome.ok ? "fine" : outcome.message;
export function registerTools(modules: ModuleHub): void {
  modules.registerTool("x", ({ a }: { a: number }) => a + 1, {}, "x"); }
`,
  "tsconfig.json": tsconfig("consumer.ts"),
};

const WITH_SERVERS = {
  "servers.mjs": `import * as own from "@toolyard/library";
import { checkGnn } from "toolyard/gnn";
import * as library from "toolyard/library";
const hasSameNames = Object.keys(own).join() === Object.keys(library).join();
console.log(hasSameNames, typeof library.openLibrary, checkGnn("## GNNSection") !== undefined);
`,
  "gnn.toml": "[services]\ngnn = true\n",
  "servers.ts": `import { checkGnn } from "toolyard/gnn";
import { openLibrary, type Library } from "toolyard/library";
export const isValid: boolean = checkGnn("## GNNSection").isValid;
export const open = (...options: Parameters<typeof openLibrary>): Promise<Library> => openLibrary(...options);
`,
  "tsconfig.json": tsconfig("servers.ts"),
};

const MODEL = `## GNNSection
Marsh
## ModelName
Marsh
## StateSpaceBlock
D[2,type=float]
s[2,1,type=float]
## Connections
D>s
`;

function tsconfig(...files: readonly string[]): string {
  return JSON.stringify({
    compilerOptions: {
      target: "es2022",
      module: "nodenext",
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      lib: ["es2023", "esnext.disposable"],
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    files,
  });
}

describe("files and options in the packaging", () => {
  test("systemd accepts the unit", async ({ skip }) => {
    const said = await run("systemd-analyze", ["verify", join(ROOT, "packaging/toolyard.service")]).catch(
      (error: NodeJS.ErrnoException & { stderr?: string }) => error,
    );
    skip("code" in said && said.code === "ENOENT", "systemd-analyze is not on this machine");
    expect(said).toMatchObject({ stdout: "", stderr: "" });
  });

  const text = (name: string): string => readFileSync(join(ROOT, name), "utf8");

  test("the Dockerfile's files, scripts and options exist", () => {
    const docker = text("Dockerfile");
    const copied = [...docker.matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
      .flatMap(([, names]) => names!.split(" "))
      .filter((name) => name !== ".");
    for (const name of copied) expect(existsSync(join(ROOT, name)), name).toBe(true);
    for (const [, script] of docker.matchAll(/npm run (\w+)/g))
      expect(Object.keys((JSON.parse(text("package.json")) as { scripts: object }).scripts)).toContain(script);
    expect(docker).toContain(`"node", "packages/toolyard/${MANIFEST.bin["toolyard"]}"`);
    expect(statSync(join(PACKAGE, MANIFEST.bin["toolyard"]!)).mode & 0o111).not.toBe(0);
  });

  test.each([
    ["Dockerfile", /^CMD (\[.*\])$/m],
    ["packaging/toolyard.service", /^ExecStart=\/usr\/bin\/env toolyard (.*)$/m],
  ])("%s starts the hub with options of `serve`", async (name, pattern) => {
    const found = pattern.exec(text(name))![1]!;
    const [command, ...words] = found.startsWith("[") ? (JSON.parse(found) as string[]) : found.split(" ");
    expect(command).toBe("serve");
    const { stdout } = await run(process.execPath, [join(PACKAGE, MANIFEST.bin["toolyard"]!), "serve", "--help"]);
    for (const option of words.filter((word) => word.startsWith("--"))) expect(stdout).toContain(option);
  });
});
