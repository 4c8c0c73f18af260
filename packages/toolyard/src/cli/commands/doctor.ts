import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { arch, availableParallelism, platform, release, totalmem } from "node:os";
import { dirname } from "node:path";
import { dataFolder } from "../../core/data-folder.ts";
import { locateConfig } from "../../config/locate.ts";
import { VERSION } from "../../core/version.ts";
import { resolveHttp } from "../../http/options.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import { desktopFinding } from "../desktop-findings.ts";
import { engineFindings, extraFindings, type EngineFinding } from "../engine-findings.ts";
import { programFindings } from "../program-findings.ts";
import { EXIT } from "../failure.ts";
import { printPainted, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { consent } from "../input/consent.ts";
import { table } from "../output/table.ts";

const DEFAULT_PORT = 8808;
const OLDEST_NODE = [20, 19] as const;

export const run: CommandAction<SharedOptions> = async (_args, options, io) => {
  const [engines, ...others] = await Promise.all([
    engineFindings(options, io),
    Promise.resolve(nodeFinding()),
    Promise.resolve({ what: "platform", ok: true, detail: `${platform()} ${arch()}, ${release()}` }),
    programFindings(io),
    desktopFinding(io),
    isolationFinding(),
    prlimitFinding(),
    Promise.resolve(limitsFinding()),
    portFinding(options, io),
    Promise.resolve(folderFinding(io)),
    configFinding(options, io),
  ]);
  const findings = [...others.flat(), ...engines, ...extraFindings(io)];
  if (options.json) await printJson(io.stdout, { version: VERSION, findings });
  else
    await printPainted(
      io.stdout,
      table(
        ["what", "", "detail"],
        findings.map(({ what, ok, detail }) => [what, ok ? "yes" : "no", detail]),
        io,
      ),
    );
  // Only findings about the hub's own requirements determine the exit code.
  return findings.filter(({ what }) => what === "node" || what === "data folder").every(({ ok }) => ok) ? EXIT.ok : 1;
};

/**
 * Number of open files that a busy hub needs: each connection and each child process uses some. Many systems have a
 * lower limit.
 */
const ENOUGH_FILES = 4096;

function limitsFinding(): EngineFinding {
  const room = `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  const files = openFilesLimit();
  if (files === undefined) return { what: "limits", ok: true, detail: room };
  const ok = files >= ENOUGH_FILES;
  return {
    what: "limits",
    ok,
    detail:
      `${room}, ${files} open ` +
      `files${ok ? "" : `; \`ulimit -n ${ENOUGH_FILES}\` allows many connections and children`}`,
  };
}

function openFilesLimit(): number | undefined {
  const report = process.report.getReport() as { userLimits?: Record<string, { soft?: number | string }> };
  const soft = report.userLimits?.["open_files"]?.soft;
  return soft === "unlimited" ? Infinity : typeof soft === "number" ? soft : undefined;
}

function nodeFinding(): EngineFinding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return {
    what: "node",
    ok,
    detail: `${process.version} at ${process.execPath}${ok ? "" : `; ${OLDEST_NODE.join(".")} or newer is needed`}`,
  };
}

/**
 * Describes whether bubblewrap works. It is tested by running it, because a container or the kernel can forbid an
 * installed program.
 */
async function isolationFinding(): Promise<EngineFinding> {
  const { probeBwrap } = await import("../../runtimes/bwrap/probe.ts");
  const { seccompFilter } = await import("../../runtimes/bwrap/seccomp.ts");
  const state = await probeBwrap();
  if (!state.found)
    return { what: "bwrap", ok: false, detail: `${state.reason} Without it: no isolation of script tools` };
  const user = state.found.identity === "namespace" ? "in a user namespace" : "as user nobody";
  const filter = seccompFilter({ sockets: false, processes: true })
    ? "system calls filtered"
    : "system calls not filtered on this processor";
  return { what: "bwrap", ok: true, detail: `works, ${user}, ${filter} (isolation of script tools)` };
}

async function prlimitFinding(): Promise<EngineFinding> {
  const { findPrlimit } = await import("../../process/resource-limits.ts");
  const { searchEnvironment } = await import("../../process/environment.ts");
  const path = findPrlimit({ env: searchEnvironment() });
  return {
    what: "prlimit",
    ok: path !== undefined,
    detail: path ?? "not found; without it: no bounds of memory, computing, processes and files of script tools",
  };
}

async function portFinding(options: SharedOptions, io: Io): Promise<EngineFinding> {
  const { host, port } = await address(options, io);
  const what = `port ${port}`;
  return new Promise((done) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code ?? error.message;
      done({
        what,
        ok: false,
        detail: `${why}; \`toolyard status\` shows whether a hub uses it, --port chooses another`,
      });
    });
    server.listen(port, host, () => server.close(() => done({ what, ok: true, detail: "free" })));
  });
}

/** Describes the address at which `serve` would listen. An unreadable configuration is reported by another finding. */
async function address(
  { config = [] }: SharedOptions,
  { env, cwd }: Io,
): Promise<{ readonly host: string; readonly port: number }> {
  try {
    const files = locateConfig(config, env, cwd);
    return resolveHttp((await loadHubConfig({ files, variables: env, flags: {} })).tree.server ?? {});
  } catch {
    return { host: "127.0.0.1", port: DEFAULT_PORT };
  }
}

function folderFinding(io: Io): EngineFinding {
  const folder = dataFolder(io.env);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return { what: "data folder", ok: true, detail: folder };
  } catch {
    return { what: "data folder", ok: false, detail: `${folder} cannot be written; set TOOLYARD_HOME to another` };
  }
}

async function configFinding(options: SharedOptions, io: Io): Promise<EngineFinding> {
  const files = locateConfig(options.config ?? [], io.env, io.cwd);
  const missing = files.filter((file) => !existsSync(file));
  if (files.length === 0)
    return {
      what: "configuration",
      ok: false,
      detail: `none in ${io.cwd} or the user's folder; \`toolyard init\` writes one`,
    };
  // At a terminal, the engine check itself asks the user, because it runs programs that the file names.
  const unaccepted = io.ask ? undefined : await consent(options, io);
  if (unaccepted !== undefined) return { what: "configuration", ok: false, detail: unaccepted };
  return {
    what: "configuration",
    ok: missing.length === 0,
    detail:
      missing.length === 0
        ? files.join(", ")
        : `missing: ${missing.map((file) => `${file} (in ${dirname(file)})`).join(", ")}`,
  };
}
