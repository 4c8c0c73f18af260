import type { Agent } from "node:http";

export interface SessionHub {
  readonly url: string;
  /** Returns memory and children after a garbage collection. */
  look(): Promise<{ readonly heapBytes: number; readonly children: number }>;
  stop(): void;
}

export function startSessionHub(home: string): Promise<SessionHub>;
/** Opens sessions as clients do, and abandons them. `calls`: each session calls a tool of the stdio server before. */
export function openSessions(
  url: string,
  agent: Agent,
  sessions: { readonly count: number; readonly calls: boolean },
): Promise<void>;
