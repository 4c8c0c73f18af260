import { signal } from "@preact/signals";

/** Stored call whose arguments fill in the form of its tool, after the user has opened that tool. */
export const replayed = signal<{ readonly tool: string; readonly args: unknown } | undefined>(undefined);
