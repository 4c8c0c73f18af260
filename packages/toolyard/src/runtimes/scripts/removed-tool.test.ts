import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { folderServices, resolvedCall, ToolFolder } from "../../../../../test/support/tool-folder.ts";
import { FailError } from "../../core/errors.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import { runExecute } from "../execute/run-execute.ts";
import { runWarm } from "../warm/run-warm.ts";
import { removedTool } from "./removed-tool.ts";
import { runScript } from "./run-script.ts";
import type { RunSettings } from "./run-settings.ts";
import { ScriptHost } from "./script-host.ts";

let folder: ToolFolder;
beforeEach(() => {
  folder = new ToolFolder();
});
afterEach(() => folder[Symbol.dispose]());

const SETTINGS: RunSettings = {
  limits: {},
  isolation: { mode: "process", network: true, read: [], write: [], program: "bwrap" },
  run: { mode: "spawn", workers: 1, maxCalls: 1, idleMs: 1000 },
};
const call = () => resolvedCall({ type: "tool", tool: {} as never }, {});
const environment = { own: {}, inherit: [], required: [] };

interface Case {
  readonly file: string;
  readonly text: string;
  run(host: ScriptHost): Promise<Outcome>;
}

const place = () => ({
  name: "one",
  folder: join(folder.path, "one"),
  root: folder.path,
  environment,
  settings: SETTINGS,
});
const fileOf = (name: string) => join(folder.path, "one", name);
const CASES: Readonly<Record<string, Case>> = {
  "a script": {
    file: "main.mjs",
    text: "console.log('fine')",
    run: (host) => runScript({ ...place(), script: fileOf("main.mjs"), args: [] }, call(), host),
  },
  "a script with a command of its own": {
    file: "main.mjs",
    text: "console.log('fine')",
    run: (host) =>
      runScript({ ...place(), script: fileOf("main.mjs"), args: [], command: [process.execPath] }, call(), host),
  },
  "a program without a script": {
    file: "data.txt",
    text: "",
    run: (host) => runScript({ ...place(), args: [], command: [process.execPath, "-e", "1"] }, call(), host),
  },
  "a function in JavaScript": {
    file: "one.mjs",
    text: "export const execute = () => 'fine';",
    run: (host) => runExecute({ ...place(), file: fileOf("one.mjs") }, call(), host),
  },
  "a function in Python": {
    file: "one.py",
    text: "def execute(params):\n    return 'fine'\n",
    run: (host) => runExecute({ ...place(), file: fileOf("one.py") }, call(), host),
  },
  "a warm function": {
    file: "one.mjs",
    text: "export const execute = () => 'fine';",
    run: (host) => runWarm({ ...place(), file: fileOf("one.mjs"), function: "execute" }, call(), host),
  },
};

/** Creates a host that removes the tool's folder when its `at`-th member is read. */
function removingHost(at: number, count: { reads: number }): ScriptHost {
  const { logger, ...ports } = folderServices();
  const host = new ScriptHost({ libraries: [], maxOutputBytes: 1_000_000, logger, ports });
  return new Proxy(host, {
    get: (target, key) => {
      count.reads += 1;
      if (count.reads === at) folder.remove("one");
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

describe.each(Object.entries(CASES))(
  "a call of %s whose folder is removed during its start",
  (_name, { file, text, run }) => {
    const runWith = async (at: number) => {
      folder.write(`one/${file}`, text);
      const count = { reads: 0 };
      const host = removingHost(at, count);
      const outcome = await run(host).finally(() => host.close());
      return { outcome, reads: count.reads };
    };

    test("succeeds, or fails with a message about the folder, at any time of the removal", async () => {
      const { outcome, reads } = await runWith(0);
      expect(outcome.ok).toBe(true);
      for (let at = 1; at <= reads; at += 1) {
        const { outcome: found } = await runWith(at);
        if (found.ok) continue;
        expect([at, found.kind, found.message]).toEqual([
          at,
          "unavailable",
          expect.stringMatching(/^The (?:folder|script) of tool `one` was removed\. /),
        ]);
      }
    });
  },
);

describe("removedTool", () => {
  const tool = () => ({ name: "one", folder: join(folder.path, "one"), file: fileOf("one.py") });
  const GONE = [
    fail("unavailable", "Command `python3` could not be started. It, or the interpreter, does not exist."),
    fail("tool_error", "python3: can't open file '/x/one.py': [Errno 2] No such file or directory"),
    fail("tool_error", "Error: Cannot find module '/x/one.mjs'"),
    new FailError(fail("unavailable", "The working folder `one` does not exist. Create it, or correct `cwd`.")),
    Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" }),
    Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" }),
  ];
  const OTHER = [
    fail("timeout", "Timed out."),
    fail("cancelled", "Cancelled."),
    fail("too_large", "Too large."),
    fail("tool_error", "ValueError: no such harbour"),
    fail("invalid_params", "Missing required parameter: x"),
    new TypeError("x is not a function"),
  ];

  test.each(GONE.map((error) => [String(error instanceof Error ? error : error.message), error]))(
    "replaces the failure %s if the folder does not exist, and only then",
    (_text, error) => {
      expect(removedTool(tool(), error)).toMatchObject({ kind: "unavailable", retryable: false });
      expect(removedTool(tool(), error)?.message).toMatch(/^The folder of tool `one` was removed\. /);
      folder.write("one/other.py", "");
      expect(removedTool(tool(), error)?.message).toMatch(/^The script of tool `one` was removed\. /);
      folder.write("one/one.py", "");
      expect(removedTool(tool(), error)).toBeUndefined();
    },
  );

  test.each(OTHER.map((error) => [String(error instanceof Error ? error : error.message), error]))(
    "keeps the failure %s",
    (_text, error) => expect(removedTool(tool(), error)).toBeUndefined(),
  );
});
