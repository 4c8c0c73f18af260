import type { SchemaError } from "../explain.ts";

/** Permanent verdict on a schema. */
export type Verdict =
  | {
      readonly usable: true;
      readonly warnings: readonly string[];
      /** True if the schema took long to compile, or to check a value. */
      readonly isSlow: boolean;
    }
  | { readonly usable: false; readonly reason: string };

/** One value to check in a thread. */
export interface CheckMessage {
  /** Digest of the schema and of its compile options. */
  readonly key: string;
  /** The schema as JSON; absent if the thread already has it. */
  readonly text?: string;
  readonly fillsDefaults: boolean;
  readonly value: unknown;
}

/** Message of a thread: it is ready, its verdict on a compiled schema, or the result of a validation. */
export type ThreadMessage =
  | { readonly type: "ready" }
  | { readonly type: "verdict"; readonly verdict: Verdict }
  | { readonly type: "checked"; readonly checked: ThreadCheckResult; readonly tookMs: number };

export type ThreadCheckResult =
  /** `value` is present if defaults were filled in. */
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly errors: readonly SchemaError[]; readonly message: string }
  /** The value with its defaults exceeds the size limit of messages between threads. */
  | { readonly ok: "too large" };
