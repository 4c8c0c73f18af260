import { basename } from "node:path";
import { BUN, DOCKER, PIPX, PNPM, YARN } from "./other-runners.ts";
import { NPM_EXEC, NPX } from "./npx.ts";
import { unknownPlan, type CommandWords, type InstallPlan, type Runner } from "./runner.ts";
import { UVX } from "./uvx.ts";

/** Programs that download the packages that they run. */
const RUNNERS: readonly (readonly [words: readonly string[], runner: Runner])[] = [
  [["npx"], NPX],
  [["npm", "exec"], NPM_EXEC],
  [["npm", "x"], NPM_EXEC],
  [["uvx"], UVX],
  [["uv", "tool", "run"], UVX],
  [["uv", "x"], UVX],
  [["bunx"], BUN],
  [["bun", "x"], BUN],
  [["pipx", "run"], PIPX],
  [["pnpm", "dlx"], PNPM],
  [["pnpx"], PNPM],
  [["yarn", "dlx"], YARN],
  [["docker", "run"], DOCKER],
  [["docker", "container", "run"], DOCKER],
  [["podman", "run"], DOCKER],
];

/** The parts of a command's environment that influence its downloads. */
export interface RunnerPlace {
  readonly env: Readonly<Record<string, string>>;
  readonly platform?: NodeJS.Platform;
}

/** Returns the download plan of a command; `undefined` if it downloads nothing. */
export function planInstall({ command, args }: CommandWords, place: RunnerPlace): InstallPlan | undefined {
  const words = [command, ...args];
  const shell = shellWords(words);
  const own = words.slice(shell);
  for (const [names, runner] of RUNNERS) {
    const isIt = names.every((name, at) => (at === 0 ? programName(own[0]) : own[at]) === name);
    if (!isIt) continue;
    const head = own.slice(0, names.length);
    const given = { name: names.join(" "), head, words: own.slice(names.length) };
    const plan = runner(given, { platform: process.platform, ...place });
    return inShell(words.slice(0, shell), plan);
  }
  return inScript(words);
}

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "fish", "ksh", "cmd", "powershell", "pwsh"]);
const IN_SCRIPT =
  /(?:^|[\s;&|(/\\])(npx|npm exec|npm x|uvx|uv tool run|bunx|pipx run|pnpm dlx|pnpx|yarn dlx|docker run|podman run)\s/;

/** Handles a shell script: it is not parsed, and it may download. */
function inScript([program, ...words]: readonly string[]): InstallPlan | undefined {
  if (!SHELLS.has(programName(program))) return undefined;
  const [, name] = IN_SCRIPT.exec(`${words.join(" ")} `) ?? [];
  return name === undefined ? undefined : unknownPlan(`${programName(program)} with ${name}`, []);
}

/** Returns the name of a program without path and suffix: `C:\…\npx.cmd` is `npx`. */
function programName(word = ""): string {
  return basename(word.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/\.(?:cmd|exe|bat|ps1)$/, "");
}

/** Returns the number of leading words such as `cmd /c`, which many configurations for Windows contain. */
function shellWords(words: readonly string[]): number {
  if (programName(words[0]) !== "cmd") return 0;
  const end = words.findIndex((word) => word.toLowerCase() === "/c");
  return end === -1 ? 0 : end + 1;
}

function inShell(shell: readonly string[], plan: InstallPlan): InstallPlan {
  if (shell.length === 0) return plan;
  const wrap = ({ command, args }: CommandWords): CommandWords => ({
    command: shell[0]!,
    args: [...shell.slice(1), command, ...args],
  });
  return {
    ...plan,
    ...(plan.start && { start: wrap(plan.start) }),
    ...(plan.install && { install: wrap(plan.install) }),
  };
}
