import { existsSync } from "node:fs";
import { join } from "node:path";
import { serversOf } from "../config/edit/sources.ts";
import { programOf } from "../config/import/same-server.ts";
import { expandHome } from "../core/home-path.ts";
import { dataFolder } from "../core/data-folder.ts";
import { isJsonObject } from "../core/json/json.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "../hub/schema.ts";
import { findCommand } from "../process/resolve-command.ts";
import type { EngineFinding } from "./engine-findings.ts";
import { desktopEnvironment } from "./hub-access/desktop-environment.ts";
import type { Io } from "./output/io.ts";

const PROGRAMS = ["node", "npx", "uvx", "python3", "docker"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reports which environment and programs a hub finds when a desktop client starts it. That environment differs from
 * this terminal's.
 */
export async function desktopFinding(io: Io): Promise<EngineFinding> {
  const environment = await desktopEnvironment(io);
  const [found, missing] = [true, false].map((is) => PROGRAMS.filter((name) => isFound(name, environment) === is));
  const isStored = existsSync(join(dataFolder(io.env), "environment.json"));
  const parts = [
    ...(found!.length > 0 ? [`finds ${found!.join(", ")}`] : []),
    ...(missing!.length > 0 ? [`does not find ${missing!.join(", ")}`] : []),
    isStored ? "as `toolyard connect` stored it" : "`toolyard connect` stores the PATH of this terminal for it",
    `PATH ${environment["PATH"] ?? ""}`,
    ...Object.keys(environment).filter((name) => name.toUpperCase() !== "PATH"),
  ];
  return {
    what: "desktop clients",
    ok: found!.includes("node") || isStored,
    detail: `a hub of theirs ${parts.join("; ")}`,
  };
}

/** Returns a line for each server whose program is not found by a hub that a desktop client starts. */
export async function desktopGaps({ tree }: LoadedHubConfig, io: Io): Promise<readonly string[]> {
  const environment = await desktopEnvironment(io);
  return serversOf(tree, CONFIG_SCHEMA).flatMap(({ name, options }) => {
    const program = options["enabled"] === false ? undefined : programOf(options);
    const { env, cwd } = options;
    const variables = { ...environment, ...(isJsonObject(env) ? (env as Environment) : {}) };
    if (program === undefined || isFound(expandHome(program), variables, typeof cwd === "string" ? cwd : undefined))
      return [];
    return [
      `${name}: a desktop client's hub would not find \`${program}\`. Run \`toolyard connect\` in this terminal, ` +
        "which stores its PATH.",
    ];
  });
}

function isFound(command: string, environment: Environment, cwd?: string): boolean {
  const pairs = Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined);
  try {
    findCommand(command, { env: Object.fromEntries(pairs), ...(cwd !== undefined && { cwd }) });
    return true;
  } catch {
    return false;
  }
}
