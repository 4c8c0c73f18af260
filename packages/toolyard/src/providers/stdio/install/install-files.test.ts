import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeWholeSync } from "../../../files/write-whole.ts";
import { installFiles, installingProcess } from "./install-files.ts";

/** Program of another hub: reads the lock repeatedly until its standard input ends, and counts the results. */
const READER = `
import { readFileSync } from "node:fs";
const found = {};
let over = false;
process.stdin.resume().once("end", () => (over = true));
const look = () => {
  for (let turn = 0; turn < 200; turn += 1) {
    const text = readFileSync(process.argv[1], "utf8");
    found[text] = (found[text] ?? 0) + 1;
  }
  if (over) console.log(JSON.stringify(found));
  else setImmediate(look);
};
console.log("reads");
look();
`;

test("never shows a lock without a holder while the lock passes from one process to another", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-lock-"));
  try {
    const files = installFiles(folder, "one");
    writeWholeSync(files.lock, String(process.pid));
    const reader = spawn(process.execPath, ["--input-type=module", "-e", READER, "--", files.lock]);
    const [first] = (await once(reader.stdout.setEncoding("utf8"), "data")) as [string];
    expect(first).toContain("reads");
    for (let turn = 0; turn < 5000; turn += 1) writeWholeSync(files.lock, `${process.pid}${"\n".repeat(turn % 2)}`);
    reader.stdin.end();
    const [found] = (await once(reader.stdout, "data")) as [string];
    expect(
      Object.keys(JSON.parse(found) as object).filter((text) => Number.parseInt(text, 10) !== process.pid),
    ).toEqual([]);
    expect(installingProcess(files, 60_000)).toBe(process.pid);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
