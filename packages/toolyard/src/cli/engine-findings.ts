import type { HubConfig } from "../hub/schema.ts";
import { createEngine } from "../sandbox/create-engine.ts";
import { addCommand } from "../extras/import-extra.ts";
import { extraStates } from "../extras/installed.ts";
import type { SandboxEngine, SandboxLanguage } from "../sandbox/engine.ts";
import { resolveSandbox, SANDBOX_ENGINES, type SandboxEngineName, type SandboxOptions } from "../sandbox/options.ts";
import type { Io } from "./output/io.ts";
import type { SharedOptions } from "./rows/command-row.ts";
import { loadSettings } from "./hub-access/settings.ts";

export interface EngineFinding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Returns a finding for each sandbox engine: availability, isolation, and the languages configured for it. */
export async function engineFindings(options: SharedOptions, io: Io): Promise<EngineFinding[]> {
  const sandbox = await sandboxOptions(options, io);
  return Promise.all(SANDBOX_ENGINES.map(async (name) => finding(await createEngine(name, sandbox), sandbox)));
}

/**
 * Returns the sandbox engines that the configuration requires and this machine lacks. Unused engines are not checked.
 */
export async function missingEngines(demanded: HubConfig["sandbox"]): Promise<string[]> {
  const sandbox = resolveSandbox(demanded);
  const used = SANDBOX_ENGINES.filter((name) => usesOf(name, sandbox).length > 0);
  const found = await Promise.all(used.map(async (name) => finding(await createEngine(name, sandbox), sandbox)));
  return found.filter(({ ok }) => !ok).map(({ what, detail }) => `${what}: ${detail}`);
}

/**
 * Returns the sandbox options. Returns the defaults if the configuration is unreadable, which another finding reports.
 */
async function sandboxOptions(options: SharedOptions, io: Io): Promise<SandboxOptions> {
  try {
    return resolveSandbox((await loadSettings(options, io)).tree.sandbox);
  } catch {
    return resolveSandbox();
  }
}

async function finding(engine: SandboxEngine, sandbox: SandboxOptions): Promise<EngineFinding> {
  const problem = await engine.unavailable();
  const uses = usesOf(engine.name as SandboxEngineName, sandbox);
  const refused = await Promise.all(
    uses.map(async ({ label, language }) => ({ label, problem: await engine.unavailable(language) })),
  );
  await engine.dispose();
  const what = `sandbox ${engine.name}`;
  const all = labelsOf(uses);
  if (problem !== undefined)
    return {
      what,
      ok: false,
      detail: all === "" ? problem : `${problem} In force for ${all}, so that such code is refused`,
    };
  const inForce = labelsOf(refused.filter((one) => one.problem === undefined));
  const missing = refused.flatMap((one) =>
    one.problem === undefined ? [] : [`; ${one.label} is refused: ${one.problem}`],
  );
  const use = inForce === "" ? "" : `; in force for ${inForce}`;
  return { what, ok: true, detail: `${engine.isolation}${use}${missing.join("")}` };
}

interface EngineUse {
  readonly label: string;
  readonly language: SandboxLanguage;
}

function usesOf(name: SandboxEngineName, { pythonEngine, javascriptEngine }: SandboxOptions): readonly EngineUse[] {
  return [
    ...(pythonEngine === name ? [{ label: "Python", language: "python" as const }] : []),
    ...(javascriptEngine === name ? [{ label: "JavaScript and TypeScript", language: "javascript" as const }] : []),
  ];
}

function labelsOf(uses: readonly { readonly label: string }[]): string {
  return uses.map(({ label }) => label).join(", ");
}

/** Returns a finding for each extra: its location, or the command that installs it. */
export function extraFindings(io: Io): readonly EngineFinding[] {
  return extraStates({ variables: io.env }).map(({ extra: { name, purpose }, state, versions }) => {
    const what = `extra ${name}`;
    const found = Object.entries(versions)
      .map(([one, version]) => `${one} ${version}`)
      .join(", ");
    if (state === "beside") return { what, ok: true, detail: `next to the program: ${found}` };
    if (state === "installed") return { what, ok: true, detail: `installed: ${found}` };
    const why = state === "other" ? "only other versions are there" : "not installed";
    return { what, ok: false, detail: `${why}; without it: no ${purpose}; \`${addCommand(name)}\`` };
  });
}
