import { signal } from "@preact/signals";

/** A stored call whose tool the user has opened, to fill in its form. */
export const replayed = signal<{ readonly tool: string; readonly args: unknown } | undefined>(undefined);
