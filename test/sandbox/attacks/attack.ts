import type {
  SandboxEnd,
  SandboxLanguage,
  SandboxLimits,
  SandboxProfile,
} from "../../../packages/toolyard/src/sandbox/engine.ts";
import type { SandboxEngineName } from "../../../packages/toolyard/src/sandbox/options.ts";

/** Permitted outcomes of an attack. In each case the canaries stay untouched, see `canaries.ts`. */
export interface Expectation {
  readonly ends: readonly SandboxEnd[];
  /** The exact value of a run that finished. */
  readonly value?: unknown;
  /** A finished run obtained nothing: its value begins with `refused`. */
  readonly isHeld?: true;
  /** Pattern of the error of a run that did not finish. */
  readonly says?: RegExp;
}

export interface Attack {
  /** `family/name`, unique. */
  readonly id: string;
  readonly what: string;
  readonly language: SandboxLanguage;
  /**
   * Code of the attack; `{{file}}`, `{{folder}}`, `{{socket}}`, `{{port}}`, `{{http}}`, `{{udp}}` are replaced by the
   * canaries.
   */
  readonly code: string;
  readonly expect: Expectation;
  /** @default "scripting" */
  readonly profile?: SandboxProfile;
  readonly limits?: Partial<SandboxLimits>;
  /** Engines that this does not apply to, with the reason. */
  readonly notOn?: Partial<Record<SandboxEngineName, string>>;
  /**
   * Engines in which the attempt succeeds inside of the isolation, and the reason why that is no escape. There only the
   * canaries count.
   */
  readonly gainsOn?: Partial<Record<SandboxEngineName, string>>;
}

/** An attack of several runs, in sequence or concurrently, in which one run tries to reach another. */
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

/** The attack obtains nothing: it ends with an exception of the language, or with its run. */
export const HELD: Expectation = { ends: ["finished", "error"], isHeld: true };
/** The attack may end its own run in any way; the end is reported. */
export const CONTAINED: Expectation = { ends: ["finished", "error", "limit", "memory", "crashed", "timeout"] };
export const TIMES_OUT: Expectation = { ends: ["timeout"] };
export const RUNS_OUT: Expectation = { ends: ["memory", "error", "limit", "crashed"] };

/** Short time limits, for attacks that must reach them. */
export const SHORT = { wallMs: 600, cpuMs: 400 } as const;
/** Time limits for code that makes its own interpreter hang after the attack. */
export const MODEST = { wallMs: 5000, cpuMs: 5000 } as const;

// oxlint-disable-next-line toolyard/test-parameters -- A row of the table of attacks.
export function python(id: string, what: string, code: string, expect: Expectation, more: More = {}): Attack {
  return { id, what, language: "python", code, expect, ...more };
}

// oxlint-disable-next-line toolyard/test-parameters -- A row of the table of attacks.
export function javascript(id: string, what: string, code: string, expect: Expectation, more: More = {}): Attack {
  return { id, what, language: "javascript", code, expect, ...more };
}

/** Builds code with its result in `return`: the run's value begins with `refused …` or `gained …`. */
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

/** Same as `pythonTries`, in the profile of `python_interpreter`. */
export function restrictedTries(id: string, what: string, body: string): Attack {
  return pythonTries(id, what, body, { profile: "restricted" });
}
