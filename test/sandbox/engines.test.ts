// One path through each engine and each of its languages, for the quick tier. The files `engine-*.test.ts` test the
// whole contract.
import { afterAll, describe, expect, test } from "vitest";
import { SANDBOX_ENGINES, type SandboxEngineName } from "../../packages/toolyard/src/sandbox/options.ts";
import { echoHost, valueOf } from "./drive.ts";
import { JAVASCRIPT, PYTHON } from "./engine-phrases.ts";
import { openEngine, reasonToSkip } from "./engine-suite.ts";

interface EngineRow {
  readonly name: SandboxEngineName;
  readonly reason: string | undefined;
  readonly opened: Awaited<ReturnType<typeof openEngine>>;
}

const ROWS: readonly EngineRow[] = await Promise.all(
  SANDBOX_ENGINES.map(async (name) => ({ name, reason: await reasonToSkip(name), opened: await openEngine(name) })),
);

afterAll(async () => {
  await Promise.all(ROWS.map(({ opened }) => opened.engine.dispose()));
});

describe.each(ROWS)("$name", ({ reason, opened: { engine, driven } }) => {
  test.for(engine.languages.map((language) => ({ language })))(
    "runs $language, calls a tool, and refuses a further call",
    async ({ language }, { skip }) => {
      if (reason !== undefined) skip(reason);
      const phrases = language === "python" ? PYTHON : JAVASCRIPT;
      const host = echoHost({ "a.b": () => 1 });
      const [code, value] = phrases.values[0]!;
      const computed = await driven.run({ language, code, inputs: { a: 1 } });
      expect(computed).toMatchObject({ end: "finished" });
      expect(valueOf(computed)).toEqual(value);
      const called = await driven.run({ language, code: phrases.endlessCalls, host, limits: { toolCalls: 2 } });
      expect(called).toMatchObject({ end: "limit" });
      expect(called.toolCalls).toHaveLength(2);
      const failed = await driven.run({ language, code: phrases.errors[0]![0] });
      expect(failed).toMatchObject({ end: "error", error: { type: phrases.errors[0]![1] } });
    },
  );
});
