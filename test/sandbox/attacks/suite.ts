import { parseExact } from "../../../packages/toolyard/src/core/json/exact-json.ts";
import { afterAll, expect, test } from "vitest";
import type { SandboxOutcome } from "../../../packages/toolyard/src/sandbox/engine.ts";
import type { Attack, Expectation, Plot } from "./attack.ts";
import type { SandboxEngineName } from "../../../packages/toolyard/src/sandbox/options.ts";
import { AttackedEngine } from "./attacked-engine.ts";
import { Canaries } from "./canaries.ts";
import { FRAMES } from "./frames.ts";
import { INSIDES } from "./insides.ts";
import { OBJECTS } from "./objects.ts";
import { PLOTS } from "./plots.ts";
import { descendants } from "./process-tree.ts";
import { REACHING_OUT } from "./reaching-out.ts";
import { RESOURCES } from "./resources.ts";
import { TOOLS } from "./tools.ts";

export const ATTACKS: readonly Attack[] = [...REACHING_OUT, ...OBJECTS, ...INSIDES, ...FRAMES, ...RESOURCES, ...TOOLS];
const PATIENT = { timeout: 300_000 } as const;
/** Number of concurrent attacks, each with a harmless run next to it. */
const AT_ONCE = 3;

/**
 * Defines the tests of every attack on one engine, and of the state afterwards, if the engine is available. Resolves
 * with whether it is.
 */
export async function attackSuite(name: SandboxEngineName): Promise<boolean> {
  const before = await descendants();
  const canaries = new Canaries();
  await canaries.open();
  const engine = await AttackedEngine.open(name, canaries);
  if (engine.languages.length === 0) {
    await engine.close();
    await canaries.close();
    return false;
  }
  afterAll(async () => {
    await engine.close();
    await canaries.close();
  });
  const applies = ({ language, notOn }: Pick<Attack, "language" | "notOn">): boolean =>
    engine.languages.includes(language) && notOn?.[name] === undefined;
  const mine = ATTACKS.filter(applies);
  const turns = new Turns(AT_ONCE);

  test.concurrent.for(mine.filter(({ profile }) => profile !== "restricted"))(
    "S9: $id: code that $what does not succeed, and other runs are answered",
    PATIENT,
    async (attack, { expect: own }) => {
      await turns.take(() => attempt(engine, attack, own));
    },
  );

  test.concurrent.for(mine.filter(({ profile }) => profile === "restricted"))(
    "L40: $id: restricted code that $what does not succeed, and other runs are answered",
    PATIENT,
    async (attack, { expect: own }) => {
      await turns.take(() => attempt(engine, attack, own));
    },
  );

  test.concurrent.for(PLOTS.filter(applies))(
    "S9: $id: a run that $what reaches no other run",
    PATIENT,
    async (plot, { expect: own }) => {
      await turns.take(() => follow(engine, plot, own));
    },
  );

  test("S9: after all attacks a new run works, and no process remains once the engine is closed", PATIENT, async () => {
    for (const language of engine.languages) await innocent(engine, language, expect);
    await engine.close();
    await expect.poll(async () => (await descendants()).filter((pid) => !before.includes(pid))).toEqual([]);
    expect(canaries.touched("")).toEqual([]);
  });
  return true;
}

async function follow(engine: AttackedEngine, { language, steps, isAtOnce }: Plot, own: typeof expect): Promise<void> {
  const step = async ({ expect: expected, ...parts }: Plot["steps"][number]): Promise<void> => {
    const { run, findings } = await engine.run({ language, ...parts });
    own(findings).toEqual([]);
    check(run, expected, own);
  };
  if (isAtOnce) await Promise.all(steps.map(step));
  else for (const one of steps) await step(one);
}

async function attempt(engine: AttackedEngine, attack: Attack, own: typeof expect): Promise<void> {
  const [{ run, findings }] = await Promise.all([
    engine.run(attack),
    innocent(engine, engine.languages.includes("javascript") ? "javascript" : "python", own),
  ]);
  own(findings).toEqual([]);
  if (attack.gainsOn?.[engine.name] === undefined) check(run, attack.expect, own);
}

/** Starts a concurrent harmless run of another caller. */
async function innocent(engine: AttackedEngine, language: Attack["language"], own: typeof expect): Promise<void> {
  const { run } = await engine.run({ language, code: "6 * 7" });
  own(run, `the harmless run failed: ${run.error?.message}`).toMatchObject({
    end: "finished",
    resultJson: "42",
    stdout: "",
  });
}

function check(run: SandboxOutcome, { ends, value, isHeld, says }: Expectation, own: typeof expect): void {
  const { end, resultJson, error } = run;
  own(ends, `ended as ${end}: ${error?.type} ${error?.message}`).toContain(end);
  if (end === "finished") {
    if (isHeld) own(JSON.parse(resultJson ?? '"nothing"')).toMatch(/^refused /u);
    if (value !== undefined) own(parseExact(resultJson ?? "null")).toEqual(value);
  } else {
    own(error?.message).not.toBe("");
    if (says) own(error?.message).toMatch(says);
  }
}

/** Runs a limited number of tasks concurrently; the others wait. */
class Turns {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async take(work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      await work();
    } finally {
      const next = this.#line.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
