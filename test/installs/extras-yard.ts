// The package without its extras; a local registry serves replacements for their pinned packages.
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pinOf } from "../../scripts/extras.mjs";
import type { ExtraName } from "../../packages/toolyard/src/extras/extras.ts";
import { Desk, isAlive, MAIN, PACKAGE, ROOT, type Ran, type RunOptions } from "../cli/harness.ts";
import type { NpmRegistry, TestPackage } from "../fixtures/installs/npm-registry.ts";

interface LockEntry {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optional?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface ListedExtra {
  readonly name: string;
  readonly state: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly folder: string;
}

const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/** A copy of the package in a project, with its required dependencies and without extras. */
export class LeanPackage implements AsyncDisposable {
  readonly project: string;
  readonly #dist: string;

  private constructor(project: string) {
    this.project = project;
    this.#dist = join(project, "node_modules/toolyard/dist");
  }

  static async create(): Promise<LeanPackage> {
    const lean = new LeanPackage(await realpath(await mkdtemp(join(tmpdir(), "toolyard-lean-"))));
    const modules = join(lean.project, "node_modules");
    await mkdir(join(modules, "toolyard"), { recursive: true });
    await writeFile(join(lean.project, "package.json"), '{"private": true, "type": "module"}');
    await cp(join(PACKAGE, "package.json"), join(modules, "toolyard/package.json"));
    await cp(dirname(dirname(MAIN)), lean.#dist, { recursive: true });
    for (const name of Object.keys(MANIFEST.dependencies)) await lean.#link(name);
    return lean;
  }

  /** Folder of the package itself. */
  get root(): string {
    return dirname(this.#dist);
  }

  get main(): string {
    return join(this.#dist, "cli/main.js");
  }

  async #link(name: string): Promise<void> {
    const place = join(this.project, "node_modules", name);
    await mkdir(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), place);
  }

  /** Pins replacements instead of the packages of an extra, in the same versions, and adds them to the registry. */
  async pin(name: ExtraName, registry: NpmRegistry): Promise<void> {
    const file = join(this.#dist, `extras/locks/${name}.json`);
    const lock = JSON.parse(await readFile(file, "utf8")) as Lock;
    const packages = Object.entries(lock.packages).map(([place, entry]) => {
      if (place === "") return [place, entry] as const;
      const integrity = registry.add(standIn(place.slice(place.lastIndexOf("node_modules/") + 13), entry));
      return [place, { ...entry, integrity }] as const;
    });
    const pinned = { ...lock, packages: Object.fromEntries(packages) };
    await writeFile(file, JSON.stringify(pinned));
    await this.#replaceDigest(digestOf(lock), digestOf(pinned));
  }

  /** Replaces a digest in the installing program and in the files into which the command is bundled. */
  async #replaceDigest(from: string, to: string): Promise<void> {
    const files = ["extras", "chunks"].flatMap((folder) =>
      readdirSync(join(this.#dist, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(".js"))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    for (const file of files) {
      const text = await readFile(file, "utf8");
      if (text.includes(from)) await writeFile(file, text.replaceAll(from, to));
    }
  }

  /** Writes a package next to the program, in any version. */
  async writeBeside(name: string, version: string): Promise<void> {
    const folder = join(this.project, "node_modules", name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), JSON.stringify({ name, version, exports: "./index.js" }));
    await writeFile(join(folder, "index.js"), `export const version = ${JSON.stringify(version)};\n`);
  }

  async removeBeside(name: string): Promise<void> {
    await rm(join(this.project, "node_modules", name), { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.project, { recursive: true, force: true });
  }
}

/** Builds a package that exports its version. Its `postinstall` script writes the file `script-ran`. */
function standIn(name: string, { version, dependencies }: LockEntry): TestPackage {
  if (name === "@toolyard/library") return serviceStandIn(name, version, dependencies ?? {});
  const files = {
    "index.mjs": `export const version = ${JSON.stringify(version)};\n`,
    "python.wasm": "no wasm\n",
  };
  const scripts = { postinstall: "node -e \"require('fs').writeFileSync('script-ran', '')\"" };
  return { name, version, files, scripts, ...(dependencies && { dependencies }) };
}

/** Builds a service as a separate package, which imports the program that starts it. */
function serviceStandIn(name: string, version: string, dependencies: Readonly<Record<string, string>>): TestPackage {
  const service = `import { VERSION } from "toolyard";
import { version } from "@orama/stemmers";
const answer = () => "toolyard " + VERSION + ", stemmers " + version;
export const library = { name: "library", tool: "list_documents", port: 0,
  register: (hub) => void hub.registerTool("list_documents", answer, {}, "A stand-in") };
`;
  const files = { "service.mjs": service };
  return { name, version, dependencies, files, exports: { "./service": "./service.mjs" } };
}

function digestOf(lock: Lock): string {
  return pinOf(lock).lock;
}

/** A user of a `LeanPackage`, with a separate home. */
export class ExtrasYard implements AsyncDisposable {
  readonly desk: Desk;
  readonly #lean: LeanPackage;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(desk: Desk, lean: LeanPackage, env: Readonly<Record<string, string>>) {
    this.desk = desk;
    this.#lean = lean;
    this.#env = env;
  }

  static async create(lean: LeanPackage, npmrc: string, env: Readonly<Record<string, string>> = {}) {
    const desk = await Desk.create();
    await desk.write("home/.npmrc", npmrc);
    return new ExtrasYard(desk, lean, env);
  }

  start(args: readonly string[]) {
    return this.desk.startCommand([process.execPath, this.#lean.main, ...args], { env: this.#env });
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.desk.runCommand([process.execPath, this.#lean.main, ...args], {
      ...options,
      env: { ...this.#env, ...options.env },
    });
  }

  async state(name: ExtraName): Promise<ListedExtra> {
    const { stdout } = await this.run(["extras", "list", "--json"]);
    return (JSON.parse(stdout) as readonly ListedExtra[]).find((one) => one.name === name)!;
  }

  /** Files and folders in the data folder's `extras`, including those of a killed attempt. */
  async entries(): Promise<readonly string[]> {
    return readdir(this.extras).catch(() => []);
  }

  get extras(): string {
    return this.desk.path("home/toolyard/data/extras");
  }

  /** Returns the process that is downloading. */
  async downloader(name: ExtraName): Promise<number | undefined> {
    const folder = this.desk.path("home/toolyard/data/installs");
    const [lock] = (await readdir(folder).catch(() => [])).filter(
      (file) => file.startsWith(`extra-${name}-`) && file.endsWith(".lock"),
    );
    const pid = Number.parseInt(
      lock === undefined ? "" : await readFile(join(folder, lock), "utf8").catch(() => ""),
      10,
    );
    return pid > 0 && isAlive(pid) ? pid : undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.desk[Symbol.asyncDispose]();
  }
}
