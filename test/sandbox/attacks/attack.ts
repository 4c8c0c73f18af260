import type {
  SandboxEnd,
  SandboxLanguage,
  SandboxLimits,
  SandboxProfile,
} from "../../../packages/toolyard/src/sandbox/engine.ts";
import type { SandboxEngineName } from "../../../packages/toolyard/src/sandbox/options.ts";

/** How an attack may end. Whatever it is, the canaries stay untouched, see `canaries.ts`. */
export interface Expectation {
  readonly ends: readonly SandboxEnd[];
  /** The exact value of a run that finished. */
  readonly value?: unknown;
  /** A run that finished got nothing: its value begins with `refused`. */
  readonly isHeld?: true;
  /** What the error of a run that did not finish says. */
  readonly says?: RegExp;
}

export interface Attack {
  /** `family/name`, unique. */
  readonly id: string;
  readonly what: string;
  readonly language: SandboxLanguage;
  /** `{{file}}`, `{{folder}}`, `{{socket}}`, `{{port}}`, `{{http}}`, `{{udp}}` stand for the canaries. */
  readonly code: string;
  readonly expect: Expectation;
  /** @default "scripting" */
  readonly profile?: SandboxProfile;
  readonly limits?: Partial<SandboxLimits>;
  /** Engines that this says nothing about, and why. */
  readonly notOn?: Partial<Record<SandboxEngineName, string>>;
  /**
   * Engines in which the attempt itself succeeds, inside of the walls, and why that is no escape: only the canaries
   * count there.
   */
  readonly gainsOn?: Partial<Record<SandboxEngineName, string>>;
}

/** Runs one after the other, or all at once: one of them means to reach another one. */
export interface Plot {
  readonly id: string;
  readonly what: string;
  readonly language: SandboxLanguage;
  readonly steps: readonly {
    readonly code: string;
    readonly session?: string;
    readonly expect: Expectation;
    readonly limits?: Partial<SandboxLimits>;
  }[];
  readonly isAtOnce?: true;
  readonly notOn?: Partial<Record<SandboxEngineName, string>>;
}

type More = Omit<Attack, "id" | "what" | "code" | "language" | "expect">;

/** It gets nothing: an exception of the language, or the end of the run. */
export const HELD: Expectation = { ends: ["finished", "error"], isHeld: true };
/** It may do as it likes with itself; an end is told. */
export const CONTAINED: Expectation = { ends: ["finished", "error", "limit", "memory", "crashed", "timeout"] };
export const TIMES_OUT: Expectation = { ends: ["timeout"] };
export const RUNS_OUT: Expectation = { ends: ["memory", "error", "limit", "crashed"] };

/** A clock that an attack on time is to run into. */
export const SHORT = { wallMs: 600, cpuMs: 400 } as const;
/** Ends code that breaks its own interpreter so that it never ends, long after the code has done what it is to do. */
export const MODEST = { wallMs: 5000, cpuMs: 5000 } as const;

// oxlint-disable-next-line toolyard/test-parameters -- A row of the table of attacks.
export function python(id: string, what: string, code: string, expect: Expectation, more: More = {}): Attack {
  return { id, what, language: "python", code, expect, ...more };
}

// oxlint-disable-next-line toolyard/test-parameters -- A row of the table of attacks.
export function javascript(id: string, what: string, code: string, expect: Expectation, more: More = {}): Attack {
  return { id, what, language: "javascript", code, expect, ...more };
}

/** Code whose `return` is what it got: the value of the run says `refused …` or `gained …`. */
export function pythonTries(id: string, what: string, body: string, more: More = {}): Attack {
  return python(
    id,
    what,
    `def attack():\n${body.replace(/^/gmu, "    ")}\ntry:\n    said = 'gained ' + repr(attack())\n` +
      "except BaseException as e:\n    said = 'refused ' + type(e).__name__\nsaid",
    HELD,
    more,
  );
}

export function javascriptTries(id: string, what: string, body: string, more: More = {}): Attack {
  return javascript(
    id,
    what,
    `(async () => { try { const got = await (async () => { ${body}\n })(); ` +
      "return 'gained ' + (typeof got === 'object' ? JSON.stringify(got) : String(got)) } catch (e) { return " +
      "'refused ' + (e && e.name) } })()",
    HELD,
    more,
  );
}

/** As `pythonTries`, in the profile of `python_interpreter`. */
export function restrictedTries(id: string, what: string, body: string): Attack {
  return pythonTries(id, what, body, { profile: "restricted" });
}
