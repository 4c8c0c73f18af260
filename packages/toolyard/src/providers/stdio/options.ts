import { durationOption } from "../../core/text/duration.ts";
import { OptionError } from "../../core/errors.ts";
import { expandHome } from "../../core/home-path.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../../core/options/option-values.ts";
import { resolveMcpServer, MCP_SERVER_MEMBERS, type McpServerOptions } from "../mcp-server/options.ts";
import type { LegacyProcess } from "../../upstream/links/links.ts";
import { splitWords } from "./command-words.ts";

const MAX_STOP_GRACE_MS = 600_000;

/** Options of one `[stdio_servers.<alias>]` in the configuration. */
export const StdioServerSchema = Type.Object({
  command: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1 })], {
    description:
      "The program and its arguments: a list, or one string that is split at spaces like in a shell " +
      "(quotes are respected, no shell runs). With `args`, a string is only the program.",
    examples: [["npx", "-y", "@modelcontextprotocol/server-memory"], "npx -y @modelcontextprotocol/server-memory"],
  }),
  args: Type.Optional(Type.Array(Type.String(), { description: "Further arguments.", default: [] })),
  cwd: Type.Optional(Type.Path({ description: "Working folder of the server. Absent: the hub's." })),
  env: Type.Optional(
    Type.Record(Type.Variable(), {
      description: "The server's own variables, in addition to those that every child process gets.",
      default: {},
    }),
  ),
  env_file: Type.Optional(
    Type.Path({
      description:
        "File of `NAME=value` lines with variables for the server. `env` overrides it. It is read with the " +
        "configuration.",
      examples: [".env.mcp"],
    }),
  ),
  inherit_env: Type.Optional(
    Type.Array(Type.String(), {
      description: "Names of further environment variables of the hub that the server gets.",
      default: [],
    }),
  ),
  install_timeout: Type.Optional(
    durationOption(
      {
        description:
          "Time limit of the download, for a command that downloads its server first (`npx`, `uvx`, `docker " +
          "run`, …). `connect_timeout` starts afterwards.",
        default: "10m",
      },
      ABOVE_ZERO,
    ),
  ),
  stop_grace: Type.Optional(
    durationOption(
      {
        description:
          "Time that the server gets after its input is closed, to save its data; at most 10 minutes. Then it gets " +
          "SIGTERM, and SIGKILL 1.5 s later.",
        default: "5s",
      },
      { most: MAX_STOP_GRACE_MS, must: "must be at most 10 minutes" },
    ),
  ),
  legacy_process: Type.Optional(
    Type.Enum(["auto", "always", "never"], {
      description:
        'With `era = "auto"`: when a server of both eras gets a second process, in which it can ask callers of the ' +
        "legacy era. `auto`: for calls that failed because it could not ask, unless it changes its lists when it is " +
        "called. `always`: for all calls of legacy clients that can be asked. `never`: one process.",
      default: "auto",
    }),
  ),
  ...MCP_SERVER_MEMBERS,
});

export type StdioServerConfig = Static<typeof StdioServerSchema>;

export interface StdioServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: readonly string[];
  /** Time limit in milliseconds of the download, for a command that downloads its server. */
  readonly installTimeoutMs: number;
  /** Maximum time in milliseconds for which the server may run after its input was closed. */
  readonly stopGraceMs: number;
  readonly legacyProcess: LegacyProcess;
  readonly upstream: McpServerOptions;
}

/** Returns the checked options with defaults. Throws an `OptionError` that names the option. */
export function resolveStdioServer(options: StdioServerConfig): StdioServerOptions {
  const read = readOptions(StdioServerSchema, options);
  const { command: given, args, cwd, env } = read;
  const words = typeof given === "string" ? (options.args === undefined ? splitWords(given) : [given]) : given;
  // `~` is expanded here, because no shell does it: a program would look for a folder named `~`.
  const [command, ...first] = words.map(expandHome);
  if (command === undefined || command.trim() === "")
    throw new OptionError(`\`command\` must name a program, got ${JSON.stringify(given)}.`);
  return Object.freeze({
    command,
    args: [...first, ...args.map(expandHome)],
    ...(cwd !== undefined && { cwd }),
    env,
    inheritEnv: read.inherit_env,
    installTimeoutMs: read.install_timeout,
    stopGraceMs: read.stop_grace,
    legacyProcess: read.legacy_process,
    upstream: resolveMcpServer(options),
  });
}
