import type { HubConfig } from "../hub/schema.ts";
import { createEngine } from "../sandbox/create-engine.ts";
import type { SandboxEngine } from "../sandbox/engine.ts";
import { resolveSandbox, SANDBOX_ENGINES, type SandboxEngineName, type SandboxOptions } from "../sandbox/options.ts";
import type { Io } from "./output/io.ts";
import type { SharedOptions } from "./rows/command-row.ts";
import { loadSettings } from "./hub-access/session.ts";

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Each engine of the sandbox: whether this machine has it, what it keeps apart, and what the configuration runs in it.
 */
export async function engineFindings(options: SharedOptions, io: Io): Promise<Finding[]> {
  const sandbox = await sandboxOptions(options, io);
  return Promise.all(SANDBOX_ENGINES.map(async (name) => finding(await createEngine(name, sandbox), sandbox)));
}

/**
 * What the configuration demands of the sandbox and this machine has not. Engines that nothing runs in are not asked.
 */
export async function missingEngines(demanded: HubConfig["sandbox"]): Promise<string[]> {
  const sandbox = resolveSandbox(demanded);
  const used = SANDBOX_ENGINES.filter((name) => usesOf(name, sandbox) !== "");
  const found = await Promise.all(used.map(async (name) => finding(await createEngine(name, sandbox), sandbox)));
  return found.filter(({ ok }) => !ok).map(({ what, detail }) => `${what}: ${detail}`);
}

/** A configuration that cannot be read has its own finding; the engines are told of all the same. */
async function sandboxOptions(options: SharedOptions, io: Io): Promise<SandboxOptions> {
  try {
    return resolveSandbox((await loadSettings(options, io)).tree.sandbox);
  } catch {
    return resolveSandbox();
  }
}

async function finding(engine: SandboxEngine, sandbox: SandboxOptions): Promise<Finding> {
  const problem = await engine.unavailable();
  await engine.dispose();
  const used = usesOf(engine.name as SandboxEngineName, sandbox);
  const what = `sandbox ${engine.name}`;
  if (problem !== undefined)
    return {
      what,
      ok: false,
      detail: used === "" ? problem : `${problem} In force for ${used}, so that such code is refused`,
    };
  return { what, ok: true, detail: `${engine.isolation}${used === "" ? "" : `; in force for ${used}`}` };
}

function usesOf(name: SandboxEngineName, { pythonEngine, javascriptEngine }: SandboxOptions): string {
  const uses = [
    ...(pythonEngine === name ? ["Python"] : []),
    ...(javascriptEngine === name ? ["JavaScript and TypeScript"] : []),
  ];
  return uses.join(", ");
}
