import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Io } from "./io.ts";
import { isHealthy, sourceText, type SourceLine } from "./source-table.ts";

const io: Io = {
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  env: {},
  cwd: "/",
  color: false,
  interrupted: new AbortController().signal,
  readStdin: async () => "",
};
const line: SourceLine = {
  id: "notes",
  kind: "stdio",
  state: "ready",
  tools: 3,
  resources: 0,
  prompts: 0,
  problems: [],
};

test("prints one line for each further connection of a source, with its callers", () => {
  const further = [
    { for: "principal ci", state: "ready", era: "legacy", pid: 4711 },
    { for: "callers of the legacy era", state: "connecting" },
  ];
  const text = sourceText(
    [
      { ...line, info: { further } },
      { ...line, id: "other" },
    ],
    io,
    { everyStderr: true, verbose: false },
  );
  expect(text).toContain("notes: a separate server for principal ci: ready, legacy, pid 4711");
  expect(text).toContain("notes: a separate server for callers of the legacy era: connecting");
  expect(text).not.toContain("other: ");
});

test("prints a problem that is also the last error of its source only once", () => {
  const problems = [{ subject: "/yard/modules", message: "The module path cannot be read." }];
  const text = (lastError: string): string =>
    sourceText([{ ...line, state: "degraded", lastError, problems }], io, { everyStderr: false, verbose: false });
  for (const lastError of ["The module path cannot be read.", "/yard/modules: The module path cannot be read."])
    expect(text(lastError).match(/cannot be read/g)).toHaveLength(1);
  expect(text("It ended.")).toMatch(/^notes: It ended\.\nnotes: \/yard\/modules: The module path/m);
});

const renamed = (subject: string) => ({ subject, message: `\`${subject}\` is offered as another.`, renamed: true });

test("prints renamed definitions together, individually with --verbose, and not as a fault", () => {
  const problems = [...Array.from({ length: 9 }, (_, at) => renamed(`repo://${at}`)), renamed("search")];
  const lines = [{ ...line, problems }];
  const status = sourceText(lines, io, { everyStderr: true, verbose: false });
  expect(status).toContain("notes: 9 resources of notes are offered under prefixes; --verbose lists them");
  expect(status).toContain("notes: 1 name of notes is offered under a prefix; --verbose lists it");
  expect(status).not.toContain("repo://");
  expect(sourceText(lines, io, { everyStderr: true, verbose: true }).match(/is offered as another/g)).toHaveLength(10);
  expect(isHealthy(lines[0]!)).toBe(true);
  expect(sourceText(lines, io, { everyStderr: false, verbose: false }).split("\n")).toHaveLength(3);
  expect(isHealthy({ ...line, problems: [{ subject: "a", message: "not offered" }] })).toBe(false);
});

test("prints the output line of a failed server that contains the error, and no lone brackets", () => {
  const stderr = [
    "start",
    "Error: Cannot find module 'x'",
    "  at a",
    "  at b",
    "  at c",
    "{",
    "  at d",
    "}",
    "",
    "Node.js v20",
  ];
  const shown = (lines: readonly string[]): readonly string[] =>
    sourceText([{ ...line, state: "down", stderr: lines }], io, { everyStderr: false, verbose: false })
      .split("\n")
      .flatMap((text) => text.split("notes stderr: ")[1] ?? []);
  expect(shown(stderr)).toEqual(["Error: Cannot find module 'x'", "at b", "at c", "at d", "Node.js v20"]);
  expect(shown(["one", "two"])).toEqual(["one", "two"]);
});

test("prints quoted last lines of an error once, and omits npm's update notices", () => {
  const quoted = "E404 Not Found - GET http://localhost/none The requested resource 'none@*' could not be found";
  const stderr = [
    "npm notice New minor version of npm available! 11.1.0 -> 11.2.0",
    "npm error code E404",
    "npm error 404 Not Found - GET http://localhost/none",
    "npm error 404",
    "npm error 404 The requested resource 'none@*' could not be found",
    "npm error 404 Note that you can also install from a",
    "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/0.log",
    "somebody else's line",
  ];
  const shown = (lastError: string): string =>
    sourceText([{ ...line, state: "down", stderr, lastError }], io, { everyStderr: false, verbose: false });
  expect(shown(`It said: ${quoted}.`).match(/Not Found/g)).toHaveLength(1);
  expect(shown(`It said: ${quoted}.`)).toContain("notes stderr: somebody else's line");
  expect(shown(`It said: ${quoted}.`)).not.toMatch(/npm (?:notice|error)/);
  expect(shown("It ended.")).toContain("notes stderr: npm error 404 Not Found");
});

test("prints repaired definitions of a healthy source, and joins equal repairs on one line", () => {
  const repair = (subject: string, message = "`title` must be text, got null: left out.") => ({
    subject,
    message,
    repaired: true,
  });
  const problems = [...["a", "b", "c", "d", "e"].map((name) => repair(name)), repair("f", "Another.")];
  const lines = [{ ...line, problems }];
  const shown = (verbose: boolean): string => sourceText(lines, io, { everyStderr: false, verbose });
  expect(shown(false)).toContain(
    "notes: a, b, c and 2 more (--verbose lists them): `title` must be text, got null: left out.\nnotes: f: Another.",
  );
  expect(shown(true)).toContain("notes: e: `title` must be text, got null: left out.");
  expect(isHealthy(lines[0]!)).toBe(true);
  expect(isHealthy({ ...line, problems: [...problems, { subject: "g", message: "It is not offered: …" }] })).toBe(
    false,
  );
});
