import type { HubConfig } from "./schema.ts";

/** Sections of the configuration that are read only when the hub starts. */
const AT_START_ONLY = ["logging", "audit", "catalog", "telemetry", "store"] as const;

/** Returns the names of changed sections that take effect only after a restart of the hub. */
export function sectionsAtRestart(before: HubConfig, after: HubConfig): readonly string[] {
  return AT_START_ONLY.filter((section) => startText(after[section]) !== startText(before[section]));
}

/**
 * Returns the part of a section that is read only when the hub starts. Omits `prometheus`, because metrics are opened
 * again with the endpoints.
 */
function startText(section: object = {}): string {
  return JSON.stringify(section, (key, value: unknown) => (key === "prometheus" ? undefined : value));
}

/** Returns the names of the sections that differ. */
export function changedSections(before: object, after: object): readonly string[] {
  const [old, current] = [before, after] as readonly Readonly<Record<string, unknown>>[];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(old![name]) !== JSON.stringify(current![name]));
}
