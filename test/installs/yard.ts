import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Desk, gone, isAlive } from "../cli/harness.ts";
import { SERVER } from "../cli/small-server.ts";

const STAND_IN = fileURLToPath(new URL("../fixtures/installs/stand-in.cjs", import.meta.url));
const STOOD_IN = ["uvx", "docker", "bun", "bunx", "pipx", "pnpm", "yarn"];

/** Time limit for tests that start slow programs, on a slow machine. */
export const LONG = { timeout: 600_000 };

/** One source in the output of `check --json`. */
export interface CheckedSource {
  readonly id: string;
  readonly state: string;
  readonly tools: number;
  readonly lastError?: string;
  readonly installing?: { readonly package: string; readonly waitsFor: string; readonly pid?: number };
  readonly broken?: { readonly folders: readonly string[]; readonly mended: boolean };
}

/** Test folder with a home folder without caches, and fakes of programs that download packages (all except `npx`). */
export class InstallYard implements AsyncDisposable {
  readonly desk: Desk;
  readonly env: Readonly<Record<string, string>>;

  private constructor(desk: Desk) {
    this.desk = desk;
    this.env = { PATH: `${desk.path("bin")}:${process.env["PATH"] ?? ""}`, HOME: this.home };
  }

  static async create(npmrc?: string): Promise<InstallYard> {
    const yard = new InstallYard(await Desk.create());
    await mkdir(yard.home, { recursive: true });
    await writeFile(join(yard.home, "server.mjs"), SERVER);
    if (npmrc !== undefined) await writeFile(join(yard.home, ".npmrc"), npmrc);
    await mkdir(yard.desk.path("bin"));
    for (const name of STOOD_IN) {
      await copyFile(STAND_IN, yard.desk.path(`bin/${name}`));
      await chmod(yard.desk.path(`bin/${name}`), 0o755);
    }
    return yard;
  }

  get home(): string {
    return this.desk.path("home");
  }

  /** Writes `toolyard.toml` with one server per command. */
  async configure(servers: Readonly<Record<string, string>>, more = ""): Promise<void> {
    const tables = Object.entries(servers).map(
      ([name, command]) => `[mcp.stdio_servers.${name}]\ncommand = ${JSON.stringify(command)}\n${more}`,
    );
    await this.desk.write("toolyard.toml", tables.join("\n"));
  }

  /** Returns the findings of `toolyard check`, by source. */
  async check(...options: readonly string[]): Promise<Readonly<Record<string, CheckedSource>>> {
    const { stdout, stderr } = await this.desk.run(["check", "--yes", "--json", ...options], { env: this.env });
    if (!stdout.includes('"sources"')) throw new Error(`toolyard check printed no sources: ${stdout}${stderr}`);
    const { sources } = JSON.parse(stdout) as { readonly sources: readonly CheckedSource[] };
    return Object.fromEntries(sources.map((one) => [one.id, one]));
  }

  /** Makes downloads of the replacements last until `quicken`. */
  async slowDown(): Promise<void> {
    await mkdir(join(this.home, "stand-in"), { recursive: true });
    await writeFile(join(this.home, "stand-in", "slow"), "");
  }

  async quicken(): Promise<void> {
    await rm(join(this.home, "stand-in", "slow"), { force: true });
  }

  /** Returns the packages that the replacements downloaded. */
  async downloads(): Promise<readonly string[]> {
    const text = await readFile(join(this.home, "stand-in", "log"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  /** Folder in which hubs of this home record downloads. */
  get books(): string {
    return join(this.home, "toolyard", "data", "installs");
  }

  /** Processes that download for hubs of this home. */
  async downloading(): Promise<readonly number[]> {
    const names = await readdir(this.books).catch(() => []);
    const pids = await Promise.all(
      names
        .filter((name) => name.endsWith(".lock"))
        .map(async (name) => Number.parseInt(await readFile(join(this.books, name), "utf8").catch(() => ""), 10)),
    );
    return pids.filter((pid) => pid > 0 && isAlive(pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.quicken();
    for (const pid of await this.downloading()) {
      process.kill(pid, "SIGTERM");
      await gone(pid);
    }
    await this.desk[Symbol.asyncDispose]();
  }
}
