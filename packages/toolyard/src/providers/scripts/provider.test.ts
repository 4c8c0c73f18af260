import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Provider } from "../../core/sources/provider.ts";
import { callTool, folderServices, testSource, textOf, ToolFolder } from "../../../../../test/support/tool-folder.ts";
import { resolveScripts, type ScriptsConfig } from "./options.ts";
import { createScriptsProvider } from "./provider.ts";

let folder: ToolFolder;
const providers: Provider[] = [];

beforeEach(() => {
  folder = new ToolFolder();
});
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  folder[Symbol.dispose]();
});

function provide(config: ScriptsConfig = {}): Provider {
  const provider = createScriptsProvider(
    testSource("scripts"),
    resolveScripts({ tools_path: folder.path, ...config }),
    folderServices(),
  );
  providers.push(provider);
  return provider;
}

async function names(provider: Provider): Promise<string[]> {
  return (await provider.listing()).tools.map((tool) => tool.name);
}

async function problems(provider: Provider): Promise<string[]> {
  return (await provider.listing()).problems.map(({ subject, message }) => `${subject}: ${message}`);
}

const ECHO = "cat";

describe("freshness", () => {
  test("T3: a new folder is listed in the next request", async () => {
    const provider = provide();
    expect(await names(provider)).toEqual([]);
    folder.script("one", "run.sh", ECHO);
    expect(await names(provider)).toEqual(["one"]);
    folder.script("group/two", "run.sh", ECHO);
    expect(await names(provider)).toEqual(["group/two", "one"]);
  });

  test("T3: detects a manifest and a script added to an existing folder, in either order", async () => {
    const provider = provide();
    mkdirSync(join(folder.path, "late"));
    expect(await names(provider)).toEqual([]);
    folder.write("late/tool.toml", 'name = "late"\ndescription = "d"\nscript = "src/run.sh"\n');
    expect(await names(provider)).toEqual([]);
    expect(await problems(provider)).toEqual([
      "late/tool.toml: not offered: `script` names `src/run.sh`, which is not there",
    ]);
    folder.write("late/src/run.sh", ECHO);
    expect(await names(provider)).toEqual(["late"]);
  });

  test("T4: applies an edit of the same size in the same second in the next request", async () => {
    folder.script("one", "run.sh", "echo 1", 'keywords = ["aaaa"]\n');
    const provider = provide();
    expect((await provider.listing()).tools[0]?.keywords).toEqual(["aaaa"]);
    expect(textOf(await callTool(provider, "one"))).toBe("1");
    for (const [digit, word] of [
      ["2", "bbbb"],
      ["3", "cccc"],
      ["4", "dddd"],
    ] as const) {
      folder.script("one", "run.sh", `echo ${digit}`, `keywords = ["${word}"]\n`);
      expect((await provider.listing()).tools[0]?.keywords).toEqual([word]);
      expect(textOf(await callTool(provider, "one"))).toBe(digit);
    }
  });

  test("T4: detects an edit that keeps size and modification time", async () => {
    folder.script("one", "run.sh", ECHO, "# aaaa\n");
    const provider = provide();
    const path = join(folder.path, "one/tool.toml");
    const past = new Date("2026-01-01T00:00:00Z");
    utimesSync(path, past, past);
    await provider.listing();
    folder.write("one/tool.toml", 'name = "two"\ndescription = "Tool two."\nscript = "run.sh"\n# bbbb\n');
    utimesSync(path, past, past);
    expect(await names(provider)).toEqual(["two"]);
  });

  test("T4: detects a manifest that was replaced by renaming another file", async () => {
    folder.script("one", "run.sh", ECHO);
    const provider = provide();
    await provider.listing();
    folder.write("one/next", 'name = "new"\ndescription = "d"\nscript = "run.sh"\n');
    renameSync(join(folder.path, "one/next"), join(folder.path, "one/tool.toml"));
    expect(await names(provider)).toEqual(["new"]);
  });

  test("T5: omits a removed folder, and a removed script, in the next request", async () => {
    folder.script("one", "run.sh", ECHO);
    folder.script("two", "run.sh", ECHO);
    const provider = provide();
    expect(await names(provider)).toEqual(["one", "two"]);
    folder.remove("one");
    expect(await names(provider)).toEqual(["two"]);
    folder.remove("two/run.sh");
    expect(await names(provider)).toEqual([]);
  });

  test("T6, T7: applies the file's visibility, description and keywords", async () => {
    folder.script("one", "run.sh", ECHO);
    const provider = provide();
    expect((await provider.listing()).tools[0]).toMatchObject({ visibility: "native", keywords: [] });
    folder.write(
      "one/tool.toml",
      'name = "one"\ndescription = "Other."\nscript = "run.sh"\nvisibility = "ondemand"\nkeywords = ["k"]\n',
    );
    expect((await provider.listing()).tools[0]).toMatchObject({
      visibility: "ondemand",
      description: "Other.",
      keywords: ["k"],
    });
    folder.write("one/tool.toml", 'name = "one"\ndescription = "Other."\nscript = "run.sh"\nvisibility = "native"\n');
    expect((await provider.listing()).tools[0]).toMatchObject({ visibility: "native" });
  });

  test("keeps the listing of an unchanged folder, and the other definitions after a change", async () => {
    folder.script("one", "run.sh", ECHO);
    folder.script("two", "run.sh", ECHO);
    const provider = provide();
    const first = await provider.listing();
    expect(await provider.listing()).toBe(first);
    folder.write("two/tool.toml", 'name = "two"\ndescription = "Other."\nscript = "run.sh"\n');
    const second = await provider.listing();
    expect(second).not.toBe(first);
    expect(second.tools[0]?.definition).toBe(first.tools[0]?.definition);
    expect(second.tools[1]?.definition).not.toBe(first.tools[1]?.definition);
  });

  test("T34: shows the last edit to each of a hundred concurrent callers, with a thousand tools", async () => {
    for (let index = 0; index < 1000; index += 1) folder.script(`tool_${index}`, "run.sh", ECHO);
    const provider = provide();
    expect(await names(provider)).toHaveLength(1000);
    const ask = () =>
      Promise.all(
        Array.from({ length: 100 }, async () =>
          (await provider.listing()).tools.find((tool) => tool.name === "tool_500"),
        ),
      );
    const waves = [];
    for (let round = 0; round < 5; round += 1) {
      folder.write("tool_500/tool.toml", `name = "tool_500"\ndescription = "Round ${round}."\nscript = "run.sh"\n`);
      waves.push(await ask());
    }
    expect(waves.map((wave) => wave.every((tool) => tool?.description === wave[0]?.description))).toEqual(
      waves.map(() => true),
    );
    expect(waves.map(([tool]) => tool?.description)).toEqual([
      "Round 0.",
      "Round 1.",
      "Round 2.",
      "Round 3.",
      "Round 4.",
    ]);
  });

  test("spends only a small part of the time on checks of the disk for calls to another source", async () => {
    folder.script("one", "run.sh", ECHO);
    const provider = provide();
    const clock = vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValue(10);
    try {
      const first = await provider.listing();
      folder.script("two", "run.sh", ECHO);
      clock.mockReturnValue(509);
      expect(provider.listing({ isForOther: true })).toBe(first);
      clock.mockReturnValue(511);
      expect((await provider.listing({ isForOther: true })).tools).toHaveLength(2);
    } finally {
      clock.mockRestore();
    }
  });

  test("detects every change for a call to its own tool, even soon after the last check", async () => {
    folder.script("one", "run.sh", ECHO);
    const provider = provide();
    expect(await names(provider)).toEqual(["one"]);
    folder.script("two", "run.sh", ECHO);
    expect((await provider.listing({ mayBeOld: true })).tools).toHaveLength(2);
  });

  test("detects changes within a second for calls to other sources, even if a check is slow", async () => {
    folder.script("one", "run.sh", ECHO);
    const provider = provide();
    const clock = vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValue(100_000);
    try {
      await provider.listing();
      folder.script("two", "run.sh", ECHO);
      clock.mockReturnValue(101_001);
      expect((await provider.listing({ isForOther: true })).tools).toHaveLength(2);
    } finally {
      clock.mockRestore();
    }
  });

  test("supports a tools folder that appears later, disappears and returns", async () => {
    const provider = provide({ tools_path: join(folder.path, "later") });
    expect(await names(provider)).toEqual([]);
    expect(await problems(provider)).toEqual([expect.stringContaining("does not exist (yet)")]);
    folder.script("later/one", "run.sh", ECHO);
    expect(await names(provider)).toEqual(["later/one"]);
    folder.remove("later");
    expect(await names(provider)).toEqual([]);
    folder.script("later/two", "run.sh", ECHO);
    expect(await names(provider)).toEqual(["later/two"]);
    expect(await problems(provider)).toEqual([]);
  });

  test.each([
    ["a folder added", () => folder.script("two", "run.sh", ECHO)],
    [
      "a manifest edited",
      () => folder.write("one/tool.toml", 'name = "one"\ndescription = "Other."\nscript = "run.sh"\n'),
    ],
    ["a folder removed", () => folder.remove("one")],
  ])("C33: announces %s without a request", async (_, change) => {
    folder.script("one", "run.sh", ECHO);
    const provider = provide();
    provider.open();
    const first = await provider.listing();
    await watching();
    const changed = new Promise<void>((resolve) => provider.events.changed.on(() => resolve()));
    change();
    await changed;
    expect(await provider.listing()).not.toBe(first);
  });

  test("C33: announces a new tools folder", async () => {
    const provider = provide({ tools_path: join(folder.path, "later") });
    provider.open();
    await provider.listing();
    await watching();
    const changed = new Promise<void>((resolve) => provider.events.changed.on(() => resolve()));
    folder.script("later/one", "run.sh", ECHO);
    await changed;
    expect(await names(provider)).toEqual(["later/one"]);
  });
});

/** Runs `work` without root rights, because file permissions do not restrict root. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  try {
    await work();
  } finally {
    process.seteuid!(0);
  }
}

// The watchers are created right after the first sweep, in the same turn of the event loop.
function watching(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("manifests", () => {
  test("T8: copies every key to the record", async () => {
    folder.write("calc/calc.sh", ECHO);
    folder.write(
      "calc/tool.toml",
      `name = "calculator"
description = "Perform calculations"
keywords = ["math", "arithmetic"]
script = "calc.sh"
visibility = "ondemand"
[parameters.operation]
type = "string"
description = "Operation"
required = true
[parameters.a]
type = "number"
required = true
[parameters.exact]
type = "boolean"
`,
    );
    const listing = await provide().listing();
    expect(listing.problems).toEqual([]);
    expect(listing.tools[0]).toMatchObject({
      source: { id: "scripts" },
      name: "calculator",
      description: "Perform calculations",
      keywords: ["math", "arithmetic"],
      visibility: "ondemand",
      inputSchema: {
        type: "object",
        properties: {
          operation: { type: "string", description: "Operation" },
          a: { type: "number" },
          exact: { type: "boolean" },
        },
        required: ["operation", "a"],
      },
    });
    expect(listing.tools[0]?.definition).toMatchObject({ name: "calculator", description: "Perform calculations" });
  });

  test.each([
    [
      "name",
      'description = "d"\nscript = "run.sh"',
      '`name` is missing; add `name = "one"`, or set `allow_dirname_as_name = true`',
    ],
    ["description", 'name = "one"\nscript = "run.sh"', "`description` is missing"],
    ["script", 'name = "one"\ndescription = "d"', "`script` is missing"],
  ])("T9: does not list a tool without `%s`, and reports the reason", async (_, toml, message) => {
    folder.write("one/run.sh", ECHO);
    folder.write("one/tool.toml", toml);
    const provider = provide();
    expect(await names(provider)).toEqual([]);
    expect(await problems(provider)).toEqual([expect.stringContaining(message)]);
  });

  test("C25: uses the folder's name with `allow_dirname_as_name`, and requires all other keys", async () => {
    folder.write("one/run.sh", ECHO);
    folder.write("one/tool.toml", 'description = "d"\nscript = "run.sh"');
    folder.write("two/tool.toml", 'script = "run.sh"');
    const provider = provide({ allow_dirname_as_name: true });
    expect(await names(provider)).toEqual(["one"]);
    expect(await problems(provider)).toEqual([
      expect.stringContaining("two/tool.toml: not offered: `description` is missing"),
    ]);
  });

  test("T10: drops only the tool whose toml has a syntax error, and names the line", async () => {
    folder.script("good", "run.sh", ECHO);
    folder.write("bad/tool.toml", 'name = "bad"\ndescription = \n');
    const provider = provide();
    expect(await names(provider)).toEqual(["good"]);
    expect(await problems(provider)).toEqual([
      expect.stringMatching(/^bad\/tool.toml: not offered: the TOML cannot be read \(line 2/),
    ]);
    folder.script("bad", "run.sh", ECHO);
    expect(await names(provider)).toEqual(["bad", "good"]);
    expect(await problems(provider)).toEqual([]);
  });

  test("C27: reports an unknown visibility, and neither lists nor finds the tool", async () => {
    folder.script("one", "run.sh", ECHO, 'visibility = "hidden"\n');
    const provider = provide();
    expect(await names(provider)).toEqual([]);
    expect(await problems(provider)).toEqual([
      expect.stringContaining('`visibility` is "hidden"; accepted are "native" and "ondemand"'),
    ]);
  });

  test("C28: uses the first folder by path if two have the same name, with its script", async () => {
    folder.script("b", "run.sh", "echo from b");
    folder.script("a", "run.sh", "echo from a");
    folder.write("a/tool.toml", 'name = "same"\ndescription = "A"\nscript = "run.sh"\n');
    folder.write("b/tool.toml", 'name = "same"\ndescription = "B"\nscript = "run.sh"\n');
    const provider = provide();
    expect((await provider.listing()).tools.map((tool) => tool.description)).toEqual(["A"]);
    expect(textOf(await callTool(provider, "same"))).toBe("from a");
    expect(await problems(provider)).toEqual([
      "b: not offered: the name `same` is taken by `a`, which comes first; rename one of them",
    ]);
    folder.remove("a");
    expect(textOf(await callTool(provider, "same"))).toBe("from b");
  });

  test("reads only files named exactly `tool.toml` as manifests", async () => {
    folder.write("one/run.sh", ECHO);
    for (const name of ["mytool.toml", "tool.toml.bak", "Tool.toml"])
      folder.write(`one/${name}`, 'name = "x"\ndescription = "d"\nscript = "run.sh"');
    expect(await names(provide())).toEqual([]);
  });

  test("skips hidden folders, node_modules and folders inside a tool", async () => {
    folder.script("one", "run.sh", ECHO);
    for (const place of [".git/x", "node_modules/x", "__pycache__/x", "one/inner"])
      folder.script(place, "run.sh", ECHO);
    expect(await names(provide())).toEqual(["one"]);
  });

  test("reports an unknown key with a suggestion, and offers the tool", async () => {
    folder.script("one", "run.sh", ECHO, 'keyword = ["a"]\n[parameters.x]\ntype = "string"\nrequird = true\n');
    const provider = provide();
    expect(await names(provider)).toEqual(["one"]);
    expect(await problems(provider)).toEqual([
      "one/tool.toml: unknown key `keyword` was ignored; did you mean `keywords`?",
      "one/tool.toml: unknown key `parameters.x.requird` was ignored; did you mean `required`?",
    ]);
  });

  test("T36: reports a manifest, script or folder without read permission, and offers the others", async () => {
    folder.script("good", "run.sh", ECHO);
    folder.script("bad", "run.sh", ECHO);
    mkdirSync(join(folder.path, "closed"));
    chmodSync(join(folder.path, "bad/tool.toml"), 0);
    chmodSync(join(folder.path, "closed"), 0);
    folder.script("dark", "run.sh", ECHO);
    chmodSync(join(folder.path, "dark/run.sh"), 0);
    chmodSync(folder.path, 0o755);
    const provider = provide();
    await asNobody(async () => {
      expect(await names(provider)).toEqual(["good"]);
      expect(await problems(provider)).toEqual([
        "closed: The folder cannot be read (EACCES). Check its rights.",
        "bad/tool.toml: not offered: It cannot be read (EACCES). Check its rights.",
        "dark/tool.toml: not offered: `script` names `run.sh`, which cannot be read (EACCES). Check its rights",
      ]);
    });
    // Only root can remove an unreadable folder.
    chmodSync(join(folder.path, "closed"), 0o755);
  });

  test("T36: reports a manifest that is a folder, a loop of links or too large, and offers the others", async () => {
    folder.script("good", "run.sh", ECHO);
    mkdirSync(join(folder.path, "loop"));
    symlinkSync("tool.toml", join(folder.path, "loop/tool.toml"));
    folder.write("large/tool.toml", "#".repeat(300_000));
    const provider = provide();
    expect(await names(provider)).toEqual(["good"]);
    expect(await problems(provider)).toEqual([
      "large/tool.toml: not offered: It is larger than 262.1 kB.",
      "loop/tool.toml: not offered: It cannot be read (ELOOP). Check its rights.",
    ]);
  });

  test("reads several tools folders in order", async () => {
    folder.script("x/one", "run.sh", ECHO);
    folder.script("y/two", "run.sh", ECHO);
    const provider = provide({ tools_path: [join(folder.path, "y"), join(folder.path, "x")] });
    expect(await names(provider)).toEqual(["y/two", "x/one"]);
  });
});

describe("S7: location of the script", () => {
  test.each([
    ["a path that climbs out", "../../outside.sh"],
    ["a symbolic link that leads out", "link.sh"],
    ["an absolute path", "/bin/sh"],
  ])("rejects %s", async (_, script) => {
    writeFileSync(join(folder.path, "outside.sh"), "echo no", { mode: 0o755 });
    mkdirSync(join(folder.path, "tools/one"), { recursive: true });
    symlinkSync(join(folder.path, "outside.sh"), join(folder.path, "tools/one/link.sh"));
    folder.write("tools/one/tool.toml", `name = "one"\ndescription = "d"\nscript = "${script}"\n`);
    const provider = provide({ tools_path: join(folder.path, "tools") });
    expect(await names(provider)).toEqual([]);
    expect(await problems(provider)).toEqual([expect.stringMatching(/not offered: `script` (names|must)/)]);
  });

  test("accepts a script elsewhere in the same tools folder, and a link to one", async () => {
    folder.write("shared/run.sh", "echo shared", 0o755);
    folder.write("one/tool.toml", 'name = "one"\ndescription = "d"\nscript = "../shared/run.sh"\n');
    mkdirSync(join(folder.path, "two"));
    symlinkSync("../shared/run.sh", join(folder.path, "two/run.sh"));
    folder.write("two/tool.toml", 'name = "two"\ndescription = "d"\nscript = "run.sh"\n');
    const provider = provide();
    expect(textOf(await callTool(provider, "one"))).toBe("shared");
    expect(textOf(await callTool(provider, "two"))).toBe("shared");
    folder.remove("shared/run.sh");
    expect(await names(provider)).toEqual([]);
  });

  test("rejects a script that became a link out of the folder after listing", async () => {
    folder.script("tools/one", "run.sh", "echo in");
    folder.write("outside.sh", "echo out", 0o755);
    const provider = provide({ tools_path: join(folder.path, "tools") });
    const { tools } = await provider.listing();
    folder.remove("tools/one/run.sh");
    symlinkSync(join(folder.path, "outside.sh"), join(folder.path, "tools/one/run.sh"));
    const { resolvedCall } = await import("../../../../../test/support/tool-folder.ts");
    const outcome = await provider.call(resolvedCall({ type: "tool", tool: tools[0]! }, {}));
    expect(outcome).toMatchObject({ ok: false, kind: "unavailable", message: expect.stringContaining("lies outside") });
  });

  test("follows a linked folder only inside the tools folder, and ends at a loop", async () => {
    folder.script("elsewhere/far", "run.sh", ECHO);
    folder.script("tools/one", "run.sh", ECHO);
    symlinkSync(join(folder.path, "elsewhere/far"), join(folder.path, "tools/far"));
    symlinkSync(join(folder.path, "tools"), join(folder.path, "tools/up"));
    const provider = provide({ tools_path: join(folder.path, "tools") });
    expect(await names(provider)).toEqual(["tools/one"]);
    expect(await problems(provider)).toEqual([
      expect.stringContaining("far: The symbolic link leads out of the tools folder"),
      expect.stringContaining("up: The symbolic link leads out of the tools folder"),
    ]);
  });
});
