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
/** Tables of embeddings apart; what is over this has something in it that nobody needs. */
const MAX_PACKED_BYTES = 1_650_000;
/**
 * What is installed, in parts: the document library (33 MB, 9 of which are needed), pictures of GNN and the table of
 * embeddings (5 and 4 MB), the system's keyring (3.5 MB, one of its prebuilt files), and everything else (74 MB, 12 of
 * which are needed), which is no larger than all of it was before any of these.
 */
const MAX_INSTALLED_BYTES = {
  library: { all: 35_000_000, needed: 15_000_000 },
  pictures: { all: 5_000_000, needed: 0 },
  keyring: { all: 3_900_000, needed: 0 },
  table: { all: 4_400_000, needed: 4_400_000 },
  else: { all: 74_200_000, needed: 15_000_000 },
};
const PARTS = {
  library: [
    "libsql",
    "@orama/stemmers",
    "unpdf",
    "yaml",
    "franc-min",
    "htmlparser2",
    "tesseract-wasm",
    "mdast-util-from-markdown",
    "mdast-util-gfm",
    "micromark-extension-gfm",
  ],
  pictures: ["@hpcc-js/wasm-graphviz", "@resvg/resvg-wasm"],
  keyring: ["@napi-rs/keyring"],
};

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

let folder: string;
let packed: Packed;
let tarball: string;
/** The package in the copy that is packed. */
let checkout: string;
const serverTarballs: string[] = [];

// The package is packed from a copy, since packing builds anew and others are using what is built.
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-package-")));
  const copy = join(folder, "checkout");
  await mkdir(copy);
  for (const part of [
    "packages",
    "scripts",
    "docs",
    "package.json",
    "tsconfig.json",
    "LICENSE",
    "CHANGELOG.md",
    ".npmrc",
    ".gitignore",
  ]) {
    await cp(join(ROOT, part), join(copy, part), { recursive: true, filter: isSource });
  }
  await linkModules(join(copy, "node_modules"));
  // What an earlier build left behind must not get into the package.
  checkout = join(copy, "packages/toolyard");
  await mkdir(join(checkout, "dist"));
  await writeFile(join(checkout, "dist", "left-over.js"), "");
  packed = await pack("toolyard");
  tarball = join(folder, packed.filename);
  // Packing that one has built these, too.
  for (const name of ["gnn", "library"])
    serverTarballs.push(join(folder, (await pack(name, "--ignore-scripts")).filename));
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Packs a package of the copy. */
async function pack(name: string, ...options: readonly string[]): Promise<Packed> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder, ...options], {
    cwd: join(folder, "checkout/packages", name),
    maxBuffer: 16 * 1024 * 1024,
  });
  return (JSON.parse(stdout.slice(stdout.indexOf("["))) as Packed[])[0]!;
}

const isSource = (path: string): boolean => !/[/\\]packages[/\\][a-z]+[/\\](?:dist|build|node_modules)$/.test(path);

/** Links what is installed, and the packages themselves to those of the copy. */
async function linkModules(modules: string): Promise<void> {
  await mkdir(modules);
  const own = new Set(["toolyard", "@toolyard"]);
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((one) => !own.has(one)))
    await symlink(join(ROOT, "node_modules", name), join(modules, name));
  await symlink("../packages/toolyard", join(modules, "toolyard"));
  await mkdir(join(modules, "@toolyard"));
  for (const name of ["gnn", "library"]) await symlink(`../../packages/${name}`, join(modules, "@toolyard", name));
}

/** Whether a path is in the folder of a pattern of `exports`, `folder/*.d.ts`. */
function fits(path: string, pattern: string): boolean {
  const [before = "", after = ""] = pattern.split("*");
  return path.startsWith(before) && path.endsWith(after) && !path.slice(before.length).includes("/");
}

/** What lies in `src/runtimes/` as it is to be run, by its place in `dist`. */
function uncompiled(): string[] {
  const source = join(PACKAGE, "src");
  const files = ["runtimes", "sandbox", "extras"].flatMap((folder) =>
    readdirSync(join(source, folder), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.name.endsWith(".ts") && !entry.parentPath.includes("__pycache__"),
    ),
  );
  return files.map(({ parentPath, name }) => `dist/${relative(source, join(parentPath, name))}`).toSorted();
}

describe("the package", () => {
  test("holds what is needed and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith("dist/") && !path.startsWith("docs/")).toSorted()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "package.json",
    ]);
    expect(paths.filter((path) => path.startsWith("docs/") && !path.endsWith(".md"))).toEqual([
      "docs/guide/sources/gnn-thermostat.svg",
      "docs/reference/toolyard.schema.json",
    ]);
    // Beside what is compiled, children are run from files that no compiler touches: each of them, and no others.
    expect(paths.filter((path) => path.startsWith("dist/") && !/\.(js|d\.ts)$/.test(path)).toSorted()).toEqual(
      [
        ...uncompiled(),
        "dist/models/table/token-vectors.bin",
        ...["gnn", "library"].flatMap((name) => [`dist/${name}.d.mts`, `dist/${name}.mjs`]),
        "dist/servers/lists.json",
      ].toSorted(),
    );
    expect(paths.filter((path) => /\.test\.|fixture|left-over|\.map$/.test(path))).toEqual([]);
    const table = gzipSync(readFileSync(join(PACKAGE, "src/models/table/token-vectors.bin")));
    expect(packed.size - table.length).toBeLessThan(MAX_PACKED_BYTES);
  });

  test("has the declarations that its entries reach, and no others; what runs is without comments", () => {
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
    const declared = readFileSync(join(checkout, "dist/hub/toolyard.d.ts"), "utf8");
    expect(declared).toContain("/** Calls a tool by any spelling of its name. */");
    const scripts = packed.files.map(({ path }) => path).filter((path) => path.startsWith("dist/chunks/"));
    const texts = scripts.map((path) => readFileSync(join(checkout, path), "utf8"));
    const hub = texts.filter((text) => text.includes("\n// hub/toolyard.js\n"));
    expect(hub).toHaveLength(1);
    expect(hub[0]).not.toMatch(/^\s*\/\*\*/m);
  });

  test("every page of docs/ that its README links is in it", () => {
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

  test("every file that its manifest names is in it, and the command may be run", () => {
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

  test("installs into an empty folder; its command, its library and its types work there", async () => {
    const home = join(folder, "empty");
    await install(home);
    assertSmall(home, "all");
    for (const [name, text] of Object.entries({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML, ...CONSUMER })) {
      await mkdir(join(home, name, ".."), { recursive: true });
      await writeFile(join(home, name), text);
    }
    const env = { PATH: process.env["PATH"], HOME: home, TOOLYARD_HOME: join(home, "data") };
    const toolyard = async (...args: string[]): Promise<string> =>
      (await run(join(home, "node_modules/.bin/toolyard"), args, { cwd: home, env })).stdout;
    expect(await toolyard("--version")).toBe(`${MANIFEST.version}\n`);
    expect(await toolyard("list", "--config", "toolyard.toml")).toMatch(/^work +Works, fails or waits$/m);
    expect(await toolyard("call", "work", "how=well")).toBe('{"text":"","how":"well"}\n');
    // TypeScript needs the transformer, a dependency like any other.
    expect(await toolyard("call", "typed.hello", "--config", "typed.toml")).toBe("hello\n");
    // The services come along, each a program of its own.
    await writeFile(join(home, "services.toml"), "[services]\ndatetime = true\n");
    expect(
      JSON.parse(await toolyard("call", "get_current_datetime", "timezone=UTC", "--config", "services.toml")),
    ).toMatchObject({ timezone: "UTC" });
    await expect(toolyard("services", "nothing")).rejects.toThrow(
      "The services are datetime, web-search, weather, geocoding, gnn, library.",
    );
    const program = await run(process.execPath, ["program.mjs"], { cwd: home, env });
    expect(program.stdout).toBe("well\n");
    await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: home });
  }, 300_000);

  test("installs without what is optional, far smaller, and calls its tools", async () => {
    const home = join(folder, "lean");
    await install(home, "--omit=optional");
    const manifest = MANIFEST as unknown as Record<"dependencies" | "optionalDependencies", object>;
    const has = (name: string): boolean => existsSync(join(home, "node_modules", name));
    expect(Object.keys(manifest.dependencies).filter((name) => !has(name))).toEqual([]);
    expect(Object.keys(manifest.optionalDependencies).filter(has)).toEqual([]);
    assertSmall(home, "needed");
    for (const [name, text] of Object.entries({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML })) {
      await mkdir(join(home, name, ".."), { recursive: true });
      await writeFile(join(home, name), text);
    }
    const env = { PATH: process.env["PATH"], HOME: home, TOOLYARD_HOME: join(home, "data") };
    const args = ["call", "work", "how=well", "--config", "toolyard.toml"];
    const { stdout } = await run(join(home, "node_modules/.bin/toolyard"), args, { cwd: home, env });
    expect(stdout).toBe('{"text":"","how":"well"}\n');
  }, 300_000);
});

/** What `npm install` makes of the package in a folder. */
async function install(home: string, ...options: readonly string[]): Promise<void> {
  await mkdir(home);
  await writeFile(join(home, "package.json"), '{"private": true, "type": "module"}');
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...options, tarball, ...serverTarballs], {
    cwd: home,
  });
}

function assertSmall(home: string, which: "all" | "needed"): void {
  const modules = join(home, "node_modules");
  const bytesOf = (names: readonly string[]): number =>
    Array.from(closureOf(modules, names), (name) => bytesIn(join(modules, name))).reduce((a, b) => a + b, 0);
  const table = statSync(join(modules, "toolyard/dist/models/table/token-vectors.bin")).size;
  const [library, pictures, keyring] = [PARTS.library, PARTS.pictures, PARTS.keyring].map(bytesOf) as [
    number,
    number,
    number,
  ];
  const sizes = {
    library,
    pictures,
    keyring,
    table,
    else: bytesIn(modules) - library - pictures - keyring - table,
  };
  for (const [part, size] of Object.entries(sizes)) {
    const most = MAX_INSTALLED_BYTES[part as keyof typeof sizes][which];
    expect(size, `${part} of ${JSON.stringify(sizes)}`).toBeLessThanOrEqual(most);
  }
}

/** Packages with all that they bring, as far as it is installed. */
function closureOf(modules: string, names: readonly string[]): ReadonlySet<string> {
  const there = new Set(names.filter((name) => existsSync(join(modules, name))));
  for (const name of there) {
    const manifest = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as Record<string, object>;
    const brought = Object.keys({ ...manifest["dependencies"], ...manifest["optionalDependencies"] });
    for (const one of brought) if (existsSync(join(modules, one))) there.add(one);
  }
  return there;
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
import { checkGnn } from "toolyard/gnn";
const hub = await createHub({ settings: { server: { port: 0 } } });
const outcome: Outcome = await hub.call("meta.ping", {}, { timeoutMs: 1000 });
export const message: string = outcome.ok ? "fine" : outcome.message;
export const isValid: boolean = checkGnn("## GNNSection").isValid;
export function registerTools(modules: ModuleHub): void {
  modules.registerTool("x", ({ a }: { a: number }) => a + 1, {}, "x"); }
`,
  "tsconfig.json": JSON.stringify({
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
    files: ["consumer.ts"],
  }),
};

describe("what the packaging names is there", () => {
  test("systemd finds nothing wrong with the unit", async ({ skip }) => {
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
  ])("%s starts the hub with options that `serve` knows", async (name, pattern) => {
    const found = pattern.exec(text(name))![1]!;
    const [command, ...words] = found.startsWith("[") ? (JSON.parse(found) as string[]) : found.split(" ");
    expect(command).toBe("serve");
    const { stdout } = await run(process.execPath, [join(PACKAGE, MANIFEST.bin["toolyard"]!), "serve", "--help"]);
    for (const option of words.filter((word) => word.startsWith("--"))) expect(stdout).toContain(option);
  });
});
