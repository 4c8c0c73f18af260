import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Io } from "./io.ts";
import { sourceText, type SourceLine } from "./source-table.ts";

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

test("each server that runs beside the first one has a line that says for whom; a source without any has none", () => {
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
    { everyStderr: true },
  );
  expect(text).toContain("notes: a server of its own for principal ci: ready, legacy, pid 4711");
  expect(text).toContain("notes: a server of its own for callers of the legacy era: connecting");
  expect(text).not.toContain("other: ");
});
