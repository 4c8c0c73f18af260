import { searchEnvironment } from "../../process/environment.ts";
import { probeBwrap } from "../../runtimes/bwrap/probe.ts";
import { limitsRemark } from "../../runtimes/scripts/contain.ts";
import type { RunSettings } from "../../runtimes/scripts/run-settings.ts";

/** Findings as pairs of a subject and a message about it. */
export type Unfit = readonly (readonly [subject: string, message: string])[];

interface ToolSettings {
  readonly name: string;
  readonly settings: RunSettings;
}

/** Returns whether a tool has requirements that a machine may not support. */
export function isDemanding({ settings: { isolation, limits } }: ToolSettings): boolean {
  return isolation.mode === "bwrap" || Object.keys(limits).length > 0;
}

/**
 * Returns the requirements of tools that this machine does not support: one message per tool about isolation, and one
 * for all tools about limits.
 */
export async function findUnfit(tools: readonly ToolSettings[]): Promise<Unfit> {
  if (tools.length === 0) return [];
  const isolated = tools.filter(({ settings }) => settings.isolation.mode === "bwrap");
  const refused = await Promise.all(isolated.map(refusalOf));
  const env = searchEnvironment();
  const remarks = new Set(tools.flatMap(({ settings }) => limitsRemark(settings, env) ?? []));
  return [...refused.flat(), ...Array.from(remarks, (remark) => ["limits", remark] as const)];
}

async function refusalOf({ name, settings }: ToolSettings): Promise<Unfit> {
  const state = await probeBwrap(settings.isolation.program);
  return state.found ? [] : [[name, `cannot be called now: ${state.reason} Or set its isolation to \`process\`.`]];
}
